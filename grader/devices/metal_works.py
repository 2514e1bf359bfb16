"""Works for a Mac: the student's whole source in place of PTX, arguments by buffer index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grader import parameters
from grader.cases import Inputs, ReadyLaunch
from grader.languages import Artefact
from grader.run import Argument, Launched, Task, Work, exact, geometry

_INDEX = re.compile(r"\[\[\s*buffer\(\s*(\d+)\s*\)\s*\]\]")


def from_source(task: Task, artefact: Artefact, works: Sequence[Work], source: str) -> list[Work]:
    """The works with launches of `source`, which the device compiles itself.

    `artefact` is that of the virtual GPU: it says which constants the source has, and so how large
    the launches are.
    """
    data = {case.name: (case, inputs) for case, inputs in task.cases}
    found = []
    for work in works:
        case, inputs = data[work.case]
        ready, _ = geometry(task, artefact, work.variant, case, inputs)
        launches = tuple(_launched(task, launch, inputs, source) for launch in ready)
        found.append(replace(work, launches=launches))
    return found


def _launched(task: Task, launch: ReadyLaunch, data: Inputs, source: str) -> Launched:
    grid, threads = exact(launch)
    return Launched(
        ptx=source,
        entry=launch.kernel,
        grid=grid,
        block=launch.block,
        shared_bytes=0,
        arguments=_arguments(task, launch, data),
        threads=threads,
        threadgroup_bytes=tuple(-(-size // 16) * 16 for size in launch.threadgroup_bytes),
    )


def _arguments(task: Task, launch: ReadyLaunch, data: Inputs) -> tuple[Argument, ...]:
    """The arguments in the order of their buffer indices; an index nobody names takes nothing."""
    contract = next(c for c in task.contracts if c.kernel == launch.kernel)
    declared = [p for p in contract.parameters if parameters.is_argument(p.type, "metal")]
    placed: dict[int, Argument] = {}
    for position, (parameter, argument) in enumerate(zip(declared, launch.arguments, strict=True)):
        named = _INDEX.search(parameter.type)
        index = int(named[1]) if named else position
        if argument.kind == "buffer":
            placed[index] = Argument(buffer=argument.name)
            continue
        value = data.scalars.get(argument.name, argument.value)
        dtype = parameters.meaning(parameter.type, "metal").dtype or argument.dtype
        scalar = np.dtype(dtype).type(value)
        placed[index] = Argument(dtype=dtype, data=scalar.tobytes().hex())
    return tuple(placed.get(index, Argument()) for index in range(max(placed, default=-1) + 1))
