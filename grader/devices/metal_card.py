"""An Apple GPU through PyObjC: what `card.Card` asks for. Imported in a child only.

Written from Apple's documentation and never run by the authors: docs/devices.md says how to.
Selectors become method names with `_` for `:`; a method with an NSError** returns a pair.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Sequence
from typing import Any

import Metal
import numpy as np
import numpy.typing as npt

from grader.devices.card import At, CardError, Facts, Queued
from grader.devices.metal_errors import explain, not_compiled, validation

FLUSH_BYTES = 256 << 20
"""More than the system-level cache of any Apple chip holds, the largest being 96 MB."""

CACHE_BYTES = 96 << 20
COMPLETED_WITH_ERROR = 5  # MTLCommandBufferStatusError


def open_card() -> MetalCard:
    """The default device. Raises CardError."""
    return MetalCard()


class MetalCard:
    """The default Metal device of this process; all memory is shared with the host."""

    def __init__(self) -> None:
        self.device = Metal.MTLCreateSystemDefaultDevice()
        if self.device is None:
            raise CardError("unsupported", "no Metal device can be seen")
        self.queue = self.device.newCommandQueue()
        self.arena: Any = None
        self.bytes: npt.NDArray[np.uint8] = np.empty(0, np.uint8)
        self.flush: Any = None
        self.committed: list[Any] = []
        self.dropped = 0

    def facts(self) -> Facts:
        """Metal tells no clocks and no bandwidth: the copy is what there is."""
        return Facts(
            name=str(self.device.name()),
            architecture=_family(self.device),
            driver=f"macOS {platform.mac_ver()[0]}",
            memory_bytes=int(self.device.recommendedMaxWorkingSetSize()),
            l2_bytes=CACHE_BYTES,
        )

    def reserve(self, size: int) -> None:
        """One buffer of exactly that size, in memory that the host sees too."""
        self.synchronise()
        self.arena = self.device.newBufferWithLength_options_(
            size, Metal.MTLResourceStorageModeShared
        )
        if self.arena is None:
            raise CardError("unsupported", "out of memory")
        self.bytes = np.frombuffer(self.arena.contents().as_buffer(size), np.uint8)

    def put(self, offset: int, data: npt.NDArray[np.uint8]) -> None:
        """Write where the device will read."""
        self.synchronise()
        self.bytes[offset : offset + data.size] = data

    def get(self, offset: int, size: int) -> npt.NDArray[np.uint8]:
        """Read what the device wrote."""
        self.synchronise()
        return self.bytes[offset : offset + size].copy()

    def fill(self, offset: int, size: int, byte: int) -> None:
        """A blit. PyObjC takes a `uint8_t` for a signed char ('z' in its metadata)."""
        value = byte - 256 if byte > 127 else byte
        self._blit(lambda blit: blit.fillBuffer_range_value_(self.arena, (offset, size), value))

    def copy(self, source: int, target: int, size: int) -> None:
        """A blit."""
        self._blit(
            lambda blit: blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
                self.arena, source, self.arena, target, size
            )
        )

    def load(self, code: str) -> Any:
        """Compile the whole source; pipelines are made for the functions that are launched."""
        library, error = self.device.newLibraryWithSource_options_error_(code, None, None)
        if library is None:
            raise not_compiled(str(error.localizedDescription()))
        return _Loaded(self.device, library)

    def prepare(self, launches: Sequence[tuple[Any, Queued]]) -> Callable[[], None]:
        """One command buffer with a dispatch for each launch: they run one after the other."""
        buffer = self.queue.commandBuffer()
        for loaded, queued in launches:
            encoder = buffer.computeCommandEncoder()
            pipeline = loaded.pipeline(queued.entry)
            self._fits(pipeline, queued)
            encoder.setComputePipelineState_(pipeline)
            for index, argument in enumerate(queued.arguments):
                if isinstance(argument, At):
                    encoder.setBuffer_offset_atIndex_(self.arena, argument.offset, index)
                else:
                    data = argument.tobytes()
                    encoder.setBytes_length_atIndex_(data, len(data), index)
            for index, length in enumerate(queued.threadgroup_bytes):
                encoder.setThreadgroupMemoryLength_atIndex_(length, index)
            block = Metal.MTLSizeMake(*queued.block)
            if queued.threads is not None:
                grid = Metal.MTLSizeMake(*queued.threads)
                encoder.dispatchThreads_threadsPerThreadgroup_(grid, block)
            else:
                grid = Metal.MTLSizeMake(*queued.grid)
                encoder.dispatchThreadgroups_threadsPerThreadgroup_(grid, block)
            encoder.endEncoding()
        return lambda: self._commit(buffer)

    def _fits(self, pipeline: Any, queued: Queued) -> None:
        """Refuse what Metal leaves undefined where its API is not validated. Raises CardError."""
        most, threads = int(pipeline.maxTotalThreadsPerThreadgroup()), math.prod(queued.block)
        if threads > most:
            raise CardError(
                "refused", f"a threadgroup of {threads} threads, this kernel may have {most}"
            )
        room = int(self.device.maxThreadgroupMemoryLength())
        used = int(pipeline.staticThreadgroupMemoryLength()) + sum(queued.threadgroup_bytes)
        if used > room:
            raise CardError("refused", f"{used} bytes of threadgroup memory, there are {room}")

    def _blit(self, does: Callable[[Any], None]) -> None:
        buffer = self.queue.commandBuffer()
        blit = buffer.blitCommandEncoder()
        does(blit)
        blit.endEncoding()
        self._commit(buffer)

    def _commit(self, buffer: Any) -> None:
        buffer.commit()
        self.committed.append(buffer)

    def synchronise(self) -> None:
        """Wait for every command buffer: there is one queue, and we made it."""
        for buffer in self.committed:
            buffer.waitUntilCompleted()
            if buffer.status() == COMPLETED_WITH_ERROR:
                error = buffer.error()
                raise explain(int(error.code()), str(error.localizedDescription()))
            if found := validation(_logged(buffer)):
                raise found
        # Marks count from the first buffer; two regions' worth are kept for their times.
        if len(self.committed) > 64:
            self.dropped += len(self.committed) - 64
            self.committed = self.committed[-64:]

    def event(self) -> int:
        """How many command buffers came before: their own timestamps are what is read."""
        return self.dropped + len(self.committed)

    def elapsed(self, before: int, after: int) -> float:
        """From the start of the first to the end of the last one between two marks."""
        between = self.committed[before - self.dropped : after - self.dropped]
        if not between:
            return 0.0
        return 1e9 * float(between[-1].GPUEndTime() - between[0].GPUStartTime())

    def clear_l2(self) -> None:
        """Write more than the last cache holds."""
        if self.flush is None:
            self.flush = self.device.newBufferWithLength_options_(
                FLUSH_BYTES, Metal.MTLResourceStorageModePrivate
            )
        self._blit(lambda blit: blit.fillBuffer_range_value_(self.flush, (0, FLUSH_BYTES), 0))

    def clock(self) -> float:
        """Metal does not tell."""
        return 0.0


class _Loaded:
    """A library, and the pipelines of its functions by name."""

    def __init__(self, device: Any, library: Any) -> None:
        self.device = device
        self.library = library
        self.pipelines: dict[str, Any] = {}

    def pipeline(self, entry: str) -> Any:
        if entry not in self.pipelines:
            function = self.library.newFunctionWithName_(entry)
            if function is None:
                raise CardError("unsupported", f"the library has no function {entry}")
            made, error = self.device.newComputePipelineStateWithFunction_error_(function, None)
            if made is None:
                raise CardError("unsupported", str(error.localizedDescription()))
            self.pipelines[entry] = made
        return self.pipelines[entry]


def _logged(buffer: Any) -> list[tuple[str, int | None]]:
    """What shader validation wrote into a command buffer's log (MTLFunctionLog).

    The log promises fast enumeration, which PyObjC offers for arrays, sets and enumerators only: of
    another class nothing can be read, and red zones and errors of the buffer are what is left.
    """
    found = []
    logs = buffer.logs()
    for log in logs if hasattr(logs, "__iter__") else ():
        place = log.debugLocation()
        found.append((str(log.description()), int(place.line()) if place is not None else None))
    return found


def _family(device: Any) -> str:
    """The newest Apple family that the device supports (MTLGPUFamilyApple1 is 1001)."""
    for number in range(1012, 1000, -1):
        if device.supportsFamily_(number):
            return f"Apple{number - 1000}"
    return ""
