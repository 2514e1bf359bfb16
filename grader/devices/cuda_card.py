"""An NVIDIA GPU through CuPy: what `card.Card` asks for. Imported in a child only.

CuPy's own kernels are compiled when they are first used, so none is used here: memory is moved by
the runtime, and what must run on the device is PTX of ours (`cuda_ptx.py`).
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import cupy
import numpy as np
import numpy.typing as npt
from cupy.cuda import driver, runtime

from grader.devices import cuda_ptx
from grader.devices.card import At, CardError, Facts, Queued
from grader.devices.cuda_errors import explain

PERSISTING_L2 = 0x06  # cudaLimitPersistingL2CacheSize
COOPERATIVE_TOO_LARGE = 720  # cudaErrorCooperativeLaunchTooLarge

ATTRIBUTES = {
    "multiprocessors": 16,
    "clock_khz": 13,
    "memory_clock_khz": 36,
    "bus_bits": 37,
    "l2_bytes": 38,
    "major": 75,
    "minor": 76,
}
"""cudaDeviceAttr numbers (driver_types.h)."""

FP32_LANES = {
    (7, 0): 64, (7, 5): 64, (8, 0): 64, (8, 6): 128, (8, 7): 128, (8, 9): 128, (9, 0): 128,
    (10, 0): 128, (10, 3): 128, (11, 0): 128, (12, 0): 128, (12, 1): 128,
}  # fmt: skip
"""FP32 results per clock and multiprocessor (CUDA C++ Programming Guide, arithmetic throughput)."""


@contextlib.contextmanager
def explained() -> Any:
    """Turn CuPy's errors into CardError."""
    try:
        yield
    except (driver.CUDADriverError, runtime.CUDARuntimeError) as error:
        raise explain(int(error.status), str(error)) from None
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise CardError("unsupported", f"out of memory: {error}") from None


class CudaCard:
    """The first CUDA device of this process."""

    def __init__(self) -> None:
        # Code that is loaded when it first runs would be loaded inside a timed region.
        os.environ["CUDA_MODULE_LOADING"] = "EAGER"
        with explained():
            self.device = cupy.cuda.Device(0)
            self.device.use()
            self.stream = cupy.cuda.Stream(non_blocking=True)
            self.arena: Any = None
            self.base = 0
            self.size = 0
            self.driver = int(runtime.driverGetVersion())
            self.l2_bytes = self._attribute("l2_bytes")
            self.flush: Any = None
            self.own: dict[str, Any] = {}
            # Nothing may be set aside for lines that persist, by whomever.
            with contextlib.suppress(runtime.CUDARuntimeError):
                runtime.deviceSetLimit(PERSISTING_L2, 0)
        self.reset_persisting = _reset_persisting()

    def _attribute(self, name: str) -> int:
        try:
            return int(runtime.deviceGetAttribute(ATTRIBUTES[name], self.device.id))
        except runtime.CUDARuntimeError:
            return 0  # newer drivers leave some out

    def facts(self) -> Facts:
        """What the runtime says; peaks are clock times width, of FP32 and of DRAM."""
        with explained():
            properties = runtime.getDeviceProperties(self.device.id)
            known = {name: self._attribute(name) for name in ATTRIBUTES}
            major, minor = known["major"], known["minor"]
            clock = 1e3 * known["clock_khz"]
            lanes = FP32_LANES.get((major, minor), 0)
            return Facts(
                name=bytes(properties["name"]).decode(),
                architecture=f"sm_{major}{minor}",
                driver=f"CUDA {_version(self.driver)}",
                multiprocessors=known["multiprocessors"],
                clock_hz=clock,
                memory_bytes=int(properties["totalGlobalMem"]),
                l2_bytes=known["l2_bytes"],
                # Both edges of the memory's clock carry data.
                peak_bytes_per_second=2e3 * known["memory_clock_khz"] * known["bus_bits"] / 8,
                peak_flops_per_second=2.0 * lanes * known["multiprocessors"] * clock,
            )

    # ---- memory ---------------------------------------------------------------------------

    def reserve(self, size: int) -> None:
        """Memory straight from cudaMalloc: a pool would round sizes and hand addresses out again.

        An arena that is large enough is used again.
        """
        if self.arena is not None and size <= self.size:
            return
        self.arena = None
        self.arena = self.allocate(size)
        self.base, self.size = int(self.arena.ptr), size

    def allocate(self, size: int) -> Any:
        """`size` bytes of their own, as long as the object lives."""
        with explained():
            return cupy.cuda.Memory(size)

    def address(self, offset: int) -> int:
        """Where `offset` bytes into the arena are."""
        return self.base + offset

    def put(self, offset: int, data: npt.NDArray[np.uint8]) -> None:
        """Copy from the host; returns when the bytes are there.

        On our stream: a plain cudaMemcpy of pageable memory may return before its last piece has
        arrived, and a stream that does not block would not wait for it (CUDA Runtime API, "API
        synchronization behavior").
        """
        self.send(self.base + offset, data)

    def send(self, address: int, data: npt.NDArray[np.uint8]) -> None:
        """`put`, to an address."""
        data = np.ascontiguousarray(data)
        with explained():
            runtime.memcpyAsync(
                address,
                data.ctypes.data,
                data.nbytes,
                runtime.memcpyHostToDevice,
                self.stream.ptr,
            )
            self.stream.synchronize()

    def get(self, offset: int, size: int) -> npt.NDArray[np.uint8]:
        """Copy to the host, after everything queued."""
        return self._fetched(self.base + offset, size)

    def _fetched(self, address: int, size: int) -> npt.NDArray[np.uint8]:
        data = np.empty(size, np.uint8)
        with explained():
            runtime.memcpyAsync(
                data.ctypes.data, address, size, runtime.memcpyDeviceToHost, self.stream.ptr
            )
            self.stream.synchronize()
        return data

    def fill(self, offset: int, size: int, byte: int) -> None:
        """cudaMemsetAsync."""
        with explained():
            runtime.memsetAsync(self.base + offset, byte, size, self.stream.ptr)

    def copy(self, source: int, target: int, size: int) -> None:
        """cudaMemcpyAsync on the device."""
        with explained():
            runtime.memcpyAsync(
                self.base + target,
                self.base + source,
                size,
                runtime.memcpyDeviceToDevice,
                self.stream.ptr,
            )

    # ---- code -----------------------------------------------------------------------------

    def load(self, code: str) -> Any:
        """Load PTX, which the driver compiles for this card; `readable` is all that is done to it.

        Not RawModule: it remembers modules by their text, and the globals of one that comes back
        would still hold what a kernel left there.
        """
        module = cupy.cuda.function.Module()
        with explained():
            module.load(cuda_ptx.readable(code, self.driver).encode() + b"\0")
        return _Loaded(module, cooperative="%envreg" in code)

    def prepare(self, launches: Sequence[tuple[Any, Queued]]) -> Callable[[], None]:
        """One launch as it is, several as a CUDA graph: its gaps are the device's, not Python's."""
        calls = [self._call(loaded, queued) for loaded, queued in launches]
        if len(calls) <= 1:
            return lambda: _queue(calls)
        with explained():
            self.stream.begin_capture()
            try:
                _queue(calls)
            except CardError:
                with contextlib.suppress(runtime.CUDARuntimeError):  # what went wrong is known
                    self.stream.end_capture()
                raise
            graph = self.stream.end_capture()
            graph.upload(self.stream)

        def queue() -> None:
            with explained():
                graph.launch(self.stream)

        return queue

    def _call(self, loaded: _Loaded, queued: Queued) -> Callable[[], None]:
        with explained():
            function = loaded.function(queued.entry)
            if queued.shared_bytes:
                # Needed where it and static shared memory together exceed 48 KiB.
                driver.funcSetAttribute(
                    function.ptr,
                    driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    queued.shared_bytes,
                )
            if loaded.cooperative:
                self._fits(function, queued)
        arguments = [
            np.uint64(self.address(argument.offset)) if isinstance(argument, At) else argument
            for argument in queued.arguments
        ]

        def call() -> None:
            function(
                queued.grid,
                queued.block,
                arguments,
                shared_mem=queued.shared_bytes,
                stream=self.stream,
                enable_cooperative_groups=loaded.cooperative,
            )

        return call

    def _fits(self, function: Any, queued: Queued) -> None:
        """Refuse what CuPy would launch with a smaller grid and a warning.

        Raises CardError where not all blocks of a cooperative launch are resident at once.
        """
        each = driver.occupancyMaxActiveBlocksPerMultiprocessor(
            function.ptr, math.prod(queued.block), queued.shared_bytes
        )
        most = int(each) * self._attribute("multiprocessors")
        if math.prod(queued.grid) > most:
            raise explain(COOPERATIVE_TOO_LARGE, "")

    # ---- time -----------------------------------------------------------------------------

    def synchronise(self) -> None:
        """Every stream of the device, whoever made it."""
        with explained():
            runtime.deviceSynchronize()

    def event(self) -> Any:
        """A mark on our stream."""
        event = cupy.cuda.Event()
        with explained():
            event.record(self.stream)
        return event

    def elapsed(self, before: Any, after: Any) -> float:
        """In nanoseconds; cudaEventElapsedTime says milliseconds."""
        with explained():
            return 1e6 * float(cupy.cuda.get_elapsed_time(before, after))

    def clear_l2(self) -> None:
        """Give up lines that persist, then write twice as much as L2 holds."""
        if self.flush is None:
            with explained():
                self.flush = cupy.cuda.Memory(max(2 * self.l2_bytes, 32 << 20))
        self.reset_persisting()
        with explained():
            runtime.memsetAsync(self.flush.ptr, 0, self.flush.size, self.stream.ptr)

    def clock(self) -> float:
        """A thread waits for a number of clocks; how long that takes says how fast they are."""
        if not self.own:
            self.own["module"] = self.load(cuda_ptx.CLOCK)
            self.own["out"] = cupy.cuda.Memory(16)
        with explained():
            self.own["module"].function("clock")(
                (1, 1, 1), (1, 1, 1), [np.uint64(self.own["out"].ptr)], stream=self.stream
            )
        data = self._fetched(self.own["out"].ptr, 16).view(np.uint64)
        clocks, nanoseconds = (int(value) for value in data)
        return 1e9 * clocks / nanoseconds if nanoseconds else 0.0


def open_card() -> CudaCard:
    """The first card. Raises CardError."""
    return CudaCard()


class _Loaded:
    """A module, and its functions by name."""

    def __init__(self, module: Any, *, cooperative: bool) -> None:
        self.module = module
        self.cooperative = cooperative
        self.functions: dict[str, Any] = {}

    def function(self, entry: str) -> Any:
        if entry not in self.functions:
            self.functions[entry] = self.module.get_function(entry)
        return self.functions[entry]


def _queue(calls: Sequence[Callable[[], None]]) -> None:
    with explained():
        for call in calls:
            call()


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _reset_persisting() -> Callable[[], object]:
    """cuCtxResetPersistingL2Cache, which CuPy does not wrap; nothing where the driver lacks it."""
    try:
        return ctypes.CDLL("libcuda.so.1").cuCtxResetPersistingL2Cache
    except (OSError, AttributeError):
        return lambda: None
