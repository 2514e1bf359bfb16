"""Metal as PyObjC offers it, without a Mac: what `metal_card.py` may call, strictly.

`SELECTORS` is what PyObjC 12 says of these methods (`Lib/Metal/_metadata.py` of its Metal package):
the selector, and a type for each argument in Objective-C's codes (Q an unsigned 64-bit number, q a
signed one, z a char, @ an object, ^@ an error to be given back, ^v bytes, {...} a structure of
numbers). The method of a selector has `_` for `:`; anything else is not there. Work happens when
its command buffer is waited for. Kernels are Python functions: no Metal is compiled here.
"""

from __future__ import annotations

import contextlib
import importlib
import operator
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.devices.virtual_card import CLOCK

SELECTORS: dict[str, tuple[str, ...]] = {
    # MTLDevice
    "newCommandQueue": (),
    "name": (),
    "recommendedMaxWorkingSetSize": (),
    "maxThreadgroupMemoryLength": (),
    "supportsFamily:": ("q",),
    "newBufferWithLength:options:": ("Q", "Q"),
    "newLibraryWithSource:options:error:": ("@", "@", "^@"),
    "newComputePipelineStateWithFunction:error:": ("@", "^@"),
    # MTLLibrary, MTLComputePipelineState, MTLBuffer, MTLCommandQueue
    "newFunctionWithName:": ("@",),
    "maxTotalThreadsPerThreadgroup": (),
    "staticThreadgroupMemoryLength": (),
    "contents": (),
    "commandBuffer": (),
    # MTLCommandBuffer
    "computeCommandEncoder": (),
    "blitCommandEncoder": (),
    "commit": (),
    "waitUntilCompleted": (),
    "status": (),
    "error": (),
    "logs": (),
    "GPUStartTime": (),
    "GPUEndTime": (),
    # encoders
    "setComputePipelineState:": ("@",),
    "setBuffer:offset:atIndex:": ("@", "Q", "Q"),
    "setBytes:length:atIndex:": ("^v", "Q", "Q"),
    "setThreadgroupMemoryLength:atIndex:": ("Q", "Q"),
    "dispatchThreads:threadsPerThreadgroup:": ("{MTLSize=QQQ}", "{MTLSize=QQQ}"),
    "dispatchThreadgroups:threadsPerThreadgroup:": ("{MTLSize=QQQ}", "{MTLSize=QQQ}"),
    "fillBuffer:range:value:": ("@", "{_NSRange=QQ}", "z"),
    "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:": ("@", "Q", "@", "Q", "Q"),
    "endEncoding": (),
    # NSError, MTLFunctionLog, MTLFunctionLogDebugLocation
    "localizedDescription": (),
    "code": (),
    "description": (),
    "debugLocation": (),
    "line": (),
}

CONSTANTS = {"MTLResourceStorageModeShared": 0, "MTLResourceStorageModePrivate": 32}

Kernel = Callable[[Mapping[int, Any], int], None]
"""Gets arguments by their buffer index (bytes of the device from an offset on, or bytes given) and
the number of threads."""


class ObjC:
    """An object whose methods are selectors, held to their types."""

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        if name.startswith("_") or not callable(found):
            return found
        selector = name.replace("_", ":")
        if selector not in SELECTORS:
            raise AttributeError(f"{selector} is no selector of the record")
        return lambda *given: found(*_held(selector, given))


def _held(selector: str, given: Sequence[Any]) -> Sequence[Any]:
    kinds = SELECTORS[selector]
    if len(given) != len(kinds):
        raise TypeError(f"{selector} takes {len(kinds)} arguments, {len(given)} given")
    for kind, value in zip(kinds, given, strict=True):
        if kind[0] in "Qqz":
            _number(kind, value)
        elif kind == "^@" and value is not None:
            raise TypeError(f"{selector}: an error is given back; pass None")
        elif kind == "^v" and not isinstance(value, bytes):
            raise TypeError(f"{selector}: expected bytes")
        elif kind[0] == "{":
            numbers = kind.partition("=")[2].rstrip("}")
            if len(value) != len(numbers):
                raise TypeError(f"{selector}: {kind} has {len(numbers)} numbers")
            for one in value:
                _number("Q", one)
    return given


def _number(kind: str, value: Any) -> None:
    low, high = {"Q": (0, (1 << 64) - 1), "q": (-(1 << 63), (1 << 63) - 1), "z": (-128, 127)}[kind]
    if not low <= operator.index(value) <= high:
        raise ValueError(f"depythonifying '{kind}', got {value} of wrong magnitude")


class NSError(ObjC):
    def __init__(self, code: int, text: str) -> None:
        self._code, self._text = code, text

    def code(self) -> int:
        return self._code

    def localizedDescription(self) -> str:
        return self._text


class VarList:
    """`objc.varlist`."""

    def __init__(self, data: np.ndarray) -> None:
        self._data = data

    def as_buffer(self, count: int) -> memoryview:
        return memoryview(self._data)[:count]  # type: ignore[arg-type]


class Buffer(ObjC):
    def __init__(self, size: int, shared: bool) -> None:
        self._data, self._shared = np.zeros(size, np.uint8), shared

    def contents(self) -> VarList | None:
        return VarList(self._data) if self._shared else None


class Function(ObjC):
    def __init__(self, name: str) -> None:
        self._name = name


class Library(ObjC):
    def newFunctionWithName_(self, name: str) -> Function | None:
        return Function(name) if name in GPU.kernels else None


class Pipeline(ObjC):
    def __init__(self, function: Function) -> None:
        self._name = function._name

    def maxTotalThreadsPerThreadgroup(self) -> int:
        return GPU.most_threads

    def staticThreadgroupMemoryLength(self) -> int:
        return 1024


class Encoder(ObjC):
    def __init__(self, buffer: CommandBuffer) -> None:
        self._buffer = buffer
        self._pipeline: Pipeline | None = None
        self._arguments: dict[int, Any] = {}
        self._ended = False

    def setComputePipelineState_(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    def setBuffer_offset_atIndex_(self, buffer: Buffer, offset: int, index: int) -> None:
        self._arguments[index] = buffer._data[offset:]

    def setBytes_length_atIndex_(self, data: bytes, length: int, index: int) -> None:
        assert length == len(data)
        self._arguments[index] = data

    def setThreadgroupMemoryLength_atIndex_(self, length: int, index: int) -> None:
        assert length % 16 == 0, "Metal takes multiples of 16 bytes"

    def dispatchThreads_threadsPerThreadgroup_(self, grid: Any, block: Any) -> None:
        self._dispatch(int(np.prod(grid)), int(np.prod(block)))

    def dispatchThreadgroups_threadsPerThreadgroup_(self, grid: Any, block: Any) -> None:
        self._dispatch(int(np.prod(grid)) * int(np.prod(block)), int(np.prod(block)))

    def _dispatch(self, threads: int, block: int) -> None:
        assert self._pipeline is not None
        assert block <= GPU.most_threads
        kernel, arguments = GPU.kernels[self._pipeline._name], dict(self._arguments)
        self._buffer._work.append(lambda: kernel(arguments, threads))

    def fillBuffer_range_value_(self, buffer: Buffer, span: tuple[int, int], value: int) -> None:
        start, size = span
        self._buffer._work.append(lambda: buffer._data[start : start + size].fill(value & 255))

    def copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
        self, source: Buffer, start: int, target: Buffer, to: int, size: int
    ) -> None:
        def move() -> None:
            target._data[to : to + size] = source._data[start : start + size].copy()
            CLOCK.now += 2e-3 * size

        self._buffer._work.append(move)

    def endEncoding(self) -> None:
        self._ended = True


class CommandBuffer(ObjC):
    def __init__(self) -> None:
        self._work: list[Callable[[], None]] = []
        self._encoders: list[Encoder] = []
        self._status = 0
        self._times = (0.0, 0.0)

    def _encoder(self) -> Encoder:
        assert self._status == 0, "a committed buffer takes no more work"
        assert all(one._ended for one in self._encoders), "the encoder before was not ended"
        self._encoders.append(Encoder(self))
        return self._encoders[-1]

    computeCommandEncoder = blitCommandEncoder = _encoder

    def commit(self) -> None:
        assert self._status == 0, "a command buffer is committed once"
        assert all(one._ended for one in self._encoders)
        self._status = 2

    def waitUntilCompleted(self) -> None:
        if self._status == 2:
            started = CLOCK.now
            for work in self._work:
                work()
            self._times = started * 1e-9, CLOCK.now * 1e-9
            self._status = 5 if GPU.error else 4

    def status(self) -> int:
        return self._status

    def error(self) -> NSError | None:
        return GPU.error

    def logs(self) -> Any:
        return GPU.logs

    def GPUStartTime(self) -> float:
        return self._times[0]

    def GPUEndTime(self) -> float:
        return self._times[1]


class Queue(ObjC):
    def commandBuffer(self) -> CommandBuffer:
        return CommandBuffer()


class Device(ObjC):
    """The GPU, and what it is told to do in a test."""

    def __init__(self) -> None:
        self.kernels: dict[str, Kernel] = {}
        self.refuses = ""
        self.error: NSError | None = None
        self.logs: Any = None
        self.most_threads = 1024
        self.memory = 1 << 30

    def newCommandQueue(self) -> Queue:
        return Queue()

    def name(self) -> str:
        return "recorded"

    def recommendedMaxWorkingSetSize(self) -> int:
        return self.memory

    def maxThreadgroupMemoryLength(self) -> int:
        return 32 << 10

    def supportsFamily_(self, family: int) -> bool:
        return family <= 1007

    def newBufferWithLength_options_(self, size: int, options: int) -> Buffer | None:
        fits = size <= self.memory
        return Buffer(size, options == CONSTANTS["MTLResourceStorageModeShared"]) if fits else None

    def newLibraryWithSource_options_error_(
        self, source: str, options: Any, error: None
    ) -> tuple[Library | None, NSError | None]:
        return (None, NSError(3, self.refuses)) if self.refuses else (Library(), None)

    def newComputePipelineStateWithFunction_error_(
        self, function: Function, error: None
    ) -> tuple[Pipeline | None, NSError | None]:
        return Pipeline(function), None


class Location(ObjC):
    def __init__(self, line: int) -> None:
        self._line = line

    def line(self) -> int:
        return self._line


class Log(ObjC):
    """MTLFunctionLog."""

    def __init__(self, text: str, line: int) -> None:
        self._text, self._line = text, line

    def description(self) -> str:
        return self._text

    def debugLocation(self) -> Location:
        return Location(self._line)


GPU = Device()


@contextlib.contextmanager
def installed() -> Iterator[tuple[Any, Device]]:
    """`grader.devices.metal_card`, imported over this; and a new device."""
    metal = ModuleType("Metal")
    GPU.__init__()  # type: ignore[misc]  # the one that everything here knows
    vars(metal).update(
        CONSTANTS,
        MTLCreateSystemDefaultDevice=lambda: GPU,
        MTLSizeMake=lambda width, height, depth: (width, height, depth),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "Metal", metal)
        patch.delitem(sys.modules, "grader.devices.metal_card", raising=False)
        metal_card = importlib.import_module("grader.devices.metal_card")
        yield metal_card, GPU
        sys.modules.pop("grader.devices.metal_card", None)
