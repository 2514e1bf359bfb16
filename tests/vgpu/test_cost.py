"""The cost model orders kernels as a GPU does, and calls ties ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import vgpu
from grader.languages import nvrtc
from grader.vgpu import cost

SOURCE = r"""
extern "C" __global__ void copy(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i];
}
extern "C" __global__ void copy4(const float4* a, float4* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) c[i] = a[i];
}
extern "C" __global__ void copy_loop(const float* a, float* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        c[i] = a[i];
}
extern "C" __global__ void strided(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = (i % 1024) * (n / 1024) + i / 1024;
    if (i < n) c[j] = a[j];
}
extern "C" __global__ void transpose(const float* a, float* c, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    c[x * n + y] = a[y * n + x];
}
template <int PAD> __device__ void tile(const float* a, float* c, int n) {
    __shared__ float s[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    s[threadIdx.y][threadIdx.x] = a[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    c[y * n + x] = s[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void tiled(const float* a, float* c, int n) { tile<0>(a, c, n); }
extern "C" __global__ void padded(const float* a, float* c, int n) { tile<1>(a, c, n); }
extern "C" __global__ void global_histogram(const int* a, int* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&c[a[i]], 1);
}
extern "C" __global__ void private_histogram(const int* a, int* c, int n) {
    __shared__ int s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[a[i]], 1);
    __syncthreads();
    atomicAdd(&c[threadIdx.x], s[threadIdx.x]);
}
"""


@pytest.fixture(scope="module")
def module() -> vgpu.Module:
    built = nvrtc.compile_source(SOURCE, "cost.cu", ["-arch=compute_80", "-lineinfo"])
    assert built.ok, built.log
    return vgpu.Module.from_ptx(built.ptx)


def modelled(
    module: vgpu.Module, kernel: str, grid: int | Sequence[int], block: int | Sequence[int],
    *arguments: Any,
) -> cost.Estimate:  # fmt: skip
    done = vgpu.launch(module.kernel(kernel), grid, block, arguments, checks="bounds")
    assert done.ended == "finished", done.reason
    return cost.estimate(done.metrics.counts)


N = 1 << 20


@pytest.fixture(scope="module")
def copies(module: vgpu.Module) -> dict[str, float]:
    a, c = np.ones(N, np.float32), np.zeros(N, np.float32)
    n = np.int32(N)
    launches = {
        "copy": ("copy", N // 256, 256),
        "float4": ("copy4", N // 1024, 256),
        "loop": ("copy_loop", 864, 256),
        "strided": ("strided", N // 256, 256),
        "one block": ("copy_loop", 1, 256),
    }
    return {
        name: modelled(module, kernel, grid, block, a, c, n).nanoseconds
        for name, (kernel, grid, block) in launches.items()
    }


def test_copies_that_tie(copies: dict[str, float]) -> None:
    for name in ("float4", "loop"):
        assert copies[name] == pytest.approx(copies["copy"], rel=0.1)


def test_copies_that_do_not(copies: dict[str, float]) -> None:
    assert copies["strided"] > 1.5 * copies["copy"]
    assert copies["one block"] > 20 * copies["copy"]


def test_transposes(module: vgpu.Module) -> None:
    side = 1024
    a, c = np.ones(side * side, np.float32), np.zeros(side * side, np.float32)
    found = {
        name: modelled(module, name, (32, 32), (32, 32), a, c, np.int32(side))
        for name in ("transpose", "tiled", "padded")
    }
    assert found["padded"].bound == "DRAM"
    assert found["tiled"].bound == "shared"
    padded, tiled, naive = (found[n].nanoseconds for n in ("padded", "tiled", "transpose"))
    assert padded * 1.1 < tiled
    assert tiled * 1.1 < naive


def test_histograms(module: vgpu.Module) -> None:
    a = np.random.default_rng(1).integers(0, 256, N).astype(np.int32)
    times = [
        modelled(module, name, 216, 256, a, np.zeros(256, np.int32), np.int32(N)).nanoseconds
        for name in ("private_histogram", "global_histogram")
    ]
    assert times[0] < times[1]


COUNTS = st.dictionaries(
    st.sampled_from(
        [
            "warp_instructions",
            "global_sectors",
            "l2_sectors",
            "dram_bytes",
            "shared_wavefronts",
            "atomic_serialisation",
            "barriers",
            "global_load_requests",
            "instructions_double",
        ]
    ),
    st.floats(0, 1e12),
)


@given(COUNTS, st.integers(1, 10**6), st.integers(1, 1024), st.integers(16, 255) | st.none())
def test_more_work_never_takes_less_time(
    counts: dict[str, float], blocks: int, threads: int, registers: int | None
) -> None:
    launch = {**counts, "blocks": float(blocks), "threads_per_block": float(threads)}
    before = cost.estimate(launch, registers=registers)
    assert before.nanoseconds >= before.parts["launch"]
    assert before.parts[before.bound] + before.parts["launch"] == before.nanoseconds
    for name in counts:
        more = cost.estimate({**launch, name: 2 * launch[name] + 1}, registers=registers)
        assert more.nanoseconds >= before.nanoseconds


@pytest.mark.parametrize(
    ("threads", "shared", "registers", "blocks"),
    [
        (256, 0, None, 8),  # 64 warps
        (32, 0, None, 32),  # the most blocks
        (1024, 0, 64, 1),  # 65,536 registers
        (256, 48 * 1024, None, 3),  # 164 KiB in blocks of 49 KiB
        (100, 0, 33, 12),  # registers are given out by eight: 65,536 / (4 warps * 32 * 40)
    ],
)
def test_occupancy(threads: int, shared: int, registers: int | None, blocks: int) -> None:
    launch = {"threads_per_block": float(threads), "shared_bytes_per_block": float(shared)}
    assert cost.resident_blocks(launch, registers) == blocks
