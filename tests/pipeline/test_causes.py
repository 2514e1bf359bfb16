"""The next step of real submissions with the mistakes people make: each names its cause."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import assignment as assignments
from grader import grade, warm
from grader.languages import triton
from grader.report.findings import leading_case, telling_line
from grader.result import Result
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

KNOWN = (
    ("missing guard", "assignment3", "out_of_bounds/no_guard.cu", "No condition guards"),
    ("<= for <", "assignment3", "out_of_bounds/guard_one_too_far.cu", "use < instead of <="),
    ("> for >=", "assignment1", "out_of_bounds/guard_one_too_far.cu", ">= instead of >"),
    ("guard on another index", "assignment3", "out_of_bounds/guard_on_thread_index.cu",
     "compare `i` with the number of elements of A"),
    ("wrong stride", "assignment4", "wrong_answer/ignores_the_stride.cu", "times the stride"),
    ("x and y swapped", "assignment4", "out_of_bounds/swapped_indices.cu", "compare `r`"),
    ("not transposed", "assignment5", "wrong_answer/copy.cu", "stores input as it is"),
    ("only the first block", "assignment3", "wrong_answer/thread_index_only.cu",
     "The number of the block is not in the index"),
    ("only the first block of a sum", "assignment6", "wrong_answer/first_block_only.cu",
     "Only the first 256 elements of x"),
    ("missing barrier", "assignment5", "race/no_barrier.cu", "Put __syncthreads()"),
    ("missing barrier in a loop", "assignment6", "race/no_barrier_in_the_tree.cu",
     "at the end of every round"),
    ("no atomic", "assignment6", "race/plain_add_to_total.cu", "atomic operation"),
    ("no first value", "assignment6", "uninitialised/shared_sum_not_zeroed.cu",
     "before it is read"),
    ("half precision", "assignment3", "wrong_answer/half_precision.cu", "Compute in 32 bits"),
    ("maximum from 0", "assignment8", "wrong_answer/maximum_starts_at_zero.cu", "-infinity"),
    ("endless loop", "assignment3", "timed_out/loop_never_steps.cu", "The loop on line 8"),
    ("16-bit index", "assignment3", "wrong_answer/short_position.metal", "16 bits"),
    ("wrong buffer index", "assignment3", "build_failed/wrong_buffer_index.metal",
     "wrong_buffer_index.metal:7"),
    ("unmasked tail", "assignment3", "out_of_bounds/no_mask.py", "Add `mask=offs < n`"),
)  # fmt: skip

VEC_ADD = """\
{head}
__global__ void vec_add(const float* A, const float* B, float* C, int N) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {{
        {body}
    }}
}}
"""

MADE = (
    ("32-bit overflow", "", "C[i] = A[(i + 1) * 1000000000 % 2000000011];", "did not fit in 32"),
    ("half overflow", "#include <cuda_fp16.h>",
     "float x = A[i] * 1e6f; C[i] = __half2float(__float2half(x)) * 1e-6f + B[i];",
     "wider type"),
    ("twice", "", "C[i] = 2 * (A[i] + B[i]);", "added 2 times"),
    ("operator", "", "C[i] = A[i] - B[i];", "The kernel computes A - B"),
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _warm() -> Iterator[None]:
    with warm.children():
        yield


def graded(name: str, path: Path) -> Result:
    assignment = assignments.load(name)
    large = path.stem == "short_position"  # it needs more than 65,536 elements
    return grade.submit(assignment, path, small=not large, jobs=1)


@pytest.mark.parametrize(
    ("name", "file", "words"), [row[1:] for row in KNOWN], ids=[row[0] for row in KNOWN]
)
def test_a_known_submission(name: str, file: str, words: str) -> None:
    if file.endswith(".py") and triton.missing() is not None:
        pytest.skip("Triton has wheels for Linux only")
    result = graded(name, ROOT / "assignments" / name / "submissions" / file)
    assert words in result.next_step, (result.reason, result.next_step)
    assert result.verdict.value == Path(file).parent.name


def test_the_line_shown_is_of_the_kernel_that_was_given_the_output() -> None:
    path = ROOT / "assignments/assignment4/submissions/wrong_answer/fmaxf_swallows_nan.cu"
    result = graded("assignment4", path)
    case = leading_case(result)
    assert case is not None and case.mismatch is not None and case.mismatch.output == "y"
    line = telling_line(case)
    assert line is not None and line.stores_to == ("y",)
    assert "fmaxf" in path.read_text().splitlines()[line.line - 1]


@pytest.mark.parametrize(
    ("head", "body", "words"), [row[1:] for row in MADE], ids=[row[0] for row in MADE]
)
def test_a_mistake_of_our_own(tmp_path: Path, head: str, body: str, words: str) -> None:
    file = tmp_path / "vec_add.cu"
    file.write_text(VEC_ADD.format(head=head, body=body))
    result = graded("assignment3", file)
    assert words in result.next_step, (result.reason, result.next_step)
