"""The `notes` rubric item: points per claim, and why each was earned or lost."""

from __future__ import annotations

from fractions import Fraction

from grader.notes.entries import CLAIMS
from grader.result import NoteEntry, Notes, NotesRubric, ScoreLine

_SHARE = {
    "right": Fraction(1),
    "partly": Fraction(1, 2),
    "wrong": Fraction(0),
    "unknown": Fraction(1),
}
_NAMES = {
    "version": "version", "path": "path", "global_id": "global id", "bounds_check": "bounds check",
    "operation": "operation", "elements_per_thread": "elements per thread",
    "differs_from_mine": "difference from yours",
}  # fmt: skip


def entry_points(entry: NoteEntry, rubric: NotesRubric) -> Fraction:
    """Points of one entry, not rounded. A claim that cannot be checked costs nothing.

    Where the path is wrong the entry earns nothing: its lines belong to some other code.
    """
    if entry.verdict == "wrong":
        return Fraction(0)
    weights = _weights(rubric)
    return sum(
        (weights.get(claim.claim, 0) * _SHARE[claim.verdict] for claim in entry.claims),
        Fraction(0),
    )


def counted(notes: Notes, rubric: NotesRubric) -> tuple[NoteEntry, ...]:
    """The best entries, as many as the assignment asks for, each framework and backend once."""
    best: dict[tuple[str, str | None], NoteEntry] = {}
    for entry in notes.entries:
        key = (entry.framework, entry.backend)
        if key not in best or entry_points(entry, rubric) > entry_points(best[key], rubric):
            best[key] = entry
    ordered = sorted(best.values(), key=lambda entry: entry_points(entry, rubric), reverse=True)
    return tuple(ordered[: rubric.kernels])


def score(notes: Notes | None, rubric: NotesRubric, out_of: int) -> ScoreLine:
    """The `notes` line of the score: points of the counted entries scaled to `out_of`."""
    if notes is None or not notes.entries:
        why = "no notes" if notes is None or notes.file is None else "no entry could be read"
        return ScoreLine(item="notes", points=0, out_of=out_of, why=why)
    chosen = counted(notes, rubric)
    weights = _weights(rubric)
    full = sum(weights.get(claim, 0) for claim in CLAIMS) * rubric.kernels
    earned = sum((entry_points(entry, rubric) for entry in chosen), Fraction(0))
    points = int(earned * out_of / full) if full else 0
    lost = [
        f"{entry.framework}: {_NAMES[claim.claim]} {claim.verdict}"
        for entry in chosen
        for claim in entry.claims
        if claim.verdict in ("wrong", "partly") and weights.get(claim.claim, 0)
    ]
    if len(chosen) < rubric.kernels:
        lost.append(f"{len(chosen)} of {rubric.kernels} kernels noted")
    return ScoreLine(
        item="notes", points=points, out_of=out_of, why="; ".join(lost) or "every claim holds"
    )


def _weights(rubric: NotesRubric) -> dict[str, int]:
    return {str(claim): points for claim, points in rubric.points.items()}
