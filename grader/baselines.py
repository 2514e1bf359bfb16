"""The same operation by numpy, torch, MLX and CuPy, on the same data: what a kernel stands beside.

`reference/NAME/frameworks.py` holds a function for each framework (`frameworks.py` says which); a
child times it on arrays that are there already. PyTorch's is timed as it is and compiled by
`torch.compile`. A framework that is not installed is left out; one that does not work here says
why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grader import sandbox
from grader.assignment_schema import Case
from grader.baselines_child import COMPILED
from grader.cases import Inputs
from grader.devices import device
from grader.devices.hardware import RealDevice
from grader.framework_devices import MODULES, Where
from grader.frameworks import functions, installed
from grader.result import Baseline, CaseResult
from grader.run import Task

LIMITS = sandbox.Limits(wall_seconds=120.0, cpu_seconds=240.0, memory_bytes=8 << 30)
COMPILERS = ("/usr/bin", "/usr/local/bin", "/usr/sbin", "/sbin")
"""Where what `torch.compile` starts stands: a compiler, an assembler, a linker, ldconfig."""

COMPILING = replace(LIMITS, wall_seconds=300.0, cpu_seconds=600.0, processes=64)


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    framework: str = Field(max_length=40)
    version: str = Field(max_length=80)
    missing: str = Field(default="", max_length=400)
    device: str = Field(default="", max_length=200)
    events: bool = False
    first: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    each: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    error: float = Field(default=0.0, ge=0)


def beside(
    task: Task, graded: Sequence[CaseResult], where: Where, step: Callable[[str], None]
) -> tuple[CaseResult, ...]:
    """The graded cases, those whose speed counts with what the frameworks need for them.

    `where` is the device the kernel was measured on; without one the frameworks run on the CPU.
    """
    path = functions(task.assignment)
    timed = task.assignment.speed_cases()
    if not path.is_file():
        return tuple(graded)
    data = {case.name: (case, inputs) for case, inputs in task.cases if case.name in timed}
    found = []
    for case in graded:
        if case.name in data and not case.hidden:
            step(f"timing the frameworks on {case.name}")
            baselines = tuple(_ratio(case, one) for one in _ask(path, *data[case.name], where))
            case = case.model_copy(update={"baselines": baselines})  # noqa: PLW2901 - the same one
        found.append(case)
    return tuple(found)


def _ratio(case: CaseResult, baseline: Baseline) -> Baseline:
    """The baseline with the kernel's measured time over it, if that is a time to believe."""
    there = case.measured
    if there is None or there.timing is None or there.untrusted or not baseline.nanoseconds:
        return baseline
    return baseline.model_copy(update={"ratio": there.timing.nanoseconds / baseline.nanoseconds})


def _ask(path: Path, case: Case, data: Inputs, where: Where) -> list[Baseline]:
    """What each framework needs, asked in one child each: they take each other's memory."""
    arrays = data.arrays()
    there, nodes = ([], []) if where == "cpu" else cast(RealDevice, device(where)).reach()
    found = []
    for framework in (*MODULES, COMPILED):
        module = MODULES["torch" if framework == COMPILED else framework]
        if not installed(module):
            continue
        compiling = framework == COMPILED
        read = [path, *there, *(COMPILERS if compiling else ())]
        reply = sandbox.call(
            "grader.baselines_child:time_job",
            {
                "path": str(path),
                "framework": framework,
                "where": where,
                "sizes": dict(data.sizes),
                "scalars": {name: value.item() for name, value in data.scalars.items()},
                "arrays": [
                    {"name": name, "dtype": array.dtype.name, "shape": array.shape}
                    for name, array in arrays.items()
                ],
            },
            [array.tobytes() for array in arrays.values()],
            limits=COMPILING if compiling else LIMITS,
            read=[one for one in read if Path(one).exists()],
            devices=nodes,
        )
        baseline = _baseline(framework, reply)
        if baseline is not None:
            found.append(baseline)
    return found


def _baseline(framework: str, reply: sandbox.Reply) -> Baseline | None:
    """What a child answered; None where the author wrote no function for the framework."""
    if reply.header == {}:
        return None
    try:
        answer = _Answer.model_validate(reply.header)
    except ValidationError:
        last: Any = (reply.error or reply.exit.detail or reply.exit.cause).strip().splitlines()
        return Baseline(framework=framework, version="", missing=f"it ended: {last[-1][:300]}")
    if answer.missing or not answer.each:
        why = answer.missing or "its timer gave no time"
        return Baseline(framework=framework, version=answer.version, missing=why)
    return Baseline(
        framework=framework,
        version=answer.version,
        device=answer.device,
        nanoseconds=answer.each,
        relative_error=answer.error,
        timer="events" if answer.events else "wall clock",
        first_nanoseconds=answer.first,
    )
