"""The verdict table: complete, and the worst wins."""

from __future__ import annotations

import pytest

from grader.result import Fault, Severity, Verdict
from grader.verdict import FAULT_VERDICTS, of_fault, worst


@pytest.mark.parametrize("kind", FAULT_VERDICTS)
def test_only_errors_change_a_verdict(kind: str) -> None:
    fault = Fault(kind=kind, severity=Severity.ERROR, message="")
    assert of_fault(fault) is FAULT_VERDICTS[kind]
    for severity in (Severity.WARNING, Severity.NOTE):
        assert of_fault(fault.model_copy(update={"severity": severity})) is None


def test_the_worst_verdict_wins() -> None:
    assert worst([Verdict.ACCEPTED, Verdict.RACE, Verdict.WRONG_ANSWER]) is Verdict.RACE
    assert worst([]) is Verdict.ACCEPTED


def test_an_unknown_kind_is_an_error_of_ours() -> None:
    with pytest.raises(KeyError):
        of_fault(Fault(kind="no_such_kind", severity=Severity.ERROR, message=""))
