"""Whether a load waits for a change: a loop that does nothing else with memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.vgpu.program import Block, Program
from grader.vgpu.ptx import Instruction

if TYPE_CHECKING:
    from grader.vgpu.lower import Site

MEMORY = frozenset(
    {
        "ld",
        "ldu",
        "st",
        "atom",
        "red",
        "cp",
        "bar",
        "barrier",
        "membar",
        "fence",
        "call",
        "mbarrier",
    }
)


def polls(program: Program, load: Site) -> bool:
    """Whether control can come back to the load without another access, barrier, fence or call."""
    blocks = program.blocks
    start = blocks[load.block]
    if not _idle(start, load.instruction):
        return False
    seen: set[int] = set()
    waiting = list(start.successors)
    while waiting:
        block = waiting.pop()
        if block == start.id:
            return True
        if block not in seen and _idle(blocks[block], load.instruction):
            seen.add(block)
            waiting += blocks[block].successors
    return False


def _idle(block: Block, load: Instruction) -> bool:
    instructions = [*block.instructions, *([block.terminator] if block.terminator else [])]
    return all(
        i is load or i.op not in MEMORY or (i.op == "ld" and "param" in i.mods)
        for i in instructions
    )
