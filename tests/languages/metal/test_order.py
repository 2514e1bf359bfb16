"""Barriers, flags and exact grids as Metal has them, run on the virtual GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader import vgpu
from tests.languages.metal.sources import accepted


def run(
    arguments: str, statements: str, args: list[Any], *, grid: Any = 1, block: Any = 64, **more: Any
) -> vgpu.Launch:
    """Launch `kernel void k(arguments) {statements}`, unoptimised, with every check."""
    text = (
        "#include <metal_stdlib>\nusing namespace metal;\n"
        f"kernel void k({arguments}) {{\n{statements}\n}}\n"
    )
    kernel = vgpu.Module.from_ptx(accepted(text).variants[1].ptx).kernel("k")
    return vgpu.launch(kernel, grid, block, args, **more)


def found(launch: vgpu.Launch) -> set[tuple[str, str, int | None]]:
    return {(f.kind, f.severity, f.line) for f in launch.faults}


EXCHANGE = (
    "device float* a, device float* b, uint i [[thread_index_in_threadgroup]]",
    "  threadgroup float s[64];\n  {memory}[i] = a[i];\n"
    "  threadgroup_barrier(mem_flags::{flags});\n  b[i] = {memory}[63 - i];",
)


@pytest.mark.parametrize(
    ("memory", "flags", "orders"),
    [
        ("s", "mem_threadgroup", True),
        ("s", "mem_device | mem_flags::mem_threadgroup", True),
        ("s", "mem_device", False),
        ("s", "mem_none", False),
        ("b", "mem_threadgroup", False),
        ("b", "mem_none", False),
    ],
)
def test_a_barrier_orders_what_its_flags_say(memory: str, flags: str, orders: bool) -> None:
    arguments, statements = EXCHANGE
    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    statements = statements.format(memory=memory, flags=flags)
    if memory == "b":
        statements = statements.replace("b[i] = b[63 - i]", "a[i] = b[63 - i]")
    launch = run(arguments, statements, [a, b])
    assert launch.ended == "finished"
    races = {(s, line) for kind, s, line in found(launch) if kind == "race"}
    assert races == (set() if orders else {("error", 7)})


def test_device_memory_is_ordered_by_mem_device() -> None:
    launch = run(
        EXCHANGE[0],
        "  b[i] = a[i];\n  threadgroup_barrier(mem_flags::mem_device);\n  a[i] = b[63 - i];",
        [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)],
    )
    assert found(launch) == set()


def test_a_simdgroup_barrier_orders_its_own_threads_only() -> None:
    statements = (
        "  threadgroup float s[64];\n  s[i] = a[i];\n"
        "  simdgroup_barrier(mem_flags::mem_threadgroup);\n  b[i] = s[{}];"
    )
    args = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]
    assert found(run(EXCHANGE[0], statements.format("i ^ 1"), args)) == set()
    across = run(EXCHANGE[0], statements.format("i ^ 32"), args)
    assert ("race", "error", 7) in found(across)


def test_returning_before_a_barrier_is_an_error() -> None:
    launch = run(
        EXCHANGE[0],
        "  if (i > 40) return;\n  threadgroup_barrier(mem_flags::mem_threadgroup);\n  b[i] = a[i];",
        [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)],
    )
    assert found(launch) == {("bad_barrier", "error", 5)}


def test_simd_functions_act_on_the_threads_that_are_there() -> None:
    b = np.zeros(64, np.uint32)
    launch = run(
        "device uint* b, uint i [[thread_index_in_threadgroup]]",
        "  if (i % 3 == 0) b[i] = simd_sum(i);\n  else b[i] = simd_sum(1u);",
        [b],
    )
    assert launch.faults == ()
    lanes = np.arange(64)
    third = lanes % 3 == 0
    for group in (lanes < 32, lanes >= 32):
        assert set(b[group & third]) == {lanes[group & third].sum()}
        assert set(b[group & ~third]) == {(group & ~third).sum()}


def test_dispatch_threads_launches_exactly_that_many() -> None:
    out = np.full((3, 100), 99, np.uint32)
    launch = run(
        "device uint* out, uint i [[thread_position_in_grid]], "
        "uint size [[threads_per_threadgroup]], uint grid [[threads_per_grid]]",
        "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
        "  out[i] = size; out[100 + i] = grid; out[200 + i] = 1;",
        [out],
        grid=2,
        threads=100,
    )
    assert launch.faults == ()
    assert list(out[0]) == [64] * 64 + [36] * 36
    assert set(out[1]) == {100}
    assert out[2].sum() == 100


def test_dispatch_threads_in_two_dimensions() -> None:
    out = np.zeros((5, 7), np.uint32)
    launch = run(
        "device uint* out, uint2 at [[thread_position_in_grid]], "
        "uint2 size [[threads_per_threadgroup]], uint2 grid [[threads_per_grid]]",
        "  out[at.y * grid.x + at.x] += 100 * size.y + size.x;",
        [out],
        grid=(2, 3),
        block=(4, 2),
        threads=(7, 5),
    )
    assert launch.faults == ()
    expected = np.add.outer(100 * np.array([2, 2, 2, 2, 1]), np.array([4, 4, 4, 4, 3, 3, 3]))
    assert np.array_equal(out, expected)


def test_whole_groups_are_the_default_and_need_a_guard() -> None:
    out = np.zeros(100, np.uint32)
    launch = run(
        "device uint* out, uint i [[thread_position_in_grid]]", "  out[i] = 1;", [out], grid=2
    )
    assert found(launch) == {("out_of_bounds", "error", 4)}


def test_a_grid_that_does_not_fit_its_threads_is_refused() -> None:
    with pytest.raises(vgpu.LaunchError, match="blocks"):
        run("device uint* out", "  out[0] = 1;", [np.zeros(1, np.uint32)], grid=3, threads=100)


def test_a_reused_threadgroup_buffer_needs_a_second_barrier() -> None:
    statements = (
        "  threadgroup float s[64];\n  s[i] = a[i];\n"
        "  threadgroup_barrier(mem_flags::mem_threadgroup);\n  float x = s[63 - i];\n{}"
        "  s[i] = x * 2;\n  threadgroup_barrier(mem_flags::mem_threadgroup);\n  b[i] = s[63 - i];"
    )
    args = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]
    lines = {line for _, _, line in found(run(EXCHANGE[0], statements.format(""), args))}
    assert lines == {7, 8}
    barrier = "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    assert found(run(EXCHANGE[0], statements.format(barrier), args)) == set()


def test_local_memory_and_arguments_keep_their_places() -> None:
    a = np.arange(8, dtype=np.float32)
    launch = run(
        "device float* a, uint i [[thread_position_in_grid]]",
        "  a[i +\n    4] = 1;",
        [a],
        block=8,
    )
    (fault,) = launch.faults
    assert (fault.file, fault.line, fault.column) == ("kernel.metal", 5, 8)
    assert (fault.kind, fault.index, fault.extent) == ("out_of_bounds", 8, 8)


def test_a_device_barrier_orders_one_threadgroup_only() -> None:
    """Threadgroup 1 reads what threadgroup 0 wrote: no barrier reaches across."""
    statements = (
        "  b[i] = a[i];\n  threadgroup_barrier(mem_flags::mem_device);\n  a[i] = b[127 - i];"
    )
    arguments = EXCHANGE[0].replace("thread_index_in_threadgroup", "thread_position_in_grid")
    launch = run(
        arguments, statements, [np.arange(128, dtype=np.float32), np.zeros(128, np.float32)], grid=2
    )
    assert ("race", "error", 6) in found(launch)
