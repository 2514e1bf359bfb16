"""From what a case did on a device to its verdict: findings of all builds, numbers against oracle.

Nothing here runs student code: runs in, a `CaseResult` for each case out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from grader import check, verdict
from grader.assignment_schema import Assignment, Case
from grader.cases import Expected
from grader.result import CaseResult, Fault, Mismatch, OutputMap, Severity, Verdict
from grader.run import FUEL_FLOOR, FUEL_MULTIPLE, Run, Task, Work

FROM_ANY_BUILD = ("trap", "assertion", "fuel", "deadlock", "time")
"""Ways to end that count in a build for checking too; what it cannot execute says nothing."""

ENDED_BADLY = {
    "fuel": f"it used up its budget of instructions, {FUEL_MULTIPLE} times what the reference "
    f"kernel executes and at least {FUEL_FLOOR:,} per launch",
    "time": "it ran out of time",
    "skipped": "not run, since a smaller case used up its budget of instructions",
}


def cases(
    task: Task,
    works: Sequence[Work],
    runs: Sequence[Run],
    *,
    file: str,
    device: str,
    source: str = "",
) -> list[CaseResult]:
    """The result of every case of a task; the oracle is asked here. Raises AssignmentError.

    `source` is the text of the kernel, for a language whose compiler makes races of its own.
    """
    if task.language == "triton":
        from grader.languages.triton_races import settle

        runs = [replace(run, faults=settle(run.faults, source)) for run in runs]
    return [
        _case(
            task.assignment,
            case,
            [(w, r) for w, r in zip(works, runs, strict=True) if w.case == case.name],
            task.expected(case, data),
            file=file,
            device=device,
        )
        for case, data in task.cases
    ]


def _case(
    assignment: Assignment,
    case: Case,
    runs: Sequence[tuple[Work, Run]],
    wanted: Mapping[str, Expected],
    *,
    file: str,
    device: str,
) -> CaseResult:
    """The result of one case from its runs: the first gives values and metrics, all give faults.

    `file` is the kernel's file as the submission names it.
    """
    work, main = runs[0]
    faults = [*merge([run.faults for _, run in runs], file)]
    reason = main.reason
    ended = [main.ended, *(o.ended for _, o in runs[1:] if o.ended in FROM_ANY_BUILD)]
    if main.ended == "refused":
        faults.append(_bad_launch(work, main.reason))
    mismatch: Mismatch | None = None
    maps: list[OutputMap] = []
    if main.ended == "finished" and main.outputs:
        mismatch, missing, maps = _numbers(assignment, work, main, wanted)
        faults += missing
    faults = [_lowered(assignment, fault) for fault in faults]
    found = verdict.worst(
        verdict.of_case(
            "finished" if end in ("refused", "time", "skipped") else end, faults, mismatch
        )
        for end in ended
    )
    if main.ended == "skipped" or "time" in ended:
        found = verdict.worst([found, Verdict.TIMED_OUT])
    if found is Verdict.TIMED_OUT:
        reason = next(ENDED_BADLY[end] for end in ended if end in ENDED_BADLY)
    return CaseResult(
        name=case.name,
        device=device,
        verdict=found,
        sizes=dict(work.inputs.sizes),
        hidden=case.hidden,
        large=case.large,
        weight=case.weight,
        faults=tuple(faults),
        mismatch=mismatch,
        maps=tuple(maps),
        metrics=main.metrics,
        timing=main.timing if main.ended == "finished" else None,
        printed=main.printed,
        reason=reason,
        seconds=sum(run.seconds for _, run in runs),
    )


_NO_NAME = "local memory"


def merge(builds: Sequence[Sequence[Fault]], file: str) -> tuple[Fault, ...]:
    """The union of what several builds of one kernel showed, each finding once.

    Builds for checking come after the first and are preferred: their lines are exact and their
    accesses are those of the source. A finding without a line is dropped where another build has
    the same one with its line, and one in local memory where another names the array.
    """
    found: dict[tuple[object, ...], Fault] = {}
    for faults in [*builds[1:], builds[0]]:
        here: dict[tuple[object, ...], Fault] = {}
        for fault in faults:
            named = fault.model_copy(update={"file": _name(fault.file, file)})
            key = _key(named)
            # Two records of one build with one key (two launches) are one finding.
            here[key] = _both(here[key], named) if key in here else named
        for key, fault in here.items():
            found.setdefault(key, fault)
    placed = {_key(fault)[:-2] for fault in found.values() if fault.line}
    kept = [fault for fault in found.values() if fault.line or _key(fault)[:-2] not in placed]
    known = {_unnamed(fault) for fault in kept if fault.buffer != _NO_NAME}
    kept = [f for f in kept if f.buffer != _NO_NAME or _unnamed(f) not in known]
    return tuple(
        sorted(kept, key=lambda f: (list(Severity).index(f.severity), f.file or "", f.line or 0))
    )


def _key(fault: Fault) -> tuple[object, ...]:
    return fault.kind, fault.severity, fault.buffer, fault.access, fault.file, fault.line


def _unnamed(fault: Fault) -> tuple[object, ...]:
    """A finding in local memory without the name of the array, which one build knows."""
    return fault.kind, fault.severity, fault.space, fault.access, fault.file, fault.line


def _both(one: Fault, other: Fault) -> Fault:
    return one.model_copy(update={"count": one.count + other.count})


def _name(path: str | None, file: str) -> str | None:
    """The submission's own name for a file that a compiler gives with its working directory."""
    if path is None:
        return None
    last = path.replace("\\", "/").rsplit("/", 1)[-1]
    return file if last == file.rsplit("/", 1)[-1] else last


def _bad_launch(work: Work, reason: str) -> Fault:
    return Fault(
        kind="bad_launch",
        severity=Severity.ERROR,
        message=f"CUDA would refuse the launch: {reason}",
        advice="Choose a block that a GPU can run; its constants are at the top of your file.",
        block=work.launches[0].block if work.launches else None,
    )


def _numbers(
    assignment: Assignment, work: Work, run: Run, oracle: Mapping[str, Expected]
) -> tuple[Mismatch | None, list[Fault], list[OutputMap]]:
    """The first output with a wrong number, a fault for each with elements never written, a map
    for each with either."""
    mismatch, missing, maps = None, [], []
    block = _threads(work)
    given = work.inputs.arrays()
    for buffer in assignment.outputs():
        wanted, actual = oracle[buffer.name], run.outputs[buffer.name]
        tolerance = assignment.tolerance.get(buffer.dtype)
        undefined = buffer.role == "output" and buffer.initial == "undefined"
        # A buffer with a content of its own may keep it: only its numbers are judged.
        written = run.written[buffer.name] if undefined else np.ones(actual.shape, bool)
        fault = check.unwritten(buffer.name, written, block)
        wrong = check.wrong_elements(actual, wanted.value, tolerance, wanted.scale)
        found = check.compare(
            buffer.name,
            actual,
            wanted.value,
            tolerance=tolerance,
            scale=wanted.scale,
            written=written,
            inputs=given,
            block=block,
            wrong=wrong,
        )
        if fault is not None:
            missing.append(fault)
        mismatch = mismatch or found
        if fault is not None or found is not None:
            maps.append(output_map(buffer.name, wrong & written, ~written))
    return mismatch, missing, maps


MAP_CELLS = 64
"""A map has at most this many rows and columns."""


def output_map(name: str, wrong: np.ndarray, unwritten: np.ndarray) -> OutputMap:
    """Counts of wrong and of unwritten elements (boolean arrays of one shape) per cell.

    One dimension is laid out 32 elements, a warp's, to a row, or more where it is long; of more
    than two dimensions the first ones are rows.
    """
    if wrong.ndim > 1:
        width = max(1, wrong.shape[-1])
    else:
        width = max(32, -(-wrong.size // (MAP_CELLS * 32)) * 32)
    height = max(1, -(-wrong.size // width))
    per_row, per_column = -(-height // MAP_CELLS), -(-width // MAP_CELLS)
    rows, columns = -(-height // per_row), -(-width // per_column)

    def cells(flags: np.ndarray) -> tuple[int, ...]:
        flat = flags.reshape(-1)
        if flat.size != height * width:
            flat = np.concatenate([flat, np.zeros(height * width - flat.size, flags.dtype)])
        across = range(0, width, per_column)
        summed = np.add.reduceat(flat.reshape(height, width), across, axis=1, dtype=np.int64)
        summed = np.add.reduceat(summed, range(0, height, per_row), axis=0)
        counts: list[int] = summed.reshape(-1).tolist()
        return tuple(counts)

    return OutputMap(
        output=name,
        shape=wrong.shape,
        width=width,
        rows=rows,
        columns=columns,
        rows_per_cell=per_row,
        columns_per_cell=per_column,
        wrong=cells(wrong),
        unwritten=cells(unwritten),
    )


def _threads(work: Work) -> int | None:
    if not work.launches:
        return None
    x, y, z = work.launches[0].block
    return x * y * z


def _lowered(assignment: Assignment, fault: Fault) -> Fault:
    """A check that the assignment reports without judging by it, with the assignment's reason."""
    lowered = assignment.checks.get(fault.kind)
    if lowered is None or fault.severity is not Severity.ERROR:
        return fault
    return fault.model_copy(
        update={
            "severity": Severity(lowered.severity),
            "message": f"{fault.message} (a {lowered.severity} in this assignment: "
            f"{lowered.reason})",
        }
    )


def order_matters(forward: Run, reverse: Run) -> str:
    """What the same case with its warps in reverse order says about a race."""
    same = forward.ended == reverse.ended and all(
        forward.outputs[name].tobytes() == reverse.outputs[name].tobytes()
        for name in forward.outputs
        if name in reverse.outputs
    )
    if same:
        return "with the warps in reverse order the result is the same by luck"
    return "with the warps in reverse order the result is another one"
