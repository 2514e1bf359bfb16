"""Whether a launch has blocks that nothing was left for: advice, proved by running it with fewer.

One thread for each element is what a one-dimensional launch of a simple kernel wants. A launch with
twice as many blocks, or more, is run again without the surplus on a copy of the memory: only where
that leaves every byte the same did the surplus do nothing.
"""

from __future__ import annotations

import numpy as np

from grader import vgpu
from grader.vgpu.memory import Storage
from grader.vgpu.module import Kernel

Dim3 = tuple[int, int, int]


def fewer_blocks(kernel: Kernel, grid: Dim3, block: Dim3, elements: int) -> int | None:
    """How many blocks `elements` need, where the launch has at least twice as many.

    None for launches of more dimensions, and for kernels that take the size of the grid into
    account: those share the work out among whatever blocks there are.
    """
    if grid[1:] != (1, 1) or block[1:] != (1, 1) or elements < 1:
        return None
    needed = -(-elements // block[0])
    if grid[0] < max(2 * needed, needed + 2) or _asks_for_the_grid(kernel):
        return None
    return needed


def changes_the_same(
    twin: vgpu.Memory, kernel: Kernel, grid: Dim3, block: Dim3, arguments: list[bytes],
    shared: int, fuel: int, after: vgpu.Memory,
) -> bool:  # fmt: skip
    """Whether the launch on `twin`, a copy from before, leaves what `after` holds."""
    try:
        run = vgpu.launch(
            kernel, grid, block, arguments, shared=shared, memory=twin, checks="bounds", fuel=fuel
        )
    except vgpu.LaunchError:
        return False
    return run.ended == "finished" and not run.printed and _equal(twin, after)


def _equal(one: vgpu.Memory, other: vgpu.Memory) -> bool:
    pairs: list[tuple[Storage, Storage]] = list(zip(one.buffers, other.buffers, strict=True))
    ours = {s.name: s for storages in one.variables.values() for s in storages}
    for storages in other.variables.values():
        pairs += [(ours[s.name], s) for s in storages if s.name in ours]
    return all(np.array_equal(a.data, b.data) for a, b in pairs)


def _asks_for_the_grid(kernel: Kernel) -> bool:
    return any(
        "nctaid" in repr(instruction.operands)
        for block in kernel.program.blocks
        for instruction in block.instructions
    )
