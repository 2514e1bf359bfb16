"""Copies and fills of device memory and of a module's variables, as the CUDA runtime does them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.programs import errors as E
from grader.programs import symbols
from grader.programs.calls import Answer, Request, kernel_name
from grader.programs.device_memory import DeviceMemory
from grader.programs.findings import Findings
from grader.programs.launches import Launcher
from grader.programs.order import Order
from grader.vgpu.memory import Storage

HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT = 1, 2, 3, 4
KINDS = ("cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
         "cudaMemcpyDeviceToDevice", "cudaMemcpyDefault")  # fmt: skip
ARRAY_COPIES = (
    "cudaMemcpyToArray", "cudaMemcpyToArrayAsync", "cudaMemcpyFromArray", "cudaMemcpy2DToArray",
    "cudaMemcpy2DToArrayAsync", "cudaMemcpy2DFromArray", "cudaMemcpy2DFromArrayAsync",
    "cudaMemcpy2DArrayToArray",
)  # fmt: skip
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32}
COPY_BYTES_PER_NS = 25.0
COPY_LATENCY_NS = 8000.0
"""Modelled copies: PCIe 4.0 x16 moves about 25 GB/s, and each copy takes some microseconds."""


class Copies:
    """What moves bytes."""

    def __init__(
        self, memory: DeviceMemory, findings: Findings, launcher: Launcher, order: Order
    ) -> None:
        self.memory = memory
        self.findings = findings
        self.launcher = launcher
        self.order = order
        self._filled: dict[int, tuple[tuple[int, ...], int]] = {}
        self.calls: dict[str, Callable[[Request], Answer]] = {
            "cudaMemcpy": self._copy,
            "cudaMemcpyAsync": self._copy,
            "cudaMemcpy2D": self._copy,
            "cudaMemcpy2DAsync": self._copy,
            "cudaMemcpy3D": self._copy,
            "cudaMemcpy3DAsync": self._copy,
            "copy node": self._copy,
            **dict.fromkeys(ARRAY_COPIES, self._copy),
            "cudaMemcpyToSymbol": self._to_symbol,
            "cudaMemcpyToSymbolAsync": self._to_symbol,
            "cudaMemcpyFromSymbol": self._from_symbol,
            "cudaMemcpyFromSymbolAsync": self._from_symbol,
            "cudaGetSymbolAddress": self._symbol_address,
            "variable read": self._variable_read,
            "variable write": self._variable_write,
            "variable address": self._variable_address,
            "cudaMemset": self._memset,
            "cudaMemsetAsync": self._memset,
            "cudaMemset2D": self._memset,
            "cudaMemset2DAsync": self._memset,
            "cudaMemset3D": self._memset,
            "cudaMemset3DAsync": self._memset,
            "fill node": self._memset,
            "symbol node": self._symbol_node,
        }

    def _copy(self, q: Request) -> Answer:
        to, to_pitch, source, from_pitch, width, rows, kind, stream, later = q.numbers[:9]
        to_device, from_device = bool(q.numbers[9]), bool(q.numbers[10])
        size = width * rows
        q.note(bytes=size, kind=KINDS[kind] if kind < len(KINDS) else str(kind))
        async_ = bool(later)
        if rows > 1 and min(to_pitch, from_pitch) < width:
            self.findings.pitch_too_small(q.api, q.site, min(to_pitch, from_pitch), width)
            return Answer(E.INVALID_PITCH)
        if not to or not source:
            if size:
                self.findings.null_copied(q.api, q.site, to == 0)
                return Answer(E.INVALID_VALUE)
            return Answer()
        flexible = bool(self.memory.at(to) and not to_device) or bool(
            self.memory.at(source) and not from_device
        )
        actual = 2 * from_device + to_device
        if kind not in (DEFAULT, actual) and not (flexible or self._pinned(to)):
            self.findings.wrong_direction(
                q.api, q.site, KINDS, kind, actual, self._names(to, source)
            )
            return Answer(E.INVALID_VALUE)
        target = origin = None
        if to_device:
            target = self.inside(q, to, (rows - 1) * to_pitch + width, "into")
        if from_device:
            origin = self.inside(q, source, (rows - 1) * from_pitch + width, "from")
        if (to_device and target is None) or (from_device and origin is None):
            return Answer(E.INVALID_VALUE)
        if size == 0:
            return Answer()
        if origin:
            end = origin[1] + (rows - 1) * from_pitch + width
            self.order.wait_before(q, stream, origin[0], (origin[1], end))
        if target and len(q.payload) != size and not origin:
            raise ValueError(f"{q.api} of {size} bytes with {len(q.payload)}")
        answer = Answer(opens=not async_)
        data = (
            np.frombuffer(q.payload, np.uint8).reshape(rows, width)
            if target and not origin
            else None
        )
        if origin is not None:
            storage, at = origin
            data = _rows(storage.data, at, from_pitch, width, rows)
            known = (
                None if storage.init is None else _rows(storage.init, at, from_pitch, width, rows)
            )
            allocation = self.memory.at(source)
            if not to_device and allocation:
                allocation.emptied.append((size, q.site))
                if known is not None and not known.any():
                    self.findings.nothing_to_copy(q.api, q.site, allocation, size)
                elif known is not None and not known.all():
                    self.findings.partly_written(q.api, q.site, allocation, at, known)
                q.note(buffer=allocation.name, launches=allocation.launched_with)
            if target is None:
                answer.payload = data.tobytes()
        if target is not None and data is not None:
            storage, at = target
            self._store(storage, at, to_pitch, width, rows, data)
            if origin is not None and storage.init is not None and known is not None:
                _rows(storage.init, at, to_pitch, width, rows)[...] = known
            allocation = self.memory.at(to)
            if allocation and not from_device:
                if storage.written is not None and allocation.kind == "given":
                    # What the host puts over a kernel's work is the host's.
                    _rows(storage.written, at, to_pitch, width, rows)[...] = 0
                allocation.filled.append((size, q.site))
                q.note(buffer=allocation.name, launches=len(self.launcher.done))
        self.order.spend(stream, COPY_LATENCY_NS + size / COPY_BYTES_PER_NS)
        if async_ and target is not None:
            span = target[1], target[1] + (rows - 1) * to_pitch + width
            slot = target[0].slot
            self.order.pend(stream, q.api, q.site, {slot}, spans={slot: span})
        elif not async_:
            self.order.wait(lambda pending: self.order.waits_for(stream, pending))
        return answer

    def _pinned(self, address: int) -> bool:
        found = self.memory.at(address)
        return found is not None and found.kind != "device"

    def _names(self, to: int, source: int) -> tuple[str, str]:
        def name(address: int) -> str:
            found = self.memory.at(address)
            return f"{found.name} (device)" if found else "host memory"

        return name(to), name(source)

    def _store(
        self, storage: Storage, at: int, pitch: int, width: int, rows: int, data: Any
    ) -> None:
        place = _rows(storage.data, at, pitch, width, rows)
        if not np.array_equal(place, data):
            place[...] = data
            self.memory.version += 1
        if storage.init is not None:
            marks = _rows(storage.init, at, pitch, width, rows)
            if not marks.all():
                marks[...] = 1
                self.memory.version += 1

    def inside(
        self, q: Request, address: int, size: int, preposition: str
    ) -> tuple[Storage, int] | None:
        """Storage and offset of `size` bytes at a device address; None and a finding otherwise."""
        variable = self.memory.variable_at(address)
        if variable is not None:
            offset = address - variable.address
            if offset >= 0 and offset + size <= variable.record.size:
                return variable, offset
            has = int(variable.record.size)
            self.findings.outside(
                q.api, q.site, variable.name, has, offset, size, preposition, None
            )
            return None
        found = self.memory.at(address)
        if found is None:
            self.findings.no_allocation(q.api, q.site, address)
            return None
        if found.freed is not None:
            self.findings.used_after_free(q.api, q.site, found)
            return None
        offset = address - found.address
        if offset < 0 or offset + size > found.size:
            self.findings.outside(
                q.api, q.site, found.name, found.size, offset, size, preposition, found.site
            )
            return None
        return found.storage, offset

    def _memset(self, q: Request) -> Answer:
        address, pitch, value, width, rows, stream, _, element = q.numbers[:8]
        size = width * rows
        q.note(bytes=size)
        if element not in _UNSIGNED or width % element or value >> 8 * element:
            return Answer(E.INVALID_VALUE)
        if size == 0:
            return Answer()
        if rows > 1 and pitch < width:
            self.findings.pitch_too_small(q.api, q.site, pitch, width)
            return Answer(E.INVALID_PITCH)
        place = self.inside(q, address, (rows - 1) * pitch + width, "into")
        if place is None:
            return Answer(E.INVALID_VALUE)
        storage, at = place
        # Benchmarks fill the same large array again and again: nothing changes then.
        filling = (address, pitch, value, element, width, rows)
        if self._filled.get(storage.slot) != (filling, self.memory.version):
            units = np.full((rows, width // element), value, _UNSIGNED[element])
            self._store(storage, at, pitch, width, rows, units.view(np.uint8))
            self._filled[storage.slot] = (filling, self.memory.version)
        found = self.memory.at(address)
        if found:
            found.filled.append((size, q.site))
            q.note(buffer=found.name, launches=len(self.launcher.done))
        self.order.spend(stream, 2000.0 + size / 1000.0)
        self.order.pend(stream, q.api, q.site, {storage.slot} if self._pinned(address) else set())
        return Answer()

    # -- symbols -------------------------------------------------------------------------------

    def _symbol(self, q: Request) -> tuple[Storage | None, str, bytes]:
        name, _, rest = q.payload.partition(b"\0")
        text = name.decode(errors="replace")
        storage = self.launcher.variable(text) if text else None
        if storage is None:
            self.findings.no_symbol(q.api, q.site, symbols.plain(text))
        return storage, text, rest

    def _symbol_part(self, q: Request) -> tuple[Storage, bytes] | None:
        storage, _, rest = self._symbol(q)
        if storage is None:
            return None
        size, offset = q.numbers[0], q.numbers[1]
        q.note(bytes=size, buffer=storage.name)
        if offset + size > storage.record.size:
            from grader.vgpu.findings import demangle

            self.findings.outside(q.api, q.site, demangle(storage.name), storage.record.size,
                                  offset, size, "of", None)  # fmt: skip
            return None
        if q.numbers[7] and size:
            self.findings.null_copied(q.api, q.site, "FromSymbol" in q.api)
            return None
        return storage, rest

    def _to_symbol(self, q: Request) -> Answer:
        found = self._symbol_part(q)
        if found is None:
            return Answer(E.INVALID_VALUE if kernel_name(q) else E.INVALID_SYMBOL)
        storage, rest = found
        size, offset, kind = q.numbers[0], q.numbers[1], q.numbers[2]
        if kind not in (HOST_TO_DEVICE, DEVICE_TO_DEVICE, DEFAULT):
            self.findings.wrong_symbol_direction(q.api, q.site, KINDS[HOST_TO_DEVICE], KINDS[kind])
            return Answer(E.INVALID_VALUE)
        if q.numbers[3]:
            origin = self.inside(q, q.numbers[3], size, "from")
            if origin is None:
                return Answer(E.INVALID_VALUE)
            data = origin[0].data[origin[1] : origin[1] + size]
        else:
            data = np.frombuffer(rest, np.uint8)
        self._store(storage, offset, size, size, 1, data.reshape(1, size))
        self.order.spend(q.numbers[4], COPY_LATENCY_NS + size / COPY_BYTES_PER_NS)
        return Answer()

    def _from_symbol(self, q: Request) -> Answer:
        found = self._symbol_part(q)
        if found is None:
            return Answer(E.INVALID_VALUE)
        size, offset, kind = q.numbers[0], q.numbers[1], q.numbers[2]
        if kind not in (DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT):
            self.findings.wrong_symbol_direction(q.api, q.site, KINDS[DEVICE_TO_HOST], KINDS[kind])
            return Answer(E.INVALID_VALUE)
        data = found[0].data[offset : offset + size]
        if q.numbers[3]:
            target = self.inside(q, q.numbers[3], size, "into")
            if target is None:
                return Answer(E.INVALID_VALUE)
            self._store(target[0], target[1], size, size, 1, data.reshape(1, size))
            return Answer(opens=True)
        stream, async_ = q.numbers[4], bool(q.numbers[5])
        self.order.spend(stream, COPY_LATENCY_NS + size / COPY_BYTES_PER_NS)
        if not async_:
            self.order.wait(lambda pending: self.order.waits_for(stream, pending))
        return Answer(payload=data.tobytes(), opens=not async_)

    def _symbol_node(self, q: Request) -> Answer:
        return self._from_symbol(q) if q.numbers[6] else self._to_symbol(q)

    def _variable_read(self, q: Request) -> Answer:
        """What a `__managed__` variable holds, for the host."""
        storage = self.launcher.variable(kernel_name(q))
        if storage is None:
            return Answer()
        return Answer(payload=storage.data[: int(storage.record.size)].tobytes())

    def _variable_write(self, q: Request) -> Answer:
        """What the host has made of a `__managed__` variable."""
        name, _, data = q.payload.partition(b"\0")
        storage = self.launcher.variable(name.decode(errors="replace"))
        if storage is not None and len(data) == int(storage.record.size):
            self._store(storage, 0, len(data), len(data), 1, _row(data))
        return Answer()

    def _variable_address(self, q: Request) -> Answer:
        """Where the device has a `__managed__` variable."""
        storage = self.launcher.variable(kernel_name(q))
        return Answer(numbers=(0,)) if storage is None else self._address_of(storage)

    def _symbol_address(self, q: Request) -> Answer:
        storage, _, _ = self._symbol(q)
        if storage is None:
            return Answer(E.INVALID_SYMBOL, (0, 0))
        return self._address_of(storage)

    def _address_of(self, storage: Storage) -> Answer:
        """Each file's variables begin at the same address: which one is meant must be plain."""
        size = int(storage.record.size)
        alone = len(self.memory.variables_at(storage.address)) == 1
        missing = "" if alone else "the address of a variable where several files have some"
        return Answer(numbers=(storage.address, size), missing=missing)


def _rows(data: Any, at: int, pitch: int, width: int, rows: int) -> Any:
    """`rows` of `width` bytes as a view of `data`."""
    if rows <= 1:
        return data[at : at + width].reshape(1, width)
    return np.lib.stride_tricks.as_strided(data[at:], (rows, width), (pitch, 1))


def _row(data: bytes) -> Any:
    return np.frombuffer(data, np.uint8).reshape(1, len(data))
