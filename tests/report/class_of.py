"""A class made by hand: grades and results of as many students as a test wants."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from grader.batch.grades import Grade
from grader.batch.roster import Student
from grader.result import Result
from tests.report import results

WHEN = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.UTC)

MAKERS: tuple[Callable[[], Result], ...] = (
    results.accepted,
    results.out_of_bounds,
    results.wrong_answer,
    results.build_failed,
)

HOSTILE = '<img src=x onerror=alert(1)> "quoted" \x1b[2J \N{RIGHT-TO-LEFT OVERRIDE}evil'


def students(count: int) -> tuple[tuple[Grade, ...], Callable[[int], Result]]:
    """`count` grades, one of them of each kind of trouble, and what reads their results.

    In turn accepted, out of bounds, wrong and not built. The first student has a hostile name, the
    second was graded by a grader that failed, the third handed in nothing, the fourth was late.
    """
    made = [make() for make in MAKERS]
    failed = results.grader_error()
    grades = []
    for number in range(count):
        result = failed if number == 1 else made[number % len(made)]
        name = HOSTILE if number == 0 else f"Student {number}"
        missing = number == 2
        grades.append(
            Grade(
                student=Student(id=f"s{number:04}", name=name, section=f"L{number % 5}"),
                points=None if missing else result.score.points,
                out_of=100,
                verdict=None if missing else result.verdict,
                late_days=2 if number == 3 else 0,
                submitted=None if missing else WHEN,
                attempts=0 if missing else 1,
                result=None if missing else number + 1,
            )
        )
    return tuple(grades), lambda row: failed if row == 2 else made[(row - 1) % len(made)]
