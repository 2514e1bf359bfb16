"""A card whose device is the virtual GPU: what `hardware_child.py` does, without hardware.

All buffers lie in one arena, so the virtual GPU sees no bounds inside it, just as hardware does
not: what the child's own red zones and poison find is tested for real. Time is modelled: `CLOCK`
stands still while this machine is busy with something else, for the host as for the device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grader import vgpu
from grader.devices.card import At, CardError, Facts, Queued
from grader.vgpu import cost

FUEL = 50_000_000


class Clock:
    """Nanoseconds that pass when the device works, and a few when the host looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now * 1e-9

    def perf_counter_ns(self) -> int:
        self.now += 200.0
        return int(self.now)


CLOCK = Clock()


class VirtualCard:
    """`card.Card`, on the virtual GPU."""

    def __init__(self) -> None:
        self.memory = vgpu.Memory()
        self.arena: Any = None
        self.loads = 0
        self.reserved: list[int] = []

    def facts(self) -> Facts:
        return Facts(name="virtual", architecture="sm_80", memory_bytes=1 << 30, l2_bytes=40 << 20)

    def reserve(self, size: int) -> None:
        self.memory = vgpu.Memory()
        self.arena = self.memory.allocate(np.zeros(size, np.uint8), name="arena", access="inout")
        self.reserved.append(size)

    @property
    def bytes(self) -> npt.NDArray[np.uint8]:
        data: npt.NDArray[np.uint8] = self.arena.storage.data
        return data

    def put(self, offset: int, data: npt.NDArray[np.uint8]) -> None:
        self.bytes[offset : offset + data.size] = data

    def get(self, offset: int, size: int) -> npt.NDArray[np.uint8]:
        return self.bytes[offset : offset + size].copy()

    def fill(self, offset: int, size: int, byte: int) -> None:
        self.bytes[offset : offset + size] = byte

    def copy(self, source: int, target: int, size: int) -> None:
        self.bytes[target : target + size] = self.bytes[source : source + size]
        CLOCK.now += 2 * size / 1e12 * 1e9

    def load(self, code: str) -> Any:
        self.loads += 1
        try:
            return vgpu.Module.from_ptx(code)
        except vgpu.PtxError as error:
            raise CardError("unsupported", str(error)) from None

    def prepare(self, launches: Sequence[tuple[Any, Queued]]) -> Callable[[], None]:
        def queue() -> None:
            for module, queued in launches:
                self._launch(module, queued)

        return queue

    def _launch(self, module: Any, queued: Queued) -> None:
        arguments = [
            np.uint64(self.arena.address + a.offset) if isinstance(a, At) else a
            for a in queued.arguments
        ]
        try:
            done = vgpu.launch(
                module.kernel(queued.entry),
                queued.grid,
                queued.block,
                arguments,
                shared=queued.shared_bytes,
                memory=self.memory,
                checks="bounds",
                fuel=FUEL,
            )
        except vgpu.LaunchError as error:
            raise CardError("refused", str(error)) from None
        CLOCK.now += cost.estimate(done.metrics.counts).nanoseconds
        if done.ended in ("trap", "assertion"):
            raise CardError(done.ended, done.reason, fault=done.ended, sticky=True)
        for fault in done.faults:
            if fault.kind in ("out_of_bounds", "misaligned"):
                raise CardError("stopped", fault.message, fault=fault.kind, sticky=True)
        if done.ended != "finished":
            raise CardError("time", done.reason, sticky=True)

    def synchronise(self) -> None:
        pass

    def event(self) -> float:
        return CLOCK.now

    def elapsed(self, before: float, after: float) -> float:
        return after - before

    def clear_l2(self) -> None:
        pass

    def clock(self) -> float:
        return 1.41e9
