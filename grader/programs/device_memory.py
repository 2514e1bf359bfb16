"""Device memory as the CUDA runtime hands it out: allocations with their names and histories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from grader import vgpu
from grader.vgpu import layout as L
from grader.vgpu.execution import module_variables
from grader.vgpu.memory import (
    IS_FREED,
    IS_INPUT,
    IS_TEXTURE,
    READ_ONLY,
    TRACK,
    Storage,
    aligned,
)
from grader.vgpu.module import Kernel

DEVICE_BYTES = 4 << 30
CARD_BYTES = 40 << 30
"""What a program may allocate here, and on the A100 whose figures the virtual GPU has. Memory that
nothing touches costs nothing, here as there."""

LARGE_BYTES = 1 << 26
"""Of an allocation that is larger, only so much holds garbage before it is written: the rest is 0,
and no memory of the machine until it is used. What one had is given back when it is freed."""

SHARED_SLOTS = (*range(1400, 1790), *range(1300, 511, -1))
"""Slots whose addresses a host process can map, for memory that host and device share: above those
of a position-independent program, below its libraries. A module's variables grow from below; with
libcu++ they are hundreds, so their neighbourhood comes last.
"""

_PIECE = 1 << 20

Kind = Literal["device", "managed", "pinned", "registered", "given"]

_ITEM_BYTES = {
    "float": 4, "double": 8, "int": 4, "unsigned": 4, "uint": 4, "char": 1, "uchar": 1, "half": 2,
    "__half": 2, "short": 2, "long": 8, "size_t": 8, "float2": 8, "float4": 16, "int2": 8,
    "int4": 16, "uint32_t": 4, "int32_t": 4, "uint64_t": 8, "int64_t": 8, "uint8_t": 1,
    "int8_t": 1, "bool": 1, "__nv_bfloat16": 2, "nv_bfloat16": 2, "uint16_t": 2, "floatX": 4,
}  # fmt: skip
_ALLOCATED = re.compile(
    r"\bcuda(?:Malloc\w*|HostAlloc|HostRegister)\s*\((?:\s*\([^)]*\))*\s*&?\s*([\w.\->\[\]]+)"
)


def _without_calls(line: str) -> str:
    """`float *x = (float*)malloc(n), *d;` as `float *x = malloc, *d;`."""
    while (shorter := re.sub(r"\([^()]*\)", "", line)) != line:
        line = shorter
    return line


@dataclass(frozen=True)
class Site:
    """Where a call stands in the program."""

    file: str
    line: int


@dataclass
class Allocation:
    """One allocation: its storage, what the program calls it, and what became of it."""

    storage: Storage
    kind: Kind
    name: str
    site: Site
    freed: Site | None = None
    most_threads: int = 0
    written_by: Site | None = None
    launched_with: int = 0
    filled: list[tuple[int, Site]] = field(default_factory=list)
    emptied: list[tuple[int, Site]] = field(default_factory=list)
    _known: bool | None = None

    @property
    def address(self) -> int:
        """Device address of its first byte."""
        return self.storage.address

    @property
    def size(self) -> int:
        """Bytes asked for."""
        return int(self.storage.record.size)

    def known_beyond(self, size: int) -> bool:
        """Whether anything but the first `size` bytes, the most that was copied out, has a defined
        value."""
        if self._known is None:
            init = self.storage.init
            return init is None or any_set(init[size:])
        return self._known

    def give_back(self) -> None:
        """Let go of the memory of a large allocation that was freed: nothing looks at it again."""
        if self.size > LARGE_BYTES:
            self._known = self.known_beyond(max((s for s, _ in self.emptied), default=0))
            self.storage.forget()


def any_set(marks: np.ndarray) -> bool:
    """Whether any of the marks (bytes, 0 or 1) is 1."""
    return bool(marks.view(np.bool_).any())


def merge(into: np.ndarray, marks: np.ndarray) -> None:
    """Set what is set in `marks`; memory that neither has touched stays so."""
    for start in range(0, into.size, _PIECE):
        piece = slice(start, start + _PIECE)
        if into.size <= _PIECE or any_set(marks[piece]):
            np.maximum(into[piece], marks[piece], out=into[piece])


class DeviceMemory:
    """The memory of one program's device."""

    def __init__(self, lines: dict[str, list[str]]) -> None:
        self.lines = lines
        self.memory = vgpu.Memory()
        self.by_slot: dict[int, Allocation] = {}
        self.textures: dict[int, tuple[Storage, Allocation | None]] = {}
        """By slot: what texture and surface objects say of themselves, and where texels lie."""

        self.used = 0
        self.version = 0
        self.given: dict[str, Allocation] = {}
        self.short: tuple[int, Site] | None = None
        """The first allocation that a card would have had room for: its bytes, and where."""

        self._next_shared = iter(SHARED_SLOTS)
        self._asked: Counter[Site] = Counter()

    def give(self, name: str, array: np.ndarray | None, size: int, item: int, role: str) -> None:
        """An array that the device holds before the program starts; None: undefined contents."""
        flags = READ_ONLY | IS_INPUT if role == "input" else TRACK
        slot = self.memory.next_slot()
        storage = Storage(slot, aligned(size), name, item, flags)
        if role != "input":
            storage.track_writes()
        if array is None:
            storage.undefined()
            storage.data[: size // 4 * 4].view(np.uint32)[:] = 0x7FFFFFFF
        else:
            storage.data[:] = array
        self.memory.buffers.append(storage)
        self.used += size
        self.given[name] = self.by_slot[slot] = Allocation(storage, "given", name, Site("", 0))

    def allocate(self, size: int, kind: Kind, site: Site) -> Allocation | None:
        """A new allocation; None where there is no room."""
        if self.used + size > DEVICE_BYTES:
            if self.used + size <= CARD_BYTES and self.short is None:
                self.short = size, site
            return None
        name = self._name(site) or f"allocation {len(self.by_slot) + 1}"
        item = self._item_bytes(name, site)
        if size % item:
            item = 1
        slot = self.memory.next_slot()
        if kind in ("managed", "pinned"):
            shared = next(self._next_shared, None)
            if shared is None:
                return None
            slot = shared
        try:
            storage = Storage(slot, aligned(size), name, item, TRACK)
            storage.track_writes()
            if kind == "device":
                storage.undefined()
        except MemoryError:  # large ones that live on, beside all that were freed
            self.short = self.short or (size, site)
            return None
        if kind == "device":
            storage.data[: min(size, LARGE_BYTES) // 4 * 4].view(np.uint32)[:] = 0x7FFFFFFF
        self.memory.buffers.append(storage)
        self.used += size
        self.version += 1
        found = Allocation(storage, kind, name, site)
        self.by_slot[storage.slot] = found
        return found

    def free(self, allocation: Allocation, site: Site) -> None:
        """Free it; its address stays taken, so that a later use can be named."""
        allocation.freed = site
        self.memory.free(vgpu.Pointer(allocation.storage, np.dtype(np.uint8), (allocation.size,)))
        self.used -= allocation.size
        self.version += 1
        allocation.give_back()

    def at(self, address: int) -> Allocation | None:
        """The allocation an address was made from, even where it lies outside it; of a texture
        object that of its texels."""
        slot = address >> L.SLOT_BITS
        return self.by_slot.get(slot) or self.textures.get(slot, (None, None))[1]

    def name_texels(self, record: np.ndarray, texels: Allocation | None) -> int:
        """The handle of a new texture or surface object."""
        slot = self.memory.next_slot()
        data = aligned(record.size)
        data[:] = record
        storage = Storage(slot, data, "texture object", 1, READ_ONLY | IS_TEXTURE)
        self.memory.buffers.append(storage)
        self.textures[slot] = storage, texels
        self.version += 1
        return storage.address

    def drop_texels(self, handle: int) -> bool:
        """The object is gone; whether it was one."""
        storage, _ = self.textures.get(handle >> L.SLOT_BITS, (None, None))
        if storage is None or storage.record.flags & IS_FREED:
            return False
        storage.record.flags |= IS_FREED
        self.version += 1
        return True

    def variable(self, kernel: Kernel, name: str, own: Collection[str]) -> Storage | None:
        """The module's `__device__` or `__constant__` variable that the host calls `name`, of those
        that its file declares."""
        from grader.vgpu.findings import demangle

        found = [s for s in module_variables(kernel, self.memory) if s.name in own]
        exact = [s for s in found if s.name == name]
        alike = [s for s in found if demangle(s.name) == demangle(name)]
        return next(iter(exact or alike), None)

    def variable_at(self, address: int) -> Storage | None:
        """The module variable an address lies in."""
        return next(iter(self.variables_at(address)), None)

    def variables_at(self, address: int) -> list[Storage]:
        """The variables an address may lie in: each module's begin at the same place."""
        return [
            storage
            for storages in self.memory.variables.values()
            for storage in storages
            if storage.slot == address >> L.SLOT_BITS
        ]

    def live(self) -> list[Allocation]:
        """Allocations that nothing has freed."""
        return [a for a in self.by_slot.values() if a.freed is None]

    def state(self) -> int:
        """A number that changes with any byte of live memory."""
        import zlib

        value = 0
        variables = [s for storages in self.memory.variables.values() for s in storages]
        for storage in [*self.memory.buffers, *variables]:
            if storage.record.flags & IS_FREED:
                continue
            value = zlib.crc32(storage.data.data, value)
        return value

    def wrote(self) -> None:
        """What a launch without the checks for undefined values wrote is defined from now on."""
        for storage in self.memory.buffers:
            init, written = storage.init, storage.written
            live = not storage.record.flags & IS_FREED
            if live and init is not None and written is not None:
                merge(init, written)

    def copy_for(self, kernel: Kernel, original: Kernel) -> vgpu.Memory:
        """A copy of this memory for a build of the same program."""
        twin = vgpu.Memory()
        twin.passed_over = self.memory.passed_over
        for storage in self.memory.buffers:
            other = Storage(
                storage.slot, storage.data.copy() if storage.data.size else storage.data,
                storage.name, storage.itemsize, int(storage.record.flags),
            )  # fmt: skip
            other.record.size = storage.record.size
            other.record.shadow.size = storage.record.size
            if storage.written is not None:
                other.written = storage.written.copy()
                other.record.written = other.written.ctypes.data
            if storage.init is not None:
                other.init = storage.init.copy()
                other.record.shadow.init = other.init.ctypes.data
            twin.buffers.append(other)
        values = {s.name: s.data for s in module_variables(original, self.memory)}
        for storage in module_variables(kernel, twin):
            if storage.name in values and values[storage.name].size == storage.data.size:
                storage.data[:] = values[storage.name]
        return twin

    def _name(self, site: Site) -> str:
        """What the source calls the pointer that an allocation at `site` fills; of several on a
        line each in turn."""
        text = self.lines.get(site.file, [])
        line = text[site.line - 1] if 0 < site.line <= len(text) else ""
        found = _ALLOCATED.findall(line)
        self._asked[site] += 1
        return found[(self._asked[site] - 1) % len(found)] if found else ""

    def _item_bytes(self, name: str, site: Site) -> int:
        """Bytes of an element, as far as the declaration of the pointer says."""
        short = re.escape(name.rpartition(".")[2].rpartition("->")[2].partition("[")[0])
        declared = re.compile(rf"\b(\w+)\s*\*(?:[^;(){{}}]*[*,\s])?{short}\b")
        for line in reversed(self.lines.get(site.file, [])[: site.line]):
            for kind in declared.findall(line) or declared.findall(_without_calls(line)):
                if kind in _ITEM_BYTES:
                    return _ITEM_BYTES[kind]
        return 1
