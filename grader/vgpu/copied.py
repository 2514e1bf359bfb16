"""Which elements of a vector store the code made itself, and which it only hands on.

A structure is copied with its padding, which nobody wrote: such elements come from a vector load.
An element that was computed, or loaded alone, is a value of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.vgpu.program import Body
from grader.vgpu.ptx import Instruction, Operand, Reg, Vec

Definitions = Mapping[str, list[Instruction]]


def definitions(body: Body) -> Definitions:
    """The instructions of a function that may write each register."""
    found: dict[str, list[Instruction]] = {}
    for block in body.blocks:
        for i in block.instructions:
            first = i.operands[0] if i.operands else None
            for target in first.items if isinstance(first, Vec) else (first,):
                if isinstance(target, Reg) and i.op not in ("st", "red"):
                    found.setdefault(target.name, []).append(i)
    return found


def computed(o: Operand, known: Definitions) -> bool:
    """Whether no path leads from an operand back to a vector load, or to nothing at all."""
    seen, waiting = set[str](), [o]
    while waiting:
        one = waiting.pop()
        if not isinstance(one, Reg) or one.name in seen:
            continue
        seen.add(one.name)
        if one.name not in known:
            return False
        for i in known[one.name]:
            if i.op in ("ld", "ldu") and isinstance(i.operands[0], Vec):
                return False
            if i.op == "mov":
                waiting += i.operands[1:]
    return True
