"""The Apple device without a Mac: works from source, its errors, and why it is missing."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader import measure
from grader.assignment import load
from grader.devices import hardware, hardware_child, hardware_jobs, metal, metal_errors
from grader.errors import NotGradableError
from grader.languages import language
from grader.run import Task, Work
from grader.sandbox import Exit, Frame, Reply, seatbelt
from grader.sandbox.confine import Confinement
from grader.sandbox.records import Limits

ROOT = Path(__file__).parents[2]


def works(name: str) -> tuple[str, list[Work]]:
    task = Task.of(load(name), "metal", small=True, jobs=1)
    text = (ROOT / "reference" / name / "kernel.metal").read_text()
    _, artefact = language("metal").build(text, "kernel.metal", task.contracts)
    assert artefact is not None
    return text, measure._works(task, artefact, text)


def test_the_source_itself_is_what_is_loaded() -> None:
    text, found = works("assignment3")
    work = next(work for work in found if work.case == "a thousand")
    (launch,) = work.launches
    assert launch.ptx == text
    assert launch.entry == "vec_add"
    assert (launch.grid, launch.block, launch.threads) == ((4, 1, 1), (256, 1, 1), None)
    assert [a.buffer for a in launch.arguments] == ["A", "B", "C", None]
    assert launch.arguments[3].dtype == "uint32"
    assert bytes.fromhex(launch.arguments[3].data or "") == np.uint32(1000).tobytes()


@pytest.mark.parametrize("name", ["assignment5", "assignment6"])
def test_arguments_stand_at_their_buffer_index(name: str) -> None:
    _, found = works(name)
    task = load(name)
    for work in found:
        for launch in work.launches:
            named = [a.buffer for a in launch.arguments if a.buffer]
            assert len(set(named)) == len(named)
            assert all(task.buffer(buffer) is not None for buffer in named)


LOG = """program_source:7:12: error: use of undeclared identifier 'n'
    if (i < n) C[i] = A[i] + B[i];
            ^
program_source:9:3: warning: unused variable 'x' [-Wunused-variable]
"""


def test_the_compiler_names_lines_of_the_students_source() -> None:
    error, warning = metal_errors.diagnostics(LOG, "kernel.metal")
    assert (error.file, error.line, error.column) == ("kernel.metal", 7, 12)
    assert error.severity == "error"
    assert warning.severity == "warning"
    assert "line 7: use of undeclared identifier 'n'" in metal_errors.not_compiled(LOG).message


@pytest.mark.parametrize(
    ("code", "ended", "fault"),
    [
        (2, "time", None),
        (3, "stopped", "out_of_bounds"),
        (8, "unsupported", None),
        (99, "unsupported", None),
    ],
)
def test_errors_of_command_buffers(code: int, ended: str, fault: str | None) -> None:
    error = metal_errors.explain(code, "some text")
    assert (error.ended, error.fault) == (ended, fault)
    assert error.sticky


NUMBERS = {
    "Internal": 1, "Timeout": 2, "PageFault": 3, "AccessRevoked": 4, "NotPermitted": 7,
    "OutOfMemory": 8, "InvalidResource": 9, "Memoryless": 10, "DeviceRemoved": 11,
    "StackOverflow": 12,
}  # fmt: skip
"""MTLCommandBufferError…, as PyObjC 12's metadata has them."""


def test_numbers_of_errors_are_apples() -> None:
    assert set(metal_errors.ERRORS) == set(NUMBERS.values())
    words = {3: "page fault", 2: "too long", 8: "out of memory", 12: "stack overflow"}
    for number, said in words.items():
        assert said in metal_errors.ERRORS[number][2]


def test_what_shader_validation_logs_is_a_finding() -> None:
    assert metal_errors.validation([]) is None
    error = metal_errors.validation([("Invalid device load\n at offset 4000", 7), ("another", 8)])
    assert error is not None
    assert (error.ended, error.fault) == ("stopped", "out_of_bounds")
    assert "line 7: Invalid device load at offset 4000; 2 such messages" in error.message


@pytest.mark.skipif(sys.platform == "darwin", reason="this is about other systems")
def test_elsewhere_it_is_missing_and_says_so() -> None:
    assert metal.missing() == "Metal is a part of macOS"
    with pytest.raises(NotGradableError, match="a part of macOS"):
        hardware.chosen("metal", "metal")
    with pytest.raises(NotGradableError, match="expected a kernel in metal"):
        hardware.chosen("metal", "cuda-c")


def test_what_is_refused_under_shader_validation_runs_once_more_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Checks take registers: a threadgroup of 1024 may be too large for that pipeline alone."""
    _, found = works("assignment3")
    asked: list[tuple[bool, int]] = []

    def call(job: str, request: dict[str, Any], blobs: Sequence[bytes]) -> Reply:
        asked.append((request["checked"], len(request["works"])))
        frames = []
        for work in request["works"]:
            large = work["case"] == "a thousand" and request["checked"]
            said = hardware_child._answer("refused" if large else "unsupported", "words", [])
            frames.append(Frame({**said, "work": work["work"], "seconds": 0.0}))
        return Reply(Exit("exited"), {}, frames=tuple(frames))

    monkeypatch.setattr(metal, "call", call)
    runs = hardware.run(metal, found)
    assert asked == [(True, len(found)), (False, 1)]
    assert {run.ended for run in runs} == {"unsupported"}


def test_shader_validation_is_on_where_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []
    monkeypatch.delenv("MTL_SHADER_VALIDATION", raising=False)

    def opened(request: object) -> None:
        seen.append(os.environ.get("MTL_SHADER_VALIDATION"))

    monkeypatch.setattr(hardware_jobs, "_card", opened)
    for checked in (False, True):
        list(hardware_jobs.run_job({"checked": checked, "works": []}, []))
    assert seen == [None, "1"]
    monkeypatch.delenv("MTL_SHADER_VALIDATION")


def test_the_sandbox_of_a_mac_opens_the_gpu_only_where_ordered() -> None:
    closed = Confinement(limits=Limits(), scratch="/tmp/x")
    opened = Confinement(limits=Limits(), scratch="/tmp/x", devices=(str(metal.FRAMEWORK),))
    assert "iokit-open" not in " ".join(seatbelt.wrapped(["a"], closed))
    assert "(allow iokit-open)" in " ".join(seatbelt.wrapped(["a"], opened))
