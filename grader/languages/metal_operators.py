"""Where Metal's operators take what clang's do not: `++` of a vector, `?:` of a structure.

Clang has no increment of its vectors, and chooses between two structures only where both lie in the
same address space. The library has both as functions (`metal_headers/metal_types`), which are
called here instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.languages.metal_brackets import closing, operand_end, pieces

Edit = tuple[int, int, str]
"""Characters from the first offset to the second are left out, and the text stands there."""

ELEMENT = r"(?:half|float|bfloat|u?char|u?short|u?int|u?long)"
_VECTOR = rf"(?:(?:packed_)?{ELEMENT}[234]|(?:packed_)?vec\s*<[^<>;{{}}()]*>)"
_VECTORS = re.compile(rf"\b{_VECTOR}(?:\s*const\b)?(?P<declared>[^;{{}}()]*)")
_DECLARED = re.compile(r"\s*(?P<pointer>[*&\s]*)(?P<name>[A-Za-z_]\w*)\s*(?P<array>\[)?")
_STEP = re.compile(r"\+\+|--")
_NO_CAST = re.compile(r"(?!)")
_STRUCTURES = re.compile(
    r"\b(?:device|constant|threadgroup)\s+(?:const\s+|volatile\s+)*"
    r"(?P<type>[A-Za-z_][\w:]*(?:\s*<[^<>;(){}]*>)?)(?:\s+const\b)?\s*(?P<pointer>[*&]*)\s*"
    r"(?:(?:const|restrict)\b\s*)*(?P<name>[A-Za-z_]\w*)\b\s*(?P<array>\[)?"
)
_PLAIN = re.compile(rf"(?:{ELEMENT}[234]?|packed_\w+|bool[234]?|void|size_t|u?int\d+_t|const|vec)")


def operator_edits(bare: str) -> Iterator[Edit]:
    """The edits of blanked text without attributes."""
    yield from _steps(bare)
    yield from _choices(bare)


def _steps(bare: str) -> Iterator[Edit]:
    """`v++`, `--v` and `p[i]++` of vectors: the operand becomes an argument."""
    single, several = _vector_names(bare)
    if not single | several:
        return
    for match in _STEP.finditer(bare):
        step = "increment" if match[0] == "++" else "decrement"
        prefix = _operand(bare, match.end())
        if prefix is not None and _is_vector(bare[match.end() : prefix], single, several):
            yield *match.span(), f"::metal::__{step}("
            yield prefix, prefix, ")"
            continue
        start = _operand_start(bare, match.start())
        if start is not None and _is_vector(bare[start : match.start()], single, several):
            yield start, start, f"::metal::__post_{step}("
            yield *match.span(), ")"


def _vector_names(bare: str) -> tuple[set[str], set[str]]:
    """The names declared as a vector, and as an array of or a pointer to vectors."""
    single: set[str] = set()
    several: set[str] = set()
    for match in _VECTORS.finditer(bare):
        for piece in pieces(match["declared"]):
            if declared := _DECLARED.match(piece):
                many = "*" in declared["pointer"] or declared["array"]
                (several if many else single).add(declared["name"])
    return single, several


def _is_vector(operand: str, single: set[str], several: set[str]) -> bool:
    """Whether a name, or one with subscripts behind it, is a whole vector."""
    match = re.fullmatch(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?P<subscript>\[.*\])?\s*", operand, re.S)
    return match is not None and match["name"] in (several if match["subscript"] else single)


def _operand(bare: str, offset: int) -> int | None:
    return operand_end(bare, offset, _NO_CAST) if re.match(r"\s*\w", bare[offset:]) else None


def _operand_start(bare: str, offset: int) -> int | None:
    """Where a name with subscripts starts that ends at `offset`."""
    end = len(bare[:offset].rstrip())
    while bare[end - 1 : end] == "]":
        depth, i = 1, end - 2
        while i >= 0 and depth:
            depth += (bare[i] == "]") - (bare[i] == "[")
            i -= 1
        end = len(bare[: i + 1].rstrip())
    name = re.search(r"(?<![\w.>])[A-Za-z_]\w*$", bare[max(0, end - 200) : end])
    return None if name is None else end - len(name[0])


def _is_plain_there(bare: str, name: str, offset: int) -> bool:
    """Whether the last declaration of a name before `offset` makes it a number or vector."""
    plain = re.compile(rf"\b{_PLAIN.pattern}(?:\s*<[^<>;(){{}}]*>)?[\s*&]+{name}\s*[=;,)\[({{]")
    own = [m.end() for m in _STRUCTURES.finditer(bare, 0, offset) if m["name"] == name]
    return any(m.end() > max(own, default=0) for m in plain.finditer(bare, 0, offset))


def _choices(bare: str) -> Iterator[Edit]:
    """`c ? p[i] : S{}` with p in an address space: the structure is read first."""
    references: set[str] = set()
    pointers: set[str] = set()
    for match in _STRUCTURES.finditer(bare):
        if not _PLAIN.match(match["type"]) and "atomic" not in match["type"]:
            many = "*" in match["pointer"] or match["array"]
            (pointers if many else references).add(match["name"])
    for match in re.finditer(r"(?<!:)[?:](?!:)\s*(?P<star>\*?)\s*(?P<name>[A-Za-z_]\w*)", bare):
        name, end = match["name"], match.end()
        if name not in (references if not match["star"] else pointers) | pointers:
            continue
        while subscript := re.compile(r"\s*\[").match(bare, end):
            close = closing(bare, subscript.end() - 1)
            if close is None:
                break
            end = close
        if _is_plain_there(bare, name, match.start()):
            continue
        read = match["star"] or end > match.end() or name in references
        if read and re.compile(r"\s*(?:[;,)\]}]|:(?!:))").match(bare, end):
            start = match.start("star") if match["star"] else match.start("name")
            yield start, start, "::metal::__read("
            yield end, end, ")"
