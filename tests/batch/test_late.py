"""Late days: begun days count, grace is forgiven whole, free days are used before points."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.batch.late import Attempt, after_penalty, charge, days_late
from grader.batch.settings import Deadline

DUE = datetime.datetime(2026, 11, 30, 23, 59, tzinfo=datetime.UTC)
DEADLINE = Deadline(due=DUE, grace_minutes=15, penalty_percent_per_day=10, most_days=4)


def after(**time: float) -> datetime.datetime:
    return DUE + datetime.timedelta(**time)


@pytest.mark.parametrize(
    ("late", "extension", "expected"),
    [
        ({"minutes": 0}, 0, 0),
        ({"minutes": 15}, 0, 0),
        ({"minutes": 16}, 0, 1),
        ({"days": 1}, 0, 1),
        ({"days": 1, "seconds": 1}, 0, 2),
        ({"days": 2}, 2, 0),
        ({"days": 2, "minutes": 20}, 2, 1),
    ],
)
def test_days(late: dict[str, float], extension: float, expected: int) -> None:
    assert days_late(after(**late), DEADLINE, extension) == expected


def attempt(number: int, points: int | None, **late: float) -> Attempt:
    return Attempt(id=number, submitted=after(**late), points=points)


def test_the_best_attempt_is_the_best_after_the_penalty() -> None:
    attempts = [attempt(1, 80), attempt(2, 90, days=2)]
    found = charge(attempts, DEADLINE, extension_days=0, free_days_left=0, policy="best")
    assert found is not None and (found.attempt, found.points, found.late_days) == (1, 80, 0)
    found = charge(attempts, DEADLINE, extension_days=0, free_days_left=2, policy="best")
    assert found is not None and (found.attempt, found.points, found.free_days) == (2, 90, 2)


def test_latest_keeps_an_earlier_grade_where_the_grader_failed() -> None:
    attempts = [attempt(1, 80), attempt(2, 40, hours=1), attempt(3, None, hours=2)]
    found = charge(attempts, DEADLINE, extension_days=0, free_days_left=9, policy="latest")
    assert found is not None and found.attempt == 2


def test_too_late_is_nothing_and_uses_no_free_days() -> None:
    found = charge([attempt(1, 80, days=5)], DEADLINE, extension_days=0, free_days_left=9,
                   policy="best")  # fmt: skip
    assert found is not None and (found.points, found.free_days) == (0, 0)


@given(st.integers(0, 100), st.integers(0, 12), st.integers(0, 12))
def test_penalty_never_gives_points_and_more_days_never_help(
    points: int, days: int, free: int
) -> None:
    free = min(free, days)
    now = after_penalty(points, days, free, DEADLINE)
    assert 0 <= now <= points
    assert after_penalty(points, days + 1, free, DEADLINE) <= now
