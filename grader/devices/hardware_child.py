"""What a child does on a real device, whichever it is: run works, time them, probe.

It runs in the sandbox and knows nothing of what is expected. No code of the student's runs in this
process: it gets compiled code, which runs on the device, so the clocks here are ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from random import SystemRandom
from typing import Any

import numpy as np

from grader.devices import timing
from grader.devices.buffers import (
    ALIGNMENT,
    POISONS,
    RED,
    Bytes,
    Layout,
    damage,
    image,
    layout,
    written,
)
from grader.devices.card import At, Card, CardError, Queued
from grader.devices.timing import Rules, Side, Stage

Answered = tuple[dict[str, Any], list[bytes]]

COPY_BYTES = 256 << 20
COPY_ROUNDS = 5
FRESH_ADDRESSES = 4096
"""How many regions can be laid before an address returns."""

OUTPUTS_KEPT = 24
"""Of outputs that differ from those of the same inputs before, this many are judged."""


# ---- running -----------------------------------------------------------------------------------


def run(card: Card, request: dict[str, Any], blobs: list[bytes]) -> Generator[Answered]:
    """Answer every work of a request, in the form of `exchange.Answer`.

    Ends early after an error that leaves the device unusable for this process.
    """
    for work in request["works"]:
        started = time.perf_counter()
        answer, outputs, usable = _run(card, work, blobs)
        yield {**answer, "work": work["work"], "seconds": time.perf_counter() - started}, outputs
        if not usable:
            return


def _run(
    card: Card, work: dict[str, Any], blobs: list[bytes]
) -> tuple[dict[str, Any], list[bytes], bool]:
    """One work: its answer, its outputs, and whether the device can still be used."""
    found = layout(work["buffers"])
    after = []
    faults: list[dict[str, Any]] = []
    try:
        for poison in POISONS if work["values"] else POISONS[:1]:
            before = image(found, contents(work, blobs), poison)
            card.reserve(found.size)
            card.put(0, before)
            queue = card.prepare(launches(card, work, blobs, found, 0))
            queue()
            card.synchronise()
            after.append(card.get(0, found.size))
            if not faults:
                faults = damage(found, before, after[0])
    except CardError as error:
        stopped = [] if error.fault is None else [_stopped(error)]
        return _answer(error.ended, error.message, stopped), [], not error.sticky
    names, outputs = [], []
    for place in found.places:
        if work["values"] and place.role in ("output", "inout"):
            names.append(place.name)
            outputs.append(after[0][place.span].tobytes())
            outputs.append(np.packbits(written(place, after[0], after[1])).tobytes())
    return {**_answer("finished", "", faults), "outputs": names}, outputs, True


def _answer(ended: str, reason: str, faults: list[dict[str, Any]]) -> dict[str, Any]:
    """An answer without counts: hardware counts nothing that we could read everywhere."""
    return {
        "ended": ended,
        "reason": reason,
        "faults": faults,
        "counts": {},
        "nanoseconds": 0.0,
        "bound": "",
        "parts": {},
        "roof": (0.0, 0.0),
        "lines": [],
        "printed": "",
        "outputs": [],
    }


def _stopped(error: CardError) -> dict[str, Any]:
    return {"kind": error.fault, "severity": "error", "message": error.message}


def contents(work: dict[str, Any], blobs: list[bytes]) -> dict[str, bytes | None]:
    return {b["name"]: None if b["blob"] is None else blobs[b["blob"]] for b in work["buffers"]}


def launches(
    card: Card,
    work: Mapping[str, Any],
    blobs: list[bytes],
    found: Layout,
    base: int,
    modules: dict[int, Any] | None = None,
) -> list[tuple[Any, Queued]]:
    """The launches of a work whose arena starts at `base`; empty grids are skipped."""
    modules = {} if modules is None else modules
    queued = []
    for launch in work["launches"]:
        if 0 in launch["grid"]:
            continue
        code = launch["ptx"]
        if code not in modules:
            modules[code] = card.load(blobs[code].decode())
        each = Queued(
            entry=launch["entry"],
            grid=tuple(launch["grid"]),
            block=tuple(launch["block"]),
            arguments=tuple(_argument(a, found, base) for a in launch["arguments"]),
            shared_bytes=launch["shared_bytes"],
            threads=None if launch["threads"] is None else tuple(launch["threads"]),
            threadgroup_bytes=tuple(launch.get("threadgroup_bytes", ())),
        )
        queued.append((modules[code], each))
    return queued


def _argument(argument: Mapping[str, Any], found: Layout, base: int) -> At | np.generic:
    if argument["buffer"] is not None:
        return At(base + found.place(argument["buffer"]).offset)
    if argument["data"] is None:
        return np.uint64(0)
    value: np.generic = np.frombuffer(bytes.fromhex(argument["data"]), argument["dtype"])[0]
    return value


# ---- timing ------------------------------------------------------------------------------------


def measure(card: Card, request: dict[str, Any], blobs: list[bytes]) -> Generator[Answered]:
    """Time `yours` beside `reference`: two lists of works, one work for each set of inputs.

    Yields a frame for every output that is to be judged, then one with the readings; the outputs
    of the same inputs are sent again only where they differ.
    """
    bench = _Bench(card, request, blobs)
    try:
        bench.lay_out()
        rules = Rules(**request["rules"])
        readings = timing.measure(bench.stage(), len(request["yours"]), rules, SystemRandom())
    except CardError as error:
        yield {"error": error.message, "ended": error.ended}, []
        return
    for number, outputs in bench.kept:
        yield {"set": number, "outputs": list(outputs)}, list(outputs.values())
    said = {
        name: [asdict(reading) for reading in getattr(readings, name)]
        for name in ("empty", "yours", "reference")
    }
    yield {**said, "sets": readings.sets, "unjudged": bench.unjudged}, []


class _Bench:
    """The memory of a timed case: pristine inputs, and ground on which launches find copies."""

    def __init__(self, card: Card, request: dict[str, Any], blobs: list[bytes]) -> None:
        self.card = card
        self.blobs = blobs
        self.works: dict[Side, list[dict[str, Any]]] = {s: request[s] for s in timing.SIDES}
        self.layouts = {side: layout(works[0]["buffers"]) for side, works in self.works.items()}
        # A constant of the source may size a scratch buffer: the sides' layouts can differ.
        self.stride = max(found.size for found in self.layouts.values())
        self.images = {
            side: [image(self.layouts[side], contents(work, blobs), POISONS[0]) for work in works]
            for side, works in self.works.items()
        }
        self.draw = SystemRandom()
        self.rounds = 0
        self.ground = 0
        self.size = 0
        self.modules: dict[Side, dict[int, Any]] = {side: {} for side in self.works}
        self.laid: list[tuple[int, int]] = []
        self.queue: Callable[[], None] = lambda: None
        self.seen: dict[int, list[bytes]] = {}
        self.kept: list[tuple[int, dict[str, bytes]]] = []
        self.unjudged = 0

    def lay_out(self) -> None:
        """Reserve memory and put the pristine images at its start."""
        pristine = [picture for side in timing.SIDES for picture in self.images[side]]
        self.ground = len(pristine) * self.stride
        sets = len(pristine) // 2
        self.size = self.ground + sets * self.stride + FRESH_ADDRESSES * ALIGNMENT
        self.card.reserve(self.size)
        for number, picture in enumerate(pristine):
            self.card.put(number * self.stride, picture)

    def stage(self) -> Stage:
        """This, as the protocol wants it."""
        return Stage(
            lay=self.lay,
            clear_l2=self.card.clear_l2,
            synchronise=self.card.synchronise,
            event=self.card.event,
            launch=lambda side: self.queue(),
            elapsed=self.card.elapsed,
            clock=time.perf_counter_ns,
            settle=self.settle,
            threads=_threads,
            clock_hz=self.card.clock,
        )

    def lay(self, side: Side, sets: Sequence[int], fresh: bool) -> None:
        """Copies of pristine images on ground that is wiped, at addresses of their own."""
        self.card.fill(self.ground, self.size - self.ground, RED)
        if fresh:
            self.modules[side] = {}
        self.rounds += 1
        base = self.ground + self.rounds % FRESH_ADDRESSES * ALIGNMENT
        first = timing.SIDES.index(side) * len(self.images[side])
        self.laid, queued = [], []
        for slot, number in enumerate(sets):
            place = base + slot * self.stride
            self.card.copy((first + number) * self.stride, place, self.layouts[side].size)
            self.laid.append((number, place))
            queued += launches(
                self.card,
                self.works[side][number],
                self.blobs,
                self.layouts[side],
                place,
                self.modules[side],
            )
        self.queue = self.card.prepare(queued)

    def settle(self, side: Side) -> str:
        """What the launches did to memory that is not theirs; outputs are kept to be judged."""
        if side == "reference":
            return ""
        for number, place in self.laid:
            after = self.card.get(place, self.layouts[side].size)
            faults = damage(self.layouts[side], self.images[side][number], after)
            if faults:
                return str(faults[0]["message"])
            self._keep(number, after)
        return ""

    def _keep(self, number: int, after: Bytes) -> None:
        outputs = {
            place.name: after[place.span].tobytes()
            for place in self.layouts["yours"].places
            if place.role in ("output", "inout")
        }
        joined = b"".join(outputs.values())
        if joined in self.seen.setdefault(number, []):
            return
        if len(self.kept) < OUTPUTS_KEPT + len(self.images["yours"]):
            self.seen[number].append(joined)
            self.kept.append((number, outputs))
            return
        # Sums in another order differ each time: those judged are a fair draw of all.
        self.unjudged += 1
        chosen = self.draw.randrange(len(self.kept) + self.unjudged)
        if chosen < len(self.kept):
            self.kept[chosen] = (number, outputs)


def _threads() -> int:
    """Threads of this process; 1 where the system does not list them."""
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.is_dir() else 1


# ---- probing -----------------------------------------------------------------------------------


def probe(card: Card, code: str, entry: str) -> dict[str, Any]:
    """Run a kernel of one thread that stores 1 + 2, and say what the device is."""
    card.reserve(ALIGNMENT)
    card.fill(0, ALIGNMENT, RED)
    launch = Queued(entry=entry, grid=(1, 1, 1), block=(1, 1, 1), arguments=(At(0),))
    card.prepare([(card.load(code), launch)])()
    card.synchronise()
    stored = card.get(0, 4).view(np.int32)[0]
    return {"sum": int(stored), "facts": card.facts().to_reply()}


def facts(card: Card) -> dict[str, Any]:
    """What the device is, with the bandwidth of a copy measured now."""
    known = card.facts()
    size = min(COPY_BYTES, known.memory_bytes // 8 or COPY_BYTES)
    card.reserve(2 * size)
    best = 0.0
    for _ in range(COPY_ROUNDS):
        before = card.event()
        card.copy(0, size, size)
        after = card.event()
        card.synchronise()
        took = card.elapsed(before, after)
        best = max(best, 2e9 * size / took if took > 0 else 0.0)
    return {"facts": replace(known, copy_bytes_per_second=best).to_reply()}
