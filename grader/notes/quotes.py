"""Finds a quoted line in a file whose text may not be at hand: by the hashes of its lines.

Whitespace never matters as far as it only changes in length. A hash covers a whole line, so a
quote that leaves out a trailing `{`, `;` or `\\` is tried with it as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.notes.facts import HASH_BYTES, line_hash

MIN_LETTERS = 8
_ENDS = ("", " {", "{", ";", " \\", "\\", ",", ")", ");", ") {", " \\\\")
_TIGHT = re.compile(r"(\+\+|--|->|::|<<<?|>>>?|[<>=!+*/-]=|&&|\|\||[-+*/<>=?])")


def lines_of(quote: str) -> list[str]:
    """The lines of a quote without surrounding blank lines and Markdown back ticks."""
    lines = quote.strip().strip("`").strip("\n").split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def letters(text: str) -> int:
    """Characters that are not whitespace."""
    return len("".join(text.split()))


def spellings(line: str) -> set[str]:
    """Ways the same line may stand in the file."""
    plain = " ".join(line.split())
    spaced = " ".join(_TIGHT.sub(r" \1 ", plain).split())
    bases = {plain, spaced}
    for base in tuple(bases):
        bases.add(re.sub(r"\b(if|for|while)\(", r"\1 (", base))
        bases.add(re.sub(r",(?=\S)", ", ", base))
    found = {base + end for base in bases for end in _ENDS}
    found |= {f"}} {base}" for base in bases}
    found |= {base.split("//")[0].rstrip() for base in bases if "//" in base}
    return found


def find(quote: str, hashes: bytes | None, text: Sequence[str] | None) -> list[int] | None:
    """1-based lines at which the quote begins; None when nothing here can tell."""
    wanted = lines_of(quote)
    if not wanted or (hashes is None and text is None):
        return None
    if text is not None:
        return _in_text(wanted, text)
    assert hashes is not None
    own = [hashes[at : at + HASH_BYTES] for at in range(0, len(hashes), HASH_BYTES)]
    first = {line_hash(spelling) for spelling in spellings(wanted[0])}
    starts = [at for at, one in enumerate(own) if one in first]
    for offset, line in enumerate(wanted[1:], 1):
        if not starts:
            break
        hashed = {line_hash(spelling) for spelling in spellings(line)}
        starts = [at for at in starts if at + offset < len(own) and own[at + offset] in hashed]
    return [at + 1 for at in starts]


def _in_text(wanted: list[str], text: Sequence[str]) -> list[int]:
    squeezed = ["".join(line.split()) for line in text]
    parts = ["".join(line.split()) for line in wanted]
    return [
        at + 1
        for at in range(len(squeezed) - len(parts) + 1)
        if all(part in squeezed[at + k] for k, part in enumerate(parts))
    ]
