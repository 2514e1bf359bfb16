"""The same operation by numpy, torch, MLX and CuPy, on the same data: what a kernel stands beside.

`reference/NAME/frameworks.py` may hold, for each framework,

    def timed_torch(inputs, sizes): ...    # the operation alone, on arrays it has already

A child times it; a framework that is not installed, or does not run here, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grader import sandbox
from grader.assignment_schema import Case
from grader.cases import Inputs
from grader.devices import cuda
from grader.frameworks import MODULES, installed
from grader.result import Baseline, CaseResult
from grader.run import Task

Where = Literal["cpu", "cuda", "metal"]
LIMITS = sandbox.Limits(wall_seconds=120.0, cpu_seconds=240.0, memory_bytes=8 << 30)


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    framework: str = Field(max_length=40)
    version: str = Field(max_length=80)
    device: str = Field(max_length=200)
    first: float = Field(gt=0, allow_inf_nan=False)
    each: float = Field(gt=0, allow_inf_nan=False)


def beside(
    task: Task, graded: Sequence[CaseResult], where: Where, step: Callable[[str], None]
) -> tuple[CaseResult, ...]:
    """The graded cases, those whose speed counts with what the frameworks need for them.

    `where` is the device the kernel was measured on; without one the frameworks run on the CPU.
    """
    path = task.assignment.folder.parent.parent / "reference" / task.assignment.name
    path /= "frameworks.py"
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
    if there is None or there.timing is None or there.untrusted:
        return baseline
    return baseline.model_copy(update={"ratio": there.timing.nanoseconds / baseline.nanoseconds})


def _ask(path: Path, case: Case, data: Inputs, where: Where) -> list[Baseline]:
    """What each framework needs, asked in one child each: they take each other's memory."""
    arrays = data.arrays()
    found = []
    for framework, module in MODULES.items():
        if not installed(module):
            continue
        request = {
            "path": str(path),
            "framework": framework,
            "where": where,
            "sizes": dict(data.sizes),
            "scalars": {name: float(value) for name, value in data.scalars.items()},
            "arrays": [
                {"name": name, "dtype": array.dtype.name, "shape": array.shape}
                for name, array in arrays.items()
            ],
        }
        reply = sandbox.call(
            "grader.baselines_child:time_job",
            request,
            [array.tobytes() for array in arrays.values()],
            limits=LIMITS,
            read=[path],
            devices=cuda.nodes() if where == "cuda" else (),
        )
        try:
            answer = _Answer.model_validate(reply.header or {})
        except ValidationError:
            continue  # it has no such function, or does not run here
        found.append(
            Baseline(
                framework=answer.framework,
                version=answer.version,
                device=answer.device,
                nanoseconds=answer.each,
                first_nanoseconds=answer.first,
            )
        )
    return found
