"""A whole grading with a real device beside the virtual GPU, where the device is a stand-in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from grader import assignment as assignments
from grader import cases, cli, devices, grade, measure, verify
from grader.assignment_schema import Assignment
from grader.devices import hardware, hardware_child, sanitizer, sanitizer_log, timing
from grader.devices.card import CardError, Queued
from grader.errors import InternalError
from grader.result import CaseResult, Result, Verdict
from grader.sandbox import Exit, Frame, Reply
from tests.devices import stand_in
from tests.devices.test_sanitizer import RACECHECK
from tests.devices.virtual_card import CLOCK, VirtualCard

KERNEL = """#define BLOCK 256
extern "C" __global__ void vec_add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
"""


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`--device cuda` is the stand-in; few and quick measurements."""
    monkeypatch.setitem(devices.DEVICES, "cuda", "tests.devices.stand_in")
    rules = timing.Rules(warm_up=1, warm_up_most=2, least=3, most=3, empty_regions=2)
    monkeypatch.setattr(hardware, "measure", _with_rules(hardware.measure, rules))
    monkeypatch.setattr(hardware_child, "time", CLOCK)
    monkeypatch.setattr(measure, "SETS_LEAST", 2)
    monkeypatch.setattr(measure, "SETS_BYTES", 1)
    stand_in.asked.clear()
    hardware.facts.cache_clear()
    yield
    stand_in.reason = None
    stand_in.card = VirtualCard
    hardware.facts.cache_clear()


def _with_rules(found: Callable[..., Any], rules: timing.Rules) -> Callable[..., Any]:
    return lambda module, yours, reference: found(module, yours, reference, rules)


@pytest.fixture(scope="module")
def course() -> Assignment:
    """assignment3 with two cases: a small one, and one that is timed."""
    full = assignments.load("assignment3")
    small = next(case for case in full.cases if case.name == "a thousand")
    large = next(case for case in full.cases if case.large)
    large = large.model_copy(update={"sizes": {"N": 4096}})
    return full.model_copy(update={"cases": (small, large), "notes": None})


def submit(course: Assignment, tmp_path: Path, text: str = KERNEL, device: str = "cuda") -> Result:
    (tmp_path / "kernel.cu").write_text(text)
    return grade.submit(course, tmp_path, device=device, jobs=1)


def timed(result: Result) -> CaseResult:
    return next(case for case in result.cases if case.name == "a million")


@pytest.mark.usefixtures("card")
def test_measured_time_stands_beside_the_modelled(course: Assignment, tmp_path: Path) -> None:
    result = submit(course, tmp_path)
    assert result.verdict is Verdict.ACCEPTED
    assert result.hardware is not None
    assert result.hardware.name == "virtual"
    assert result.hardware.copy_bytes_per_second == pytest.approx(1e12)
    case = timed(result)
    assert case.timing is not None
    assert case.timing.source == "modelled"
    there = case.measured
    assert there is not None
    assert there.untrusted == ()
    assert there.timing is not None
    assert there.timing.source == "measured"
    assert there.timing.ratio_to_reference is not None
    assert there.timing.ratio_to_reference == pytest.approx(1.0, rel=0.1)
    assert there.copy_share is not None
    assert len(there.code_sha256) == 64
    other = next(case for case in result.cases if case is not timed(result))
    assert other.measured is not None
    assert other.measured.timing is None  # right there too, but not a case that is timed


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize("device", ["cuda", "auto"])
def test_a_fault_of_the_virtual_gpu_stands_whatever_hardware_would_say(
    course: Assignment, tmp_path: Path, device: str
) -> None:
    """The write lands in a red zone at best; the kernel is not even run there."""
    result = submit(course, tmp_path, KERNEL.replace("if (i < N) ", ""), device)
    assert result.verdict is Verdict.OUT_OF_BOUNDS
    assert stand_in.asked == ["facts_job"]


class WrongThere(VirtualCard):
    """A device on which every output comes out one larger."""

    def get(self, offset: int, size: int) -> Any:
        data = super().get(offset, size)
        data.view("float32")[-2000:-1500] += 1.0
        return data


@pytest.mark.usefixtures("card")
def test_a_wrong_answer_there_counts_where_the_device_was_named(
    course: Assignment, tmp_path: Path
) -> None:
    stand_in.card = WrongThere
    named = submit(course, tmp_path)
    assert named.verdict is Verdict.WRONG_ANSWER
    assert "on the cuda device" in named.reason
    beside = submit(course, tmp_path, device="auto")
    assert beside.verdict is Verdict.ACCEPTED  # a grade is the same on every machine
    assert any(c.measured and c.measured.verdict is not Verdict.ACCEPTED for c in beside.cases)


class Refuses(VirtualCard):
    """A device that is out of memory."""

    def prepare(self, launches: Sequence[tuple[Any, Queued]]) -> Callable[[], None]:
        raise CardError("unsupported", "out of memory")


@pytest.mark.usefixtures("card")
def test_a_named_device_that_cannot_run_it_makes_it_not_gradable(
    course: Assignment, tmp_path: Path
) -> None:
    stand_in.card = Refuses
    assert submit(course, tmp_path).verdict is Verdict.NOT_GRADABLE
    assert submit(course, tmp_path, device="auto").verdict is Verdict.ACCEPTED


@pytest.mark.usefixtures("card")
def test_a_named_device_that_is_missing_is_no_silent_fall_back(
    course: Assignment, tmp_path: Path
) -> None:
    stand_in.reason = "no driver"
    result = submit(course, tmp_path)
    assert result.verdict is Verdict.NOT_GRADABLE
    assert result.verdict.exit_code == 3
    assert "no driver" in result.reason
    assert result.score.points is None
    beside = submit(course, tmp_path, device="auto")
    assert beside.verdict is Verdict.ACCEPTED
    assert beside.hardware is None


@pytest.mark.usefixtures("card")
def test_a_device_that_nobody_named_and_that_falls_over_costs_no_grade(
    course: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was `grader_error`: what a card does decides only where it was asked for."""
    found = stand_in.call

    def call(job: str, request: dict[str, Any], blobs: Sequence[bytes], **more: object) -> Reply:
        if job == "run_job":
            return Reply(Exit("signalled", 11, "SIGSEGV"), None, error="SIGSEGV")
        return found(job, request, blobs, **more)

    monkeypatch.setattr(stand_in, "call", call)
    beside = submit(course, tmp_path, device="auto")
    assert beside.verdict is Verdict.ACCEPTED
    assert beside.hardware is None
    assert any("not measured on the virtual: " in said for said in beside.mentions)
    assert submit(course, tmp_path).verdict is Verdict.GRADER_ERROR
    hardware.facts.cache_clear()
    monkeypatch.setattr(stand_in, "call", lambda *_, **__: Reply(Exit("exited"), {"missing": "x"}))
    assert submit(course, tmp_path, device="auto").verdict is Verdict.ACCEPTED
    assert submit(course, tmp_path).verdict is Verdict.NOT_GRADABLE


@pytest.mark.usefixtures("card")
def test_auto_measures_and_the_virtual_gpu_alone_does_not(
    course: Assignment, tmp_path: Path
) -> None:
    assert submit(course, tmp_path, device="auto").hardware is not None
    stand_in.asked.clear()
    assert submit(course, tmp_path, device="virtual").hardware is None
    assert stand_in.asked == []


@pytest.mark.usefixtures("card")
def test_points_come_from_the_device_that_the_assignment_names(
    course: Assignment, tmp_path: Path
) -> None:
    assert course.speed is not None
    named = course.model_copy(update={"speed": course.speed.model_copy(update={"device": "cuda"})})
    lines = submit(named, tmp_path, device="auto").score.lines
    assert "time measured on" in next(line.why for line in lines if line.item == "speed")
    lines = submit(course, tmp_path, device="auto").score.lines
    assert "modelled time" in next(line.why for line in lines if line.item == "speed")


@pytest.mark.usefixtures("card")
def test_a_language_the_device_does_not_run(course: Assignment, tmp_path: Path) -> None:
    (tmp_path / "kernel.metal").write_text("kernel void vec_add() {}")
    result = grade.submit(course, tmp_path, device="cuda", jobs=1)
    assert result.verdict is Verdict.NOT_GRADABLE
    assert "cuda-c or triton" in result.reason


@pytest.mark.usefixtures("card")
def test_findings_of_compute_sanitizer_count_where_it_was_asked_for(
    course: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(works: Sequence[Any], asked: Sequence[str], *, file: str) -> Any:
        log = RACECHECK if "racecheck" in asked else ""
        return {work.case: list(sanitizer_log.parse(log, "racecheck", file)) for work in works}

    monkeypatch.setattr(sanitizer, "check", check)
    (tmp_path / "kernel.cu").write_text(KERNEL)
    clean = grade.submit(course, tmp_path, tools=["memcheck"], jobs=1)
    assert clean.verdict is Verdict.ACCEPTED
    racy = grade.submit(course, tmp_path, tools=["racecheck"], jobs=1)
    assert racy.verdict is Verdict.RACE
    assert "compute-sanitizer racecheck" in racy.reason
    stand_in.reason = "no driver"
    missing = grade.submit(course, tmp_path, tools=["memcheck"], jobs=1)
    assert missing.verdict is Verdict.NOT_GRADABLE


# ---- timing, end to end -----------------------------------------------------------------------

STATIC = """#define BLOCK 256
__device__ float kept[4096];
__device__ bool full[4096];
extern "C" __global__ void vec_add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    float sum = full[i] ? kept[i] : A[i] + B[i];
    kept[i] = sum;
    full[i] = true;
    C[i] = sum;
  }
}
"""


@pytest.mark.usefixtures("card")
def test_a_kernel_that_keeps_its_first_answer_is_wrong_when_it_is_timed(
    course: Assignment, tmp_path: Path
) -> None:
    """B14: right whenever it is asked once, and so for the virtual GPU."""
    result = submit(course, tmp_path, STATIC)
    assert result.verdict is Verdict.WRONG_ANSWER
    there = timed(result).measured
    assert there is not None
    assert "while it was timed" in there.untrusted[0]


@pytest.mark.usefixtures("card")
def test_near_the_edge_of_a_band_it_is_measured_again(
    course: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "near_edge", lambda *_: True)
    there = timed(submit(course, tmp_path)).measured
    assert there is not None
    assert there.pairs == 6
    assert stand_in.asked.count("time_job") == 2


@pytest.mark.usefixtures("card")
def test_every_measurement_has_inputs_that_nothing_has_seen(
    course: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B16, B17: no phase repeats another's values, and no seed is known beforehand."""
    monkeypatch.setenv("GRADE_SECRET", "the same for both")
    seen: list[bytes] = []
    found = hardware.measure

    def spying(module: Any, yours: Any, reference: Any) -> Any:
        seen.extend(w.inputs.arrays()["A"].tobytes() for w in yours)
        for mine, theirs in zip(yours, reference, strict=True):
            assert mine.inputs.arrays()["A"] is theirs.inputs.arrays()["A"]
        return found(module, yours, reference)

    monkeypatch.setattr(hardware, "measure", spying)
    submit(course, tmp_path)
    submit(course, tmp_path)
    assert len(set(seen)) == len(seen) == 4
    judged = cases.inputs(course, course.cases[1]).arrays()["A"]
    assert judged.tobytes() not in seen


@pytest.mark.usefixtures("card")
def test_what_is_timed_is_what_was_judged_and_cannot_tell(
    course: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B19: the same code, geometry and arguments in every phase; only values differ."""
    orders: dict[str, set[str]] = {}

    def spying(name: str, found: Any) -> Any:
        def asked(module: Any, works: Any, *more: Any) -> Any:
            for work in works:
                if work.case == "a million":
                    orders.setdefault(name, set()).add(repr(work.launches))
            return found(module, works, *more)

        return asked

    monkeypatch.setattr(hardware, "run", spying("run", hardware.run))
    monkeypatch.setattr(hardware, "measure", spying("measure", hardware.measure))
    submit(course, tmp_path)
    assert orders["run"] == orders["measure"]
    assert len(orders["run"]) == 1


def test_the_floor_takes_no_more_than_both_kernels_needed(course: Assignment) -> None:
    from grader.reference import CaseRun, Reference
    from grader.result import Hardware, Metrics, ReferenceRun
    from grader.run import Task

    task = Task.of(course, "cuda-c", small=False, jobs=1)
    data = task.cases[1][1]
    facts = Hardware(device="cuda", name="x", peak_bytes_per_second=1e12, l2_bytes=0)
    run = ReferenceRun(
        verdict=Verdict.ACCEPTED,
        metrics=Metrics(counts={"dram_read_bytes": 8_000.0, "dram_write_bytes": 1e9}),
    )
    known = Reference(cases={"a million": CaseRun(run=run, instructions={})})
    here = CaseResult(name="a million", device="virtual", verdict=Verdict.ACCEPTED)
    floor = measure._floor(facts, data, here, known, 1)
    assert floor == pytest.approx((8_000 + 4 * 4096) / 1e12 * 1e9)


# ---- answers that are not believed -------------------------------------------------------------


@pytest.fixture
def works(course: Assignment) -> list[Any]:
    from grader.languages import cuda_c
    from grader.run import Task

    task = Task.of(course, "cuda-c", small=True, jobs=1)
    _, artefact = cuda_c.build(KERNEL, "kernel.cu", task.contracts)
    assert artefact is not None
    return measure._works(task, artefact, KERNEL)


def reading(**more: Any) -> dict[str, Any]:
    return {
        "side": "yours", "launches": 1, "event": 9.0, "drained": 9.5, "wall": 12.0,
        "threads": 0, "clock_hz": 1e9, "wrong": "", **more,
    }  # fmt: skip


def readings(**more: Any) -> dict[str, Any]:
    pairs = [reading(), reading()]
    return {
        "empty": [reading()], "yours": pairs, "reference": pairs, "sets": 1, "unjudged": 0, **more
    }  # fmt: skip


def answering(frames: Sequence[Frame], header: dict[str, Any] | None = None) -> Any:
    class Module:
        NAME = "cuda"
        TITLE = "stand-in"
        CHECKS = False

        @staticmethod
        def call(*_: object) -> Reply:
            return Reply(Exit("exited"), {} if header is None else header, frames=tuple(frames))

    return Module


@pytest.mark.parametrize(
    "header",
    [
        {},
        readings(yours=[]),
        readings(yours=[reading()]),
        readings(reference=[reading()] * 3),
        readings(sets=0),
        readings(verdict="accepted"),
        readings(yours=[reading(event="fast"), reading()]),
        readings(yours=[reading(launches=0), reading()]),
        readings(yours=[reading(wrong="x" * 2000), reading()]),
    ],
)
def test_malformed_readings_are_an_error_of_ours(works: list[Any], header: dict[str, Any]) -> None:
    module = answering([Frame(header)])
    with pytest.raises(InternalError):
        hardware.measure(module, works, works)


@pytest.mark.parametrize(
    ("header", "blobs"),
    [
        ({"set": 9, "outputs": ["C"]}, [bytes(4000)]),
        ({"set": 0, "outputs": ["A"]}, [bytes(4000)]),
        ({"set": 0, "outputs": ["C"]}, [bytes(3999)]),
        ({"set": 0, "outputs": ["C"]}, []),
        ({"outputs": ["C"]}, [bytes(4000)]),
    ],
)
def test_outputs_that_were_not_asked_for_are_an_error_of_ours(
    works: list[Any], header: dict[str, Any], blobs: list[bytes]
) -> None:
    module = answering([Frame(header, tuple(blobs)), Frame(readings())])
    with pytest.raises(InternalError):
        hardware.measure(module, works, works)


def test_good_readings_are_read(works: list[Any]) -> None:
    good = Frame({"set": 0, "outputs": ["C"]}, (bytes(4000),))
    found = hardware.measure(answering([good, Frame(readings())]), works, works)
    assert found.readings is not None
    assert found.readings.yours[0].each == 9.0
    assert found.outputs[0][1]["C"].shape == (1000,)


def test_not_a_number_does_not_become_a_time(works: list[Any]) -> None:
    pairs = [reading(event=math.nan)] * 2
    found = hardware.measure(answering([Frame(readings(yours=pairs))]), works, works)
    assert found.readings is not None
    assert timing.judge(found.readings, 0.0).untrusted


def test_a_child_that_dies_on_a_work_is_told_from_one_that_ran_out_of_time(
    works: list[Any],
) -> None:
    class Slow:
        NAME = "cuda"
        TITLE = "stand-in"
        CHECKS = False

        @staticmethod
        def call(*_: object) -> Reply:
            return Reply(Exit("wall_timeout", wall_seconds=180.0), None)

    class Dead(Slow):
        @staticmethod
        def call(*_: object) -> Reply:
            return Reply(Exit("signalled", 11, "SIGSEGV"), None, error="SIGSEGV")

    assert {run.ended for run in hardware.run(Slow, works)} == {"time"}  # type: ignore[arg-type]
    with pytest.raises(InternalError, match="SIGSEGV"):
        hardware.run(Dead, works)  # type: ignore[arg-type]


# ---- grade check and grade verify ----------------------------------------------------------------


@pytest.mark.usefixtures("card")
def test_the_quick_loop_runs_on_a_device_that_is_named_and_on_no_other(
    course: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grade.assignments, "load", lambda name: course)
    (tmp_path / "kernel.cu").write_text(KERNEL)
    line = ["check", "assignment3", str(tmp_path), "--quiet"]
    assert cli._run(line) == 0
    assert stand_in.asked == []
    assert cli._run([*line, "--device", "cuda"]) == 0
    assert stand_in.asked == ["facts_job", "run_job"]  # small cases: nothing is timed


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize("command", ["check", "verify", "submit"])
def test_a_named_device_that_is_missing_is_exit_3_for_every_command_that_takes_one(
    tmp_path: Path, command: str, capfd: pytest.CaptureFixture[str]
) -> None:
    stand_in.reason = "no driver"
    (tmp_path / "kernel.cu").write_text(KERNEL)
    place = [] if command == "verify" else [str(tmp_path)]
    out = ["--out", str(tmp_path / "out")] if command == "submit" else []
    assert cli._run([command, "assignment3", *place, "--device", "cuda", *out]) == 3
    said = " ".join("".join(capfd.readouterr()).split())
    assert "the device that was asked for, cuda, cannot be used here: no driver" in said


@pytest.mark.parametrize("command", ["check", "verify", "submit"])
def test_a_device_that_there_is_none_of_is_a_bad_command(command: str) -> None:
    assert cli._run([command, "assignment3", "--device", "gpu"]) == 2


@pytest.mark.usefixtures("card")
def test_verify_runs_on_a_device_what_it_can_run_there(course: Assignment) -> None:
    subjects = {s.name: s for s in verify.subjects(course) if s.what == "reference"}
    cuda, metal = subjects["reference (cuda-c)"], subjects["reference (metal)"]
    assert verify._device(cuda, "cuda") == "cuda"
    assert verify._device(metal, "cuda") == "virtual"
    assert verify._device(cuda, "virtual") == "virtual"
    program = cuda.model_copy(update={"assignment": course.model_copy(update={"kind": "program"})})
    assert verify._device(program, "cuda") == "virtual"


@pytest.mark.usefixtures("card")
def test_a_known_submission_that_is_wrong_on_the_device_fails_there(
    course: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify.grade.assignments, "load", lambda name: course)
    path = tmp_path / "accepted" / "kernel.cu"
    path.parent.mkdir()
    path.write_text(KERNEL)
    known = verify.Subject(
        assignment=course, what="submission", path=path, language=None, expected="accepted"
    )
    assert verify._check(known, "cuda").ok
    stand_in.card = WrongThere
    wrong = verify._check(known, "cuda")
    assert (wrong.ok, wrong.found) == (False, "wrong_answer")
    assert verify._check(known).ok
