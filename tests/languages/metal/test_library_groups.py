"""SIMD-group, quad-group, 8x8 matrices and atomics, with all threads there and with some."""

from __future__ import annotations

import numpy as np
import pytest

from grader import vgpu
from tests.languages.metal.library import evaluate
from tests.languages.metal.sources import accepted

RNG = np.random.default_rng(3)
LANE = np.arange(64) % 32
X = RNG.integers(1, 50, 64).astype(np.int32)


def groups(values: np.ndarray, width: int = 32) -> np.ndarray:
    """A row per SIMD-group (or quad-group)."""
    return values.reshape(-1, width)


def spread(per_group: np.ndarray, width: int = 32) -> np.ndarray:
    """One value per group as one per thread."""
    return np.repeat(per_group, width)


def test_simd_reductions_and_prefixes() -> None:
    g = groups(X)
    names = {"sum": g.sum(1), "min": g.min(1), "max": g.max(1),
             "and": np.bitwise_and.reduce(g, 1), "or": np.bitwise_or.reduce(g, 1),
             "xor": np.bitwise_xor.reduce(g, 1)}  # fmt: skip
    found = evaluate(
        [*(f"simd_{n}(x)" for n in names), "simd_prefix_inclusive_sum(x)",
         "simd_prefix_exclusive_sum(x)", "simd_product(x % 3 + 1)",
         "simd_prefix_inclusive_product(x % 2 + 1)", "int(simd_sum(float(x)))",
         "simd_sum(int2(x, 1)).y", "int(simd_max(bfloat(x)))", "int(quad_min(bfloat2(x, -x)).y)",
         "int(float(simd_sum(bfloat(1))))"],
        "int",
        {"x": ("int", X)},
    )  # fmt: skip
    inclusive = np.cumsum(g, 1)
    expected = [
        *(spread(v) for v in names.values()), inclusive.ravel(), (inclusive - g).ravel(),
        spread((g % 3 + 1).astype(np.int32).prod(1, dtype=np.int32)),
        np.cumprod(g % 2 + 1, 1, dtype=np.int32).ravel(), spread(g.sum(1)), np.full(64, 32),
        spread(g.max(1)), spread(-X.reshape(-1, 4).max(1), 4), np.full(64, 32),
    ]  # fmt: skip
    for i, (result, wanted) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_array_equal(result, wanted, err_msg=str(i))


def test_simd_shuffles() -> None:
    found = evaluate(
        ["simd_shuffle(x, ushort(31 - lane))", "simd_shuffle_xor(x, 5)", "simd_broadcast(x, 7)",
         "simd_broadcast_first(x)", "simd_shuffle_down(x, 3)", "simd_shuffle_up(x, 3)",
         "simd_shuffle_rotate_down(x, 3)", "simd_shuffle_rotate_up(x, 3)",
         "simd_shuffle_and_fill_down(x, y, 3)", "simd_shuffle_and_fill_up(x, y, 3)",
         "int(simd_shuffle(half(x), ushort(1)))", "int(simd_shuffle(float4(x), ushort(2)).w)",
         "int(simd_shuffle(long(x), ushort(4)))"],
        "int",
        {"x": ("int", X), "y": ("int", -X), "lane": ("int", LANE.astype(np.int32))},
    )  # fmt: skip
    g = groups(X)
    down, up = np.roll(g, -3, 1), np.roll(g, 3, 1)
    y = groups(-X)
    filled_down = np.concatenate([g[:, 3:], y[:, :3]], 1)
    filled_up = np.concatenate([y[:, -3:], g[:, :-3]], 1)
    inside_down, inside_up = LANE < 29, LANE >= 3
    expected = [g[:, ::-1], g[:, np.arange(32) ^ 5], np.repeat(g[:, 7:8], 32, 1),
                np.repeat(g[:, :1], 32, 1), down, up, down, up, filled_down, filled_up,
                np.repeat(g[:, 1:2], 32, 1), np.repeat(g[:, 2:3], 32, 1),
                np.repeat(g[:, 4:5], 32, 1)]  # fmt: skip
    where = {4: inside_down, 5: inside_up}
    for i, (result, wanted) in enumerate(zip(found, expected, strict=True)):
        mask = where.get(i, np.ones(64, bool))
        np.testing.assert_array_equal(result[mask], wanted.ravel()[mask], err_msg=str(i))


def test_simd_votes() -> None:
    found = evaluate(
        ["uint(ulong(simd_ballot(x > 20)))", "uint(simd_all(x > 0))", "uint(simd_any(x > 48))",
         "uint(simd_is_first())", "uint(ulong(simd_active_threads_mask()))",
         "uint(simd_ballot(x > 20).any())"],
        "uint",
        {"x": ("int", X)},
    )  # fmt: skip
    bits = (groups(X > 20).astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(1)
    expected = [spread(bits), np.ones(64), spread((groups(X) > 48).any(1)), LANE == 0,
                np.full(64, 0xFFFFFFFF), spread(bits != 0)]  # fmt: skip
    for i, (result, wanted) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_array_equal(result, wanted.astype(np.uint32), err_msg=str(i))


def test_quad_functions() -> None:
    found = evaluate(
        ["quad_sum(x)", "quad_max(x)", "quad_prefix_inclusive_sum(x)",
         "quad_prefix_exclusive_sum(x)",
         "quad_shuffle_xor(x, 1)", "quad_broadcast(x, 2)", "quad_shuffle(x, 3)", "quad_product(x)",
         "quad_shuffle_rotate_up(x, 1)", "int(ushort(quad_ballot(x > 20)))",
         "int(quad_any(x > 40))"],
        "int",
        {"x": ("int", X)},
    )  # fmt: skip
    q = groups(X, 4)
    inclusive = np.cumsum(q, 1)
    bits = ((q > 20) << np.arange(4)).sum(1)
    expected = [spread(q.sum(1), 4), spread(q.max(1), 4), inclusive.ravel(),
                (inclusive - q).ravel(), q[:, [1, 0, 3, 2]].ravel(), spread(q[:, 2], 4),
                spread(q[:, 3], 4),
                spread(q.prod(1), 4), np.roll(q, 1, 1).ravel(), spread(bits, 4),
                spread((q > 40).any(1), 4)]  # fmt: skip
    for i, (result, wanted) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_array_equal(result, wanted, err_msg=str(i))


@pytest.mark.parametrize("count", [1, 5, 31, 40])
def test_reductions_over_the_threads_that_exist(count: int) -> None:
    x = X[:count]
    found = evaluate(
        ["simd_sum(x)", "simd_max(x)", "simd_prefix_exclusive_sum(x)", "quad_sum(x)"],
        "int",
        {"x": ("int", x)},
        threads=64,
    )
    for start in range(0, count, 32):
        part = x[start : start + 32]
        np.testing.assert_array_equal(found[0][start : start + 32], part.sum())
        np.testing.assert_array_equal(found[1][start : start + 32], part.max())
        np.testing.assert_array_equal(found[2][start : start + 32], np.cumsum(part) - part)
    for start in range(0, count, 4):
        np.testing.assert_array_equal(found[3][start : start + 4], x[start : start + 4].sum())


MATRIX = """#include <metal_stdlib>
using namespace metal;
kernel void k(device const float* a, device const float* b, device float* c, device float* t,
              device half* h) {
  simdgroup_float8x8 A, B, C = make_filled_simdgroup_matrix<float, 8, 8>(1.0f), D(2.0f);
  simdgroup_load(A, a, 16);
  simdgroup_load(B, b, 8);
  simdgroup_multiply_accumulate(C, A, B, C);
  simdgroup_store(C, c, 8);
  simdgroup_multiply(D, D, A);
  simdgroup_store(D, t, 8, ulong2(0, 0), true);
  threadgroup float tile[64];
  simdgroup_store(B, tile, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_half8x8 H;
  simdgroup_load(H, tile, 8);
  H.thread_elements()[0] += 1;
  simdgroup_store(H, h, 8);
}
"""


def test_simdgroup_matrices() -> None:
    a = RNG.normal(size=(8, 16)).astype(np.float32)
    b = RNG.normal(size=(8, 8)).astype(np.float32)
    for variant in accepted(MATRIX).variants:
        c, t = np.zeros((8, 8), np.float32), np.zeros((8, 8), np.float32)
        h = np.zeros((8, 8), np.float16)
        kernel = vgpu.Module.from_ptx(variant.ptx).kernel("k")
        run = vgpu.launch(kernel, 1, 32, [a, b, c, t, h])
        assert run.faults == ()
        np.testing.assert_allclose(c, a[:, :8] @ b + 1, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(t, 2 * a[:, :8].T, rtol=1e-6)
        added = np.zeros((8, 8))
        added[:, ::2] = 1
        np.testing.assert_allclose(h, b + added, rtol=2e-3, atol=2e-3)


ATOMICS = """#include <metal_stdlib>
using namespace metal;
kernel void k(device atomic_int* s, device atomic_uint* u, device atomic_float* f,
              device atomic_ulong* w, device atomic_bool* flags, device uint* old,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint local;
  if (t == 0) atomic_store_explicit(&local, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&s[0], int(i) - 10, memory_order_relaxed);
  atomic_fetch_sub_explicit(&s[1], 1, memory_order_relaxed);
  atomic_fetch_min_explicit(&s[2], -int(i), memory_order_relaxed);
  atomic_fetch_max_explicit(&s[3], int(i), memory_order_relaxed);
  atomic_fetch_and_explicit(&u[0], ~(1u << (i % 32)), memory_order_relaxed);
  atomic_fetch_or_explicit(&u[1], 1u << (i % 16), memory_order_relaxed);
  atomic_fetch_xor_explicit(&u[2], i, memory_order_relaxed);
  atomic_fetch_add_explicit(&f[0], 0.5f, memory_order_relaxed);
  atomic_fetch_sub_explicit(&f[1], 0.25f, memory_order_relaxed);
  atomic_max_explicit(&w[0], ulong(i) << 33, memory_order_relaxed);
  atomic_min_explicit(&w[1], ulong(i) + (1ul << 40), memory_order_relaxed);
  atomic_store_explicit(&flags[i % 2], true, memory_order_relaxed);
  float seen = atomic_load_explicit(&f[2], memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&f[2], &seen, seen + 2.0f, memory_order_relaxed,
                                                memory_order_relaxed)) {
  }
  old[i] = atomic_exchange_explicit(&u[3], i, memory_order_relaxed);
  atomic_fetch_add_explicit(&local, 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) atomic_fetch_add_explicit(&u[4], atomic_load_explicit(&local, memory_order_relaxed),
                                        memory_order_relaxed);
}
"""


def test_atomics_of_every_type_and_operation() -> None:
    for variant in accepted(ATOMICS).variants:
        s, f = np.zeros(4, np.int32), np.zeros(3, np.float32)
        u = np.array([0xFFFFFFFF, 0, 0, 999, 0], np.uint32)
        w = np.array([0, 2**63], np.uint64)
        flags, old = np.zeros(3, np.uint8), np.zeros(128, np.uint32)
        kernel = vgpu.Module.from_ptx(variant.ptx).kernel("k")
        run = vgpu.launch(kernel, 2, 64, [s, u, f, w, flags, old])
        assert run.ended == "finished", run.reason
        assert {f.kind for f in run.faults if f.severity == "error"} == set()
        i = np.arange(128)
        assert list(s) == [(i - 10).sum(), -128, -127, 127]
        assert list(u[[0, 1, 2, 4]]) == [0, 0xFFFF, np.bitwise_xor.reduce(i), 128]
        assert sorted([*old, u[3]]) == sorted([999, *i])
        assert list(f) == [64, -32, 256]
        assert list(w) == [127 << 33, 1 << 40]
        assert list(flags) == [1, 1, 0]
