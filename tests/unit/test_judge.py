"""A case's verdict from what its builds did: the union of faults, numbers only where they count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import judge
from grader.assignment import load
from grader.cases import expected
from grader.result import Fault, Severity, Verdict
from grader.run import Run, Task, Work


def fault(**more: Any) -> Fault:
    values = {
        "kind": "out_of_bounds",
        "severity": Severity.ERROR,
        "access": "read",
        "buffer": "A",
        "file": "/tmp/build/vec_add.cu",
        "line": 6,
        "message": "read outside",
        **more,
    }
    return Fault(**values)


@pytest.fixture(scope="module")
def task() -> Task:
    whole = Task.of(load("assignment3"), "cuda-c", small=True, jobs=1)
    return whole.only({"a thousand"})


def judged(task: Task, *runs: Run) -> Any:
    _, data = task.cases[0]
    works = [Work(data.case, f"build {i}", i == 0, data, (), "all", 1000) for i in range(len(runs))]
    [result] = judge.cases(task, works, runs, file="vec_add.cu", device="virtual")
    return result


def right(task: Task, **more: Any) -> Run:
    """A run that wrote every element and every number right."""
    data = task.cases[0][1]
    outputs = {
        name: oracle.value.astype(np.float32)
        for name, oracle in expected(task.assignment, data).items()
    }
    written = {name: np.ones(array.shape, bool) for name, array in outputs.items()}
    values = {"ended": "finished", "outputs": outputs, "written": written, **more}
    return Run(**values)


def test_right_numbers_and_no_fault_are_accepted(task: Task) -> None:
    assert judged(task, right(task)).verdict is Verdict.ACCEPTED


def test_a_fault_of_the_build_for_checking_counts(task: Task) -> None:
    result = judged(task, right(task), Run("finished", faults=(fault(),)))
    assert result.verdict is Verdict.OUT_OF_BOUNDS
    assert result.faults[0].file == "vec_add.cu"


def test_a_wrong_number_is_a_wrong_answer(task: Task) -> None:
    run = right(task)
    wrong = run.outputs["C"].copy()
    wrong[7] += 1
    result = judged(task, right(task, outputs={"C": wrong}))
    assert result.verdict is Verdict.WRONG_ANSWER
    assert result.mismatch is not None
    assert result.mismatch.index == (7,)


def test_an_element_nobody_wrote_is_a_wrong_answer_even_with_the_right_number(task: Task) -> None:
    written = np.ones(1000, bool)
    written[3] = False
    result = judged(task, right(task, written={"C": written}))
    assert result.verdict is Verdict.WRONG_ANSWER
    assert [f.kind for f in result.faults] == ["unwritten"]


@pytest.mark.parametrize(
    ("ended", "verdict"),
    [
        ("trap", Verdict.CRASHED),
        ("fuel", Verdict.TIMED_OUT),
        ("time", Verdict.TIMED_OUT),
        ("skipped", Verdict.TIMED_OUT),
        ("deadlock", Verdict.BAD_BARRIER),
        ("unsupported", Verdict.NOT_GRADABLE),
        ("refused", Verdict.BAD_HOST_CALL),
    ],
)
def test_how_it_ended_decides_and_half_done_outputs_are_not_compared(
    task: Task, ended: Any, verdict: Verdict
) -> None:
    zeros = {"C": np.zeros(1000, np.float32)}
    result = judged(task, Run(ended, "why", outputs=zeros, written={"C": np.zeros(1000, bool)}))
    assert result.verdict is verdict
    assert result.mismatch is None


def test_what_the_build_for_checking_cannot_execute_says_nothing(task: Task) -> None:
    assert judged(task, right(task), Run("unsupported", "dp4a")).verdict is Verdict.ACCEPTED
    assert judged(task, right(task), Run("skipped")).verdict is Verdict.ACCEPTED
    assert judged(task, right(task), Run("trap")).verdict is Verdict.CRASHED


def test_a_check_that_the_assignment_lowers_is_shown_but_does_not_judge(task: Task) -> None:
    assignment = task.assignment.model_copy(
        update={
            "checks": {
                "out_of_bounds": type(
                    "Lowered", (), {"severity": "warning", "reason": "not taught yet"}
                )()
            }
        }
    )
    lowered = Task(assignment, task.language, task.cases, task.contracts)
    result = judged(lowered, right(task, faults=(fault(),)))
    assert result.verdict is Verdict.ACCEPTED
    assert result.faults[0].severity is Severity.WARNING
    assert "not taught yet" in result.faults[0].message


def test_one_finding_of_two_builds_is_said_once_with_the_exact_line() -> None:
    optimised = (fault(line=None, count=24), fault(buffer="B", line=7))
    checking = (fault(count=24, column=12),)
    merged = judge.merge([optimised, checking], "vec_add.cu")
    assert [(f.buffer, f.line, f.count) for f in merged] == [("A", 6, 24), ("B", 7, 1)]
    assert merged[0].column == 12


def test_local_memory_is_named_where_one_build_knows_the_array() -> None:
    unnamed = fault(kind="uninitialised", buffer="local memory", space="local")
    named = fault(kind="uninitialised", buffer="held", space="local")
    merged = judge.merge([(unnamed, fault()), (named, fault())], "vec_add.cu")
    assert [f.buffer for f in merged] == ["held", "A"]
    assert judge.merge([(unnamed,), ()], "vec_add.cu")[0].buffer == "local memory"


def test_a_finding_of_two_launches_adds_up() -> None:
    merged = judge.merge([(fault(count=2), fault(count=3))], "vec_add.cu")
    assert [f.count for f in merged] == [5]


def test_a_header_keeps_its_own_name() -> None:
    merged = judge.merge([(fault(file="/usr/include/cuda_fp16.hpp"),)], "vec_add.cu")
    assert merged[0].file == "cuda_fp16.hpp"


def test_order_matters_when_the_bytes_differ() -> None:
    one = Run("finished", outputs={"C": np.array([1.0])})
    other = Run("finished", outputs={"C": np.array([2.0])})
    assert "another one" in judge.order_matters(one, other)
    assert "by luck" in judge.order_matters(one, one)


@given(st.lists(st.integers(0, 80), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_a_map_counts_every_element_once(shape: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    wrong = rng.random(shape) < 0.1
    unwritten = (rng.random(shape) < 0.1) & ~wrong
    found = judge.output_map("C", wrong, unwritten)
    assert sum(found.wrong) == wrong.sum()
    assert sum(found.unwritten) == unwritten.sum()
    assert found.rows <= judge.MAP_CELLS
    assert found.columns <= judge.MAP_CELLS
    assert len(found.wrong) == len(found.unwritten) == found.rows * found.columns


def test_a_short_vector_has_a_warp_to_a_row() -> None:
    wrong = np.zeros(100, bool)
    wrong[33] = True
    found = judge.output_map("C", wrong, np.zeros(100, bool))
    assert (found.rows, found.columns) == (4, 32)
    assert found.wrong.index(1) == 33


def test_a_matrix_keeps_its_rows() -> None:
    wrong = np.zeros((100, 300), bool)
    wrong[99, 299] = True
    found = judge.output_map("C", wrong, np.zeros((100, 300), bool))
    assert (found.rows_per_cell, found.columns_per_cell) == (2, 5)
    assert found.wrong.index(1) == len(found.wrong) - 1
