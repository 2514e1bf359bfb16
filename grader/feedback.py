"""What a student may see of a result."""

from __future__ import annotations

from grader.assignment_schema import Assignment
from grader.result import CaseResult


def shown(cases: tuple[CaseResult, ...], assignment: Assignment) -> tuple[CaseResult, ...]:
    """The cases as the assignment's `feedback` says, without any number of a hidden one.

    What a result says about its cases (reason, next step) is worded from these.
    """
    if assignment.feedback == "verdict":
        return ()
    return tuple(
        _verdict_only(case) if case.hidden or assignment.feedback == "cases" else case
        for case in cases
    )


def _verdict_only(case: CaseResult) -> CaseResult:
    """A case without its numbers: what kind of fault stands on which line is all that is said."""
    faults = tuple(
        fault.model_copy(
            update={
                "index": None,
                "extent": None,
                "block": None,
                "thread": None,
                "other": None,
                "count": 1,
                "lanes": (),
                "message": f"{fault.kind.replace('_', ' ')} in a case that is not shown",
                "advice": None,
            }
        )
        for fault in case.faults
    )
    reason = "a wrong number in a case that is not shown" if case.mismatch else ""
    return case.model_copy(
        update={
            "sizes": {},
            "faults": faults,
            "mismatch": None,
            "maps": (),
            "metrics": None,
            "timing": None,
            "reference": None,
            "measured": None,
            "baselines": (),
            "printed": "",
            "reason": reason,
        }
    )
