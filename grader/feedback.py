"""What a student may see of a result."""

from __future__ import annotations

from grader.assignment_schema import Assignment
from grader.result import CaseResult, Result


def shown(result: Result, assignment: Assignment) -> Result:
    """The result as the assignment's `feedback` says, without any number of a hidden case.

    The verdict and the points are the same whatever is shown.
    """
    if assignment.feedback == "verdict":
        step = "Your instructor's feedback setting shows the verdict only."
        return result.model_copy(update={"cases": (), "reason": "", "next_step": step})
    cases = []
    for case in result.cases:
        if assignment.feedback == "cases" or case.hidden:
            cases.append(_verdict_only(case))
        else:
            cases.append(case)
    return result.model_copy(update={"cases": tuple(cases)})


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
            "metrics": None,
            "timing": None,
            "reference": None,
            "printed": "",
            "reason": reason,
        }
    )
