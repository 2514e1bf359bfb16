"""A thread's place as a variable outside of functions: `uint3 gid [[thread_position_in_grid]];`.

Metal lets every function of a file read such a variable. Here each use becomes what the entry of a
kernel would pass (`metal_headers/metal_entry`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.languages.metal_brackets import declaration_end, outside, scope
from grader.languages.metal_operators import Edit

# Positions and sizes (MSL specification 5.2.3.6): attribute, and how many components it may have.
POSITIONS: dict[str, int] = {
    "thread_position_in_grid": 3,
    "thread_position_in_threadgroup": 3,
    "threadgroup_position_in_grid": 3,
    "threads_per_grid": 3,
    "threads_per_threadgroup": 3,
    "threadgroups_per_grid": 3,
    "dispatch_threads_per_threadgroup": 3,
    "grid_origin": 3,
    "grid_size": 3,
    "thread_index_in_threadgroup": 1,
    "thread_index_in_simdgroup": 1,
    "thread_index_in_quadgroup": 1,
    "simdgroup_index_in_threadgroup": 1,
    "quadgroup_index_in_threadgroup": 1,
    "simdgroups_per_threadgroup": 1,
    "dispatch_simdgroups_per_threadgroup": 1,
    "quadgroups_per_threadgroup": 1,
    "dispatch_quadgroups_per_threadgroup": 1,
    "threads_per_simdgroup": 1,
    "thread_execution_width": 1,
}

_VARIABLE = re.compile(
    r"(?:(?:static|const)\s+)*(?P<type>(?:uint|ushort)[23]?)\s+(?:const\s+)?(?P<name>[A-Za-z_]\w*)"
    rf"\s*\[\[\s*(?P<position>{'|'.join(POSITIONS)})\s*\]\]\s*;"
)
_ATTRIBUTES = re.compile(r"\[\[.*?\]\]", re.DOTALL)
_NOT_A_TYPE = ("return", "else", "case", "do")


def position_edits(plain: str) -> Iterator[Edit]:
    """The edits of blanked text."""
    for match in _VARIABLE.finditer(plain):
        if not outside(plain, match.start()):
            continue
        kind, position = match["type"], match["position"]
        value = f"metal::__entry::index<{kind}>(metal::__entry::{position}())"
        yield *match.span(), ""
        for start, end in _uses(plain, match["name"], match.end()):
            yield start, end, f"(::{value})"


def _uses(plain: str, name: str, begin: int) -> Iterator[tuple[int, int]]:
    """Where it is read: not in attributes, nor in functions with a `name` of their own."""
    hidden = [match.span() for match in _ATTRIBUTES.finditer(plain)]
    found = [
        m for m in re.finditer(rf"(?<![\w.])(?<!->)(?<!::){name}\b", plain) if m.start() >= begin
    ]
    own = {_function(plain, m.start()) for m in found if _declares(plain, m.start())}
    for match in found:
        if any(start <= match.start() < end for start, end in hidden):
            continue
        if _function(plain, match.start()) not in own:
            yield match.span()


def _declares(plain: str, offset: int) -> bool:
    before = re.search(r"(\w+)[\s*&]+$|(>)\s*$", plain[max(0, offset - 80) : offset])
    return before is not None and before[1] not in _NOT_A_TYPE and not (before[1] or "").isdigit()


def _function(plain: str, offset: int) -> int:
    """The brace of the outermost function around `offset`, or behind the parameters it is among."""
    brace = scope(plain, offset)
    if brace < 0 or outside(plain, offset):
        return plain.find("{", offset, declaration_end(plain, offset))
    while (outer := scope(plain, brace)) >= 0 and not outside(plain, brace):
        brace = outer
    return brace
