"""Orderings and ties that lessons rely on: counts and modelled time of pairs of kernels."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from grader.languages import cuda_c, nvrtc
from grader.vgpu import Module, launch
from grader.vgpu.cost import Estimate, estimate

MISSING = cuda_c.missing()
pytestmark = pytest.mark.skipif(MISSING is not None, reason=f"CUDA C: {MISSING}")

N = 1 << 20
W = 512

SOURCE = r"""
#define K extern "C" __global__ void
K copy(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i];
}
K copy4(const float4* a, float4* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) c[i] = a[i];
}
K copy_loop(const float* a, float* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        c[i] = a[i];
}
K copy_strided(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = i % (n / 4) * 4 + i / (n / 4);
    if (i < n) c[j] = a[j];
}
K copy_random(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = (int)((i * 2654435761u) % (unsigned)n);
    if (i < n) c[j] = a[j];
}
template <int PAD> __device__ void tile(const float* a, float* c, int w) {
    __shared__ float s[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) s[threadIdx.y + j][threadIdx.x] = a[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) c[(y + j) * w + x] = s[threadIdx.x][threadIdx.y + j];
}
K transpose_padded(const float* a, float* c, int w) { tile<1>(a, c, w); }
K transpose_tile(const float* a, float* c, int w) { tile<0>(a, c, w); }
K transpose_naive(const float* a, float* c, int w) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) c[x * w + y + j] = a[(y + j) * w + x];
}
K sum_tree(const float* a, float* c, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
    if (t == 0) c[blockIdx.x] = s[0];
}
K sum_interleaved(const float* a, float* c, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int k = 1; k < 256; k *= 2) { if (t % (2 * k) == 0) s[t] += s[t + k]; __syncthreads(); }
    if (t == 0) c[blockIdx.x] = s[0];
}
K matmul_naive(const float* a, const float* b, float* c, int n) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
K matmul_column(const float* a, const float* b, float* c, int n) {
    int y = blockIdx.x * 16 + threadIdx.x, x = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
K matmul_tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float p[16][16], q[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        p[ty][tx] = a[y * n + t + tx];
        q[ty][tx] = b[(t + ty) * n + x];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += p[ty][k] * q[k][tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
K histogram_global(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&c[a[i]], 1);
}
K histogram_private(const int* a, int* c, int n) {
    __shared__ int s[64];
    if (threadIdx.x < 64) s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[a[i]], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&c[threadIdx.x], s[threadIdx.x]);
}
"""

GRIDS = {
    "copy4": N // 1024, "copy_loop": 432, "one_block": 1, "histogram_private": 432,
}  # fmt: skip


@functools.cache
def module() -> Module:
    options = ("-arch=compute_80", "-std=c++17", "-lineinfo")
    return Module.from_ptx(nvrtc.compile_source(SOURCE, "k.cu", options).ptx)


@functools.cache
def run(name: str) -> tuple[Estimate, dict[str, float]]:
    """Modelled time and counts of a kernel at its usual launch."""
    kernel = module().kernel("copy_loop" if name == "one_block" else name)
    rng = np.random.default_rng(7)
    if name.startswith("transpose"):
        grid, block = (W // 32, W // 32), (32, 8)
        args = [rng.random((W, W), np.float32), np.zeros((W, W), np.float32), np.int32(W)]
    elif name.startswith("matmul"):
        w = 256
        grid, block = (w // 16, w // 16), (16, 16)
        args = [rng.random((w, w), np.float32) for _ in range(2)]
        args += [np.zeros((w, w), np.float32), np.int32(w)]
    elif name.startswith("histogram"):
        grid, block = GRIDS.get(name, N // 256), 256
        args = [rng.integers(0, 64, N).astype(np.int32), np.zeros(64, np.int32), np.int32(N)]
    else:
        grid, block = GRIDS.get(name, N // 256), 256
        out = N // 256 if name.startswith("sum") else N
        args = [rng.random(N, np.float32), np.zeros(out, np.float32), np.int32(N)]
    done = launch(kernel, grid, block, args, checks="bounds")
    assert done.ended == "finished"
    return estimate(done.metrics.counts), done.metrics.counts


@pytest.mark.parametrize(
    ("faster", "slower", "least"),
    [
        ("copy", "copy_strided", 1.5),
        ("copy_strided", "copy_random", 1.01),
        ("copy", "one_block", 10),
        ("transpose_padded", "transpose_tile", 1.2),
        ("transpose_padded", "transpose_naive", 1.2),
        ("sum_tree", "sum_interleaved", 1.1),
        ("matmul_tiled", "matmul_naive", 1.2),
        ("matmul_naive", "matmul_column", 1.2),
        ("histogram_private", "histogram_global", 1.5),
    ],
)
def test_orderings(faster: str, slower: str, least: float) -> None:
    quick, slow = run(faster)[0], run(slow_name := slower)[0]
    assert slow.nanoseconds >= least * quick.nanoseconds, (slow_name, slow, quick)


@pytest.mark.parametrize(("one", "other"), [("copy", "copy4"), ("copy", "copy_loop")])
def test_ties(one: str, other: str) -> None:
    a, b = run(one)[0].nanoseconds, run(other)[0].nanoseconds
    assert max(a, b) <= 1.1 * min(a, b)


@pytest.mark.parametrize("name", ["copy4", "copy_random", "matmul_naive", "histogram_global"])
def test_no_request_uses_more_bytes_than_it_moves(name: str) -> None:
    """Lanes that ask for the same bytes use them once, or a broadcast would be 400 % useful."""
    c = run(name)[1]
    assert c["global_bytes_useful"] <= c["global_bytes_moved"]
    if name == "matmul_naive":  # a warp of 16 by 2: one float of two rows, and half a row twice
        of_a, of_b, of_c = 2 * 4, 16 * 4, 2 * 16 * 4
        warps = 256 * 256 / 32
        assert c["global_bytes_useful"] == warps * (256 * (of_a + of_b) + of_c)


def test_metrics_that_lessons_teach() -> None:
    def efficiency(name: str) -> float:
        c = run(name)[1]
        return c["global_bytes_useful"] / (32 * c["global_sectors"])

    assert efficiency("copy") == efficiency("copy4") == 1.0
    assert efficiency("copy_strided") == 0.25
    assert efficiency("copy_random") < 0.15
    assert run("transpose_padded")[1]["shared_wavefronts"] == pytest.approx(
        run("transpose_padded")[1]["shared_wavefronts_ideal"]
    )
    tile = run("transpose_tile")[1]
    # Stores go along rows, loads down columns of 32 banks: 1 and 32 wavefronts.
    assert tile["shared_wavefronts"] / tile["shared_wavefronts_ideal"] == pytest.approx(33 / 2)
