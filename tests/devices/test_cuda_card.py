"""`cuda_card.py` line by line, over CuPy's recorded signatures and the virtual GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from grader.devices import cuda_ptx, hardware, hardware_child, timing
from grader.devices.card import At, CardError, Queued
from tests.devices import kernels, recorded_cupy
from tests.devices.test_hardware_child import timed
from tests.devices.virtual_card import CLOCK


@pytest.fixture
def module() -> Iterator[Any]:
    with recorded_cupy.installed() as found:
        yield found


@pytest.fixture
def card(module: Any) -> Any:
    return module.open_card()


def add(n: int = 1000, **more: Any) -> tuple[dict[str, Any], list[bytes]]:
    return kernels.work(kernels.ADD, n, **more)


def test_a_case_runs_and_its_values_come_back(card: Any) -> None:
    work, blobs = add()
    ((header, (out, bits)),) = hardware_child.run(card, {"works": [work]}, blobs)
    assert (header["ended"], header["faults"]) == ("finished", [])
    a, b = (np.frombuffer(blob, np.float32) for blob in blobs[:2])
    assert np.array_equal(np.frombuffer(out, np.float32), a + b)
    assert np.unpackbits(np.frombuffer(bits, np.uint8), count=1000).all()


@pytest.mark.parametrize(
    ("source", "ended", "fault"),
    [
        (kernels.TRAPS, "trap", "trap"),
        (kernels.ASSERTS, "assertion", "assertion"),
        (kernels.WILD, "stopped", "out_of_bounds"),
        (kernels.MISALIGNED, "stopped", "misaligned"),
    ],
)
def test_the_drivers_errors_are_told_apart_and_stick(
    card: Any, source: str, ended: str, fault: str
) -> None:
    work, blobs = kernels.work(source)
    (found,) = hardware_child.run(card, {"works": [work, work]}, blobs)
    assert found[0]["ended"] == ended
    assert found[0]["faults"][0]["kind"] == fault
    with pytest.raises(CardError):
        card.reserve(1 << 20)


def test_a_red_zone_on_the_card_is_looked_at(card: Any) -> None:
    work, blobs = kernels.work(kernels.GUARDLESS)
    ((header, _),) = hardware_child.run(card, {"works": [work]}, blobs)
    assert header["faults"][0]["kind"] == "out_of_bounds"


def test_what_is_put_is_there_before_anything_that_follows(card: Any) -> None:
    """Bytes that are still under way when a kernel starts were the first bug found by reading."""
    card.reserve(512)
    card.put(128, np.arange(64, dtype=np.uint8))
    assert not any(stream.queued for stream in recorded_cupy.GPU.streams.values())
    card.copy(128, 256, 64)
    card.fill(128, 64, 0xC3)
    assert card.get(256, 64).tolist() == list(range(64))
    assert set(card.get(128, 64)) == {0xC3}


def test_several_launches_are_one_graph_and_do_not_run_before_they_are_queued(card: Any) -> None:
    card.reserve(1 << 12)
    card.fill(0, 1 << 12, 0)
    loaded = card.load(cuda_ptx.PROBE)
    launches = [
        (loaded, Queued("probe", (1, 1, 1), (1, 1, 1), (At(offset),))) for offset in (0, 256, 512)
    ]
    queue = card.prepare(launches)
    card.synchronise()
    assert not card.get(0, 1 << 12).any()
    queue()
    card.synchronise()
    assert [card.get(offset, 4)[0] for offset in (0, 256, 512)] == [3, 3, 3]


def test_a_launch_that_is_refused_while_it_is_captured_says_what_was_wrong(card: Any) -> None:
    card.reserve(256)
    loaded = card.load(cuda_ptx.PROBE)
    good = Queued("probe", (1, 1, 1), (1, 1, 1), (At(0),))
    with pytest.raises(CardError, match="invalid value") as raised:
        card.prepare([(loaded, good), (loaded, replace(good, block=(2048, 1, 1)))])
    assert (raised.value.ended, raised.value.sticky) == ("refused", False)
    card.prepare([(loaded, good)])()
    card.synchronise()
    assert card.get(0, 4)[0] == 3


@pytest.mark.parametrize("shared", [0, 512, 48 << 10, 100 << 10])
def test_dynamic_shared_memory_is_asked_for(card: Any, shared: int) -> None:
    card.reserve(256)
    launch = Queued("probe", (1, 1, 1), (1, 1, 1), (At(0),), shared_bytes=shared)
    card.prepare([(card.load(cuda_ptx.PROBE), launch)])()
    card.synchronise()
    assert card.get(0, 4)[0] == 3


def test_more_shared_memory_than_there_is(card: Any) -> None:
    card.reserve(256)
    launch = Queued("probe", (1, 1, 1), (1, 1, 1), (At(0),), shared_bytes=1 << 20)
    with pytest.raises(CardError) as raised:
        card.prepare([(card.load(cuda_ptx.PROBE), launch)])
    assert raised.value.ended == "refused"


@pytest.mark.parametrize(("blocks", "fits"), [(216, True), (217, False)])
def test_a_cooperative_launch_with_too_many_blocks_is_refused(
    card: Any, blocks: int, fits: bool
) -> None:
    """CuPy warns and launches a smaller grid: outputs would be missing for no reason of theirs."""
    card.reserve(256)
    loaded = card.load(cuda_ptx.PROBE)
    loaded.cooperative = True
    launch = Queued("probe", (blocks, 1, 1), (1, 1, 1), (At(0),))
    if fits:
        card.prepare([(loaded, launch)])()
        card.synchronise()
    else:
        with pytest.raises(CardError, match="more blocks than fit at once"):
            card.prepare([(loaded, launch)])


def test_code_the_driver_cannot_read(card: Any) -> None:
    with pytest.raises(CardError, match="invalid PTX"):
        card.load("not PTX")
    with pytest.raises(CardError, match="there is no such kernel"):
        card.prepare([(card.load(cuda_ptx.PROBE), Queued("other", (1, 1, 1), (1, 1, 1), ()))])


def test_out_of_memory(card: Any) -> None:
    with pytest.raises(CardError, match="out of memory") as raised:
        card.reserve(1 << 40)
    assert not raised.value.sticky


def test_what_it_is(card: Any) -> None:
    found = card.facts()
    assert (found.name, found.architecture, found.driver) == ("recorded", "sm_80", "CUDA 13.2")
    assert found.peak_flops_per_second == pytest.approx(2 * 64 * 108 * 1.41e9)
    assert found.peak_bytes_per_second == 0.0  # unknown: the memory's clock was not told


def test_lines_that_persist_in_l2_are_given_up(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A9: the limit is zero from the start, and they are reset before every measurement."""
    resets: list[int] = []
    monkeypatch.setattr(module, "_reset_persisting", lambda: lambda: resets.append(1))
    card = module.open_card()
    assert ("deviceSetLimit", (module.PERSISTING_L2, 0)) in recorded_cupy.GPU.asked
    card.clear_l2()
    card.clear_l2()
    assert len(resets) == 2
    assert card.flush.size >= 2 * card.l2_bytes


def test_the_clock_is_measured(card: Any) -> None:
    assert card.clock() > 0


def test_a_whole_measurement(card: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware_child, "time", CLOCK)
    _, frames = timed(kernels.ADD, card=card)
    readings = hardware.readings(frames[-1][0])
    judged = timing.judge(readings, 0.0)
    assert judged.untrusted == ()
    assert judged.ratio.value == pytest.approx(1.0, rel=0.01)
    assert judged.launches == 4


# ---- the record itself --------------------------------------------------------------------------


def _parts(signature: str) -> list[str]:
    return [" ".join(part.split()) for part in signature.split(",") if part.strip()]


@pytest.mark.parametrize("name", sorted(recorded_cupy.SIGNATURES))
def test_the_record_is_what_cupy_says_of_itself(name: str) -> None:
    """Cython writes each signature into the docstring; a slot (`__call__`) has none."""
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    *path, last = name.split(".")
    owner: Any = cupy.cuda
    for part in path:
        owner = getattr(owner, part)
    pattern = re.compile(r"^[\w.]+\((.*)\)")
    said = pattern.match(getattr(owner, last).__doc__ or "")
    if last == "__init__" and (said is None or said[1] == "type(self)"):
        said = pattern.match(owner.__doc__ or "")  # of a C class the class itself says it
    if said is None:
        pytest.skip(f"CuPy's {name} has no signature in its docstring")
    found = [part for part in _parts(said[1]) if part != "self"]
    recorded = [part for part in _parts(recorded_cupy.SIGNATURES[name]) if part != "self"]
    assert found == recorded


def test_constants_are_cupys() -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    for name, value in recorded_cupy.CONSTANTS.items():
        module, _, constant = name.partition(".")
        assert getattr(getattr(cupy.cuda, module), constant) == value


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("runtime.memsetAsync", (4096.0, 0, 16, 0)),
        ("runtime.memsetAsync", (4096, 0, -1, 0)),
        ("runtime.memsetAsync", (4096, 0, 16)),
        ("runtime.deviceSetLimit", (None, 0)),
        ("runtime.deviceGetAttribute", (1 << 40, 0)),
        ("function.Module.load", (None, "text")),
        ("function.Function.__call__", (None, [1, 1, 1], (1, 1, 1), [])),
    ],
)
def test_calls_that_cython_would_not_take_are_not_taken(
    name: str, arguments: tuple[Any, ...]
) -> None:
    with pytest.raises((TypeError, OverflowError)):
        recorded_cupy.strict(name)(lambda *_: None)(*arguments)
