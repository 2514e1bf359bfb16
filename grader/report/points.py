"""The points of a result as parts that add up, for systems that want a list of tests."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from grader.result import Record, Result


class Part(Record):
    """Points for one rubric item."""

    name: str
    points: int
    out_of: int
    why: str


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """`total` divided in proportion to `weights` into whole numbers, by largest remainder.

    No part exceeds its weight while `total` does not exceed their sum.
    """
    whole = sum(weights)
    if not whole:
        return [0] * len(weights)
    exact = [Fraction(total * weight, whole) for weight in weights]
    parts = [int(share) for share in exact]
    order = sorted(range(len(parts)), key=lambda i: (parts[i] - exact[i], i))
    for i in order[: total - sum(parts)]:
        parts[i] += 1
    return parts


def parts(result: Result, points: int | None = None) -> tuple[Part, ...]:
    """The rubric items of a result; with `points` (after lateness, by an instructor) their sum is
    that. A result without a score is one part without points.
    """
    score = result.score
    total = score.points if points is None else max(0, min(points, score.out_of))
    lines = score.lines
    if total is None or not lines:
        return (Part(name="submission", points=total or 0, out_of=score.out_of,
                     why=result.reason),)  # fmt: skip
    earned = [line.points for line in lines]
    limits = [line.out_of for line in lines]
    if total < sum(earned):
        earned = shares(total, earned)
    elif total > sum(earned):
        missing = [limit - part for limit, part in zip(limits, earned, strict=True)]
        more = shares(total - sum(earned), missing)
        earned = [part + extra for part, extra in zip(earned, more, strict=True)]
    return tuple(
        Part(name=line.item, points=part, out_of=line.out_of, why=line.why)
        for line, part in zip(lines, earned, strict=True)
    )
