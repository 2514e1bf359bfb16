"""Every tiny kernel here has exactly the findings its comments say, the mended twin none.

Findings are the union of the optimised and the unoptimised build, over several block sizes (most
no multiple of a warp) and grids that match, exceed and fall short of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from grader.languages.nvrtc import compile_source, install_headers
from grader.vgpu import Fault, Memory, Module, launch
from tests.vgpu.kernels.kernel_case import (
    SEVERITIES,
    Buffer,
    KernelCase,
    LaunchSize,
    Mark,
    arguments_of,
    evaluate,
    read,
)

pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC has no wheel for this platform")
FOLDER = Path(__file__).parent
CASES = [read(path) for path in sorted(FOLDER.glob("*/*.cu"))]
FUEL = 50_000_000
BUILDS = {"optimised": "-lineinfo", "unoptimised": "-G"}


def test_there_are_enough_of_both_kinds():
    faulty = {case.name.removesuffix(".faulty") for case in CASES if case.expected}
    silent = {case.name.removesuffix(".mended") for case in CASES if not case.expected}
    assert len(faulty) >= 60
    assert faulty == silent, "each faulty kernel has its mended twin"


@dataclass(frozen=True)
class Run:
    """One launch of one build and what it left behind."""

    size: LaunchSize
    build: str
    ended: str
    reason: str
    faults: tuple[Fault, ...]
    before: dict[str, Buffer | np.generic]
    after: dict[str, np.ndarray]
    written: dict[str, np.ndarray]


def runs_of(case: KernelCase) -> list[Run]:
    """Compile the case and launch both builds at all its sizes."""
    folder = install_headers() if "#include" in case.text else None
    include = [f"-I{folder}", f"-I{folder}/cccl"] if folder else []
    runs = []
    shared = ("-arch=compute_80", "-std=c++17", "-D_CG_LIMIT_INCLUDED_DEPENDENCIES")
    for build, option in BUILDS.items():
        compiled = compile_source(case.text, case.path.name, [*shared, option, *include])
        assert compiled.ok, compiled.log
        kernel = Module.from_ptx(compiled.ptx).kernel("k")
        runs += [run_once(case, kernel, build, size) for size in case.launches]
    return runs


def run_once(case: KernelCase, kernel, build: str, size: LaunchSize) -> Run:
    """One launch with fresh buffers."""
    memory = Memory()
    before = arguments_of(case, size)
    pointers = {
        name: memory.allocate(value.array, name=name, access=value.access, defined=value.defined)
        for name, value in before.items()
        if isinstance(value, Buffer)
    }
    arguments = [pointers.get(name, value) for name, value in before.items()]
    shared = int(evaluate(case.keys.get("shared", "0"), dict(size.names)))
    done = launch(
        kernel,
        size.grid,
        size.block,
        arguments,
        shared=shared,
        memory=memory,
        checks="all",
        fuel=FUEL,
    )
    after = {name: memory.read(pointer) for name, pointer in pointers.items()}
    written = {name: memory.written(pointer) for name, pointer in pointers.items()}
    return Run(size, build, done.ended, done.reason, done.faults, before, after, written)


def places(fault: Fault) -> list[int | None]:
    """The lines of a finding: both sides of a race or of a broken barrier."""
    if fault.kind in ("race", "bad_barrier") and fault.other:
        return [fault.line, fault.other.line]
    return [fault.line]


def fits(mark: Mark, kind: str, line: int | None, fault: Fault) -> bool:
    """Whether a finding is the one a mark speaks of; its severity is compared elsewhere."""
    same_place = mark.line is None or mark.line == line
    same_buffer = mark.buffer is None or mark.buffer == fault.buffer or fault.space != "global"
    return mark.kind == kind and same_place and same_buffer


def problems(case: KernelCase, runs: list[Run]) -> list[str]:
    """What differs from the comments of a case, in words."""
    found = [(line, fault, run) for run in runs for fault in run.faults for line in places(fault)]
    wrong = []
    for line, fault, run in found:
        if not any(fits(m, fault.kind, line, fault) for m in (*case.expected, *case.allowed)):
            wrong.append(
                f"unexpected at line {line}: {fault.severity} {fault.kind} of {fault.buffer}: "
                f"{fault.message} [{run.build}, {run.size}]"
            )
    for mark in case.expected:
        severities = [
            SEVERITIES.index(fault.severity)
            for line, fault, _ in found
            if fits(mark, fault.kind, line, fault)
            and (mark.buffer is None or mark.buffer == fault.buffer)
        ]
        if not severities:
            wrong.append(f"not found: {mark}")
        elif SEVERITIES[max(severities)] != mark.severity:
            wrong.append(f"found as {SEVERITIES[max(severities)]}: {mark}")
    return list(dict.fromkeys(wrong))


def check_form(case: KernelCase, run: Run) -> None:
    """Each finding names a place that exists in the source and in the launch."""
    for fault in run.faults:
        assert fault.file and Path(fault.file).name == case.path.name
        assert fault.line and 1 <= fault.line <= case.text.count("\n")
        assert fault.count >= 1 and fault.message
        if fault.block:
            assert all(i < n for i, n in zip(fault.block, run.size.grid, strict=False))
        if fault.thread:
            assert all(i < n for i, n in zip(fault.thread, run.size.block, strict=False))
        if fault.kind == "out_of_bounds" and fault.space == "global" and fault.buffer in run.after:
            assert fault.index is not None and fault.extent is not None
            inside = 0 <= fault.index < fault.extent
            whole = (fault.size_bytes or 0) <= run.after[fault.buffer].itemsize
            assert not (inside and whole), fault


def check_values(case: KernelCase, run: Run) -> None:
    """Outputs hold what the header says, wherever the launch is large enough to write them."""
    arrays = {name: v.array for name, v in run.before.items() if isinstance(v, Buffer)}
    short = run.size.shape == "short" and case.keys.get("complete") != "short"
    for output, expression in case.values.items():
        actual = run.after[output]
        expected = np.ravel(evaluate(expression, {**run.size.names, **arrays}))
        written = run.written[output]
        if not short and case.arguments[output].startswith("out"):
            assert written.all(), f"{output} is not complete at {run.size} ({run.build})"
        compared = written if short else np.ones(len(actual), bool)
        np.testing.assert_allclose(
            actual[compared],
            expected.astype(actual.dtype)[compared],
            rtol=1e-4,
            atol=1e-5,
            err_msg=f"{output} at {run.size} ({run.build})",
        )


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_findings(case: KernelCase):
    runs = runs_of(case)
    wrong = problems(case, runs)
    assert not wrong, "\n".join(wrong)
    for run in runs:
        check_form(case, run)
        assert run.ended != "unsupported", run.reason
    if "ends" in case.keys:
        assert case.keys["ends"] in {run.ended for run in runs}
    elif not case.expected:
        assert {run.ended for run in runs} == {"finished"}
        for run in runs:
            check_values(case, run)
