"""What a student may see of a result."""

from __future__ import annotations

from grader.assignment_schema import Assignment
from grader.result import CaseResult, Result, Score
from grader.verdict import telling, worst


def shown(cases: tuple[CaseResult, ...], assignment: Assignment) -> tuple[CaseResult, ...]:
    """The cases as the assignment's `feedback` says, without any number of a hidden one.

    What a result says about its cases (reason, next step) is worded from these.
    """
    if assignment.feedback == "verdict":
        return ()
    if assignment.feedback == "full":
        return tuple(_verdict_only(case) if case.hidden else case for case in cases)
    told = None
    if assignment.feedback == "first" and cases:
        told = telling(worst(case.verdict for case in cases), [c for c in cases if not c.hidden])
    return tuple(case if case is told else _verdict_only(case) for case in cases)


def lines(score: Score, assignment: Assignment) -> Score:
    """The points with why they were lost, or without where no case is to be named."""
    if assignment.feedback != "verdict":
        return score
    bare = tuple(line.model_copy(update={"why": ""}) for line in score.lines)
    return score.model_copy(update={"lines": bare})


def withheld(result: Result) -> Result:
    """A result of which nothing but the verdict and the points is said yet."""
    bare = tuple(line.model_copy(update={"why": ""}) for line in result.score.lines)
    return result.model_copy(
        update={
            "reason": "the details follow after the due date",
            "next_step": "",
            "score": result.score.model_copy(update={"lines": bare}),
            "builds": (),
            "cases": (),
            "notes": None,
            "others": (),
            "mentions": (),
        }
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
