"""Points: the rubric of an assignment applied to what was found.

Shares are exact fractions until the end. Points are whole numbers that add up to the rounded
total (largest remainder); an item that lost anything never shows full points.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from grader import expressions
from grader.assignment_schema import (
    RUBRIC_ITEMS,
    Assignment,
    Band,
    MetricRule,
    NotesRubric,
    Speed,
    TimeRule,
)
from grader.result import (
    CaseResult,
    Metrics,
    NoteEntry,
    Notes,
    Score,
    ScoreLine,
    Verdict,
)
from grader.verdict import Item, items_lost

UNSCORED = (Verdict.GRADER_ERROR, Verdict.NOT_GRADABLE)
CLAIM_SHARE = {
    "right": Fraction(1),
    "partly": Fraction(1, 2),
    "unknown": Fraction(1),  # what nobody here can check never costs points
    "wrong": Fraction(0),
}
Share = tuple[Fraction, str]


def score(
    assignment: Assignment,
    verdict: Verdict,
    cases: Sequence[CaseResult] = (),
    notes: Notes | None = None,
    *,
    untouched: bool = False,
) -> Score:
    """The score of a result with this verdict.

    `cases` are those that ran (none when the build failed). Null points for `grader_error` and
    `not_gradable`: that is not the student's doing, and an earlier attempt is kept. A kernel that
    is `untouched`, as the starter has it, earns nothing unless it is accepted.
    """
    rubric = {item: getattr(assignment.rubric, item) for item in RUBRIC_ITEMS}
    out_of = sum(rubric.values())
    if verdict in UNSCORED:
        return Score(points=None, out_of=out_of)
    shares: dict[Item, Share] = {}
    nothing = {
        Verdict.REFUSED: "nothing could be graded",
        Verdict.BUILD_FAILED: "it does not build",
    }.get(verdict)
    if nothing is None and untouched and verdict is not Verdict.ACCEPTED:
        nothing = "it is still the starter"
    if nothing is None:
        shares["build"] = Fraction(1), "it builds"
        by_case: tuple[Item, ...] = ("correct", "bounds", "sync")
        for item in by_case:
            shares[item] = _by_case(item, cases)
        shares["speed"] = _speed(assignment.speed, assignment.speed_cases(), verdict, cases)
    if verdict != Verdict.REFUSED:
        shares["notes"] = _notes(assignment.notes, notes)
    rows: list[tuple[Item, int, Share]] = []
    items: list[Item] = [item for item in RUBRIC_ITEMS if rubric[item]]  # type: ignore[misc]
    for item in items:
        if item == "steps":
            rows += _steps(assignment, cases, nothing or "")
        else:
            rows.append((item, rubric[item], shares.get(item, (Fraction(0), nothing or ""))))
    points = _whole([out for _, out, _ in rows], [share for _, _, (share, _) in rows])
    lines = tuple(
        ScoreLine(item=item, points=earned, out_of=out, why=why)
        for (item, out, (_, why)), earned in zip(rows, points, strict=True)
    )
    return Score(points=sum(points), out_of=out_of, lines=lines)


def _steps(
    assignment: Assignment, cases: Sequence[CaseResult], nothing: str
) -> list[tuple[Item, int, Share]]:
    """A row for each step of the workflow: the share of the cases' weights in which it was done."""
    total = sum(case.weight for case in cases)
    rows: list[tuple[Item, int, Share]] = []
    for name, out_of in (assignment.program.steps if assignment.program else {}).items():
        seen = [(case, step) for case in cases for step in case.steps if step.name == name]
        done = sum(case.weight for case, step in seen if step.ok)
        lost = [(case, step) for case, step in seen if not step.ok and case.weight]
        missed = next((step.why for case, step in lost if not case.hidden), None)
        missed = missed or ("missing in a hidden case" if lost else None)
        label = name.replace("_", " ")
        why = f"{label}: {nothing or missed or 'in every case'}"
        share = Fraction(done, total) if total and not nothing else Fraction(0)
        rows.append(("steps", out_of, (share, why)))
    return rows


def _whole(out_of: Sequence[int], shares: Sequence[Fraction]) -> list[int]:
    """Whole points by largest remainder.

    They add up to the total rounded half up, but no item that lost something gets its full points
    and none that earned nothing gets any.
    """
    exact = [points * share for points, share in zip(out_of, shares, strict=True)]
    whole = [int(value) for value in exact]
    missing = int(sum(exact) + Fraction(1, 2)) - sum(whole)
    order = sorted(range(len(exact)), key=lambda i: (whole[i] - exact[i], i))
    for i in order:
        if missing and exact[i] > whole[i] and whole[i] + 1 < out_of[i]:
            whole[i] += 1
            missing -= 1
    return whole


def _by_case(item: Item, cases: Sequence[CaseResult]) -> Share:
    """The share of the weights of cases that do not lose `item`."""
    total = sum(case.weight for case in cases)
    if not total:
        return Fraction(0), "no case ran"
    lost = [case for case in cases if case.weight and item in items_lost(case)]
    share = Fraction(total - sum(case.weight for case in lost), total)
    if not lost:
        return share, "every case"
    names = ", ".join("a hidden case" if case.hidden else case.name for case in lost[:3])
    more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
    return share, f"lost in {names}{more}"


def _speed(
    speed: Speed | None, names: Sequence[str], verdict: Verdict, cases: Sequence[CaseResult]
) -> Share:
    """The share of the speed points; rules that cannot be measured here leave theirs to the rest.

    Time is unknown for a language without a time model, and metrics for a reference that is not
    installed. When nothing can be measured an accepted kernel has the points.
    """
    if speed is None:
        return Fraction(0), ""
    if verdict != Verdict.ACCEPTED:
        return Fraction(0), f"speed counts once the kernel is accepted; it is {verdict.value}"
    chosen = [case for case in cases if case.name in names]
    rules: list[MetricRule | TimeRule] = [*speed.metric]
    if speed.time is not None:
        rules.append(speed.time)
    earned, measured, words = Fraction(0), 0, []
    for rule in rules:
        shares = [found for case in chosen if (found := _rule(rule, speed, case)) is not None]
        if shares:
            measured += rule.points
            earned += rule.points * sum((share for share, _ in shares), Fraction(0)) / len(shares)
            words.append(shares[0][1])
    if not measured and speed.device != "virtual":
        return Fraction(1), f"its speed counts on {speed.device} only, and none measured it here"
    if not measured:
        return Fraction(1), "nothing about its speed can be measured here"
    return earned / measured, "; ".join(words)


def _rule(rule: MetricRule | TimeRule, speed: Speed, case: CaseResult) -> Share | None:
    """One rule on one case: its share and what was measured; None when it cannot be."""
    if isinstance(rule, TimeRule):
        if speed.device != "virtual":
            return _measured(rule, speed, case)
        timing, other = case.timing, case.reference.timing if case.reference else None
        if timing is None or other is None or other.nanoseconds <= 0:
            return None
        if timing.source != "modelled" or other.source != "modelled":
            return None
        value = timing.nanoseconds / other.nanoseconds
        share = _band(rule.bands, value, speed.tie_margin)
        return share, f"modelled time {_beside(value, speed.tie_margin)}"
    own = _formula(rule, case.metrics)
    if own is None:
        return None
    if rule.relative:
        base = _formula(rule, case.reference.metrics if case.reference else None)
        if not base:
            return None
        own /= base
    value = float(own)
    less_is_better = all(band.at_least is None for band in rule.bands)
    margin = speed.tie_margin if less_is_better else 1.0
    words = f"{rule.name} {_beside(value, margin) if rule.relative else f'{value:.2f}'}"
    share = _band(rule.bands, value, speed.tie_margin)
    return share, f"{words} ({rule.why})" if share < 1 and rule.why else words


def _measured(rule: TimeRule, speed: Speed, case: CaseResult) -> Share | None:
    """A time rule by the device that the assignment names; None where that did not measure.

    The ratio is that of pairs measured in turn. A time that is not believed earns nothing.
    """
    there = case.measured
    if there is None or there.device != speed.device:
        return None
    if there.untrusted:
        return Fraction(0), f"its measured time is not believed: {there.untrusted[0]}"
    if there.timing is None or there.timing.ratio_to_reference is None:
        return None
    value = there.timing.ratio_to_reference
    words = f"time measured on the {there.timing.device} {_beside(value, speed.tie_margin)}"
    if there.noisy:
        words += " (a noisy measurement)"
    return _band(rule.bands, value, speed.tie_margin), words


def _beside(value: float, tie_margin: float) -> str:
    """A multiple of what the reference needs, which is said to be better beyond the margin."""
    better = ": better than the reference" if value < 1 - tie_margin else ""
    return f"{value:.2f} times the reference's{better}"


def _formula(rule: MetricRule, metrics: Metrics | None) -> Fraction | None:
    if metrics is None:
        return None
    names = expressions.names(rule.formula, division=True)
    counts = {name: metrics.counts.get(name, 0.0) for name in names}
    return expressions.ratio(rule.formula, counts)


def _band(bands: Sequence[Band], value: float, tie_margin: float) -> Fraction:
    """Share of the first band whose limit `value` meets, within the tie margin; else none."""
    for band in bands:
        low = band.at_least is None or value >= band.at_least * (1 - tie_margin)
        high = band.at_most is None or value <= band.at_most * (1 + tie_margin)
        if low and high:
            return Fraction(str(band.share))
    return Fraction(0)


def _notes(rubric: NotesRubric | None, notes: Notes | None) -> Share:
    """The share of the notes' points: the best entries, claim by claim."""
    if rubric is None:
        return Fraction(0), ""
    if notes is None or notes.file is None:
        return Fraction(0), "there is no notes file"
    counted = [entry for entry in notes.entries
               if not rubric.frameworks or entry.framework in rubric.frameworks]  # fmt: skip
    if not counted:
        return Fraction(0), "the notes have no entry that can be read"
    total = sum(rubric.claims.values())
    best: dict[tuple[str, str | None], Fraction] = {}  # a framework's backend counts once
    for entry in counted:
        kernel = (entry.framework, entry.backend)
        best[kernel] = max(best.get(kernel, Fraction(0)), _entry(rubric, entry))
    earned = sorted(best.values(), reverse=True)[: rubric.entries]
    share = sum(earned, Fraction(0)) / (total * rubric.entries)
    return share, f"{len(earned)} of {rubric.entries} entries counted" if rubric.entries > 1 else (
        "every claim" if share == 1 else "some claims are missing or wrong"
    )


def _entry(rubric: NotesRubric, entry: NoteEntry) -> Fraction:
    """Points of one entry. A claim the note does not make earns nothing."""
    best: dict[str, Fraction] = {}
    for claim in entry.claims:
        share = CLAIM_SHARE[claim.verdict]
        best[claim.claim] = min(best.get(claim.claim, share), share)
    return sum((points * best.get(claim, Fraction(0)) for claim, points in rubric.claims.items()),
               Fraction(0))  # fmt: skip
