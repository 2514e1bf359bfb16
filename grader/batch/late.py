"""Late days: how late an attempt is, and what that costs.

Pure arithmetic; the times come from the gradebook, where they were fixed at first grading.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from grader.batch.settings import Deadline
from grader.result import Record

DAY = datetime.timedelta(days=1)


class Attempt(Record):
    """One attempt: when it was handed in, and its points before lateness; null for none.

    One that is not `timed` is in time: `submitted` puts it in order, and no more.
    """

    id: int
    submitted: datetime.datetime
    points: int | None
    timed: bool = True


class Charged(Record):
    """The attempt that counts and what being late did to it.

    `late_days` counts begun days after the due date (extensions included); `free_days` of them
    were paid from the student's late days. `points` has the penalty in it.
    """

    attempt: int
    late_days: int
    free_days: int
    points: int | None


def days_late(submitted: datetime.datetime, deadline: Deadline, extension_days: float) -> int:
    """Begun days after the due date plus extension; within the grace minutes none."""
    if deadline.due is None:
        return 0
    due = deadline.due + extension_days * DAY
    late = submitted - due
    if late <= datetime.timedelta(minutes=deadline.grace_minutes):
        return 0
    return -(-late // DAY)


def after_penalty(points: int, days: int, free: int, deadline: Deadline) -> int:
    """Points of an attempt `days` late, of which `free` cost nothing; rounded half up."""
    if deadline.most_days is not None and days > deadline.most_days:
        return 0
    percent = Fraction(str(deadline.penalty_percent_per_day)) * (days - free)
    share = max(Fraction(0), 1 - percent / 100)
    return int(points * share + Fraction(1, 2))


def charge(
    attempts: Sequence[Attempt],
    deadline: Deadline,
    *,
    extension_days: float,
    free_days_left: int,
    policy: Literal["best", "latest"],
) -> Charged | None:
    """The attempt that counts, with its penalty; None where there is no attempt.

    `best` is the most points after the penalty, then the fewest late days, then the earliest;
    `latest` is the last that has points. An attempt without points (the grader failed, or it
    could not be graded here) counts only where no other does.
    """
    charged = []
    for attempt in sorted(attempts, key=lambda a: (a.submitted, a.id)):
        days = days_late(attempt.submitted, deadline, extension_days) if attempt.timed else 0
        hopeless = deadline.most_days is not None and days > deadline.most_days
        free = 0 if hopeless else min(days, free_days_left)
        points = (
            None if attempt.points is None else after_penalty(attempt.points, days, free, deadline)
        )
        charged.append(Charged(attempt=attempt.id, late_days=days, free_days=free, points=points))
    scored = [c for c in charged if c.points is not None]
    if not charged:
        return None
    if not scored:
        return charged[-1]
    if policy == "latest":
        return scored[-1]
    return max(scored, key=lambda c: (c.points or 0, -c.late_days, -scored.index(c)))
