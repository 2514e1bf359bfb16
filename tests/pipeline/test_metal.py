"""Metal through the whole line: dispatch, threadgroup memory, words, `grade run` of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import grade, run_file
from grader.errors import UsageError
from grader.result import Result, Verdict

KNOWN = Path(__file__).resolve().parents[2] / "assignments/assignment3/submissions"

ASSIGNMENT = """
name = "tails"
title = "Exact grids and threadgroup memory"
languages = ["metal"]

[sizes]
N = "number of elements"

[[buffer]]
name = "x"
role = "input"
dtype = "float32"
shape = ["N"]

[[buffer]]
name = "y"
role = "output"
dtype = "float32"
shape = ["N"]

[[kernel]]
name = "turn"
[kernel.metal]
parameters = ["device const float* x [[buffer(0)]]", "device float* y [[buffer(1)]]"]

[[launch]]
kernel = "turn"
args = ["x", "y"]
[launch.metal]
grid = "N"
block = 64
dispatch = "threads"
threadgroup_memory = [16, 256]

[tolerance.float32]
rtol = 1e-6

[[case]]
name = "a tail"
sizes = { N = 100 }

[[case]]
name = "nothing"
sizes = { N = 0 }

[rubric]
build = 10
correct = 60
bounds = 10
sync = 20
"""

INPUTS = """
import numpy as np

def inputs(sizes, rng, case):
    return {"x": rng.standard_normal(sizes["N"]).astype(np.float32)}

def oracle(inputs, sizes):
    x = inputs["x"].astype(np.float64)
    groups = [x[i : i + 64][::-1] for i in range(0, len(x), 64)]
    return {"y": np.concatenate(groups) if groups else x}
"""

# Turns each threadgroup's elements around; the last group is smaller.
KERNEL = """#include <metal_stdlib>
using namespace metal;
kernel void turn(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                 threadgroup float* tile [[threadgroup(1)]],
                 threadgroup uint* last [[threadgroup(0)]],
                 uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                 uint n [[threads_per_threadgroup]]) {
  if (t == 0) *last = n - 1;
  tile[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = tile[*last - t];
}
"""


def submit(folder: Path, kernel: str) -> Result:
    """Grade `kernel` under the assignment above."""
    root = folder / "tails"
    root.mkdir()
    (root / "assignment.toml").write_text(ASSIGNMENT)
    (root / "inputs.py").write_text(INPUTS)
    source = folder / "kernel.metal"
    source.write_text(kernel)
    return grade.submit(str(root), source, jobs=1)


def test_an_exact_grid_needs_no_guard_and_groups_know_their_size(tmp_path: Path) -> None:
    result = submit(tmp_path, KERNEL)
    assert result.verdict is Verdict.ACCEPTED, (result.reason, result.cases)


def test_threadgroup_arguments_have_the_lengths_that_the_host_sets(tmp_path: Path) -> None:
    result = submit(tmp_path, KERNEL.replace("tile[t] = x[i];", "tile[t + 1] = x[i];"))
    assert result.verdict is Verdict.OUT_OF_BOUNDS
    fault = result.cases[0].faults[0]
    assert (fault.line, fault.access) == (9, "write")


def test_a_barrier_that_orders_nothing_is_found_and_worded(tmp_path: Path) -> None:
    result = submit(tmp_path, KERNEL.replace("mem_threadgroup);", "mem_none);"))
    assert result.verdict is Verdict.RACE
    fault = next(f for f in result.cases[0].faults if f.kind == "race" and f.severity == "error")
    assert "threadgroup 0, thread" in fault.message
    assert "block" not in fault.message
    assert fault.advice is not None
    assert "threadgroup_barrier(mem_flags::mem_threadgroup)" in fault.advice
    assert result.next_step == fault.advice


def test_a_texture_is_not_gradable_and_costs_nothing(tmp_path: Path) -> None:
    kernel = KERNEL.replace("kernel void", "float4 at(texture2d<float> t);\nkernel void")
    result = submit(tmp_path, kernel)
    assert result.verdict is Verdict.NOT_GRADABLE
    assert "kernel.metal:3: texture2d is not supported" in result.reason
    assert result.score.points is None


@pytest.mark.parametrize(
    ("file", "verdict", "line"),
    [
        ("bad_barrier/early_return.metal", Verdict.BAD_BARRIER, 10),
        ("race/barrier_that_orders_nothing.metal", Verdict.RACE, 16),
        ("build_failed/wrong_qualifier.metal", Verdict.BUILD_FAILED, 7),
    ],
)
def test_known_submissions_get_their_verdict(file: str, verdict: Verdict, line: int) -> None:
    result = grade.submit("assignment3", KNOWN / file, jobs=1, small=True)
    assert result.verdict is verdict
    lines = {f.line for case in result.cases for f in case.faults if f.severity == "error"}
    lines |= {d.line for build in result.builds for d in build.diagnostics}
    assert line in lines


def test_a_metal_file_can_be_run_without_an_assignment() -> None:
    found = run_file.run(
        KNOWN / "out_of_bounds/no_guard.metal",
        kernel=None,
        grid=(2, 1, 1),
        block=(64, 1, 1),
        shared_bytes=0,
        specs=["f32[100]", "f32[100]", "f32[100]=0", "N:u32=100"],
    )
    assert found.kernel == "vec_add"
    assert found.exit_code == 1
    assert {(f.kind, f.buffer, f.index) for f in found.faults} == {
        ("out_of_bounds", name, 100) for name in "ABC"
    }
    assert all("threadgroup 1" in f.message for f in found.faults)


def run_alone(path: Path, block: int) -> run_file.FileRun:
    return run_file.run(
        path,
        kernel=None,
        grid=(1, 1, 1),
        block=(block, 1, 1),
        shared_bytes=0,
        specs=["f32[256]", "f32[256]=0"],
    )


ALONE = """#include <metal_stdlib>
using namespace metal;
[[max_total_threads_per_threadgroup(64)]]
kernel void turn(device const float* x, device float* y, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[256];
  tile[i] = x[i];
  y[i] = tile[i ^ 33];
}
"""


def test_of_a_library_only_the_kernel_that_is_run_must_fit(tmp_path: Path) -> None:
    library = tmp_path / "library.metal"
    library.write_text(
        "kernel void large(device float* a, uint i [[thread_index_in_threadgroup]]) {\n"
        "  threadgroup float s[9000];\n  s[i] = a[i];\n  a[i] = s[i];\n}\n"
        "kernel void small(device float* a, uint i [[thread_position_in_grid]]) { a[i] *= 2; }\n"
    )

    def ended(kernel: str) -> str:
        return run_file.run(
            library, kernel=kernel, grid=(1, 1, 1), block=(32, 1, 1), shared_bytes=0,
            specs=["f32[32]"],
        ).ended  # fmt: skip

    assert ended("small") == "finished"
    assert ended("large") == "build_failed"
    library.write_text(library.read_text().replace("9000", "90"))
    with pytest.raises(UsageError, match=r"^library\.metal has no kernel smal$"):
        ended("smal")


def test_what_is_said_of_a_metal_file_speaks_of_metal(tmp_path: Path) -> None:
    path = tmp_path / "turn.metal"
    path.write_text(ALONE)
    found = run_alone(path, 64)
    assert "race" in {fault.kind for fault in found.faults}
    assert found.reason.startswith("with the SIMD-groups in reverse order")
    said = [
        found.reason,
        *(f.message for f in found.faults),
        *(f.advice or "" for f in found.faults),
    ]
    assert not any(word in text.lower() for text in said for word in ("cuda", "warp", "block"))


def test_a_dispatch_may_have_as_many_threads_as_the_kernel_says(tmp_path: Path) -> None:
    path = tmp_path / "turn.metal"
    path.write_text(ALONE)
    with pytest.raises(UsageError) as refused:
        run_alone(path, 96)
    assert refused.value.message == (
        "Metal refuses this dispatch: a threadgroup of 96 threads, more than the 64 that turn was "
        "compiled for ([[max_total_threads_per_threadgroup]])"
    )
    with pytest.raises(UsageError, match="Metal refuses this dispatch: threadgroup x is 2048"):
        run_alone(path, 2048)


def test_a_threadgroup_that_the_kernel_does_not_allow_is_the_student_s(tmp_path: Path) -> None:
    limited = "[[max_total_threads_per_threadgroup(32)]] kernel void"
    result = submit(tmp_path, KERNEL.replace("kernel void", limited))
    assert result.verdict is Verdict.BAD_HOST_CALL
    fault = result.cases[0].faults[0]
    assert fault.message.startswith("Metal would refuse the dispatch: a threadgroup of 64 threads")
    assert result.next_step.startswith("Choose a threadgroup")
