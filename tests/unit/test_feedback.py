"""What a student sees: nothing of a hidden case but its verdict and the line of a fault."""

from __future__ import annotations

from grader import advice, feedback
from grader.assignment import load
from grader.report import json
from grader.result import Verdict
from tests.report import results


def test_a_hidden_case_shows_no_number() -> None:
    result = results.out_of_bounds()
    hidden = result.cases[1].model_copy(update={"hidden": True, "sizes": {"N": 123457}})
    shown = feedback.shown((result.cases[0], hidden), load("assignment3"))
    assert shown[0] == result.cases[0]
    assert shown[1].verdict is Verdict.OUT_OF_BOUNDS
    assert shown[1].faults[0].line == 6
    step = advice.next_step(Verdict.OUT_OF_BOUNDS, shown[1:], source=results.SOURCE)
    assert step
    for secret in ("123457", "232", "1000", "::error"):
        assert secret not in json.dumps(shown[1])
        assert secret not in step


def test_feedback_verdict_shows_no_case() -> None:
    assignment = load("assignment3").model_copy(update={"feedback": "verdict"})
    assert feedback.shown(results.out_of_bounds().cases, assignment) == ()


def test_feedback_cases_shows_verdicts_only() -> None:
    assignment = load("assignment3").model_copy(update={"feedback": "cases"})
    [case] = feedback.shown(results.wrong_answer().cases, assignment)
    assert case.verdict is Verdict.WRONG_ANSWER
    assert case.mismatch is None
    assert case.sizes == {}
