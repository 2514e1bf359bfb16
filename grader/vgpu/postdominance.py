"""For blocks where threads wait for others: those after them on every path, with work in them.

A thread that has run one of those without running the block itself went around it, and did not
merely return early (Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm, on the
reversed graph; here with bit sets, since functions are small).
"""

from __future__ import annotations

from grader.vgpu.program import Body, Program


def after(program: Program) -> tuple[list[int], list[int]]:
    """Offsets per block and the flat list of the blocks after it, empty where nobody waits."""
    lists: list[list[int]] = [[] for _ in program.blocks]
    for body in program.bodies.values():
        for block, later in _postdominators(body).items():
            lists[block] = later
    offsets, flat = [0], []
    for later in lists:
        flat += later
        offsets.append(len(flat))
    return offsets, flat


def _postdominators(body: Body) -> dict[int, list[int]]:
    ids = [b.id for b in body.blocks]
    place = {b: k for k, b in enumerate(ids)}
    everything = (1 << len(ids)) - 1
    successors = [[place[s] for s in b.successors] if not _leaves(b) else [] for b in body.blocks]
    out = [everything] * len(ids)
    changed = True
    while changed:
        changed = False
        for k in range(len(ids) - 1, -1, -1):
            new = everything if successors[k] else 0
            for s in successors[k]:
                new &= out[s]
            new |= 1 << k
            if new != out[k]:
                out[k], changed = new, True
    busy = 0
    for k, block in enumerate(body.blocks):
        end = block.terminator
        if block.instructions or (end is not None and end.op not in ("ret", "exit")):
            busy |= 1 << k
    result = {}
    for b in _asked(body):
        k = place[b]
        later = out[k] & busy & ~(1 << k)
        result[b] = [
            id_ for id_, bit in zip(ids, reversed(f"{later:b}"), strict=False) if bit == "1"
        ]
    return result


def _asked(body: Body) -> set[int]:
    """The blocks with a barrier, and those where calls come back to."""
    asked = set()
    for block in body.blocks:
        end = block.terminator
        if any(i.op in ("bar", "barrier") for i in (*block.instructions, *((end,) if end else ()))):
            asked.add(block.id)
        if end is not None and end.op == "call":
            asked.add(block.follow)
    return asked


def _leaves(block: object) -> bool:
    terminator = getattr(block, "terminator", None)
    return terminator is not None and terminator.op in ("ret", "exit", "trap")
