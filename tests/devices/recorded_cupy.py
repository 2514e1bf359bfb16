"""CuPy as it declares itself, with the virtual GPU for a card: what `cuda_card.py` may call of it.

`SIGNATURES` is what CuPy 14 says of its functions, C types included (`cupy/cuda/*.pyx` and
`cupy_backends/cuda/api/*.pyx`; a test compares it with a CuPy that is installed). Calls are held to
them as Cython holds them: a float is no `size_t`, a list no `tuple`, text no `bytes`, and what is
not in the table is not there. Work on a stream happens when somebody waits for it; an error of the
device comes with the next wait and every call after. That it is so on a card is CUDA's
documentation, not evidence.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import inspect
import math
import operator
import re
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from grader import vgpu
from grader.vgpu import cost
from tests.devices.virtual_card import CLOCK, FUEL

SIGNATURES = {
    "runtime.memcpyAsync": "intptr_t dst, intptr_t src, size_t size, int kind, intptr_t stream",
    "runtime.memsetAsync": "intptr_t ptr, int value, size_t size, intptr_t stream",
    "runtime.deviceSynchronize": "",
    "runtime.deviceSetLimit": "int limit, size_t value",
    "runtime.deviceGetAttribute": "int attrib, int device",
    "runtime.getDeviceProperties": "int device",
    "runtime.driverGetVersion": "",
    "driver.funcSetAttribute": "intptr_t f, int attribute, int value",
    "driver.occupancyMaxActiveBlocksPerMultiprocessor": "intptr_t func, int blockSize, "
    "size_t dynamicSMemSize",
    "function.Module.load": "self, bytes cubin",
    "function.Module.get_function": "self, name",
    "function.Function.__call__": "self, tuple grid, tuple block, args, size_t shared_mem=0, "
    "stream=None, enable_cooperative_groups=False",
    "Device.__init__": "self, device=None",
    "Device.use": "self",
    "Memory.__init__": "self, size_t size",
    "Stream.__init__": "self, null=False, non_blocking=False, ptds=False, priority=None",
    "Stream.synchronize": "self",
    "Stream.begin_capture": "self, mode=None",
    "Stream.end_capture": "self",
    "Graph.launch": "self, stream=None",
    "Graph.upload": "self, stream=None",
    "Event.__init__": "self, block=False, disable_timing=False, interprocess=False",
    "Event.record": "self, stream=None",
    "get_elapsed_time": "start_event, end_event",
    "get_current_stream": "int device_id=-1",
}

CONSTANTS = {
    "runtime.memcpyHostToDevice": 1,
    "runtime.memcpyDeviceToHost": 2,
    "runtime.memcpyDeviceToDevice": 3,
    "driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES": 8,
}

_INTEGERS = {"int": (-(1 << 31), (1 << 31) - 1), "intptr_t": (-(1 << 63), (1 << 63) - 1),
             "size_t": (0, (1 << 64) - 1)}  # fmt: skip
_TYPES = {"bytes": bytes, "tuple": tuple}


def strict(name: str) -> Callable[[Callable[..., Any]], Any]:
    """Hold calls of a function to what `SIGNATURES` says of `name`."""
    declared = [part.strip() for part in SIGNATURES[name].split(",") if part.strip()]
    kinds: dict[str, str] = {}
    parameters = []
    for part in declared:
        text, _, default = part.partition("=")
        *kind, named = text.split()
        kinds[named] = kind[0] if kind else ""
        value = inspect.Parameter.empty if not default else _DEFAULTS[default]
        parameters.append(
            inspect.Parameter(named, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value)
        )
    signature = inspect.Signature(parameters)

    def decorated(function: Callable[..., Any]) -> Any:
        def held(*given: Any, **more: Any) -> Any:
            bound = signature.bind(*given, **more)
            bound.apply_defaults()
            for named, value in bound.arguments.items():
                _hold(name, named, kinds[named], value)
            return function(*bound.args, **bound.kwargs)

        return held

    return decorated


_DEFAULTS: dict[str, Any] = {"0": 0, "-1": -1, "None": None, "False": False}


def _hold(name: str, named: str, kind: str, value: Any) -> None:
    if kind in _INTEGERS:
        low, high = _INTEGERS[kind]
        number = operator.index(value)  # TypeError for a float or None, as in Cython
        if not low <= number <= high:
            raise OverflowError(f"{name}: {named} = {number} is no {kind}")
    elif kind in _TYPES and type(value) is not _TYPES[kind]:
        raise TypeError(f"{name}: {named} has type {type(value).__name__}, expected {kind}")


class CUDARuntimeError(RuntimeError):
    """As CuPy's: made from a status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"cudaError {status}")
        self.status = status


class CUDADriverError(CUDARuntimeError):
    """As CuPy's, for the driver's half."""


class OutOfMemoryError(MemoryError):
    """As CuPy's, of its pools."""


class Gpu:
    """The card behind the calls: memory, streams, functions, and the error it is stuck with."""

    multiprocessors = 108
    shared_optin = 164 << 10
    memory_bytes = 1 << 30
    driver = 13020
    ptx = (9, 2)
    """The newest version it reads: older than that of the compilers here."""

    def __init__(self) -> None:
        self.memory = vgpu.Memory()
        self.allocated: list[Any] = []
        self.streams: dict[int, Stream] = {}
        self.functions: dict[int, Function] = {}
        self.stuck = 0
        self.asked: list[tuple[str, tuple[Any, ...]]] = []

    def place(self, address: int, size: int) -> np.ndarray:
        """The bytes at a device address, which must lie inside one allocation."""
        for pointer in self.allocated:
            offset = address - pointer.address
            if offset >= 0 and offset + size <= pointer.storage.data.size:
                found: np.ndarray = pointer.storage.data[offset : offset + size]
                return found
        raise CUDARuntimeError(1)

    def check(self) -> None:
        if self.stuck:
            raise CUDARuntimeError(self.stuck)

    def finish(self) -> None:
        for stream in list(self.streams.values()):
            stream.run()


GPU = Gpu()


class Stream:
    """A queue of work; while it is captured, work goes into a graph instead."""

    @strict("Stream.__init__")
    def __init__(self, null: bool, non_blocking: bool, ptds: bool, priority: int | None) -> None:
        GPU.check()
        self.ptr = 4096 + len(GPU.streams)
        self.queued: list[Callable[[], None]] = []
        self.captured: list[Callable[[], None]] | None = None
        GPU.streams[self.ptr] = self

    def add(self, work: Callable[[], None]) -> None:
        (self.queued if self.captured is None else self.captured).append(work)

    def run(self) -> None:
        if self.captured is not None:
            raise CUDARuntimeError(900)  # cudaErrorStreamCaptureUnsupported
        queued, self.queued = self.queued, []
        for work in queued:
            if not GPU.stuck:
                work()
        GPU.check()

    @strict("Stream.synchronize")
    def synchronize(self) -> None:
        self.run()

    @strict("Stream.begin_capture")
    def begin_capture(self, mode: int | None) -> None:
        GPU.check()
        assert self.captured is None
        self.captured = []

    @strict("Stream.end_capture")
    def end_capture(self) -> Graph:
        GPU.check()
        assert self.captured is not None
        graph = Graph(self.captured)
        self.captured = None
        return graph


class Graph:
    """Captured work, which a launch queues as one."""

    def __init__(self, work: list[Callable[[], None]]) -> None:
        self.work = work

    @strict("Graph.upload")
    def upload(self, stream: Stream) -> None:
        GPU.check()

    @strict("Graph.launch")
    def launch(self, stream: Stream) -> None:
        GPU.check()
        for work in self.work:
            stream.add(work)


class Event:
    """A mark: what time it was when the stream came to it."""

    @strict("Event.__init__")
    def __init__(self, block: bool, disable_timing: bool, interprocess: bool) -> None:
        self.time: float | None = None

    @strict("Event.record")
    def record(self, stream: Stream) -> None:
        GPU.check()
        stream.add(lambda: setattr(self, "time", CLOCK.now))


@strict("get_elapsed_time")
def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    if start_event.time is None or end_event.time is None:
        raise CUDARuntimeError(600)  # cudaErrorNotReady
    return (end_event.time - start_event.time) * 1e-6


@strict("get_current_stream")
def get_current_stream(device_id: int) -> Stream:
    """The stream of its own kernels: one that nobody set."""
    return current_stream()


def current_stream() -> Stream:
    return next(iter(GPU.streams.values()), None) or Stream()


def pass_time(nanoseconds: float) -> None:
    """What a kernel of CuPy's own takes."""
    CLOCK.now += nanoseconds


class Memory:
    """cudaMalloc."""

    @strict("Memory.__init__")
    def __init__(self, size: int) -> None:
        GPU.check()
        if size > GPU.memory_bytes:
            raise CUDARuntimeError(2)
        pointer = GPU.memory.allocate(np.zeros(size, np.uint8), name="arena", access="inout")
        GPU.allocated.append(pointer)
        self.ptr, self.size = int(pointer.address), size


class Device:
    @strict("Device.__init__")
    def __init__(self, device: int | None) -> None:
        self.id = device or 0

    @strict("Device.use")
    def use(self) -> None:
        GPU.check()


class Module:
    def __init__(self) -> None:
        self.code: Any = None

    @strict("function.Module.load")
    def load(self, cubin: bytes) -> None:
        GPU.check()
        assert cubin.endswith(b"\0"), "cuModuleLoadData takes text that ends with a zero"
        version = re.search(rb"\.version (\d+)\.(\d+)", cubin)
        if version is not None and (int(version[1]), int(version[2])) > GPU.ptx:
            raise CUDADriverError(222)
        try:
            self.code = vgpu.Module.from_ptx(cubin[:-1].decode())
        except vgpu.PtxError:
            raise CUDADriverError(218) from None

    @strict("function.Module.get_function")
    def get_function(self, name: str) -> Function:
        if name not in self.code.kernels:
            raise CUDADriverError(500)
        return Function(self, name)


class Function:
    def __init__(self, module: Module, name: str) -> None:
        self.kernel = module.code.kernel(name)
        self.ptr = 8192 + len(GPU.functions)
        self.dynamic = 48 << 10
        GPU.functions[self.ptr] = self

    @strict("function.Function.__call__")
    def __call__(
        self, grid: Any, block: Any, args: Any, shared_mem: int, stream: Stream, cooperative: bool
    ) -> None:
        GPU.check()
        for value in args:  # CScalar takes numpy's scalars as they are; a Python int is 64 bits
            assert isinstance(value, np.generic), type(value)
        if math.prod(block) > 1024 or shared_mem > self.dynamic:
            raise CUDADriverError(1)
        if cooperative:
            most = 2 * GPU.multiprocessors
            assert math.prod(grid) <= most, "CuPy would launch fewer blocks, with a warning"
        stream.add(lambda: self._run(grid, block, list(args), shared_mem))

    def _run(self, grid: Any, block: Any, args: list[Any], shared: int) -> None:
        try:
            done = vgpu.launch(
                self.kernel, grid, block, args,
                shared=shared, memory=GPU.memory, checks="bounds", fuel=FUEL,
            )  # fmt: skip
        except vgpu.LaunchError as error:
            raise AssertionError(f"a launch that CUDA would not refuse so late: {error}") from None
        CLOCK.now += cost.estimate(done.metrics.counts).nanoseconds
        kinds = {fault.kind for fault in done.faults}
        GPU.stuck = next(
            (
                status
                for seen, status in (
                    (done.ended == "trap", 719),
                    (done.ended == "assertion", 710),
                    ("misaligned" in kinds, 716),
                    ("out_of_bounds" in kinds, 700),
                    (done.ended != "finished", 702),
                )
                if seen
            ),
            0,
        )


class Runtime(ModuleType):
    """`cupy.cuda.runtime`, of what is in the table."""

    CUDARuntimeError = CUDARuntimeError

    @staticmethod
    @strict("runtime.memcpyAsync")
    def memcpyAsync(dst: int, src: int, size: int, kind: int, stream: int) -> None:
        GPU.check()
        GPU.asked.append(("memcpyAsync", (dst, src, size, kind)))
        queue = GPU.streams[stream]
        if kind == CONSTANTS["runtime.memcpyHostToDevice"]:
            data = np.frombuffer(ctypes.string_at(src, size), np.uint8)  # pageable: staged now
            queue.add(lambda: operator.setitem(GPU.place(dst, size), slice(None), data))
        elif kind == CONSTANTS["runtime.memcpyDeviceToHost"]:
            queue.add(lambda: ctypes.memmove(dst, GPU.place(src, size).tobytes(), size) and None)
        else:
            queue.add(lambda: _move(dst, src, size))

    @staticmethod
    @strict("runtime.memsetAsync")
    def memsetAsync(ptr: int, value: int, size: int, stream: int) -> None:
        GPU.check()
        GPU.streams[stream].add(lambda: GPU.place(ptr, size).fill(value & 255))

    @staticmethod
    @strict("runtime.deviceSynchronize")
    def deviceSynchronize() -> None:
        GPU.finish()
        GPU.check()

    @staticmethod
    @strict("runtime.deviceSetLimit")
    def deviceSetLimit(limit: int, value: int) -> None:
        GPU.asked.append(("deviceSetLimit", (limit, value)))
        raise CUDARuntimeError(215)  # cudaErrorUnsupportedLimit: cards before sm_80

    @staticmethod
    @strict("runtime.deviceGetAttribute")
    def deviceGetAttribute(attrib: int, device: int) -> int:
        known = {16: GPU.multiprocessors, 13: 1_410_000, 37: 5120, 38: 40 << 20, 75: 8, 76: 0}
        if attrib not in known:  # the memory's clock: newer runtimes leave it out
            raise CUDARuntimeError(1)
        return known[attrib]

    @staticmethod
    @strict("runtime.getDeviceProperties")
    def getDeviceProperties(device: int) -> dict[str, Any]:
        return {"name": b"recorded", "totalGlobalMem": GPU.memory_bytes}

    @staticmethod
    @strict("runtime.driverGetVersion")
    def driverGetVersion() -> int:
        return GPU.driver


def _move(target: int, source: int, size: int) -> None:
    GPU.place(target, size)[:] = GPU.place(source, size).copy()
    CLOCK.now += 2 * size / 1e12 * 1e9


class Driver(ModuleType):
    """`cupy.cuda.driver`, of what is in the table."""

    CUDADriverError = CUDADriverError

    @staticmethod
    @strict("driver.funcSetAttribute")
    def funcSetAttribute(f: int, attribute: int, value: int) -> None:
        if value > GPU.shared_optin:
            raise CUDADriverError(1)
        GPU.functions[f].dynamic = max(48 << 10, value)

    @staticmethod
    @strict("driver.occupancyMaxActiveBlocksPerMultiprocessor")
    def occupancyMaxActiveBlocksPerMultiprocessor(
        func: int, blockSize: int, dynamicSMemSize: int
    ) -> int:
        assert func in GPU.functions
        return 2


def _module(name: str, kind: type[ModuleType] = ModuleType, **attributes: Any) -> Any:
    made = kind(name)
    for key, value in attributes.items():
        setattr(made, key, value)
    return made


def modules() -> dict[str, ModuleType]:
    """`cupy` and what of it is imported by name."""

    def constants(prefix: str) -> dict[str, int]:
        chosen = (key for key in CONSTANTS if key.startswith(prefix))
        return {key.removeprefix(prefix): CONSTANTS[key] for key in chosen}

    runtime = _module("cupy.cuda.runtime", Runtime, **constants("runtime."))
    driver = _module("cupy.cuda.driver", Driver, **constants("driver."))
    cuda = _module(
        "cupy.cuda", runtime=runtime, driver=driver, Stream=Stream, Event=Event, Graph=Graph,
        Device=Device, Memory=Memory, get_elapsed_time=get_elapsed_time,
        get_current_stream=get_current_stream,
        function=_module("cupy.cuda.function", Module=Module, Function=Function),
        memory=_module("cupy.cuda.memory", OutOfMemoryError=OutOfMemoryError),
    )  # fmt: skip
    cupy = _module("cupy", cuda=cuda, asarray=np.asarray, asnumpy=np.asarray)
    return {"cupy": cupy, "cupy.cuda": cuda}


def restart() -> None:
    """A new process: nothing of the card's is left, its error neither."""
    GPU.__init__()  # type: ignore[misc]  # the one that everything here knows


@contextlib.contextmanager
def installed() -> Iterator[Any]:
    """`grader.devices.cuda_card`, imported over these modules; `GPU` is a new one."""
    with pytest.MonkeyPatch.context() as patch:
        for name, module in modules().items():
            patch.setitem(sys.modules, name, module)
        patch.delitem(sys.modules, "grader.devices.cuda_card", raising=False)
        restart()
        cuda_card = importlib.import_module("grader.devices.cuda_card")
        yield cuda_card
        sys.modules.pop("grader.devices.cuda_card", None)
