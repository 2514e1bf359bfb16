"""Grades as files for elsewhere: a plain CSV, Canvas's and Moodle's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from grader.batch.grades import Grade
from grader.batch.roster import Roster, decoded, delimiter, folded
from grader.errors import UsageError
from grader.report.cells import table
from grader.result import Record

HEADER = ("id", "name", "email", "section", "points", "out_of", "automatic", "plus", "overridden",
          "verdict", "late_days", "free_days", "extension_days", "submitted", "attempts",
          "remark", "time_from", "owner")  # fmt: skip

MOODLE = ("Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade",
          "Grade can be changed", "Last modified (submission)", "Last modified (grade)",
          "Feedback comments")  # fmt: skip


def plain(grades: Sequence[Grade]) -> str:
    """Everything the gradebook says of an assignment, a line per student."""
    return table(HEADER, map(cells, grades))


def cells(g: Grade) -> tuple[object, ...]:
    """The line of a student: a cell for each column of HEADER."""
    return (g.student.id, g.student.name, g.student.email, g.student.section, g.points, g.out_of,
            g.automatic, g.plus or "", "yes" if g.overridden else "",
            g.verdict.value if g.verdict else "", g.late_days, g.free_days,
            f"{g.extension_days:g}" if g.extension_days else "",
            g.submitted.isoformat() if g.submitted else "", g.attempts, g.remark,
            g.time_from or "", g.owner)  # fmt: skip


def moodle(grades: Sequence[Grade]) -> str:
    """An offline grading worksheet.

    Feedback stands beside every grade: Moodle drops all grades of an import that has feedback
    alone. `Identifier` is Moodle's own where the roster came from it, else empty; it then matches
    by the email address.
    """
    rows = []
    for g in grades:
        own = next((w for w in g.student.identifiers if w.startswith("Participant ")), "")
        status = "Submitted for grading" if g.attempts else "No submission"
        said = g.verdict.value.replace("_", " ") if g.verdict else "no submission"
        comment = f"{said}; {g.remark}" if g.remark else said
        rows.append((own, g.student.name, g.student.email, status,
                     "" if g.points is None else g.points, g.out_of, "Yes",
                     g.submitted.isoformat() if g.submitted else "-", "-",
                     "" if g.points is None else comment))  # fmt: skip
    return table(MOODLE, rows)


# ---- Canvas ------------------------------------------------------------------------------------


class Filled(Record):
    """Canvas's gradebook with one column filled, and who could not be placed."""

    data: bytes
    column: str
    filled: int
    not_in_canvas: tuple[str, ...]
    no_grade: tuple[str, ...]
    scale: str = ""


def canvas(
    data: bytes, grades: Sequence[Grade], assignment: str, column: str | None = None
) -> Filled:
    """Fill one column of an exported gradebook and leave every other byte as it is.

    `column` is the header, its start, or the number in its brackets; by default the one column
    that names the assignment. Points are scaled to the column's `Points Possible`. Raises
    UsageError.
    """
    text = decoded(data, "Canvas's gradebook")
    mark = data.startswith(b"\xef\xbb\xbf")
    rows = spans(text, delimiter(text))
    if len(rows) < 2:
        raise UsageError("expected Canvas's exported gradebook, found a file without students")
    header = [cell for cell, _, _ in rows[0]]
    target = _target(header, assignment, column)
    keys = [i for i, cell in enumerate(header)
            if folded(cell) in ("id", "sis user id", "sis login id")]  # fmt: skip
    name = next((i for i, cell in enumerate(header) if folded(cell) == "student"), None)
    possible = next((r for r in rows[1:] if r and r[0][0].strip() == "Points Possible"), None)
    roster = Roster(students=tuple(g.student for g in grades))
    by_id = {g.student.id: g for g in grades}
    edits: list[tuple[int, int, str]] = []
    placed: set[str] = set()
    without: list[str] = []
    scale = _scale(possible, target, grades)
    for row in rows[1:]:
        if row is possible or len(row) <= target:
            continue
        words = [row[i][0] for i in keys if i < len(row) and row[i][0].strip()]
        if not words:
            continue
        found = next((s for word in words if (s := roster.find(word))), None)
        if found is None and name is not None:
            found = roster.find(row[name][0])
        if found is None:
            continue
        placed.add(found.id)
        points = by_id[found.id].points
        if points is None:
            without.append(found.id)
            continue
        edits.append((row[target][1], row[target][2], _number(points * scale)))
    for start, end, value in sorted(edits, reverse=True):
        text = text[:start] + value + text[end:]
    return Filled(
        data=(b"\xef\xbb\xbf" if mark else b"") + text.encode(),
        column=header[target],
        filled=len(edits),
        not_in_canvas=tuple(g.student.id for g in grades if g.student.id not in placed),
        no_grade=tuple(without),
        scale="" if scale == 1 else f"points were multiplied by {_number(scale)}",
    )


def _scale(
    possible: Sequence[tuple[str, int, int]] | None, target: int, grades: Sequence[Grade]
) -> Fraction:
    """Points of Canvas for one of ours."""
    if possible is None or target >= len(possible) or not grades:
        return Fraction(1)
    try:
        wanted = Fraction(possible[target][0].strip())
    except ValueError:
        return Fraction(1)
    return wanted / grades[0].out_of if wanted > 0 else Fraction(1)


def _number(value: Fraction | int) -> str:
    """At most two decimals, none that say nothing."""
    hundredths = int(Fraction(value) * 100 + Fraction(1, 2))
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")


def _target(header: Sequence[str], assignment: str, column: str | None) -> int:
    numbered = [i for i, cell in enumerate(header) if re.search(r"\(\d+\)\s*$", cell)]
    if column is not None:
        found = [i for i, cell in enumerate(header)
                 if cell.strip() == column or cell.rstrip().endswith(f"({column})")]  # fmt: skip
        found = found or [i for i in numbered if folded(header[i]).startswith(folded(column))]
    else:
        plain_name = re.sub(r"[^a-z0-9]", "", assignment.lower())
        found = [
            i
            for i in numbered
            if re.match(rf"{plain_name}(?!\d)", re.sub(r"[^a-z0-9(]", "", header[i].lower()))
        ]
    if len(found) != 1:
        have = ", ".join(header[i] for i in numbered) or "none"
        wanted = column or assignment
        raise UsageError(
            f"expected one column for {wanted}, found {len(found)} of: {have}",
            "--column says which: its number in brackets will do.",
        )
    return found[0]


def spans(text: str, between: str = ",") -> list[list[tuple[str, int, int]]]:
    """Rows of a CSV file; each cell with its text and where its raw characters start and end.

    Quotes are those of RFC 4180. Blank lines are left out.
    """
    rows: list[list[tuple[str, int, int]]] = []
    row: list[tuple[str, int, int]] = []
    place, end, ends = 0, len(text), f"{between}\r\n"
    while place < end:
        start = place
        if text[place] == '"':
            place += 1
            while place < end and not (text[place] == '"' and text[place + 1 : place + 2] != '"'):
                place += 2 if text[place] == '"' else 1
            place = min(end, place + 1)
            inner = text[start + 1 : place - 1].replace('""', '"')
            while place < end and text[place] not in ends:
                place += 1
        else:
            while place < end and text[place] not in ends:
                place += 1
            inner = text[start:place]
        row.append((inner, start, place))
        if place < end and text[place] == between:
            place += 1
            if place < end and text[place] not in "\r\n":
                continue
            row.append(("", place, place))
        while place < end and text[place] in "\r\n":
            place += 1
        if any(cell for cell, _, _ in row) or len(row) > 1:
            rows.append(row)
        row = []
    return rows
