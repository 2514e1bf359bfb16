"""`metal_card.py` line by line, over PyObjC's recorded selectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from grader.devices import hardware, hardware_child, metal, timing
from grader.devices.card import At, CardError, Queued
from tests.devices import kernels, recorded_metal
from tests.devices.test_hardware_child import timed
from tests.devices.virtual_card import CLOCK


@pytest.fixture
def opened() -> Iterator[tuple[Any, recorded_metal.Device]]:
    with recorded_metal.installed() as found:
        yield found


@pytest.fixture
def gpu(opened: tuple[Any, recorded_metal.Device]) -> recorded_metal.Device:
    return opened[1]


@pytest.fixture
def card(opened: tuple[Any, recorded_metal.Device]) -> Any:
    opened[1].kernels |= {"probe": probe, "add": add}
    return opened[0].open_card()


def probe(arguments: Any, threads: int) -> None:
    arguments[0][:4].view(np.int32)[0] = 3


def add(arguments: Any, threads: int) -> None:
    count = min(threads, int(np.frombuffer(arguments[3], np.int32)[0]))
    a, b, out = (arguments[index][: 4 * count].view(np.float32) for index in range(3))
    out[:] = a + b
    CLOCK.now += 5_000.0


def beside(arguments: Any, threads: int) -> None:
    add(arguments, threads)
    arguments[2][4 * 1000 : 4 * 1001].view(np.float32)[0] = 1.0


LAUNCH = Queued("probe", (1, 1, 1), (1, 1, 1), (At(0),))


def metal_work() -> tuple[dict[str, Any], list[bytes]]:
    """A work as a request words it for a Mac: the kernel goes by its own name."""
    work, blobs = kernels.work(kernels.ADD)
    launch = {**work["launches"][0], "entry": "add", "threadgroup_bytes": [64]}
    return {**work, "launches": [launch]}, blobs


def test_the_probe(card: Any) -> None:
    found = hardware_child.probe(card, metal.PROBE, "probe")
    assert found["sum"] == 3
    assert found["facts"]["name"] == "recorded"
    assert found["facts"]["architecture"] == "Apple7"


@pytest.mark.parametrize("byte", [0, 0x7F, 0x80, 0xC3, 0xFF])
def test_bytes_above_127_are_filled_in(card: Any, byte: int) -> None:
    """PyObjC takes a signed char: 0xC3, which red zones are full of, was a ValueError."""
    card.reserve(64)
    card.fill(16, 32, byte)
    data = card.get(0, 64)
    assert set(data[16:48]) == {byte}
    assert not data[:16].any()
    assert not data[48:].any()


def test_memory_is_moved(card: Any) -> None:
    card.reserve(256)
    card.put(0, np.arange(64, dtype=np.uint8))
    card.copy(0, 128, 64)
    assert card.get(128, 64).tolist() == list(range(64))
    card.clear_l2()
    card.synchronise()


@pytest.mark.parametrize("values", [True, False])
def test_a_case_runs_and_its_values_come_back(card: Any, values: bool) -> None:
    work, blobs = metal_work()
    ((header, outputs),) = hardware_child.run(card, {"works": [{**work, "values": values}]}, blobs)
    assert (header["ended"], header["faults"]) == ("finished", [])
    if values:
        a, b = (np.frombuffer(blob, np.float32) for blob in blobs[:2])
        assert np.array_equal(np.frombuffer(outputs[0], np.float32), a + b)


def test_a_write_into_a_red_zone_is_found(card: Any, gpu: recorded_metal.Device) -> None:
    gpu.kernels["add"] = beside
    work, blobs = metal_work()
    ((header, _),) = hardware_child.run(card, {"works": [work]}, blobs)
    assert [(f["kind"], f["index"]) for f in header["faults"]] == [("out_of_bounds", 1000)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"block": (2048, 1, 1)}, "a threadgroup of 2048 threads, this kernel may have 1024"),
        ({"threadgroup_bytes": (32 << 10,)}, "33792 bytes of threadgroup memory, there are 32768"),
    ],
)
def test_a_launch_that_metal_would_leave_undefined_is_refused(
    card: Any, change: dict[str, Any], said: str
) -> None:
    card.reserve(64)
    with pytest.raises(CardError, match=said) as raised:
        card.prepare([(card.load(metal.PROBE), replace(LAUNCH, **change))])
    assert (raised.value.ended, raised.value.sticky) == ("refused", False)


def test_exact_grids_and_threadgroups(card: Any, gpu: recorded_metal.Device) -> None:
    threads: list[int] = []
    gpu.kernels["probe"] = lambda arguments, count: threads.append(count)
    card.reserve(64)
    grouped = replace(LAUNCH, grid=(3, 1, 1), block=(64, 1, 1))
    loaded = card.load(metal.PROBE)
    card.prepare([(loaded, grouped), (loaded, replace(grouped, threads=(130, 1, 1)))])()
    card.synchronise()
    assert threads == [192, 130]


def test_what_apples_compiler_says(card: Any, gpu: recorded_metal.Device) -> None:
    gpu.refuses = "program_source:4:2: error: unknown type name 'flaot'"
    with pytest.raises(CardError, match="line 4: unknown type name 'flaot'"):
        card.load("flaot")
    gpu.refuses = ""
    card.reserve(64)
    with pytest.raises(CardError, match="no function other"):
        card.prepare([(card.load(""), replace(LAUNCH, entry="other"))])


def test_an_error_of_a_command_buffer_ends_it(card: Any, gpu: recorded_metal.Device) -> None:
    gpu.error = recorded_metal.NSError(3, "page fault")
    work, blobs = metal_work()
    (found,) = hardware_child.run(card, {"works": [work, work]}, blobs)
    assert found[0]["ended"] == "stopped"
    assert found[0]["faults"][0]["kind"] == "out_of_bounds"


class Container(recorded_metal.ObjC):
    """MTLLogContainer: promises fast enumeration, which PyObjC does not offer for it."""


@pytest.mark.parametrize("empty", [None, [], Container()])
def test_no_log_is_no_finding(card: Any, gpu: recorded_metal.Device, empty: Any) -> None:
    gpu.logs = empty
    card.reserve(64)
    card.prepare([(card.load(metal.PROBE), LAUNCH)])()
    card.synchronise()
    assert card.get(0, 4)[0] == 3


def test_what_shader_validation_logged_is_a_finding(card: Any, gpu: recorded_metal.Device) -> None:
    gpu.logs = [recorded_metal.Log("Invalid device store", 7)]
    card.reserve(64)
    card.prepare([(card.load(metal.PROBE), LAUNCH)])()
    with pytest.raises(CardError, match="line 7: Invalid device store"):
        card.synchronise()


def test_no_memory_and_no_device(
    card: Any, opened: tuple[Any, recorded_metal.Device], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CardError, match="out of memory"):
        card.reserve(1 << 40)
    monkeypatch.setattr(opened[0].Metal, "MTLCreateSystemDefaultDevice", lambda: None)
    with pytest.raises(CardError, match="no Metal device can be seen"):
        opened[0].open_card()


def test_a_whole_measurement(card: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """More regions than command buffers are kept for: marks count from the first one."""
    monkeypatch.setattr(hardware_child, "time", CLOCK)
    card.load = lambda code: recorded_load(card)
    _, frames = timed(kernels.ADD, card=card, least=12, most=12)
    readings = hardware.readings(frames[-1][0])
    assert card.dropped > 0
    assert all(reading.each == pytest.approx(5_000.0) for reading in readings.yours)
    judged = timing.judge(readings, 0.0)
    assert judged.ratio.value == pytest.approx(1.0)


def recorded_load(card: Any) -> Any:
    """A library whose every function is `add`: the works of `kernels.py` name it as PTX does."""
    library, _ = card.device.newLibraryWithSource_options_error_("", None, None)

    class Loaded:
        def pipeline(self, entry: str) -> Any:
            function = library.newFunctionWithName_("add")
            made, _ = card.device.newComputePipelineStateWithFunction_error_(function, None)
            return made

    return Loaded()


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("newBufferWithLength_options_", (-1, 0)),
        ("newBufferWithLength_options_", (16,)),
        ("newBufferWithLength", (16,)),
        ("newLibraryWithSource_options_error_", ("", None, object())),
    ],
)
def test_calls_that_pyobjc_would_not_take_are_not_taken(
    gpu: recorded_metal.Device, method: str, arguments: tuple[Any, ...]
) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError)):
        getattr(gpu, method)(*arguments)
