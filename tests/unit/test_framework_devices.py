"""Where frameworks work: arrays there and back, work that is waited for, marks on a device.

PyTorch's GPUs are its own classes with their signatures (`create_autospec`) and CuPy is the one of
`recorded_cupy.py`; neither has run on a GPU here.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from grader import framework_devices
from grader.framework_devices import MODULES
from grader.frameworks import installed
from tests.devices import recorded_cupy

HERE = {name for name, module in MODULES.items() if installed(module)}


@pytest.mark.parametrize("framework", sorted(HERE - {"cupy"}))
def test_an_array_comes_back_as_it_went(framework: str) -> None:
    on = framework_devices.framework_device(framework, "cpu")
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    array.flags.writeable = False  # as what a child gets
    back = on.fetch(on.place(array))
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)
    assert not on.events


def test_work_on_a_card_is_timed_between_two_marks_behind_a_cold_cache() -> None:
    """Lazily queued work is waited for, and the flush lies outside the marks."""
    steps: list[str] = []
    clock = iter([10.0, 10.25])

    def event() -> dict[str, float]:
        return {}

    def record(mark: dict[str, float]) -> None:
        steps.append("mark")
        mark["at"] = next(clock)

    timer = framework_devices._marked(
        lambda: steps.append("flush"),
        event,
        record=record,
        synchronise=lambda: steps.append("synchronise"),
        milliseconds=lambda before, after: after["at"] - before["at"],
    )
    assert timer(lambda: steps.append("call")) == 250_000.0
    assert steps == ["flush", "mark", "call", "mark", "synchronise"]


def test_the_wall_clock_waits_for_what_is_computed_later() -> None:
    """What `mx.eval` is for: a call that returns at once has done nothing yet."""
    waited: list[object] = []
    timer = framework_devices._wall(waited.append)
    assert timer(lambda: "lazy") > 0
    assert waited == ["lazy"]
    steps: list[str] = []
    cold = framework_devices._wall(
        lambda result: steps.append("wait"), lambda: steps.append("flush")
    )
    cold(lambda: steps.append("call"))
    assert steps == ["flush", "call", "wait"]


@pytest.mark.skipif("mlx" not in HERE, reason="MLX is not installed")
def test_mlx_is_made_to_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    from mlx import core

    evaluated: list[object] = []
    evaluate = core.eval
    monkeypatch.setattr(core, "eval", lambda found: (evaluated.append(found), evaluate(found)))
    on = framework_devices.framework_device("mlx", "cpu")
    array = on.place(np.ones(4, np.float32))
    on.timer(lambda: [array + array])
    assert len(evaluated) == 1
    assert on.fetch(array + array).tolist() == [2.0] * 4


@pytest.mark.skipif("torch" not in HERE, reason="torch is not installed")
@pytest.mark.parametrize("where", ["cuda", "metal"])
def test_pytorch_on_a_gpu_is_asked_as_it_declares_itself(
    monkeypatch: pytest.MonkeyPatch, where: Any
) -> None:
    import torch

    steps: list[str] = []
    real = torch.cuda if where == "cuda" else torch.mps
    event = torch.cuda.Event if where == "cuda" else torch.mps.event.Event

    def mark(enable_timing: bool = False) -> Any:
        assert enable_timing
        made = mock.create_autospec(event, instance=True)
        made.record.side_effect = lambda: steps.append("mark")
        made.elapsed_time.side_effect = lambda other: steps.append("read") or 0.25
        return made

    def empty(size: int, *, dtype: Any, device: str) -> Any:
        assert device == {"cuda": "cuda", "metal": "mps"}[where]
        return SimpleNamespace(zero_=lambda: steps.append("flush"))

    synchronise = mock.create_autospec(
        real.synchronize, side_effect=lambda: steps.append("synchronise")
    )
    monkeypatch.setattr(torch, "empty", empty)
    monkeypatch.setattr(real, "synchronize", synchronise)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: where == "cuda")
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "A Card")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: where == "metal")
    if where == "cuda":
        monkeypatch.setattr(torch.cuda, "Event", mark)
    else:
        monkeypatch.setattr(torch.mps.event, "Event", mark)
    on = framework_devices.framework_device("torch", where)
    assert on.events
    assert on.name == {"cuda": "A Card", "metal": "mps"}[where]
    assert on.timer(lambda: steps.append("call")) == 250_000.0
    assert steps == ["flush", "mark", "call", "mark", "synchronise", "read"]


def test_cupy_on_a_card_is_asked_as_it_declares_itself() -> None:
    with recorded_cupy.installed():
        on = framework_devices.framework_device("cupy", "cuda")
        assert (on.name, on.events) == ("recorded", True)
        array = np.ones(3, np.float32)
        assert on.fetch(on.place(array)).tolist() == [1.0] * 3

        def call() -> None:
            stream = recorded_cupy.current_stream()
            stream.add(lambda: recorded_cupy.pass_time(2_500.0))

        assert on.timer(call) == pytest.approx(2_500.0)
        on.wait(None)
