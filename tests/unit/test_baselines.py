"""Frameworks timed beside a kernel: really run on the CPU, each where it is installed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from grader import assignment, baselines, baselines_child, cases, sandbox
from grader.assignment_schema import Assignment
from grader.baselines_child import COMPILED
from grader.framework_devices import MODULES
from grader.frameworks import functions, installed
from grader.result import Baseline, CaseResult, Measured, Timing, Verdict
from grader.run import Task
from grader.sandbox import Exit, Reply

ROOT = Path(__file__).parents[2]
HERE = {name for name, module in MODULES.items() if installed(module)}
TIMED = sorted(
    path.parent.name
    for path in ROOT.glob("assignments/*/assignment.toml")
    if (read := assignment.read(path)).kind == "kernel" and read.speed is not None
)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines_child, "SECONDS", 0.0)
    monkeypatch.setattr(baselines_child, "LEAST", 2)


def request(course: Assignment, framework: str, path: Path | None = None) -> Any:
    """What a child is asked for the case of an assignment whose speed counts."""
    case = next(case for case in course.cases if case.name in course.speed_cases())
    data = cases.inputs(course, case)
    arrays = data.arrays()
    asked = {
        "path": str(path or functions(course)),
        "framework": framework,
        "where": "cpu",
        "sizes": dict(data.sizes),
        "scalars": {name: value.item() for name, value in data.scalars.items()},
        "arrays": [
            {"name": name, "dtype": array.dtype.name, "shape": array.shape}
            for name, array in arrays.items()
        ],
    }
    return asked, [array.tobytes() for array in arrays.values()]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("framework", sorted(HERE - {"cupy"}))
@pytest.mark.parametrize("name", TIMED)
def test_every_assignment_whose_speed_counts_can_be_timed(name: str, framework: str) -> None:
    """By the functions that `grade verify` compares with the oracle: there are no others."""
    assert len(TIMED) >= 8
    said, _ = baselines_child.time_job(*request(assignment.load(name), framework))
    assert "missing" not in said, said
    assert said["version"]
    assert "CPU" in said["device"]
    assert said["each"] > 0
    assert said["first"] > 0


@pytest.mark.usefixtures("quick")
def test_what_a_framework_raises_is_the_reason_and_no_failure(tmp_path: Path) -> None:
    path = tmp_path / "frameworks.py"
    path.write_text(
        "def with_numpy(inputs, sizes):\n    raise ValueError('\\n no such thing\\n')\n"
    )
    said, _ = baselines_child.time_job(*request(assignment.load("assignment3"), "numpy", path))
    assert said["missing"] == "ValueError: no such thing"
    assert baselines_child.time_job(*request(assignment.load("assignment3"), "mlx", path))[0] == {}


@pytest.mark.parametrize(
    ("reply", "missing"),
    [
        (Reply(Exit("exited"), {"framework": "torch", "version": "2", "missing": "X: y"}), "X: y"),
        (Reply(Exit("memory", detail="it used 9 GiB"), None), "it ended: it used 9 GiB"),
        (Reply(Exit("signalled", 11), None, error="a\nSIGSEGV"), "it ended: SIGSEGV"),
        (Reply(Exit("wall_timeout"), None), "it ended: wall_timeout"),
        (Reply(Exit("exited"), {"framework": "torch", "version": "2"}), "its timer gave no time"),
        (
            Reply(Exit("exited"), {"framework": "torch", "version": "2", "each": "fast"}),
            "it ended: exited",
        ),
    ],
)
def test_a_framework_that_does_not_work_says_why(reply: Reply, missing: str) -> None:
    found = baselines._baseline("torch", reply)
    assert found is not None
    assert (found.framework, found.missing, found.nanoseconds) == ("torch", missing, None)


def test_a_framework_the_author_wrote_nothing_for_is_left_out() -> None:
    assert baselines._baseline("torch", Reply(Exit("exited"), {})) is None


# ---- in their children --------------------------------------------------------------------------


def graded(name: str = "assignment3") -> tuple[Task, list[CaseResult]]:
    course = assignment.load(name)
    case = next(case for case in course.cases if case.name in course.speed_cases())
    course = course.model_copy(update={"cases": (case,), "notes": None})
    task = Task.of(course, "cuda-c", small=False, jobs=1)
    return task, [CaseResult(name=case.name, device="virtual", verdict=Verdict.ACCEPTED)]


def test_every_framework_that_is_here_is_timed_on_the_same_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, bytes]] = []
    calls = sandbox.call

    def call(job: str, said: dict[str, Any], blobs: Sequence[bytes], **more: Any) -> Reply:
        asked.append((said["framework"], b"".join(blobs)))
        if said["framework"] == COMPILED:  # takes long: below
            return Reply(Exit("exited"), {})
        return calls(job, said, blobs, **more)

    monkeypatch.setattr("grader.sandbox.call", call)
    task, before = graded()
    (case,) = baselines.beside(task, before, "cpu", lambda text: None)
    assert {name for name, _ in asked} == HERE | ({COMPILED} if "torch" in HERE else set())
    assert len({data for _, data in asked}) == 1
    found = {baseline.framework: baseline for baseline in case.baselines}
    assert set(found) == HERE
    for name in HERE - {"cupy"}:
        assert found[name].missing == ""
        assert found[name].timer == "wall clock"
        assert 1e4 < (found[name].nanoseconds or 0) < 1e9  # a million elements
        assert found[name].first_nanoseconds > 0
        assert found[name].ratio is None  # a modelled time is not held against a stopwatch


@pytest.mark.slow
@pytest.mark.skipif("torch" not in HERE, reason="torch is not installed")
@pytest.mark.parametrize("there", [True, False])
def test_torch_compile_stands_beside_torch_or_says_why_not(
    monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    """Compile time apart; without a compiler a reason and no failure."""
    if there and shutil.which("g++", path=":".join(baselines.COMPILERS)) is None:
        pytest.skip("no C++ compiler")
    if not there:
        monkeypatch.setattr(baselines, "COMPILERS", ())
    monkeypatch.setattr(baselines, "MODULES", {"torch": "torch"})
    task, before = graded()
    (case,) = baselines.beside(task, before, "cpu", lambda text: None)
    eager, compiled = case.baselines
    assert (eager.framework, compiled.framework) == ("torch", COMPILED)
    assert eager.nanoseconds
    if there:
        assert compiled.missing == ""
        assert compiled.nanoseconds
        assert compiled.first_nanoseconds > 100 * compiled.nanoseconds  # it compiled
    else:
        assert "ompiler" in compiled.missing
        assert compiled.nanoseconds is None


@pytest.mark.parametrize(("untrusted", "ratio"), [((), 0.5), (("it was too fast",), None)])
def test_the_ratio_is_that_of_a_measured_time_that_is_believed(
    untrusted: tuple[str, ...], ratio: float | None
) -> None:
    timing = Timing(source="measured", device="x", nanoseconds=50.0)
    there = Measured(device="cuda", verdict=Verdict.ACCEPTED, timing=timing, untrusted=untrusted)
    case = CaseResult(name="a", device="virtual", verdict=Verdict.ACCEPTED, measured=there)
    baseline = Baseline(framework="torch", version="2", device="x", nanoseconds=100.0)
    assert baselines._ratio(case, baseline).ratio == ratio
    lacking = Baseline(framework="torch", version="2", missing="no compiler")
    assert baselines._ratio(case, lacking) == lacking


@pytest.mark.parametrize("where", ["cuda", "metal"])
def test_children_may_open_the_device_they_time_on(
    monkeypatch: pytest.MonkeyPatch, where: Any
) -> None:
    opened: list[Any] = []

    def call(job: str, said: dict[str, Any], blobs: Sequence[bytes], **more: Any) -> Reply:
        assert said["where"] == where
        opened.append((more["read"], more["devices"]))
        return Reply(Exit("exited"), {})

    reaches = {"cuda": ([Path("/etc")], [Path("/dev/null")]), "metal": ([], [Path("/dev/zero")])}
    monkeypatch.setattr(f"grader.devices.{where}.reach", lambda: reaches[where])
    monkeypatch.setattr("grader.sandbox.call", call)
    task, before = graded()
    baselines.beside(task, before, where, lambda text: None)
    assert opened
    read, nodes = reaches[where]
    assert all(devices == nodes and set(read) <= set(may) for may, devices in opened)
