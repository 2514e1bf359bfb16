"""Finds its way in blanked C++ text by its brackets: ends, scopes, lists divided at commas."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left


def in_parentheses(bare: str, offset: int) -> bool:
    """Whether the innermost bracket around `offset` is a parenthesis."""
    depth = 0
    for i in range(offset - 1, -1, -1):
        if bare[i] in ")]}":
            depth += 1
        elif bare[i] in "([{":
            if depth == 0:
                return bare[i] == "("
            depth -= 1
        elif bare[i] == ";" and depth == 0:
            return False
    return False


def pieces(text: str) -> list[str]:
    """`text` divided at the commas outside all brackets."""
    depth, begin, found = 0, 0, []
    for i, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            found.append(text[begin:i])
            begin = i + 1
    found.append(text[begin:])
    return [piece for piece in found if piece.strip()]


def closing_parenthesis(bare: str, offset: int) -> int | None:
    """The end of the parenthesis that is open at `offset`."""
    depth = 1
    for i in range(offset, len(bare)):
        depth += (bare[i] == "(") - (bare[i] == ")")
        if depth == 0:
            return i + 1
    return None


def in_function(bare: str, offset: int) -> bool:
    """Whether the innermost braces around `offset` are statements, not a namespace or class."""
    brace = scope(bare, offset)
    if brace < 0:
        return False
    before = bare[max(0, brace - 400) : brace]
    head = re.split(r"[;{}]", before)[-1]
    return not re.search(r"\b(?:namespace|struct|class|union|enum|extern)\b", head)


def scope(bare: str, offset: int) -> int:
    """The offset of the brace that encloses `offset`; -1 at file level."""
    places, enclosing = _braces(bare)
    return enclosing[bisect_left(places, offset)]


def outside(bare: str, offset: int) -> bool:
    """Whether `offset` is in no braces but a namespace's."""
    while (brace := scope(bare, offset)) >= 0:
        if not re.search(r"\bnamespace(?:\s+[\w:]+)?\s*$", bare[max(0, brace - 200) : brace]):
            return False
        offset = brace
    return True


@functools.lru_cache(maxsize=8)
def _braces(bare: str) -> tuple[list[int], list[int]]:
    """The braces, and which one encloses the text up to each of them and behind the last."""
    places: list[int] = []
    enclosing: list[int] = []
    open_braces = [-1]
    for match in re.finditer(r"[{}]", bare):
        places.append(match.start())
        enclosing.append(open_braces[-1])
        if match[0] == "{":
            open_braces.append(match.start())
        elif len(open_braces) > 1:
            open_braces.pop()
    return places, [*enclosing, open_braces[-1]]


def declaration_end(bare: str, offset: int) -> int:
    """The end of the declaration or definition whose body or `;` follows `offset`."""
    depth = 0
    for i in range(offset, len(bare)):
        if bare[i] == "{":
            depth += 1
        elif bare[i] == "}":
            depth -= 1
            if depth == 0:
                return i + 1
        elif bare[i] == ";" and depth == 0:
            return i + 1
    return len(bare)


def closing_angle(bare: str, offset: int) -> int | None:
    """The end of the angle bracket that is open at `offset`."""
    depth = 1
    for i in range(offset, min(len(bare), offset + 400)):
        if bare[i] == "<":
            depth += 1
        elif bare[i] == ">":
            depth -= 1
            if depth == 0:
                return i + 1
        elif bare[i] in ";{}":
            return None
    return None


def operand_end(bare: str, offset: int, cast: re.Pattern[str]) -> int | None:
    """The end of the operand of a cast that ends at `offset`: `-x.y[i]`, `f<T>(a)`, `(a + b)`.

    `cast` finds a further cast in front of it.
    """
    end = _blanks(bare, offset)
    while match := cast.match(bare, end) or re.compile(r"[-+~!*&]").match(bare, end):
        end = _blanks(bare, match.end())
    if bare[end : end + 1] != "(":
        primary = re.compile(r"(?:::)?\w[\w.]*(?:\s*::\s*\w+)*").match(bare, end)
        if primary is None:
            return None
        end = primary.end()
        angle = closing_angle(bare, end + 1) if bare[end : end + 1] == "<" else None
        if angle is not None and bare[angle : angle + 1] in ("(", ":"):
            end = angle
    while end < len(bare):
        ahead = _blanks(bare, end)
        member = re.compile(r"(?:\.|->)\s*\w+").match(bare, ahead)
        if member is not None:
            end = member.end()
        elif bare[ahead : ahead + 1] in ("(", "["):
            close = closing(bare, ahead)
            if close is None:
                return None
            end = close
        elif bare.startswith(("++", "--"), ahead):
            end = ahead + 2
        else:
            return end
    return end


def _blanks(bare: str, offset: int) -> int:
    while bare[offset : offset + 1] in (" ", "\t", "\n", "\r") or bare.startswith("\\\n", offset):
        offset += 1
    return offset


def closing(bare: str, offset: int) -> int | None:
    """The end of the bracket that opens at `offset`, whichever it is."""
    depth = 0
    for i in range(offset, len(bare)):
        depth += (bare[i] in "([{") - (bare[i] in ")]}")
        if depth == 0:
            return i + 1
    return None
