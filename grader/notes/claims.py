"""The verdict on one of the three facts of a note: its lines and quote, or its "none".

Each function takes what the note says and what the ladder found, and returns (verdict, reason);
the reason says what is true and where, so that the student learns it from the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.notes import facts, form, quotes, shape
from grader.notes.facts import Record, Span
from grader.notes.form import FactClaim
from grader.notes.ladder import Place, Ref, Sheet, Verdict

Finding = tuple[Verdict, str]

# Names in `lines` that count as each fact: docs/notes.md, "Names used in lines".
VARIANTS = {
    "global_id": ("global_id", "ilp_global_id", "program_id", "lane"),
    "bounds_check": (
        "bounds_check", "tail", "tail_check", "tail_mask", "scalar_loop", "block_bounds",
        "block_bounds_float32", "ilp_bounds_check", "ilp_tail",
    ),
    "operation": ("op", "op_vec", "op_full", "op_tail", "op_scalar", "ilp_op", "ilp_op_tail"),
}  # fmt: skip
_ARTICLE = {"global_id": "a", "bounds_check": "a", "operation": "an"}
WORDS = {"global_id": "global id", "bounds_check": "bounds check", "operation": "add"}
BASE = {"global_id": "global_id", "bounds_check": "bounds_check", "operation": "op"}

_CLOSED = re.compile(
    r"clos|apple|mpsgraph|proprietar|no source|not (public|open)|binary|accelerate|vdsp|hidden"
    r"|can(no|')t (see|read|know)",
    re.I,
)
_COMMON = re.compile(
    "none|when|with|checks?|bounds?|there|threads?|elements?|because|that|this|kernel|line|does"
    "|need(ed)?|have|from|only"
)
_RANK: dict[Verdict, int] = {"right": 0, "partly": 1, "unknown": 2, "wrong": 3}
MARGIN = 8


@dataclass(frozen=True)
class _Seen:
    """One judgement about one sheet; `relevant` is false where the file says nothing on it."""

    verdict: Verdict
    reason: str
    relevant: bool = True
    absent: bool = False


def judge(fact: str, claim: FactClaim | None, places: Sequence[Place], ref: Ref) -> Finding:
    """The verdict on one fact of an entry."""
    if claim is None:
        return "wrong", f"nothing is said about the {WORDS[fact]}: give lines and quote, or none"
    if claim.none is not None:
        return _none(fact, claim.none, places, ref)
    chosen = _chosen(claim, places)
    judged = [finding for place in chosen for finding in _of_place(fact, claim, place, places, ref)]
    if not judged:
        return _by_shape(fact, claim, "no path of this entry could be looked up")
    best = min(judged, key=lambda seen: (_RANK[seen.verdict], not seen.relevant))
    if best.verdict == "wrong" and any(s.relevant and s.verdict == "wrong" for s in judged):
        best = next(s for s in judged if s.relevant and s.verdict == "wrong")
    return best.verdict, best.reason


def _chosen(claim: FactClaim, places: Sequence[Place]) -> Sequence[Place]:
    """The file a claim names, else every file of the entry."""
    if claim.file:
        name = claim.file.replace("\\", "/").strip().lstrip("./")
        named = [p for p in places if p.path.endswith(name) or p.written.path.endswith(name)]
        return named or places
    return places


def spans_of(fact: str, spans: Iterable[tuple[str, Span | None]]) -> list[tuple[str, Span]]:
    """The lines of a fact and its variants, the fact itself first."""
    given = dict(spans)
    return [(name, span) for name in VARIANTS[fact] if (span := given.get(name)) is not None]


# --- none ---------------------------------------------------------------------------------------


def _none(fact: str, reason: str, places: Sequence[Place], ref: Ref) -> Finding:
    word = WORDS[fact]
    said: dict[str, tuple[str, Sheet]] = {}
    lines: tuple[str, Span, Sheet] | None = None
    wrong_file = ""
    for place in places:
        for sheet in place.sheets[:1] if place.sheets and place.sheets[0].exact else place.sheets:
            record = sheet.record
            if record is None:
                continue
            if record.accepted == "no":
                wrong_file = record.why
                continue
            absent = record.absent.get(BASE[fact])
            if absent is not None:
                kind, _, text = absent.partition(": ")
                said.setdefault(kind, (text, sheet))
            found = spans_of(fact, sheet.spans.items())
            if found and lines is None:
                lines = (found[0][0], found[0][1], sheet)
    if "sometimes" in said:
        text = said["sometimes"][0]
        if _shares(reason, text):
            return "right", f"right under that condition: {text}"
        return "partly", f"only under a condition, which belongs in the note: {text}"
    if "never" in said:
        return "right", f"there is none: {said['never'][0]}"
    if "closed" in said:
        text = said["closed"][0]
        if _CLOSED.search(reason):
            return "right", f"nobody outside can see it: it is {text}"
        return "partly", f"say that it is closed: it is {text}"
    if lines is not None:
        _, span, sheet = lines
        return "wrong", f"there is one: {_at(span)} of {sheet.path} at {sheet.ref}"
    if "elsewhere" in said:
        return "wrong", f"there is one, in another file: {said['elsewhere'][0]}"
    if wrong_file:
        return "wrong", f"this file is not where add runs: {wrong_file}"
    return "unknown", f"whether there is {_ARTICLE[fact]} {word} cannot be checked here"


def _shares(reason: str, condition: str) -> bool:
    """Whether a reason names the condition: one telling word or number in common."""

    def words(text: str) -> set[str]:
        plain = re.sub(r"(?<=\d)[,_. ](?=\d{3})", "", text.lower())
        return {w for w in re.findall(r"[a-z_]{4,}|\d+", plain) if not _COMMON.fullmatch(w)}

    return bool(words(reason) & words(condition))


# --- lines and quote ----------------------------------------------------------------------------


def _of_place(
    fact: str, claim: FactClaim, place: Place, places: Sequence[Place], ref: Ref
) -> list[_Seen]:
    if not place.sheets:
        if place.verdict == "wrong":
            return [
                _Seen("wrong", f"{form.shown(place.path)} is not where add runs", relevant=False)
            ]
        verdict, reason = _by_shape(fact, claim, f"{form.shown(place.path)} cannot be read here")
        return [_Seen(verdict, reason)]
    if place.written.generated:
        verdict, reason = _by_shape(fact, claim, "the file is generated", sure=True)
        return [_Seen(verdict, reason)]
    seen = [_of_sheet(fact, claim, sheet, place, places) for sheet in place.sheets]
    if place.sheets[0].exact:
        return seen
    return [_between(fact, claim, seen, place, ref)]


def _between(
    fact: str, claim: FactClaim, seen: list[_Seen], place: Place, ref: Ref
) -> _Seen:  # fmt: skip
    """A release that was not examined: what the releases on either side agree on."""
    refs = " and ".join(sheet.ref for sheet in place.sheets)
    verdicts = {one.verdict for one in seen}
    if verdicts == {"right"} and len(seen) > 1:
        return _Seen("right", f"holds at {refs}, on either side: {seen[0].reason}")
    if verdicts == {"wrong"} and (all(one.absent for one in seen) or place.verdict == "wrong"):
        return _Seen("wrong", f"as at {refs}: {seen[0].reason}", seen[0].relevant)
    verdict, reason = _by_shape(fact, claim, f"the lines of {ref.tag or 'this'} are not known")
    if verdict == "wrong":
        return _Seen(verdict, reason)
    return _Seen("unknown", f"{reason}; at {place.sheets[0].ref}: {seen[0].reason}")


def _of_sheet(
    fact: str, claim: FactClaim, sheet: Sheet, place: Place, places: Sequence[Place]
) -> _Seen:
    word, record = WORDS[fact], sheet.record
    if record is None:
        verdict, reason = _by_shape(fact, claim, f"no fact about {sheet.path} is known")
        return _Seen(verdict, reason)
    if record.accepted == "no":
        return _Seen("wrong", f"not a line of the add: {record.why}")
    found = spans_of(fact, sheet.spans.items())
    if not found:
        return _absent(fact, claim, sheet, record)
    verdict, reason = _of_lines(fact, claim, sheet, record, found)
    if fact == "operation" and record.calls and verdict in ("right", "partly"):
        functor = next((p for p in places if p.path == record.calls), None)
        if functor is not None:
            reason += f"; the + itself is in {record.calls}"
        elif record.accepted == "partial" and verdict == "right":
            verdict = "partly"
            reason += f"; it calls the functor, so name the file of the + too: {record.calls}"
        else:
            reason += f"; it calls the functor, whose + is in {record.calls}"
    return _Seen(verdict, f"{reason} ({word} of {sheet.path} at {sheet.ref})")


def _absent(fact: str, claim: FactClaim, sheet: Sheet, record: Record) -> _Seen:
    """A file that has no line for the fact."""
    word = WORDS[fact]
    kind, _, text = record.absent.get(BASE[fact], "").partition(": ")
    if kind == "never":
        return _Seen("wrong", f"there is no {word} in this kernel ({text}): say none and why",
                     absent=True)  # fmt: skip
    if kind == "closed":
        return _Seen("wrong", f"the {word} cannot be read, it is {text}: say none and why",
                     absent=True)  # fmt: skip
    if kind == "elsewhere":
        return _Seen("wrong", f"{sheet.path} has no {word}; it is elsewhere: {text}",
                     relevant=False, absent=True)  # fmt: skip
    at = _verify(claim, sheet)
    if at is not None and not at and claim.quote:
        return _Seen("wrong", f"{sheet.path} has no such line at {sheet.ref}", relevant=False)
    verdict, reason = _by_shape(fact, claim, f"no {word} of {sheet.path} is known")
    return _Seen(verdict, reason, relevant=False)


def _verify(claim: FactClaim, sheet: Sheet) -> list[int] | None:
    """Lines at which the quote begins; None when there is none or nothing here can tell.

    A quote too short to show anything counts only where the line named is that short itself.
    """
    if claim.quote is None:
        return None
    at = quotes.find(claim.quote, sheet.hashes, sheet.text)
    if quotes.letters(claim.quote) >= quotes.MIN_LETTERS or at is None or claim.lines is None:
        return at
    shift = sheet.record.wheel_line_offset if sheet.record else 0
    return [n for n in at if claim.lines[0] - shift <= n <= claim.lines[1]] or None


def _of_lines(
    fact: str, claim: FactClaim, sheet: Sheet, record: Record, found: list[tuple[str, Span]]
) -> Finding:
    """Line numbers and quote against the lines of the fact."""
    word = WORDS[fact]
    true = _at(found[0][1])
    at = _verify(claim, sheet)
    length = len(quotes.lines_of(claim.quote)) if claim.quote else 1
    inside = None if claim.lines is None else _meets(claim.lines, found)
    shifted = (
        claim.lines is not None
        and inside is None
        and record.wheel_line_offset > 0
        and _meets(_moved(claim.lines, -record.wheel_line_offset), found) is not None
    )
    packaged = f"right in the installed copy; in the repository it is {true}"
    if claim.lines is not None and claim.lines[1] - claim.lines[0] > _width(found) + MARGIN:
        if inside is not None:
            return "partly", f"too many lines: name the ones that do it, {true}"
        return "wrong", f"the {word} is {true}"
    if claim.quote is None or at is None:
        if inside is None and not shifted:
            return _elsewhere(fact, claim, sheet, true)
        if claim.quote is None:
            return (
                "partly",
                f"{_said(claim)} right; quote it, to show that you have read it",
            )
        if quotes.letters(claim.quote) < quotes.MIN_LETTERS:
            return (
                "partly",
                f"{_said(claim)} right, but the quote is too short to show anything",
            )
        if not shape.fits(fact, claim.quote):
            return (
                "partly",
                f"{_said(claim)} right, but the quote is not {shape.WANTED[fact]}",
            )
        return "right", packaged if shifted else (
            f"{_said(claim)} right; the text of this file is not known here"
        )
    in_fact = [n for n in at if _meets((n, n + length - 1), found)]
    if claim.lines is None:
        if in_fact:
            return "partly", f"the quote is right; say its line, {in_fact[0]}"
        return "wrong", f"the quote is not the {word}, which is {true}"
    first, last = claim.lines
    good = [n for n in at if n <= last and first <= n + length - 1]
    if any(n in in_fact for n in good):
        return "right", f"{_said(claim)} right"
    if shifted and any(n + record.wheel_line_offset in range(first, last + 1) for n in in_fact):
        return "right", packaged
    if in_fact:
        near = min(in_fact, key=lambda n: abs(n - first))
        many = f"; that text stands on {len(at)} lines of the file" if len(at) > 1 else ""
        return "partly", f"the quote is right, but it is line {near}, not {first}{many}"
    if inside is not None or shifted:
        return "partly", (
            f"{_said(claim)} right, but the quote is not "
            + ("that line" if at else "in the file; copy the whole line")
        )
    if good:
        return _other_line(fact, claim, sheet, true)
    return _elsewhere(fact, claim, sheet, true)


def _other_line(fact: str, claim: FactClaim, sheet: Sheet, true: str) -> Finding:
    """A line that stands where the note says, but is not the fact."""
    word = WORDS[fact]
    assert claim.lines is not None
    for other, names in VARIANTS.items():
        spans = [(n, s) for n in names if (s := sheet.spans.get(n)) is not None]
        if other != fact and _meets(claim.lines, spans):
            return "wrong", f"{_said(claim)} the {WORDS[other]}; the {word} is {true}"
    if claim.quote and shape.fits(fact, claim.quote):
        return (
            "partly",
            f"that is {_ARTICLE[fact]} {word}, but of another part of the file; add's is {true}",
        )
    return "wrong", f"{_said(claim)} not {shape.WANTED[fact]}; the {word} is {true}"


def _elsewhere(fact: str, claim: FactClaim, sheet: Sheet, true: str) -> Finding:
    """Lines that are not the fact here: are they at another release?"""
    word = WORDS[fact]
    if claim.lines is not None and sheet.record is not None:
        for record in reversed(facts.records_of(sheet.record.framework, sheet.path)):
            if record.ref == sheet.ref or record.accepted == "no":
                continue
            spans = spans_of(fact, record.lines.items())
            hashes = facts.hashes(record.blob)
            at = quotes.find(claim.quote, hashes, None) if claim.quote else None
            if _meets(claim.lines, spans) and (
                at is None or any(_meets((n, n), spans) for n in at)
            ):
                return "partly", (
                    f"{_said(claim)} right at {record.ref}; at {sheet.ref} the {word} is {true}"
                )
    quoted = ", and the quote is not in this file" if claim.quote and sheet.hashes else ""
    return "wrong", f"{_said(claim)} not the {word}, which is {true}{quoted}"


def _by_shape(fact: str, claim: FactClaim, why: str, sure: bool = False) -> Finding:
    """A quote of a file whose lines are not known."""
    if claim.quote is None:
        return "unknown", f"{why}; quote the line, so that its shape can be seen"
    if quotes.letters(claim.quote) < quotes.MIN_LETTERS:
        return "unknown", f"{why}; the quote is too short to show anything"
    if shape.fits(fact, claim.quote):
        return "right" if sure else "unknown", f"{why}; the quote looks like {shape.WANTED[fact]}"
    return "wrong", f"the quote is not {shape.WANTED[fact]}"


def _meets(lines: Span, spans: Iterable[tuple[str, Span]]) -> str | None:
    """The name of the first span that shares a line with `lines`."""
    return next((name for name, (a, b) in spans if lines[0] <= b and a <= lines[1]), None)


def _moved(lines: Span, by: int) -> Span:
    return lines[0] + by, lines[1] + by


def _width(found: list[tuple[str, Span]]) -> int:
    return max(b - a + 1 for _, (a, b) in found)


def _said(claim: FactClaim) -> str:
    """Says "line 3 is" or "lines 3-4 are", or "the quote is"."""
    if claim.lines is None:
        return "the quote is"
    return f"{_at(claim.lines)} {'is' if claim.lines[0] == claim.lines[1] else 'are'}"


def _at(span: Span) -> str:
    return f"line {span[0]}" if span[0] == span[1] else f"lines {span[0]}-{span[1]}"
