"""The rubric's steps, read from what the known submissions of assignment9 really call."""

from __future__ import annotations

import numpy as np
import pytest

from grader.programs import build, run
from grader.programs.steps import steps
from tests.conftest import ROOT
from tests.programs.running import needs_host

FOLDER = ROOT / "assignments/assignment9/submissions"
N = 1000
MISSED = {
    "accepted/plain": set(),
    "accepted/never_asked_about_the_launch": {"checked"},
    "accepted/never_waited": {"synchronised"},
    "bad_host_call/direction_swapped": {"host", "copied_out"},
    "bad_host_call/grid_rounded_down": {"covered"},
    "bad_host_call/never_allocated": {"host", "allocated", "copied_out"},
    "bad_host_call/never_freed": {"freed"},
    "bad_host_call/never_launched": {
        "covered",
        "launched",
        "checked",
        "synchronised",
        "copied_out",
    },
    "uninitialised/never_copied_in": {"copied_in"},
    "wrong_answer/never_copied_out": {"host", "copied_out"},
}
QUICK = ("accepted/plain", "accepted/never_waited", "bad_host_call/grid_rounded_down")


@needs_host
@pytest.mark.parametrize(
    "name",
    [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in MISSED],
)
def test_a_forgotten_step_is_the_one_that_is_missed(name: str) -> None:
    _, built = build.build((FOLDER / f"{name}.cu").read_text(), "program.cu", {})
    assert built is not None
    values = np.linspace(1, 2, N, dtype=np.float32).tobytes()
    found = run.run(built, arguments=[str(N)], files={"a.bin": values, "b.bin": values})
    seen = steps(found.answer.trace, 2, 1)
    assert {step.name for step in seen if not step.ok} == MISSED[name]
    lines = built.texts["program.cu"].splitlines()
    for step in seen:  # a step that was done names the line that does it
        if step.ok and step.name in ("covered", "launched"):
            assert step.line is not None and "<<<" in lines[step.line - 1]
        if step.ok and step.name == "freed":
            assert step.line is not None and "cudaFree" in lines[step.line - 1]
