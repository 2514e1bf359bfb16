"""The workflow's steps from a trace: each one forgotten is the only one that is missed."""

from __future__ import annotations

import pytest

from grader.assignment_schema import STEPS
from grader.programs.run import Call
from grader.programs.steps import steps

LAUNCH = Call(
    api="<<<>>>", line=6, kernel="add", grid=(4, 1, 1), block=(256, 1, 1), threads=1024,
    largest_elements=1000, buffers=("a", "c"), outputs=("c",),
)  # fmt: skip
TRACE = (
    Call(api="cudaMalloc", line=1, buffer="a", address=1, bytes=4000),
    Call(api="cudaMalloc", line=2, buffer="c", address=2, bytes=4000),
    Call(api="cudaMemcpy", line=3, buffer="a", kind="cudaMemcpyHostToDevice"),
    LAUNCH,
    Call(api="cudaGetLastError", line=7),
    Call(api="cudaDeviceSynchronize", line=8),
    Call(api="cudaMemcpy", line=9, buffer="c", kind="cudaMemcpyDeviceToHost"),
    Call(api="cudaFree", line=10, buffer="a", address=1),
    Call(api="cudaFree", line=11, buffer="c", address=2),
)


def missed(trace: tuple[Call, ...]) -> set[str]:
    """The steps that were not done."""
    return {step.name for step in steps(trace, 1, 1) if not step.ok}


def test_the_whole_workflow() -> None:
    found = steps(TRACE, 1, 1)
    assert tuple(step.name for step in found) == STEPS
    assert missed(TRACE) == set()


@pytest.mark.parametrize(
    ("left_out", "expected"),
    [
        ((2,), {"copied_in", "host"}),
        ((4,), {"checked"}),
        ((5,), {"synchronised"}),
        ((6,), {"copied_out", "host"}),
        ((8,), {"freed"}),
        ((1, 8), {"allocated"}),
    ],
)
def test_what_is_left_out_is_missed(left_out: tuple[int, ...], expected: set[str]) -> None:
    trace = tuple(call for k, call in enumerate(TRACE) if k not in left_out)
    assert missed(trace) == expected


def test_too_few_threads_leave_a_tail() -> None:
    small = LAUNCH.model_copy(update={"threads": 768})
    trace = tuple(small if call is LAUNCH else call for call in TRACE)
    assert missed(trace) == {"covered"}
    (step,) = (s for s in steps(trace, 1, 1) if not s.ok)
    assert step.why == "line 6 launches 768 threads for 1000 elements"


def test_a_refused_launch_is_none() -> None:
    refused = LAUNCH.model_copy(update={"status": 9})
    trace = tuple(refused if call is LAUNCH else call for call in TRACE)
    assert {"launched", "covered", "checked", "synchronised", "copied_out"} <= missed(trace)


def test_order_counts() -> None:
    early = (*TRACE[:2], TRACE[3], TRACE[2], *TRACE[4:])
    assert "copied_in" in missed(early)
    late = (*TRACE[:5], TRACE[6], TRACE[5], *TRACE[7:])
    assert missed(late) == {"synchronised"}
