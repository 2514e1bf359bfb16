"""Mends the PTX that Triton 3.9 writes for sm_80, and reads the launch facts out of it.

Works on text from a sandboxed child: nothing here trusts it further than a regular expression.
"""

from __future__ import annotations

import re

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(
    r"^(\s*)\.loc\s+(\d+)\s+(\d+)\s+(\d+)"
    r"(?:,\s*function_name\s+\S+?,\s*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?"
)
_ENTRY = re.compile(r"\.visible\s+\.entry\s+([A-Za-z_$][\w$]*)\s*\(([^)]*)\)")
_THREADS = re.compile(r"\.reqntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")
_ZERO = re.compile(r"^(\s*)mov\.[ub](16|32|64)\s+(%\w+),\s*0x0;\s*$")
_GUARDED_LOAD = re.compile(r"^\s*@!?%\w+\s+ld\.global\b")
_LIBRARY = re.compile(
    r"[/\\]triton[/\\](language|experimental|tools)[/\\]|[/\\]_inductor[/\\]runtime[/\\]"
)

UNDEFINED = "__beyond_the_mask"
"""The never written local array that stands for the lanes a masked load leaves undefined."""

Location = tuple[int, int, int]


def mend_lines(ptx: str, file_name: str | None = None) -> str:
    """PTX whose `.loc` lines name the student's own lines in `file_name`, without debug sections.

    Without a `file_name` files keep their names.

    Three things are put right. An inline block counts one line up at every newline of its text, so
    an unmasked `tl.load` claims the line below its own: within a block the first `.loc` counts.
    Code of Triton's library is inlined as `inlined_at`: it gets the place of the call in the
    student's file. `.loc` with line 0 (merged instructions) keeps the line before it.
    """
    files = {int(m[1]): m[3] or m[2] for m in map(_FILE.match, ptx.splitlines()) if m}
    own = {number for number, path in files.items() if not _LIBRARY.search(path)}
    resolved: dict[Location, Location] = {}
    lines: list[str] = []
    located_in_block = False
    in_block = False
    for line in ptx.splitlines():
        if line.lstrip().startswith(".section"):
            break
        text = line.strip()
        if text.startswith("// begin inline asm"):
            in_block, located_in_block = True, False
        elif text.startswith("// end inline asm"):
            in_block = False
        match = _LOC.match(line)
        if match:
            place = _place(match, own, resolved)
            if place is None or (in_block and located_in_block):
                continue
            located_in_block = in_block
            lines.append(f"{match[1]}.loc\t{place[0]} {place[1]} {place[2]}")
            continue
        match = _FILE.match(line)
        if match:
            continue
        lines.append(line)
    lines += [
        f'\t.file\t{number} "{file_name if file_name and number in own else path}"'
        for number, path in sorted(files.items())
    ]
    return "\n".join(lines) + "\n"


def _place(
    match: re.Match[str], own: set[int], resolved: dict[Location, Location]
) -> Location | None:
    """The student's place of a `.loc`, or None where it has none."""
    here = (int(match[2]), int(match[3]), int(match[4]))
    place: Location | None = here if here[0] in own else None
    if match[5]:
        caller = (int(match[5]), int(match[6]), int(match[7]))
        if place is None:
            place = caller if caller[0] in own else resolved.get(caller)
        if place is not None:
            resolved[here] = place
    return place if place is not None and place[1] else None


def undefined_lanes(ptx: str, lines_without_other: frozenset[int]) -> str | None:
    """The PTX with the lanes beyond a mask left undefined, or None when no load leaves any.

    Triton leaves them undefined in words, but writes zero: `mov.u32 %r1, 0x0;` and a guarded load
    in one inline block. Here the zero becomes a read of memory nobody ever wrote, so that the
    virtual GPU's check for uninitialised values says whether those lanes reach a result. A load
    that states `other=` moves a register instead, and `cp.async` fills zeros by itself: both stay.

    `lines_without_other` are the source lines whose `tl.load` has a mask and no `other`.
    """
    out: list[str] = []
    block: list[int] = []
    in_block = guarded = changed = False
    line_number = 0
    for line in ptx.splitlines():
        text = line.strip()
        match = _LOC.match(line)
        if match:
            line_number = int(match[3])
        if text.startswith("// begin inline asm"):
            in_block, guarded, block = True, False, []
        elif in_block and _ZERO.match(line):
            block.append(len(out))
        elif in_block and _GUARDED_LOAD.match(line):
            guarded = True
        elif text.startswith("// end inline asm"):
            in_block = False
            if guarded and line_number in lines_without_other:
                for position in block:
                    out[position] = _ZERO.sub(rf"\1ld.local.b\2 \3, [{UNDEFINED}];", out[position])
                changed = changed or bool(block)
        out.append(line)
    if not changed:
        return None
    body = next(i for i, line in enumerate(out) if line.strip() == "{")
    out.insert(body + 1, f"\t.local .align 8 .b8 {UNDEFINED}[8];")
    return "\n".join(out) + "\n"


def entry(ptx: str) -> tuple[str, int] | None:
    """Name of the entry and the number of its parameters; None where there is not exactly one."""
    found = _ENTRY.findall(ptx)
    if len(found) != 1:
        return None
    return found[0][0], found[0][1].count(".param")


def threads(ptx: str) -> tuple[int, int, int] | None:
    """Threads of a block as `.reqntid` fixes them (32 per warp)."""
    match = _THREADS.search(ptx)
    return (int(match[1]), int(match[2] or 1), int(match[3] or 1)) if match else None


def reads_program_id(ptx: str, axis: int = 0) -> bool:
    """Whether the kernel ever looks at `tl.program_id(axis)`."""
    return f"%ctaid.{'xyz'[axis]}" in ptx
