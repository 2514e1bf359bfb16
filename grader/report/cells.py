"""CSV for spreadsheets: no cell of a student is a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def neutral(cell: object) -> str:
    """A cell as text; one that a spreadsheet would run gets an apostrophe before it.

    Numbers stay numbers, negative ones too.
    """
    text = "" if cell is None else str(cell)
    if text[:1] in ("=", "+", "-", "@", "\t", "\r", "\n") and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A CSV file with a header; every cell is made harmless."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([[neutral(cell) for cell in row] for row in rows])
    return out.getvalue()
