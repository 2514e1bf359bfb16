"""What a student sees: nothing of a hidden case but its verdict and the line of a fault."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from grader import advice, feedback, report, watch
from grader.assignment import load
from grader.report import json, junit, sarif, terminal
from grader.result import Verdict
from grader.verdict import VERDICT_OF_FAULT
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


@pytest.mark.parametrize("kind", sorted(VERDICT_OF_FAULT))
def test_every_report_can_be_written_of_a_hidden_case(kind: str, tmp_path: Path) -> None:
    """Numbers that are not said must not be asked for, whatever went wrong in the hidden case."""
    result = results.out_of_bounds()
    verdict = VERDICT_OF_FAULT[kind]
    fault = results.OUT_OF_BOUNDS.model_copy(update={"kind": kind})
    hidden = result.cases[1].model_copy(
        update={"hidden": True, "faults": (fault,), "verdict": verdict}
    )
    shown = feedback.shown((hidden,), load("assignment3"))
    found = result.model_copy(update={"cases": shown, "verdict": verdict})
    report.write(found, tmp_path)
    for verbose in (False, True):
        out = io.StringIO()
        terminal.show(found, Console(file=out, width=80), verbose=verbose)
        assert "[1000]" not in out.getvalue()
    assert "[1000]" not in (tmp_path / "report.md").read_text()
    assert junit.render([("ann", found)]) and sarif.render([("ann", found)])
    assert watch.difference(found, found) == watch.Difference(fixed=(), new=())
