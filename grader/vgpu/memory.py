"""Device memory of the virtual GPU: named buffers that lie far apart.

Every buffer has a slot of the 64-bit address space to itself and stands in its middle, so that an
address gone wrong in either direction still says which buffer it came from.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from grader.vgpu import layout as L

READ_ONLY, IS_FREED, IS_CONST, TRACK, IS_INPUT, IS_HEAP, IS_TEXTURE = 1, 2, 4, 8, 16, 32, 64
Access = Literal["in", "out", "inout", "scratch"]
Bytes = npt.NDArray[np.uint8]


class CShadow(ctypes.Structure):
    """`Shadow` of runtime/engine.h."""

    _fields_ = (
        ("init", ctypes.c_void_p),
        ("cells", ctypes.c_void_p),
        ("shift", ctypes.c_uint32),
        ("pad", ctypes.c_uint32),
        ("size", ctypes.c_uint64),
    )


class CBuffer(ctypes.Structure):
    """`Buffer` of runtime/engine.h."""

    _fields_ = (
        ("base", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("host", ctypes.c_void_p),
        ("written", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("id", ctypes.c_uint32),
        ("shadow", CShadow),
    )


def aligned(size: int) -> Bytes:
    """`size` bytes of zeros whose address is a multiple of 64."""
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]


class Storage:
    """One buffer: its bytes, what was written, what is initialised, and its C record."""

    def __init__(self, slot: int, data: Bytes, name: str, itemsize: int, flags: int) -> None:
        self.slot = slot
        self.data = data
        self.name = name
        self.itemsize = itemsize
        self.written: Bytes | None = None
        self.init: Bytes | None = None
        self.record = CBuffer(
            base=(slot << L.SLOT_BITS) + L.SLOT_MIDDLE,
            size=data.size,
            host=data.ctypes.data,
            flags=flags,
            id=slot,
            shadow=CShadow(size=data.size),
        )

    @property
    def address(self) -> int:
        """Device address of the first byte."""
        return int(self.record.base)

    def track_writes(self, marks: Bytes | None = None) -> None:
        """Keep one byte per byte that says whether it was written: `marks`, or anew."""
        self.written = np.zeros(max(self.data.size, 1), np.uint8) if marks is None else marks
        self.record.written = self.written.ctypes.data

    def forget(self) -> None:
        """Let go of the bytes, and of what is known of them, after the buffer was freed."""
        self.data = aligned(0)
        self.record.host = self.data.ctypes.data
        self.record.written = self.record.shadow.init = None
        self.written = self.init = None

    def undefined(self) -> None:
        """The contents are undefined until written."""
        self.init = np.zeros(max(self.data.size, 1), np.uint8)
        self.record.shadow.init = self.init.ctypes.data


@dataclass(frozen=True, slots=True)
class Pointer:
    """A device buffer: what a kernel gets for a pointer parameter, `offset` bytes in."""

    storage: Storage
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    offset: int = 0

    @property
    def name(self) -> str:
        """The buffer's name in faults."""
        return self.storage.name

    @property
    def address(self) -> int:
        """Device address."""
        return self.storage.address + self.offset


class Memory:
    """Device memory that lives across launches: buffers, and each module's own variables."""

    def __init__(self) -> None:
        self.buffers: list[Storage] = []
        self.variables: dict[int, list[Storage]] = {}
        self.keep_alive: list[object] = []
        self.passed_over = 0
        """Slots between buffers that nothing has any more: blocks of the heap that were freed."""

    def next_slot(self) -> int:
        """The slot of the buffer that is made next."""
        return L.FIRST_BUFFER_SLOT + len(self.buffers) + self.passed_over

    def keep(self, storage: Storage) -> None:
        """Take up a block of the heap, at the address it has; later buffers lie behind it."""
        self.passed_over = max(
            self.passed_over, storage.slot - L.FIRST_BUFFER_SLOT - len(self.buffers)
        )
        self.buffers.append(storage)

    def heap_bytes(self) -> int:
        """What blocks of earlier launches take of the heap."""
        live = [
            s.data.size for s in self.buffers if s.record.flags & (IS_HEAP | IS_FREED) == IS_HEAP
        ]
        return sum(max(size, L.HEAP_BLOCK_BYTES) for size in live)

    def allocate(
        self,
        array: npt.NDArray[np.generic],
        *,
        name: str,
        access: Access = "inout",
        defined: bool = True,
    ) -> Pointer:
        """Copy `array` (any shape, C order) into a buffer of exactly its size.

        `access` "in" makes a write a fault `input_modified`; with `defined` false the contents
        are undefined, and using one before it is written is a fault `uninitialised`.
        """
        array = np.ascontiguousarray(array)
        data = aligned(array.nbytes)
        data[:] = array.reshape(-1).view(np.uint8)
        flags = READ_ONLY | IS_INPUT if access == "in" else TRACK
        slot = self.next_slot()
        storage = Storage(slot, data, name, array.itemsize, flags)
        if access != "in":
            storage.track_writes()
        if not defined:
            storage.undefined()
            _poison(data)
        self.buffers.append(storage)
        return Pointer(storage, array.dtype, array.shape)

    def share(self, array: npt.NDArray[np.generic], *, name: str) -> Pointer:
        """A buffer that is the memory of `array` (C order) itself: kernels write it in place.

        What was written is not kept: `written` says nothing of it.
        """
        storage = Storage(
            self.next_slot(),
            array.reshape(-1).view(np.uint8),
            name,
            array.itemsize,
            0,
        )
        self.buffers.append(storage)
        return Pointer(storage, array.dtype, array.shape)

    def read(self, pointer: Pointer) -> npt.NDArray[np.generic]:
        """A copy of the buffer with its dtype and shape."""
        return pointer.storage.data.view(pointer.dtype).reshape(pointer.shape).copy()

    def write(self, pointer: Pointer, array: npt.NDArray[np.generic]) -> None:
        """Copy from the host: `array` has the buffer's size in bytes."""
        source = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        storage = pointer.storage
        storage.data[pointer.offset : pointer.offset + source.size] = source
        for marks in (storage.written, storage.init):
            if marks is not None:
                marks[pointer.offset : pointer.offset + source.size] = 1

    def written(self, pointer: Pointer) -> npt.NDArray[np.bool_]:
        """For each element whether a kernel wrote all its bytes; shape of the buffer."""
        marks = pointer.storage.written
        if marks is None:
            return np.zeros(pointer.shape, bool)
        count = int(np.prod(pointer.shape, dtype=np.int64))
        marks = marks[: pointer.storage.data.size]
        width = pointer.dtype.itemsize
        if width in WORDS:  # every mark is 0 or 1: a whole element is one word of ones
            ones = np.frombuffer(b"\1" * width, WORDS[width])
            return np.asarray(marks.view(WORDS[width]) == ones).reshape(pointer.shape)
        return marks.reshape(count, width).all(axis=1).reshape(pointer.shape)

    def free(self, pointer: Pointer) -> None:
        """Free the buffer: a later access is a fault."""
        pointer.storage.record.flags |= IS_FREED


WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
POISON = np.array([0xFF, 0xFF, 0xFF, 0x7F], np.uint8)


def _poison(data: Bytes) -> None:
    """Fill with POISON over and over; `data` is aligned."""
    whole = data.size // 4 * 4
    data[:whole].view(np.uint32)[:] = POISON.view(np.uint32)
    data[whole:] = POISON[: data.size - whole]
