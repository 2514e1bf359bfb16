"""Frameworks timed beside a kernel: really run on the CPU, each where it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import assignment, baselines, grade
from grader.frameworks import MODULES, installed
from grader.result import Baseline, CaseResult, Measured, Timing, Verdict

ROOT = Path(__file__).parents[2]


def test_every_framework_that_is_here_is_timed_on_the_same_data() -> None:
    course = assignment.load("assignment3")
    large = next(case for case in course.cases if case.large)
    course = course.model_copy(update={"cases": (large,), "notes": None})
    kernel = ROOT / "reference" / "assignment3" / "kernel.cu"
    result = grade.submit(course, kernel, device="virtual", frameworks=True, jobs=1)
    (case,) = result.cases
    here = {name for name, module in MODULES.items() if installed(module) and name != "cupy"}
    assert {baseline.framework for baseline in case.baselines} == here
    for baseline in case.baselines:
        assert baseline.version
        assert "CPU" in baseline.device
        assert 1e4 < baseline.nanoseconds < 1e9  # a million elements
        assert baseline.first_nanoseconds > 0
        assert baseline.ratio is None  # a modelled time is not held against a stopwatch


@pytest.mark.parametrize(("untrusted", "ratio"), [((), 0.5), (("it was too fast",), None)])
def test_the_ratio_is_that_of_a_measured_time_that_is_believed(
    untrusted: tuple[str, ...], ratio: float | None
) -> None:
    timing = Timing(source="measured", device="x", nanoseconds=50.0)
    there = Measured(device="cuda", verdict=Verdict.ACCEPTED, timing=timing, untrusted=untrusted)
    case = CaseResult(name="a", device="virtual", verdict=Verdict.ACCEPTED, measured=there)
    baseline = Baseline(framework="torch", version="2", device="x", nanoseconds=100.0)
    assert baselines._ratio(case, baseline).ratio == ratio
