"""Whether the oracle of an assignment agrees with the frameworks installed here.

`reference/NAME/frameworks.py` is its author's code: one function for each framework,

    def with_torch(inputs, sizes) -> dict[str, tensor]    # what oracle() returns, by the framework

which is given the framework's own arrays, on the device that is meant, and returns such: the same
function is compared here and timed in `baselines.py`. A framework that is not installed is no
disagreement.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from grader import cases, check
from grader.assignment_schema import Assignment
from grader.errors import AssignmentError
from grader.framework_devices import MODULES, FrameworkDevice, Where, framework_device
from grader.result import Record


class Agreement(Record):
    """One framework: how many cases it did, and the first one it disagrees on.

    `missing` says why it was not asked.
    """

    framework: str
    cases: int = 0
    missing: str | None = None
    problem: str | None = None


def functions(assignment: Assignment) -> Path:
    """The file of an assignment's functions, which need not be there."""
    return assignment.folder.parent.parent / "reference" / assignment.name / "frameworks.py"


def agreements(assignment: Assignment, where: Where = "cpu") -> tuple[Agreement, ...]:
    """Ask every framework for every case, on the device `where`.

    Raises AssignmentError where the file cannot be run.
    """
    path = functions(assignment)
    if not path.is_file():
        return ()
    found = vars(cases.run_trusted(path))
    return tuple(
        _agreement(assignment, path, framework, found.get(f"with_{framework}"), where)
        for framework in MODULES
    )


def _agreement(
    assignment: Assignment, path: Path, framework: str, function: Any, where: Where
) -> Agreement:
    if function is None:
        return Agreement(framework=framework, missing=f"{path.name} has no with_{framework}()")
    if not installed(MODULES[framework]):
        return Agreement(framework=framework, missing="not installed")
    try:
        on = framework_device(framework, where)
    except Exception as error:  # a driver that is not there raises what it likes
        return Agreement(framework=framework, missing=f"{type(error).__name__}: {error}")
    for done, case in enumerate(assignment.cases):
        data = cases.inputs(assignment, case)
        try:
            answer = _answer(function, on, data)
        except Exception as error:
            raise cases.trusted_code_failed(path, error) from error
        problem = _difference(assignment, path, framework, data, answer)
        if problem:
            return Agreement(framework=framework, cases=done, problem=f"{case.name}: {problem}")
    return Agreement(framework=framework, cases=len(assignment.cases))


def installed(module: str) -> bool:
    """Whether a module could be imported here; nothing is."""
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # the package that `module` is in
        return False
    return found is not None and found.origin is not None  # a folder left behind has no origin


def arguments(on: FrameworkDevice, data: cases.Inputs) -> dict[str, Any]:
    """What a function is given: the framework's arrays, and Python's numbers."""
    arrays = {name: on.place(array) for name, array in data.arrays().items()}
    return arrays | {name: value.item() for name, value in data.scalars.items()}


def _answer(function: Any, on: FrameworkDevice, data: cases.Inputs) -> Any:
    answer = function(arguments(on, data), dict(data.sizes))
    if not isinstance(answer, dict):
        return answer
    return {name: on.fetch(array) for name, array in answer.items()}


def _difference(
    assignment: Assignment,
    path: Path,
    framework: str,
    data: cases.Inputs,
    answer: Mapping[str, np.ndarray],
) -> str | None:
    for name, wanted in cases.expected(assignment, data).items():
        buffer = assignment.buffer(name)
        assert buffer is not None
        if not isinstance(answer, dict) or name not in answer:
            raise AssignmentError(f"{path}: with_{framework}() returns no {name!r}")
        found = np.asarray(answer[name])
        if found.dtype != np.dtype(buffer.dtype) or found.shape != wanted.value.shape:
            return (
                f"{name} should be {buffer.dtype} of shape {wanted.value.shape}, "
                f"found {found.dtype} of shape {found.shape}"
            )
        mismatch = check.compare(
            name,
            found,
            wanted.value,
            tolerance=assignment.tolerance.get(buffer.dtype),
            scale=wanted.scale,
        )
        if mismatch is not None:
            return mismatch.message
    return None
