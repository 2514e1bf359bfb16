"""The verdict table: complete, and the worst wins."""

from __future__ import annotations

import pytest

from grader.result import Fault, Severity, Verdict
from grader.verdict import VERDICT_OF_FAULT, of_case, worst


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
