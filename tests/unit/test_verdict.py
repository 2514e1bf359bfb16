"""The verdict table: complete, and the worst wins."""

from __future__ import annotations

import pytest

from grader.pattern_advice import ZERO
from grader.result import CaseResult, Fault, Mismatch, Severity, Verdict
from grader.verdict import VERDICT_OF_FAULT, of_case, telling, worst


@pytest.mark.parametrize("kind", VERDICT_OF_FAULT)
def test_only_errors_change_a_verdict(kind: str) -> None:
    fault = Fault(kind=kind, severity=Severity.ERROR, message="")
    assert of_case("finished", [fault], None) is VERDICT_OF_FAULT[kind]
    for severity in (Severity.WARNING, Severity.NOTE):
        mild = fault.model_copy(update={"severity": severity})
        assert of_case("finished", [mild], None) is Verdict.ACCEPTED


def test_the_worst_verdict_wins() -> None:
    assert worst([Verdict.ACCEPTED, Verdict.RACE, Verdict.WRONG_ANSWER]) is Verdict.RACE
    assert worst([]) is Verdict.ACCEPTED


def test_an_unknown_kind_is_an_error_of_ours() -> None:
    fault = Fault(kind="no_such_kind", severity=Severity.ERROR, message="")
    with pytest.raises(KeyError):
        of_case("finished", [fault], None)


def test_zeros_that_come_from_the_inputs_of_one_case_tell_nothing() -> None:
    def wrong(name: str, pattern: str | None) -> CaseResult:
        mismatch = Mismatch(output="y", index=(0,), expected=1, actual=0, wrong=9, total=9,
                            pattern=pattern, message="y[0]")  # fmt: skip
        return CaseResult(name=name, device="virtual", verdict=Verdict.WRONG_ANSWER,
                          mismatch=mismatch)  # fmt: skip

    def told(*cases: CaseResult) -> str:
        case = telling(Verdict.WRONG_ANSWER, cases)
        return case.name if case else ""

    first, zero = wrong("first", None), wrong("a is zero", ZERO)
    assert told(first, wrong("second", None), zero) == "first"
    assert told(first, zero) == "a is zero"
    assert told(first, wrong("x", None), zero, wrong("tail", "only the tail from 8 on")) == "tail"
