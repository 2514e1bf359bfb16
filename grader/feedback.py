"""What a student may see of a result.

The whole result is for the instructor: the gradebook holds it, and the class report shows it.
Whatever reaches a student goes through `told` first.
"""

from __future__ import annotations

from grader import advice
from grader.assignment_schema import Feedback
from grader.result import CaseResult, Result, Score, Verdict
from grader.verdict import telling, worst

IN_HIDDEN = " in a case that is not shown"
NOT_SHOWN = f"a wrong number{IN_HIDDEN}"


def told(result: Result, level: Feedback) -> Result:
    """The result as a student may see it under the assignment's `feedback`.

    Without any number of a hidden case whatever the level; reason and next step are worded from
    what is left. What was reduced already is reduced no further by the same level.
    """
    cases, score = shown(result.cases, level), lines(result.score, level)
    if cases == result.cases and score == result.score:
        return result
    less = result.model_copy(update={"cases": cases, "score": score})
    if result.verdict is Verdict.ACCEPTED:
        return less.model_copy(update={"next_step": advice.faster(score)})
    if not result.cases:
        return less
    text = next((file.text for file in result.files if file.language == result.language), None)
    reason = advice.reason(result.verdict, cases)
    names = [file.name for file in result.files if file.language == result.language]
    starter = advice.still_starter(names[0], result.mentions) if names else ""
    next_step = advice.next_step(
        result.verdict, cases, source=text or "", language=result.language, starter=starter
    )
    return less.model_copy(update={"reason": reason, "next_step": next_step})


def shown(cases: tuple[CaseResult, ...], level: Feedback) -> tuple[CaseResult, ...]:
    """The cases as the level says, without any number of a hidden one."""
    if level == "verdict":
        return ()
    if level == "full":
        return tuple(_verdict_only(case) if case.hidden else case for case in cases)
    told = None
    if level == "first" and cases:
        told = telling(worst(case.verdict for case in cases), [c for c in cases if not c.hidden])
    return tuple(case if case is told else _verdict_only(case) for case in cases)


def lines(score: Score, level: Feedback) -> Score:
    """The points with why they were lost, or without where no case is to be named."""
    if level != "verdict":
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


_WORDS = {"unwritten": "elements never written", "leak": "memory never freed"}


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
                "message": f"{_WORDS.get(fault.kind, fault.kind.replace('_', ' '))}{IN_HIDDEN}",
                "advice": None,
            }
        )
        for fault in case.faults
    )
    reason = NOT_SHOWN if case.mismatch or case.reason == NOT_SHOWN else ""
    steps = tuple(
        step if step.ok else step.model_copy(update={"why": f"missing{IN_HIDDEN}"})
        for step in case.steps
    )
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
            "steps": steps,
            "printed": "",
            "reason": reason,
        }
    )
