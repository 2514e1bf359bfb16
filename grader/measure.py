"""A kernel on a real device beside the virtual GPU: is it right there too, and how fast is it?

It runs only what the virtual GPU accepted: hardware has no adversarial orders of launches, warps
and blocks to offer, so what it lets pass overrules no finding. Whose time earns points is the
assignment's choice (`[speed] device`).
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader import cases, check, judge, reference
from grader.assignment_schema import Case
from grader.cases import Inputs
from grader.devices import hardware, metal_works, sanitizer, timing
from grader.devices.hardware import RealDevice
from grader.errors import NotGradableError
from grader.languages import Artefact
from grader.reference import Reference
from grader.result import (
    CaseResult,
    Fault,
    Hardware,
    Measured,
    Metrics,
    Severity,
    Timing,
    Verdict,
)
from grader.run import Run, Task, Work, plan
from grader.verdict import of_case, worst

SETS_LEAST, SETS_MOST = 4, 64
SETS_BYTES = 256 << 20
"""So many different inputs are drawn for a timing, as fit into so much memory."""

ABOVE_COPY = 1.3
"""Where a device does not say how fast its memory is: no kernel moves more than so many copies."""


@dataclass(frozen=True)
class Bench:
    """A real device, ready: what it is, and whether a wrong result there counts.

    `binding` where the device was named, by the command or by the assignment.
    """

    module: RealDevice
    facts: Hardware
    binding: bool


def bench(name: str, task: Task, tools: Sequence[str] = ()) -> Bench | None:
    """The device of `--device name` for a task, probed; None where nothing is to be measured.

    Raises NotGradableError where a device that was named cannot be used, or `tools` of
    compute-sanitizer were asked for and there is no NVIDIA card. One that nobody named and that
    stops answering is as one that is not there.
    """
    if tools:
        name = "cuda"
    if task.assignment.kind != "kernel":
        if name in ("auto", "virtual"):
            return None
        raise NotGradableError(
            f"expected --device virtual: a {task.assignment.kind} with host code of its own runs "
            f"on the virtual GPU only, found {name}"
        )
    module = hardware.chosen(name, task.language, "--sanitizer" if tools else "--device")
    if module is None:
        return None
    speed = task.assignment.speed
    named = name == module.NAME or (speed is not None and speed.device == module.NAME)
    try:
        return Bench(module, hardware.facts(module.NAME), named)
    except NotGradableError:
        if named:
            raise
        return None


def beside(
    bench: Bench,
    task: Task,
    artefact: Artefact,
    build: str,
    known: Reference,
    graded: Sequence[CaseResult],
    *,
    file: str,
    text: str,
    tools: Sequence[str] = (),
    step: Callable[[str], None],
) -> tuple[CaseResult, ...]:
    """The graded cases with what they did on a real device; those that count there are timed.

    `file` is the kernel's file and `text` its source, which is what a Mac compiles. `tools` are
    those of compute-sanitizer that are to look at the small cases, accepted or not.
    """
    seen: dict[str, list[Fault]] = {}
    if tools:
        step(f"running {', '.join(tools)} on the {bench.facts.name}")
        small = task.only([case.name for case, _ in task.cases if not case.large])
        seen = sanitizer.check(_works(small, artefact, text, build), tools, file=file)
    if any(case.verdict is not Verdict.ACCEPTED for case in graded):
        return tuple(
            _joined(case, _sanitised(bench, seen[case.name]), binding=bench.binding)
            if case.name in seen
            else case
            for case in graded
        )
    step(f"running on the {bench.facts.name}")
    works = _works(task, artefact, text, build)
    runs = hardware.run(bench.module, works)
    there = judge.cases(task, works, runs, file=file, device=bench.module.NAME)
    timed = task.assignment.speed_cases()
    yardstick = None
    if any(case.name in timed for case, _ in task.cases):
        yardstick = reference.build(task)
    found = []
    for case, run, here in zip(there, runs, graded, strict=True):
        measured = _outcome(bench, case, run, works)
        if case.name in timed and case.verdict is Verdict.ACCEPTED and yardstick is not None:
            step(f"timing {case.name} on the {bench.facts.name}")
            yours = (artefact, text, build)
            measured = _timed(bench, task, yours, yardstick, known, here, measured)
        if case.name in seen:
            faults = _sanitised(bench, seen[case.name])
            measured = measured.model_copy(
                update={
                    "faults": (*measured.faults, *faults.faults),
                    "verdict": worst([measured.verdict, faults.verdict]),
                    "reason": measured.reason or faults.reason,
                }
            )
        found.append(_joined(here, measured, binding=bench.binding))
    return tuple(found)


def _sanitised(bench: Bench, faults: Sequence[Fault]) -> Measured:
    """What compute-sanitizer found, as the outcome of a run there."""
    return Measured(
        device=bench.facts.device,
        verdict=of_case("finished", faults, None),
        reason=next((f.message for f in faults if f.severity is Severity.ERROR), ""),
        faults=tuple(faults),
    )


def _works(task: Task, artefact: Artefact, text: str, build: str | None = None) -> list[Work]:
    """The works that give values; a budget of instructions means nothing to hardware."""
    planned = plan(task, artefact, fuel=lambda case, build: 1, values=build)
    works = [work for work in planned if work.values]
    return (
        metal_works.from_source(task, artefact, works, text) if task.language == "metal" else works
    )


def _outcome(bench: Bench, case: CaseResult, run: Run, works: Sequence[Work]) -> Measured:
    """What a run there says, without a time yet."""
    work = next(work for work in works if work.case == case.name)
    code = "\0".join(launch.ptx for launch in work.launches)
    said = case.reason or next((fault.message for fault in case.faults), "")
    if case.mismatch is not None:
        said = said or case.mismatch.message
    return Measured(
        device=bench.facts.device,
        verdict=case.verdict,
        reason=said or run.reason,
        faults=case.faults,
        code_sha256=hashlib.sha256(code.encode()).hexdigest(),
    )


def _joined(here: CaseResult, there: Measured, *, binding: bool) -> CaseResult:
    """A case with what it did on hardware; where that counts it can only make it worse."""
    found = worst([here.verdict, there.verdict]) if binding else here.verdict
    reason = here.reason
    if found is not here.verdict:
        reason = f"on the {there.device} device: {there.reason}"
    return here.model_copy(update={"measured": there, "verdict": found, "reason": reason})


# ---- time --------------------------------------------------------------------------------------


def _timed(
    bench: Bench,
    task: Task,
    mine: tuple[Artefact, str, str],
    yardstick: Artefact,
    known: Reference,
    here: CaseResult,
    measured: Measured,
) -> Measured:
    """The measured times of a case. Near the edge of a band it is measured twice."""
    case, data = next(pair for pair in task.cases if pair[0].name == here.name)
    path = task.assignment.reference(task.language)
    their_text = path.read_text("utf-8") if path is not None else ""
    readings: timing.Readings | None = None
    wrong = ""
    limits = _limits(task, bench)
    margin = task.assignment.speed.tie_margin if task.assignment.speed else 0.0
    floor = 0.0
    judged = None
    for _ in range(2):
        drawn = _fresh(task, case, data)
        yours = [_works(one, *mine)[0] for one in drawn]
        theirs = [_works(one, yardstick, their_text)[0] for one in drawn]
        found = hardware.measure(bench.module, yours, theirs)
        if found.readings is None:
            return measured.model_copy(update={"untrusted": (found.stopped,)})
        wrong = wrong or _wrong(task, drawn, found)
        readings = found.readings if readings is None else readings.plus(found.readings)
        floor = _floor(bench.facts, data, here, known, readings.yours[0].launches)
        judged = timing.judge(readings, floor)
        if judged.untrusted or not timing.near_edge(judged.ratio, limits, margin):
            break
    assert judged is not None
    return _with_times(bench, data, measured, judged, floor, wrong)


def _with_times(
    bench: Bench,
    data: Inputs,
    measured: Measured,
    judged: timing.Judgement,
    floor: float,
    wrong: str,
) -> Measured:
    untrusted = (*((wrong,) if wrong else ()), *judged.untrusted)
    ratio = judged.ratio.value if math.isfinite(judged.ratio.value) else None
    moved = sum(_sizes(data)) / (judged.yours * 1e-9) if judged.yours > 0 else 0.0
    copy = bench.facts.copy_bytes_per_second
    shown = not untrusted or math.isfinite(judged.yours)
    return measured.model_copy(
        update={
            "verdict": Verdict.WRONG_ANSWER if wrong else measured.verdict,
            "reason": wrong or measured.reason,
            "timing": _timing(bench, judged.yours, ratio) if shown else None,
            "reference": _timing(bench, judged.reference, None),
            "relative_error": judged.ratio.error if math.isfinite(judged.ratio.error) else None,
            "pairs": judged.pairs,
            "launches": judged.launches,
            "floor_nanoseconds": floor,
            "copy_share": moved / copy if copy and not untrusted else None,
            "noisy": judged.noisy,
            "untrusted": untrusted,
            "remarks": judged.remarks,
        }
    )


def _timing(bench: Bench, nanoseconds: float, ratio: float | None) -> Timing:
    return Timing(
        source="measured",
        device=bench.facts.name,
        nanoseconds=nanoseconds,
        ratio_to_reference=ratio,
        dram_bytes_per_second=bench.facts.peak_bytes_per_second or None,
        flops_per_second=bench.facts.peak_flops_per_second or None,
    )


def _fresh(task: Task, case: Case, data: Inputs) -> list[Task]:
    """The case with values that nothing has seen, as often as memory allows."""
    size = max(1, sum(_sizes(data)))
    count = max(SETS_LEAST, min(SETS_MOST, SETS_BYTES // size))
    return [
        replace(
            task,
            cases=((case, cases.inputs(task.assignment, case, fresh=secrets.randbits(62) + 1)),),
        )
        for _ in range(count)
    ]


def _wrong(task: Task, drawn: Sequence[Task], found: hardware.Timed) -> str:
    """What was wrong with an output of a timed launch; empty where all were right."""
    for number, outputs in found.outputs:
        ((_, data),) = drawn[number].cases
        for name, wanted in cases.expected(task.assignment, data).items():
            buffer = task.assignment.buffer(name)
            assert buffer is not None
            mismatch = check.compare(
                name,
                outputs[name],
                wanted.value,
                tolerance=task.assignment.tolerance.get(buffer.dtype),
                scale=wanted.scale,
            )
            if mismatch is not None:
                return f"while it was timed, {mismatch.message}"
    return ""


def _sizes(data: Inputs) -> tuple[int, int]:
    """Bytes that a case's inputs and its outputs have."""
    reads = sum(b.initial.nbytes for b in data.buffers if b.initial is not None)
    outputs = [b for b in data.buffers if b.role in ("output", "inout")]
    writes = sum(math.prod(b.shape) * np.dtype(b.dtype).itemsize for b in outputs)
    return reads, writes


def _floor(
    facts: Hardware, data: Inputs, here: CaseResult, known: Reference, launches: int
) -> float:
    """What no honest launch of a case beats: no more is taken for needed than both kernels needed.

    Reads and writes are those of the reference where it moves less than the buffers hold. Flops are
    the fewer of both, and none where tensor or half-precision units do them.
    """
    run = known.run(here.name)
    theirs = run.metrics if run is not None else None
    given, left = _sizes(data)
    reads = min(given, _count(theirs, "dram_read_bytes", given))
    writes = min(left, _count(theirs, "dram_write_bytes", left))
    mine = here.metrics
    other_units = any(
        _count(metrics, name, 0) for metrics in (mine, theirs)
        for name in ("instructions_tensor", "instructions_half")
    )  # fmt: skip
    flops = 0.0 if other_units else min(_count(mine, "flops", 0), _count(theirs, "flops", 0))
    roof = timing.Roof(
        bytes_per_second=facts.peak_bytes_per_second or ABOVE_COPY * facts.copy_bytes_per_second,
        flops_per_second=facts.peak_flops_per_second,
        l2_bytes=facts.l2_bytes,
    )
    return timing.floor(
        roof, read_bytes=reads, written_bytes=writes, flops=flops, launches=launches
    )


def _count(metrics: Metrics | None, name: str, otherwise: float) -> float:
    return metrics.counts.get(name, otherwise) if metrics is not None else otherwise


def _limits(task: Task, bench: Bench) -> list[float]:
    """The limits of the bands that this device's time is held against."""
    speed = task.assignment.speed
    if speed is None or speed.time is None or speed.device != bench.module.NAME:
        return []
    return [band.at_most for band in speed.time.bands if band.at_most is not None]
