"""What a warp waits for: kernels whose modelled time is the latency of one chain."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from grader.languages import cuda_c, nvrtc
from grader.vgpu import Memory, Module, launch
from grader.vgpu.cost import A100, estimate

MISSING = cuda_c.missing()
pytestmark = pytest.mark.skipif(MISSING is not None, reason=f"CUDA C: {MISSING}")

SOURCE = r"""
#define K extern "C" __global__ void
K add(int n, float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + y[i];
}
K chase(const int* next, int* out) {
    int at = 0;
    for (int k = 0; k < 1024; k++) at = next[at];
    *out = at;
}
K far(const int* __restrict__ a, int* out) {
    int sum = 0;
    #pragma unroll 8
    for (int k = 0; k < 1024; k++) sum += a[k * 64];
    *out = sum;
}
K stores(int* a, int* out) {
    #pragma unroll
    for (int k = 0; k < 8; k++) out[k] = a[k * 64];
}
K stores_restrict(const int* __restrict__ a, int* __restrict__ out) {
    #pragma unroll
    for (int k = 0; k < 8; k++) out[k] = a[k * 64];
}
K guarded(const float* __restrict__ a, float* out, int n) {
    float v[4];
    #pragma unroll
    for (int k = 0; k < 4; k++) { int i = threadIdx.x + k * 1024; v[k] = i < n ? a[i] : 0; }
    out[threadIdx.x] = v[0] * v[1] + v[2] * v[3];
}
K one_warp_works(float* out, int rounds) {
    float v = threadIdx.x;
    if (threadIdx.x < 32) for (int k = 0; k < rounds; k++) v = v * v + 1;
    __syncthreads();
    out[threadIdx.x] = v;
}
K waits(volatile int* flag, int* out) {
    if (blockIdx.x == 0) { while (*flag < 1) ; *out = *flag; }
    else { __threadfence(); *flag = 1; }
}
K looks(volatile int* flag, float* a, int n) {
    for (int i = 0; i < n; i++) { if (*flag) return; a[i] = a[i] + 1; }
}
K same(float* out) { atomicAdd(out, 1.0f); }
K apart(float* out) { atomicAdd(&out[blockIdx.x * blockDim.x + threadIdx.x], 1.0f); }
K pipeline(const float4* a, float* out, int ahead) {
    __shared__ float4 s[8];
    for (int k = 0; k < ahead; k++) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
            :: "r"((unsigned)__cvta_generic_to_shared(&s[k])), "l"(a + 64 * k));
        asm volatile("cp.async.commit_group;");
    }
    float sum = 0;
    for (int k = 0; k < 64; k++) {
        if (ahead == 1) asm volatile("cp.async.wait_group 0;");
        else asm volatile("cp.async.wait_group 3;");
        sum += s[k % ahead].x;
        int to = k + ahead < 64 ? k + ahead : 63;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
            :: "r"((unsigned)__cvta_generic_to_shared(&s[k % ahead])), "l"(a + 64 * to));
        asm volatile("cp.async.commit_group;");
    }
    asm volatile("cp.async.wait_all;");
    *out = sum;
}
"""


@functools.cache
def module() -> Module:
    built = nvrtc.compile_source(SOURCE, "k.cu", ["-arch=compute_80", "-lineinfo"])
    assert built.ok, built.log
    return Module.from_ptx(built.ptx)


def counts(name: str, grid: int, block: int, *arguments: Any) -> dict[str, float]:
    args = [np.int32(a) if isinstance(a, int) else a for a in arguments]
    done = launch(module().kernel(name), grid, block, args, checks="bounds")
    assert done.ended == "finished", done.reason
    return done.metrics.counts


def chain(name: str, grid: int, block: int, *arguments: Any) -> float:
    return counts(name, grid, block, *arguments)["longest_chain"]


def zeros(n: int = 1024) -> npt.NDArray[np.int32]:
    return np.zeros(n, np.int32)


def test_the_launches_of_a_tutorial_are_as_far_apart_as_on_a_card() -> None:
    # NVIDIA's "An Even Easier Introduction to CUDA", Tesla T4: 91.8 ms with one thread, 2.05 ms
    # with one block of 256, 0.048 ms with 4,096 blocks. docs/cost-model.md compares.
    n = 1 << 20
    ms = []
    for grid, block in ((1, 1), (1, 256), (4096, 256)):
        x, y = np.ones(n, np.float32), np.ones(n, np.float32)
        ms.append(estimate(counts("add", grid, block, n, x, y)).nanoseconds * 1e-6)
    assert 91.8 / 2 < ms[0] < 91.8 * 2
    assert 2.05 / 2 < ms[1] < 2.05 * 2
    assert 30 < ms[0] / ms[1] < 90  # 45
    # 40 times on 40 multiprocessors with 320 GB/s, here 108 with 1,555 GB/s.
    assert 43 < ms[1] / ms[2] < 43 * 1555 / 320


def test_dependent_loads_wait_for_each_other_and_independent_ones_do_not() -> None:
    order = np.random.default_rng(3).permutation(1023) + 1
    ring = np.zeros(1024 * 64, np.int32)
    places = 64 * np.concatenate([[0], order])
    ring[places] = np.roll(places, -1)
    dependent = chain("chase", 1, 1, ring, zeros())
    assert 1024 * A100.dram_latency <= dependent < 1.1 * 1024 * A100.dram_latency
    assert chain("far", 1, 1, ring, zeros()) < 0.2 * dependent


def test_a_load_does_not_pass_a_store_that_may_be_to_its_place() -> None:
    a = zeros()
    assert chain("stores", 1, 1, a, zeros()) > 8 * A100.dram_latency
    assert chain("stores_restrict", 1, 1, a, zeros()) < 2 * A100.dram_latency


def test_loads_behind_guards_overlap() -> None:
    a, out = np.ones(4096, np.float32), np.zeros(1024, np.float32)
    assert chain("guarded", 1, 1024, a, out, 4096) < 1.5 * A100.dram_latency


def test_a_barrier_waits_for_the_slowest_warp() -> None:
    out = np.zeros(1024, np.float32)
    alone = chain("one_warp_works", 1, 32, out, 1000)
    assert alone > 1000 * A100.alu_latency
    # 31 warps more that have nothing to do: the same chain, not a thirty-second of it.
    assert chain("one_warp_works", 1, 1024, out, 1000) == pytest.approx(alone, rel=0.02)


def test_waiting_for_another_block_counts_once() -> None:
    assert chain("waits", 2, 1, zeros(1), zeros(1)) < 5 * A100.dram_latency


def test_a_look_at_a_flag_hides_no_work() -> None:
    n = 1000
    found = chain("looks", 1, 1, zeros(1), np.ones(n, np.float32), n)
    assert found > n * (A100.l2_latency + A100.l1_latency)


def test_copies_ahead_hide_their_latency() -> None:
    a, out = np.ones((4096, 4), np.float32), np.zeros(1, np.float32)
    one, four = (chain("pipeline", 1, 1, a, out, ahead) for ahead in (1, 4))
    assert one > 60 * A100.dram_latency
    assert four < 0.4 * one


def test_atomics_on_one_address_queue() -> None:
    n = 1 << 16
    together = counts("same", n // 256, 256, np.zeros(1, np.float32))
    assert together["atomics_on_one_address"] == n
    assert estimate(together).bound == "atomics"
    apart = counts("apart", n // 256, 256, np.zeros(n, np.float32))
    assert apart["atomics_on_one_address"] < 40  # addresses share counters
    assert estimate(together).nanoseconds > 8 * estimate(apart).nanoseconds


def test_waves_of_blocks_take_turns() -> None:
    out = np.zeros(1024, np.float32)
    few = counts("one_warp_works", 108, 1024, out, 100)
    many = counts("one_warp_works", 108 * 20, 1024, out, 100)
    assert many["longest_chain"] == few["longest_chain"]
    # Two blocks of 1,024 threads fit a multiprocessor at a time.
    ratio = estimate(many).parts["latency"] / estimate(few).parts["latency"]
    assert ratio == pytest.approx(10, rel=0.01)


@pytest.mark.parametrize("name", ["add", "guarded"])
def test_checks_and_order_do_not_change_the_chain(name: str) -> None:
    n = 4096
    found = set()
    for checks in ("all", "bounds"):
        for order in ("forward", "reversed"):
            memory = Memory()
            x = memory.allocate(np.ones(n, np.float32), name="x", access="in")
            y = memory.allocate(np.ones(n, np.float32), name="y", access="inout")
            args = [np.int32(n), x, y] if name == "add" else [x, y, np.int32(n)]
            kernel = module().kernel(name)
            done = launch(kernel, 4, 256, args, memory=memory, checks=checks, order=order)  # type: ignore[arg-type]
            found.add((done.metrics.counts["chains"], done.metrics.counts["longest_chain"]))
    assert len(found) == 1
