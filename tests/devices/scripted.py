"""A GPU that is a script: it has clocks, streams, an L2 and memory, and runs what it is told.

It stands in for hardware where the protocol of `grader/devices/timing.py` is tested: whether a
cheat of the list in docs/threats.md is seen is a matter of the protocol's logic. It says nothing
about what a real driver does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from grader.devices.timing import Side, Stage

QUEUE = 4_000.0
"""What it takes the host to queue one thing, and to be told of its end."""

COLD, WARM = 50_000.0, 12_000.0
"""A launch with its inputs in DRAM, and in L2."""


@dataclass
class Slot:
    """The memory of one launch: which inputs lie at which address, and what stands in the output.

    The right output of inputs `n` is `-n`.
    """

    address: int
    inputs: int
    output: float | None = None
    warm: bool = False


Kernel = Callable[["Gpu", Slot], None]


@dataclass
class Gpu:
    """The device and the host's clock beside it, in nanoseconds."""

    yours: Kernel
    reference: Kernel
    sets: int = 16
    now: float = 0.0
    streams: dict[str, float] = field(default_factory=lambda: {"main": 0.0, "side": 0.0})
    statics: dict[object, object] = field(default_factory=dict)
    host: dict[object, object] = field(default_factory=dict)
    persists: bool = False
    speed: float = 1.0
    noise: float = 0.002
    extra_threads: int = 0
    flush: float = 1_000.0
    address: int = 0
    laid: dict[Side, list[Slot]] = field(default_factory=lambda: {"yours": [], "reference": []})
    steps: list[str] = field(default_factory=list)
    deferred: list[Callable[[], None]] = field(default_factory=list)
    draw: random.Random = field(default_factory=lambda: random.Random(3))
    elapsed: Callable[[float, float], float] = lambda before, after: after - before
    wall: Callable[[float], float] = lambda now: now

    def work(self, nanoseconds: float, stream: str = "main") -> None:
        """Keep a stream busy."""
        took = nanoseconds / self.speed * (1 + self.noise * self.draw.uniform(-1, 1))
        self.streams[stream] = max(self.streams[stream], self.now) + took

    def stage(self) -> Stage:
        return Stage(
            lay=self._lay,
            clear_l2=self._clear,
            synchronise=self._synchronise,
            event=self._event,
            launch=self._launch,
            elapsed=self.elapsed,
            clock=lambda: int(self.wall(self.now)),
            settle=self._settle,
            threads=lambda: 1 + self.extra_threads,
            clock_hz=lambda: 1.5e9 * self.speed,
        )

    def _lay(self, side: Side, sets: Sequence[int], fresh: bool) -> None:
        self.steps.append("lay")
        if fresh:
            self.statics.clear()
        slots = []
        for inputs in sets:
            self.address += 256
            slots.append(Slot(self.address, inputs, warm=True))
        self.laid[side] = slots
        self.now += 1_000.0

    def _clear(self) -> None:
        self.steps.append("clear_l2")
        for slots in self.laid.values():
            for slot in slots:
                slot.warm = False
        self.now += self.flush

    def _synchronise(self) -> None:
        self.steps.append("synchronise")
        self.now = max(self.now, *self.streams.values()) + QUEUE

    def _event(self) -> float:
        self.steps.append("event")
        self.now += QUEUE / 4
        self.streams["main"] = max(self.streams["main"], self.now)
        return self.streams["main"]

    def _launch(self, side: Side) -> None:
        self.steps.append("launch")
        self.now += QUEUE / 2
        for slot in self.laid[side]:
            getattr(self, side)(self, slot)

    def _settle(self, side: Side) -> str:
        self.steps.append("settle")
        for late in self.deferred:
            late()
        self.deferred.clear()
        self.extra_threads = 0
        for slot in self.laid[side]:
            if slot.output is None:
                return "an output was never written"
            if slot.output != -slot.inputs:
                return "an output was wrong"
        return ""


def honest(gpu: Gpu, slot: Slot, share: float = 1.0) -> None:
    """Reads its inputs, works, writes its output."""
    gpu.work(share * (WARM if slot.warm else COLD))
    slot.output = -slot.inputs
