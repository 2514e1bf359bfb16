"""What a child does on a real device, on a card whose device is the virtual GPU."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import cache, sandbox
from grader.devices import buffers, hardware, hardware_child, timing
from grader.devices.cuda_ptx import PROBE
from grader.vgpu import native
from tests.devices import kernels
from tests.devices.virtual_card import CLOCK, VirtualCard


@pytest.fixture(autouse=True)
def modelled_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware_child, "time", CLOCK)


def answered(source: str, **more: Any) -> tuple[dict[str, Any], list[bytes]]:
    work, blobs = kernels.work(source, **more)
    (found,) = hardware_child.run(VirtualCard(), {"works": [work]}, blobs)
    return found


# ---- what is found without any help of the device -----------------------------------------------


def test_right_values_come_back_and_all_are_written() -> None:
    header, (out, bits) = answered(kernels.ADD)
    assert header["ended"] == "finished"
    assert header["faults"] == []
    _, (a, b, _) = kernels.work(kernels.ADD)
    wanted = np.frombuffer(a, np.float32) + np.frombuffer(b, np.float32)
    assert np.array_equal(np.frombuffer(out, np.float32), wanted)
    assert np.unpackbits(np.frombuffer(bits, np.uint8), count=1000).all()


@pytest.mark.parametrize(
    ("source", "kind", "buffer", "index", "count"),
    [
        (kernels.GUARDLESS, "out_of_bounds", "out", 1000, 24),
        (kernels.BELOW, "out_of_bounds", "out", -1, 1),
        (kernels.SPOILS_INPUT, "input_modified", "a", 0, 1000),
    ],
)
def test_writes_to_memory_that_is_not_theirs(
    source: str, kind: str, buffer: str, index: int, count: int
) -> None:
    header, _ = answered(source)
    (fault,) = header["faults"]
    assert (fault["kind"], fault["buffer"], fault["index"]) == (kind, buffer, index)
    assert fault["count"] == count
    assert fault["severity"] == "error"


def test_what_was_never_written_is_told_from_what_was() -> None:
    header, (_, bits) = answered(kernels.HALF)
    written = np.unpackbits(np.frombuffer(bits, np.uint8), count=1000).astype(bool)
    assert header["ended"] == "finished"
    assert written[:500].all()
    assert not written[500:].any()


@pytest.mark.parametrize(
    ("source", "ended", "fault"),
    [
        (kernels.TRAPS, "trap", "trap"),
        (kernels.ASSERTS, "assertion", "assertion"),
        (kernels.WILD, "stopped", "out_of_bounds"),
        (kernels.MISALIGNED, "stopped", "misaligned"),
    ],
)
def test_what_stops_a_kernel_is_told_apart_and_ends_the_process(
    source: str, ended: str, fault: str
) -> None:
    work, blobs = kernels.work(source)
    request = {"works": [work, work]}
    found = list(hardware_child.run(VirtualCard(), request, blobs))
    assert len(found) == 1  # the device is not usable for the second one
    assert found[0][0]["ended"] == ended
    assert found[0][0]["faults"][0]["kind"] == fault


def test_a_launch_that_is_refused_leaves_the_device_usable() -> None:
    work, blobs = kernels.work(kernels.ADD)
    refused = {**work, "launches": [{**work["launches"][0], "block": [2048, 1, 1]}]}
    found = list(hardware_child.run(VirtualCard(), {"works": [refused, work]}, blobs))
    assert [header["ended"] for header, _ in found] == ["refused", "finished"]


def test_code_the_device_cannot_read() -> None:
    work, blobs = kernels.work(kernels.ADD)
    (found,) = hardware_child.run(VirtualCard(), {"works": [work]}, [*blobs[:2], b"not PTX"])
    assert found[0]["ended"] == "unsupported"


# ---- memory ------------------------------------------------------------------------------------

sizes = st.lists(
    st.tuples(st.sampled_from(["float32", "int8", "float64"]), st.integers(0, 40)),
    min_size=1,
    max_size=5,
)


@given(sizes)
def test_buffers_have_their_exact_size_and_a_red_zone_on_either_side(
    wanted: list[tuple[str, int]],
) -> None:
    found = buffers.layout(
        [{"name": f"b{i}", "role": "output", "dtype": d, "shape": [n]}
         for i, (d, n) in enumerate(wanted)]
    )  # fmt: skip
    end = 0
    for place, (dtype, count) in zip(found.places, wanted, strict=True):
        assert place.size == count * np.dtype(dtype).itemsize
        assert place.offset >= end + buffers.RED_ZONE
        assert place.offset % buffers.ALIGNMENT == 0
        end = place.span.stop
    assert found.size >= end + buffers.RED_ZONE


@given(sizes, st.data())
def test_one_byte_beside_a_buffer_is_found_and_blamed_on_the_nearest(
    wanted: list[tuple[str, int]], data: st.DataObject
) -> None:
    found = buffers.layout(
        [{"name": f"b{i}", "role": "output", "dtype": d, "shape": [n]}
         for i, (d, n) in enumerate(wanted)]
    )  # fmt: skip
    before = buffers.image(found, {place.name: None for place in found.places}, 0)
    after = before.copy()
    at = data.draw(st.integers(0, found.size - 1))
    after[at] ^= 1
    inside = any(place.span.start <= at < place.span.stop for place in found.places)
    faults = buffers.damage(found, before, after)
    assert len(faults) == (0 if inside else 1)
    if faults:
        distances = {
            place.name: min(abs(at - place.span.start), abs(at - place.span.stop + 1))
            for place in found.places
        }
        assert distances[faults[0]["buffer"]] <= min(distances.values()) + 1


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_written_elements_whatever_values_they_got(written: list[bool]) -> None:
    """Even where a kernel stores a poison's own bytes."""
    buffer = {"name": "o", "role": "output", "dtype": "int32", "shape": [len(written)]}
    found = buffers.layout([buffer])
    arenas = []
    for poison in buffers.POISONS:
        arena = buffers.image(found, {"o": None}, poison)
        values = arena[found.places[0].span].view(np.int32)
        values[np.array(written)] = -1  # all bytes 0xFF
        arenas.append(arena)
    assert buffers.written(found.places[0], *arenas).tolist() == written


# ---- timing ------------------------------------------------------------------------------------


def asked(
    yours: str, reference: str = kernels.ADD, sets: int = 4, **rules: Any
) -> tuple[dict[str, Any], list[bytes]]:
    """What a child is asked that is to time a kernel, and the blobs."""
    mine, blobs = kernels.work(yours)
    theirs, others = kernels.work(reference)
    theirs = {**theirs, "launches": [{**theirs["launches"][0], "ptx": 3}]}
    blobs = [*blobs, others[2]]
    both: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for values in range(sets):
        _, fresh = kernels.work(kernels.ADD, values=100 + values)
        for works, work in zip(both, (mine, theirs), strict=True):
            given = [dict(b) for b in work["buffers"]]
            given[0]["blob"], given[1]["blob"] = len(blobs), len(blobs) + 1
            works.append({**work, "buffers": given})
        blobs += fresh[:2]
    numbers = {"warm_up": 1, "warm_up_most": 2, "least": 4, "most": 4, "empty_regions": 2, **rules}
    request = {
        "yours": both[0],
        "reference": both[1],
        "rules": asdict(timing.Rules(**numbers)),
    }
    return request, blobs


def timed(
    yours: str, reference: str = kernels.ADD, sets: int = 4, card: Any = None, **rules: Any
) -> tuple[Any, list[tuple[dict[str, Any], list[bytes]]]]:
    card = VirtualCard() if card is None else card
    request, blobs = asked(yours, reference, sets, **rules)
    return card, list(hardware_child.measure(card, request, blobs))


def test_readings_and_every_set_of_outputs_come_back() -> None:
    _, frames = timed(kernels.ADD)
    *outputs, (said, _) = frames
    readings = hardware.readings(said)
    assert len(readings.yours) == len(readings.reference) == 4
    assert {header["set"] for header, _ in outputs} == {0, 1, 2, 3}
    for header, (out,) in outputs:
        _, (a, b, _) = kernels.work(kernels.ADD, values=100 + header["set"])
        wanted = np.frombuffer(a, np.float32) + np.frombuffer(b, np.float32)
        assert np.array_equal(np.frombuffer(out, np.float32), wanted)


def test_code_is_loaded_afresh_so_that_globals_keep_nothing() -> None:
    """B13: a kernel that keeps its first answer in a global is wrong on the next inputs."""
    card, frames = timed(kernels.KEEPS, region_ns=1.0, least=8, most=8)
    assert card.loads == 6  # two sides: warming up, and every fourth of eight regions
    wrong = 0
    for header, (out,) in frames[:-1]:
        _, (a, b, _) = kernels.work(kernels.ADD, values=100 + header["set"])
        wanted = np.frombuffer(a, np.float32) + np.frombuffer(b, np.float32)
        wrong += not np.array_equal(np.frombuffer(out, np.float32), wanted)
    assert wrong


def test_damage_done_while_it_was_timed_is_in_the_readings() -> None:
    _, frames = timed(kernels.GUARDLESS)
    readings = hardware.readings(frames[-1][0])
    assert all("write of out[1000]" in reading.wrong for reading in readings.yours)
    assert timing.judge(readings, 0.0).untrusted


def test_a_child_in_the_sandbox_can_do_all_that_timing_takes() -> None:
    """It counts its own threads: nothing of /proc could be read there."""
    native.runtime_objects()
    root, kept = Path(__file__).parents[2], cache.root()
    request, blobs = asked(kernels.ADD)
    reply = sandbox.call(
        "tests.devices.sandboxed:time_job", {**request, "cache": str(kept)}, blobs,
        read=[root, kept / cache.NATIVE], devices=["/dev/full"],
    )  # fmt: skip
    assert reply.error == ""
    readings = hardware.readings(reply.frames[-1].header)
    assert timing.judge(readings, 0.0).untrusted == ()


def test_an_error_while_timing_ends_it() -> None:
    _, frames = timed(kernels.TRAPS)
    assert frames[-1][0]["ended"] == "trap"


def test_outputs_of_old_launches_are_wiped_before_the_next() -> None:
    """C24: no right answer lies in memory when a kernel of the student's starts."""
    card, blobs = VirtualCard(), []
    mine, blobs = kernels.work(kernels.ADD)
    request = {"yours": [mine], "reference": [mine]}
    bench = hardware_child._Bench(card, request, blobs)
    bench.lay_out()
    wanted = np.frombuffer(blobs[0], np.float32) + np.frombuffer(blobs[1], np.float32)
    addresses = []
    for side in ("reference", "yours", "yours"):
        bench.lay(side, [0], True)  # type: ignore[arg-type]
        assert wanted[:4].tobytes() not in card.bytes.tobytes()
        addresses.append(bench.laid[0][1])
        bench.queue()
        assert wanted[:4].tobytes() in card.bytes.tobytes()
    assert len(set(addresses)) == 3


# ---- probing -----------------------------------------------------------------------------------


def test_the_probe_runs_a_kernel() -> None:
    found = hardware_child.probe(VirtualCard(), PROBE, "probe")
    assert found["sum"] == 3
    assert found["facts"]["name"] == "virtual"


def test_the_bandwidth_of_a_copy_is_measured() -> None:
    found = hardware_child.facts(VirtualCard())
    assert found["facts"]["copy_bytes_per_second"] == pytest.approx(1e12)
