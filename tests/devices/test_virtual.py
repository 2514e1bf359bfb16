"""What the parent asks of run children, and that it believes no malformed answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader import vgpu
from grader.assignment import load
from grader.devices import exchange, virtual, virtual_child
from grader.errors import InternalError
from grader.languages import Artefact, Variant
from grader.run import Task, Work, plan
from grader.sandbox import Exit, Reply
from grader.sandbox.channel import MAX_FRAMES, MAX_HEADER_BYTES, Kind, encode


@pytest.fixture(scope="module")
def task() -> Task:
    return Task.of(load("assignment3"), "cuda-c", small=False, jobs=2)


@pytest.fixture(scope="module")
def works(task: Task) -> list[Work]:
    artefact = Artefact(
        language="cuda-c",
        variants=(
            Variant(name="fast", optimised=True, ptx="fast ptx", entries={"vec_add": "v"}),
            Variant(
                name="debug",
                optimised=False,
                ptx="debug ptx",
                entries={"vec_add": "v"},
                constants={"BLOCK": 64},
            ),
        ),
    )
    return plan(task, artefact, fuel=lambda case, build: 1000)


def test_small_cases_run_on_every_build_and_large_ones_on_the_first(works: list[Work]) -> None:
    builds: dict[str, list[str]] = {}
    for work in works:
        builds.setdefault(work.case, []).append(work.variant)
    assert builds["a thousand"] == ["fast", "debug"]
    assert builds["a million"] == ["fast"]
    checks = {work.case: work.checks for work in works}
    assert checks["a thousand"] == "all"
    assert checks["a million"] == "bounds"


def test_a_launch_follows_the_constants_that_the_source_has(works: list[Work]) -> None:
    fast, debug = [work.launches[0] for work in works if work.case == "a thousand"]
    assert (fast.grid, fast.block) == ((4, 1, 1), (256, 1, 1))
    assert (debug.grid, debug.block) == ((16, 1, 1), (64, 1, 1))
    assert [argument.buffer for argument in fast.arguments] == ["A", "B", "C", None]
    assert bytes.fromhex(fast.arguments[3].data or "") == np.int32(1000).tobytes()


def test_shares_keep_a_case_together_and_lose_none(works: list[Work]) -> None:
    shares = virtual._shares(works, 2)
    assert sorted(i for share in shares for i in share) == list(range(len(works)))
    places = {works[i].case: set() for i in range(len(works))}
    for number, share in enumerate(shares):
        for i in share:
            places[works[i].case].add(number)
    assert all(len(found) == 1 for found in places.values())


def test_no_child_is_asked_more_than_its_channel_holds(works: list[Work]) -> None:
    """Thirty autotune configurations on a dozen cases are more works than a reply has frames."""
    many = works * 60
    shares = virtual._shares(many, 2)
    assert sorted(i for share in shares for i in share) == list(range(len(many)))
    assert max(map(len, shares)) < MAX_FRAMES


def test_equal_bytes_are_sent_once(works: list[Work]) -> None:
    share = [i for i, work in enumerate(works) if work.case == "a thousand"]
    _, blobs = exchange.request(works, share)
    assert len(blobs) == 4  # A, B and two PTX texts for two builds


def answer(works: list[Work], **more: Any) -> tuple[dict[str, Any], list[bytes]]:
    number = next(i for i, work in enumerate(works) if work.case == "a thousand")
    header = {
        "work": number,
        "ended": "finished",
        "reason": "",
        "faults": [],
        "counts": {"warp_instructions": 7.0},
        "nanoseconds": 2000.0,
        "bound": "latency",
        "parts": {"latency": 10.0},
        "roof": [1.0e12, 1.0e13],
        "lines": [],
        "printed": "",
        "outputs": ["C"],
        "seconds": 0.1,
        **more,
    }
    return header, [bytes(4000), bytes(125)]


def test_a_good_answer_becomes_a_run(works: list[Work]) -> None:
    header, blobs = answer(works)
    number, run = exchange.outcome(works, [header["work"]], header, blobs)
    assert number == header["work"]
    assert run.outputs["C"].shape == (1000,)
    assert not run.written["C"].any()
    assert run.instructions == 7


@pytest.mark.parametrize(
    "change",
    [
        {"ended": "accepted"},
        {"ended": "unsupported"},  # with outputs, which it cannot have
        {"outputs": ["A"]},
        {"outputs": []},
        {"faults": [{"kind": "race"}]},
        {"printed": "x" * 70_000},
        {"verdict": "accepted"},
        {"counts": {"warp_instructions": "many"}},
        {"nanoseconds": -1.0},
        {"nanoseconds": float("nan")},
        {"work": 10_000},
    ],
)
def test_a_malformed_answer_is_an_error_of_ours(works: list[Work], change: dict[str, Any]) -> None:
    header, blobs = answer(works, **change)
    with pytest.raises(InternalError):
        exchange.outcome(works, list(range(len(works))), header, blobs)


@pytest.mark.parametrize(
    "blobs", [[], [bytes(4000)], [bytes(3996), bytes(125)], [bytes(4000), b""]]
)
def test_outputs_of_another_size_are_an_error_of_ours(
    works: list[Work], blobs: list[bytes]
) -> None:
    header, _ = answer(works)
    with pytest.raises(InternalError):
        exchange.outcome(works, list(range(len(works))), header, blobs)


def test_a_large_case_is_not_run_once_a_small_one_used_up_its_budget(
    works: list[Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it was started before depends on the number of children; what is said does not."""

    def answered(works: list[Work], share: list[int], **_: bool) -> dict[int, virtual.Run]:
        return {
            i: virtual.Run("fuel" if works[i].case == "a thousand" else "finished") for i in share
        }

    monkeypatch.setattr(virtual, "_run_share", answered)
    for jobs in (1, 2):
        found = {w.case: r.ended for w, r in zip(works, virtual.run(works, jobs=jobs), strict=True)}
        assert found["a thousand"] == "fuel"
        assert found["a million"] == "skipped"
        assert found["one element"] == "finished"


def test_one_that_took_all_its_time_is_the_last_that_is_run_again(
    works: list[Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: a kernel whose translation takes all time there is, in each of many runs."""
    alone_runs = []

    def answered(works: list[Work], share: list[int], *, alone: bool = False) -> dict[int, Any]:
        alone_runs.extend(share if alone else [])
        return {i: virtual.Run("time") for i in share} if alone else {}

    monkeypatch.setattr(virtual, "_run_share", answered)
    found = virtual.run(works, jobs=2)
    assert len(alone_runs) == 1
    assert sorted({run.ended for run in found}) == ["skipped", "time"]


def test_a_run_that_a_busy_machine_had_no_time_for_is_nobodys_mistake(
    works: list[Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    used_up = Reply(Exit("cpu_limit", wall_seconds=310, cpu_seconds=300), None)
    waited = Reply(Exit("wall_timeout", wall_seconds=1500, cpu_seconds=20), None)
    monkeypatch.setattr(virtual, "_call", lambda *_: used_up)
    assert virtual._run_share(works, [0], alone=True)[0].ended == "time"
    monkeypatch.setattr(virtual, "_call", lambda *_: waited)
    with pytest.raises(InternalError, match="20 s of CPU time in 1500 s"):
        virtual._run_share(works, [0], alone=True)


def test_an_answer_has_room_for_whatever_a_kernel_does() -> None:
    """Attack: names of a hundred kilobytes, more findings and lines than an answer may have."""
    name = "\u65e5" * 100_000
    note = vgpu.Fault(kind="race", severity="note", message=name, buffer=name, file=name)
    error = vgpu.Fault(kind="out_of_bounds", severity="error", message=name, buffer=name, line=7)
    lines = {(name, line): {"warp_instructions": float(line)} for line in range(6000)}
    done = vgpu.Launch("finished", "", (note,) * 700, vgpu.Metrics({}, lines), "")
    last = vgpu.Launch("trap", name, (note,) * 699 + (error,), vgpu.Metrics({}, {}), "")
    total = virtual_child._Total(100)
    for launch in (done, last):
        total.add(launch, None, ("C",))
    header = {**total.answer(total.ended, total.reason), "work": 0, "seconds": 0.0}
    assert sum(map(len, encode(Kind.EARLY, header))) < MAX_HEADER_BYTES
    answer = exchange.Answer.model_validate(header)
    assert [fault.kind for fault in answer.faults if fault.severity == "error"] == ["out_of_bounds"]
    assert min(line.line for line in answer.lines) == 6000 - len(answer.lines)
