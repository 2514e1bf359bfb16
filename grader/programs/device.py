"""The CUDA runtime API on the virtual GPU: what each call of a host program does.

`Device.call` takes a call with its place and answers with a status, numbers and bytes. Everything
runs at once; what the program may rely on is kept beside it: which work has been waited for, which
errors it has asked about. Mistakes become findings with the host's line, device findings come from
the engine. Semantics: CUDA Runtime API reference and CUDA C++ Programming Guide.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.programs import errors as E
from grader.programs.device_memory import DeviceMemory, Site
from grader.programs.findings import Findings
from grader.programs.launches import Launcher, Program, Refused
from grader.vgpu.memory import Storage

HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT = 1, 2, 3, 4
KINDS = ("cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
         "cudaMemcpyDeviceToDevice", "cudaMemcpyDefault")  # fmt: skip
COPY_BYTES_PER_NS = 25.0
COPY_LATENCY_NS = 8000.0
"""Modelled copies: PCIe 4.0 x16 moves about 25 GB/s, and each copy takes some microseconds."""

AFTER_STICKY = frozenset(
    ("cudaGetLastError", "cudaPeekAtLastError", "cudaDeviceReset", "cudaFree", "cudaFreeHost",
     "error string", "error name", "shared read", "shared write")
)  # fmt: skip
"""Calls that still do something once an error has broken the context; all others return it."""

LEGACY = 0
MOST_TRACED = 5000


@dataclass
class Answer:
    """What a call returns; `opens` says that the device has finished what shared memory awaits."""

    status: int = E.SUCCESS
    numbers: tuple[int, ...] = ()
    payload: bytes = b""
    text: str = ""
    opens: bool = False


@dataclass
class Stream:
    """A stream: the modelled time its work ends at, and whether the legacy stream waits for it."""

    blocking: bool = True
    end_ns: float = 0.0


@dataclass
class Event:
    """An event: when it was recorded, in which stream, and up to which piece of work."""

    stream: int = 0
    end_ns: float = 0.0
    recorded: bool = False
    waited: bool = False
    work: int = 0


@dataclass
class Pending:
    """Work that the host has not waited for: a launch or a copy, and what it may write."""

    number: int
    stream: int
    what: str
    site: Site
    writes: frozenset[int]
    ordered: set[int] = field(default_factory=set)


class Device:
    """The device of one program, and what it saw of the host."""

    def __init__(self, program: Program, lines: dict[str, list[str]]) -> None:
        self.memory = DeviceMemory(lines)
        self.findings = Findings(lines)
        self.launcher = Launcher(program, self.memory, self.findings)
        self.trace: list[dict[str, Any]] = []
        self.last_error = E.SUCCESS
        self.sticky = E.SUCCESS
        self.streams: dict[int, Stream] = {LEGACY: Stream()}
        self.events: dict[int, Event] = {}
        self.pending: list[Pending] = []
        self.host_ns = 0.0
        self._filled: dict[int, tuple[tuple[int, ...], int]] = {}
        self.stopped = ""
        self._work = 0
        self._handles = 0x1000
        self._calls: dict[str, Callable[[Site, list[int], bytes], Answer]] = {
            "kernel": self._kernel,
            "given": self._given,
            "error string": lambda s, n, p: Answer(payload=E.text(_signed(n[0])).encode()),
            "error name": lambda s, n, p: Answer(payload=E.name(_signed(n[0])).encode()),
            "shared read": self._shared_read,
            "shared write": self._shared_write,
            "cudaGetLastError": self._get_last_error,
            "cudaPeekAtLastError": self._peek_at_last_error,
            "cudaSetDevice": lambda s, n, p: self._failing(E.INVALID_DEVICE if n[0] else 0),
            "cudaGetDeviceProperties": lambda s, n, p: self._failing(
                E.INVALID_DEVICE if n[0] else 0
            ),
            "cudaDeviceGetAttribute": self._attribute,
            "cudaDeviceSynchronize": self._synchronise,
            "cudaDeviceReset": self._reset,
            "cudaMalloc": self._malloc,
            "cudaMallocPitch": self._malloc,
            "cudaMallocManaged": self._malloc,
            "cudaMallocHost": self._malloc,
            "cudaHostAlloc": self._malloc,
            "cudaFree": self._free,
            "cudaFreeHost": self._free,
            "cudaMemGetInfo": lambda s, n, p: Answer(
                numbers=((1 << 30) - self.memory.used, 1 << 30)
            ),
            "cudaPointerGetAttributes": self._pointer_attributes,
            "cudaMemcpy": self._copy,
            "cudaMemcpyAsync": self._copy,
            "cudaMemcpy2D": self._copy,
            "cudaMemcpy2DAsync": self._copy,
            "cudaMemcpy3D": self._copy,
            "cudaMemcpyToSymbol": self._to_symbol,
            "cudaMemcpyToSymbolAsync": self._to_symbol,
            "cudaMemcpyFromSymbol": self._from_symbol,
            "cudaMemcpyFromSymbolAsync": self._from_symbol,
            "cudaGetSymbolAddress": self._symbol_address,
            "cudaMemset": self._memset,
            "cudaMemsetAsync": self._memset,
            "cudaMemset2D": self._memset,
            "cudaMemset3D": self._memset,
            "<<<>>>": self._launch,
            "cudaLaunchKernel": self._launch,
            "cudaLaunchCooperativeKernel": self._launch,
            "cudaFuncSetAttribute": self._set_attribute,
            "cudaFuncGetAttributes": self._function_attributes,
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor": self._occupancy,
            "cudaStreamCreate": self._stream_create,
            "cudaStreamDestroy": self._stream_destroy,
            "cudaStreamSynchronize": self._stream_synchronise,
            "cudaStreamQuery": self._stream_query,
            "cudaStreamWaitEvent": self._stream_wait_event,
            "cudaLaunchHostFunc": self._stream_synchronise,
            "cudaEventCreate": self._event_create,
            "cudaEventDestroy": self._event_destroy,
            "cudaEventRecord": self._event_record,
            "cudaEventSynchronize": self._event_synchronise,
            "cudaEventQuery": self._event_query,
            "cudaEventElapsedTime": self._elapsed,
        }
        self._api = ""

    # -- one call ------------------------------------------------------------------------------

    def call(self, name: str, site: Site, numbers: list[int], payload: bytes) -> Answer:
        """Do what the call says. Raises ValueError for a call that no header of ours makes."""
        self._api = name
        self._record: dict[str, Any] = {"api": name, "file": site.file, "line": site.line}
        served = None if self.sticky and name not in AFTER_STICKY else self._calls.get(name)
        internal = name in (
            "given",
            "kernel",
            "error string",
            "error name",
            "shared read",
            "shared write",
        )
        if served is None:
            answer = Answer()
        else:
            try:
                answer = served(site, numbers, payload)
            except IndexError:
                raise ValueError(f"{name} with {len(numbers)} numbers") from None
        if internal:
            return answer
        if self.sticky and answer.status == E.SUCCESS:
            answer.status = self.sticky
        if answer.status and answer.status != E.NOT_READY:
            self.last_error = answer.status
            if name not in ("<<<>>>", "cudaGetLastError", "cudaPeekAtLastError"):
                self.findings.seen(answer.status)
        if name == "cudaGetLastError" and not self.sticky:
            self.last_error = E.SUCCESS
        self._record["status"] = answer.status
        if len(self.trace) < MOST_TRACED:
            self.trace.append(self._record)
        return answer

    def end(self, code: int | None) -> None:
        """The program is over: what it left behind."""
        clean = code == 0 and not self.sticky
        self.findings.at_end(self.memory, clean=clean)

    def _note(self, **what: Any) -> None:
        self._record.update(what)

    # -- errors and devices --------------------------------------------------------------------

    def _get_last_error(self, site: Site, n: list[int], p: bytes) -> Answer:
        self.findings.seen(self.last_error)
        return Answer(self.last_error)

    def _peek_at_last_error(self, site: Site, n: list[int], p: bytes) -> Answer:
        self.findings.seen(self.last_error)
        return Answer(self.last_error)

    def _failing(self, status: int) -> Answer:
        return Answer(status)

    def _attribute(self, site: Site, n: list[int], p: bytes) -> Answer:
        return Answer(numbers=(ATTRIBUTES.get(n[0], 0),))

    def _reset(self, site: Site, n: list[int], p: bytes) -> Answer:
        self._wait(lambda pending: True)
        for allocation in self.memory.live():
            self.memory.free(allocation, site)
        self.sticky = E.SUCCESS
        return Answer(opens=True)

    def _shared_read(self, site: Site, n: list[int], p: bytes) -> Answer:
        found = self.memory.at(n[0])
        return Answer(payload=found.storage.data[: n[1]].tobytes() if found else b"")

    def _shared_write(self, site: Site, n: list[int], p: bytes) -> Answer:
        found = self.memory.at(n[0])
        if found and len(p) == found.size:
            data = np.frombuffer(p, np.uint8)
            if not np.array_equal(found.storage.data, data):
                found.storage.data[:] = data
                self.memory.version += 1
        return Answer()

    # -- memory --------------------------------------------------------------------------------

    def _malloc(self, site: Site, n: list[int], p: bytes) -> Answer:
        size = n[0]
        self._note(bytes=size)
        if size == 0:
            return Answer(numbers=(0,))
        shared = {"cudaMallocManaged": "managed", "cudaMallocHost": "pinned",
                  "cudaHostAlloc": "pinned"}  # fmt: skip
        found = self.memory.allocate(size, shared.get(self._api, "device"), site)  # type: ignore[arg-type]
        if found is None:
            return Answer(E.MEMORY_ALLOCATION)
        self._note(buffer=found.name, address=found.address)
        return Answer(numbers=(found.address,))

    def _free(self, site: Site, n: list[int], p: bytes) -> Answer:
        if n[0] == 0:
            return Answer()
        found = self.memory.at(n[0])
        host = self._api == "cudaFreeHost"
        if found is None or found.address != n[0] or (found.kind == "pinned") != host:
            self.findings.host_pointer_freed(self._api, site, found, n[0])
            return Answer(E.INVALID_VALUE)
        self._note(buffer=found.name, address=found.address)
        if found.freed is not None:
            self.findings.freed_twice(self._api, site, found)
            return Answer(E.INVALID_VALUE)
        self._wait(lambda pending: True)
        self.memory.free(found, site)
        return Answer(opens=True)

    def _pointer_attributes(self, site: Site, n: list[int], p: bytes) -> Answer:
        found = self.memory.at(n[0])
        known = {"pinned": 1, "device": 2, "managed": 3}
        kind = known[found.kind] if found else 2 if self.memory.variable_at(n[0]) else 0
        return Answer(numbers=(kind,))

    # -- copies --------------------------------------------------------------------------------

    def _copy(self, site: Site, n: list[int], payload: bytes) -> Answer:
        to, to_pitch, source, from_pitch, width, rows, kind, stream, later = n[:9]
        to_device, from_device = bool(n[9]), bool(n[10])
        size = width * rows
        self._note(bytes=size, kind=KINDS[kind] if kind < len(KINDS) else str(kind))
        async_ = bool(later)
        if rows > 1 and min(to_pitch, from_pitch) < width:
            self.findings.pitch_too_small(self._api, site, min(to_pitch, from_pitch), width)
            return Answer(E.INVALID_PITCH)
        if not to or not source:
            if size:
                self.findings.null_copied(self._api, site, to == 0)
                return Answer(E.INVALID_VALUE)
            return Answer()
        flexible = bool(self.memory.at(to) and not to_device) or bool(
            self.memory.at(source) and not from_device
        )
        actual = 2 * from_device + to_device
        if kind not in (DEFAULT, actual) and not (flexible or self._pinned(to)):
            self.findings.wrong_direction(
                self._api, site, KINDS, kind, actual, self._names(to, source)
            )
            return Answer(E.INVALID_VALUE)
        target = origin = None
        if to_device:
            target = self._inside(site, to, (rows - 1) * to_pitch + width, "into")
        if from_device:
            origin = self._inside(site, source, (rows - 1) * from_pitch + width, "from")
        if (to_device and target is None) or (from_device and origin is None):
            return Answer(E.INVALID_VALUE)
        if size == 0:
            return Answer()
        self._wait_before(site, stream, origin[0] if origin else None)
        if target and len(payload) != size and not origin:
            raise ValueError(f"{self._api} of {size} bytes with {len(payload)}")
        answer = Answer(opens=not async_)
        data = (
            np.frombuffer(payload, np.uint8).reshape(rows, width) if target and not origin else None
        )
        if origin is not None:
            storage, at = origin
            data = _rows(storage.data, at, from_pitch, width, rows)
            known = (
                None if storage.init is None else _rows(storage.init, at, from_pitch, width, rows)
            )
            allocation = self.memory.at(source)
            if not to_device and allocation:
                allocation.emptied.append((size, site))
                if known is not None and not known.any():
                    self.findings.nothing_to_copy(self._api, site, allocation, size)
                elif known is not None and not known.all():
                    self.findings.partly_written(self._api, site, allocation, at, known)
                self._note(buffer=allocation.name, launches=allocation.launched_with)
            if target is None:
                answer.payload = data.tobytes()
        if target is not None and data is not None:
            storage, at = target
            self._store(storage, at, to_pitch, width, rows, data)
            if origin is not None and storage.init is not None and known is not None:
                _rows(storage.init, at, to_pitch, width, rows)[...] = known
            allocation = self.memory.at(to)
            if allocation and not from_device:
                allocation.filled.append((size, site))
                self._note(buffer=allocation.name, launches=len(self.launcher.done))
        self._spend(stream, COPY_LATENCY_NS + size / COPY_BYTES_PER_NS)
        if async_ and target is not None:
            self._pend(stream, self._api, site, {target[0].slot})
        elif not async_:
            self._wait(lambda pending: self._waits_for(stream, pending))
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

    def _inside(
        self, site: Site, address: int, size: int, preposition: str
    ) -> tuple[Storage, int] | None:
        """Storage and offset of `size` bytes at a device address; None and a finding otherwise."""
        variable = self.memory.variable_at(address)
        if variable is not None:
            offset = address - variable.address
            if offset >= 0 and offset + size <= variable.record.size:
                return variable, offset
            has = int(variable.record.size)
            self.findings.outside(
                self._api, site, variable.name, has, offset, size, preposition, None
            )
            return None
        found = self.memory.at(address)
        if found is None:
            self.findings.no_allocation(self._api, site, address)
            return None
        if found.freed is not None:
            self.findings.used_after_free(self._api, site, found)
            return None
        offset = address - found.address
        if offset < 0 or offset + size > found.size:
            self.findings.outside(
                self._api, site, found.name, found.size, offset, size, preposition, found.site
            )
            return None
        return found.storage, offset

    def _memset(self, site: Site, n: list[int], p: bytes) -> Answer:
        address, pitch, value, width, rows, stream = n[:6]
        size = width * rows
        self._note(bytes=size)
        if size == 0:
            return Answer()
        if rows > 1 and pitch < width:
            self.findings.pitch_too_small(self._api, site, pitch, width)
            return Answer(E.INVALID_PITCH)
        place = self._inside(site, address, (rows - 1) * pitch + width, "into")
        if place is None:
            return Answer(E.INVALID_VALUE)
        storage, at = place
        # Benchmarks fill the same large array again and again: nothing changes then.
        filling = (address, pitch, value, width, rows)
        if self._filled.get(storage.slot) != (filling, self.memory.version):
            data = np.full((rows, width), value & 0xFF, np.uint8)
            self._store(storage, at, pitch, width, rows, data)
            self._filled[storage.slot] = (filling, self.memory.version)
        found = self.memory.at(address)
        if found:
            found.filled.append((size, site))
            self._note(buffer=found.name, launches=len(self.launcher.done))
        self._spend(stream, 2000.0 + size / 1000.0)
        self._pend(stream, self._api, site, {storage.slot} if self._pinned(address) else set())
        return Answer()

    # -- symbols -------------------------------------------------------------------------------

    def _symbol(self, site: Site, payload: bytes) -> tuple[Storage | None, str, bytes]:
        name, _, rest = payload.partition(b"\0")
        text = name.decode(errors="replace")
        storage = self.launcher.variable(text) if text else None
        if storage is None:
            self.findings.no_symbol(self._api, site, text)
        return storage, text, rest

    def _symbol_part(
        self, site: Site, n: list[int], payload: bytes
    ) -> tuple[Storage, bytes] | None:
        storage, _, rest = self._symbol(site, payload)
        if storage is None:
            return None
        size, offset = n[0], n[1]
        self._note(bytes=size, buffer=storage.name)
        if offset + size > storage.record.size:
            from grader.vgpu.findings import demangle

            self.findings.outside(self._api, site, demangle(storage.name), storage.record.size,
                                  offset, size, "of", None)  # fmt: skip
            return None
        return storage, rest

    def _to_symbol(self, site: Site, n: list[int], payload: bytes) -> Answer:
        found = self._symbol_part(site, n, payload)
        if found is None:
            return Answer(E.INVALID_SYMBOL if not payload.partition(b"\0")[0] else E.INVALID_VALUE)
        storage, rest = found
        size, offset, kind = n[0], n[1], n[2]
        if kind not in (HOST_TO_DEVICE, DEVICE_TO_DEVICE, DEFAULT):
            self.findings.wrong_symbol_direction(
                self._api, site, KINDS[HOST_TO_DEVICE], KINDS[kind]
            )
            return Answer(E.INVALID_VALUE)
        if n[3]:
            origin = self._inside(site, n[3], size, "from")
            if origin is None:
                return Answer(E.INVALID_VALUE)
            data = origin[0].data[origin[1] : origin[1] + size]
        else:
            data = np.frombuffer(rest, np.uint8)
        self._store(storage, offset, size, size, 1, data.reshape(1, size))
        self._spend(LEGACY, COPY_LATENCY_NS + size / COPY_BYTES_PER_NS)
        return Answer()

    def _from_symbol(self, site: Site, n: list[int], payload: bytes) -> Answer:
        found = self._symbol_part(site, n, payload)
        if found is None:
            return Answer(E.INVALID_VALUE)
        size, offset, kind = n[0], n[1], n[2]
        if kind not in (DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT):
            self.findings.wrong_symbol_direction(
                self._api, site, KINDS[DEVICE_TO_HOST], KINDS[kind]
            )
            return Answer(E.INVALID_VALUE)
        data = found[0].data[offset : offset + size]
        if n[3]:
            target = self._inside(site, n[3], size, "into")
            if target is None:
                return Answer(E.INVALID_VALUE)
            self._store(target[0], target[1], size, size, 1, data.reshape(1, size))
            return Answer(opens=True)
        self._wait(lambda pending: self._waits_for(LEGACY, pending))
        self._spend(LEGACY, COPY_LATENCY_NS + size / COPY_BYTES_PER_NS)
        return Answer(payload=data.tobytes(), opens=True)

    def _symbol_address(self, site: Site, n: list[int], payload: bytes) -> Answer:
        storage, _, _ = self._symbol(site, payload)
        if storage is None:
            return Answer(E.INVALID_SYMBOL, (0, 0))
        return Answer(numbers=(storage.address, int(storage.record.size)))

    # -- launches ------------------------------------------------------------------------------

    def _given(self, site: Site, n: list[int], payload: bytes) -> Answer:
        """An array of the assignment, for a `main()` of ours."""
        found = self.memory.given.get(payload.decode(errors="replace"))
        return Answer(numbers=(found.address if found else 0,))

    def _kernel(self, site: Site, n: list[int], payload: bytes) -> Answer:
        sizes = self.launcher.parameter_bytes(payload.decode(errors="replace"))
        return Answer(len(sizes), tuple(sizes))

    def _launch(self, site: Site, n: list[int], payload: bytes) -> Answer:
        name, _, packed = payload.partition(b"\0")
        grid, block = (n[0], n[1], n[2]), (n[3], n[4], n[5])
        shared, stream = n[6], n[7]
        self._note(kernel=name.decode(errors="replace"), grid=grid, block=block, shared=shared)
        if self.sticky:
            return Answer(self.sticky)
        if stream > 2 and stream not in self.streams:
            return Answer(E.INVALID_HANDLE)
        try:
            done = self.launcher.launch(
                site, name.decode(errors="replace"), grid, block, shared, packed,
                cooperative=self._api == "cudaLaunchCooperativeKernel",
            )  # fmt: skip
        except Refused as error:
            self.findings.launch_refused(site, str(error), error.status, error.advice)
            return Answer(error.status)
        self._note(kernel=done.name, buffers=done.buffers, outputs=done.outputs,
                   threads=done.threads, largest_elements=done.largest_elements)  # fmt: skip
        self._spend(stream, done.nanoseconds)
        self._pend(stream, f"kernel {done.name}", site, done.slots)
        if done.ended in ("unsupported", "fuel", "deadlock"):
            self.stopped = done.ended
        broken = {"trap": E.LAUNCH_FAILURE, "assertion": E.ASSERT, "fuel": E.LAUNCH_TIMEOUT,
                  "deadlock": E.LAUNCH_TIMEOUT, "unsupported": E.LAUNCH_FAILURE}  # fmt: skip
        self.sticky = broken.get(done.ended, E.SUCCESS)
        return Answer(text=done.printed)

    def _set_attribute(self, site: Site, n: list[int], payload: bytes) -> Answer:
        name = payload.partition(b"\0")[0].decode(errors="replace")
        if n[0] == 8 and not self.launcher.allow_shared(name, _signed(n[1])):
            return Answer(E.INVALID_VALUE)
        return Answer()

    def _function_attributes(self, site: Site, n: list[int], payload: bytes) -> Answer:
        name = payload.partition(b"\0")[0].decode(errors="replace")
        found = self.launcher.attributes(name)
        if found is None:
            return Answer(E.INVALID_DEVICE_FUNCTION, (0, 0, 0, 0))
        return Answer(numbers=found)

    def _occupancy(self, site: Site, n: list[int], payload: bytes) -> Answer:
        name = payload.partition(b"\0")[0].decode(errors="replace")
        blocks = self.launcher.blocks_per_multiprocessor(name, n[0], n[1])
        return Answer(E.INVALID_DEVICE_FUNCTION if blocks is None else 0, (blocks or 0,))

    # -- order and time ------------------------------------------------------------------------

    def _spend(self, stream: int, nanoseconds: float) -> None:
        """Modelled time: work begins when its stream is free and the host has asked for it."""
        mine = self.streams.setdefault(stream, Stream())
        start = max(mine.end_ns, self.host_ns)
        if stream == LEGACY:
            start = max([start, *(s.end_ns for s in self.streams.values() if s.blocking)])
        elif mine.blocking:
            start = max(start, self.streams[LEGACY].end_ns)
        mine.end_ns = start + nanoseconds

    def _pend(self, stream: int, what: str, site: Site, writes: set[int] | frozenset[int]) -> None:
        self._work += 1
        self.pending.append(Pending(self._work, stream, what, site, frozenset(writes)))
        del self.pending[:-1000]

    def _waits_for(self, stream: int, pending: Pending) -> bool:
        """Whether work in `stream` begins only after `pending`."""
        if pending.stream == stream or stream in pending.ordered:
            return True
        both = self.streams.get(stream), self.streams.get(pending.stream)
        legacy = LEGACY in (stream, pending.stream)
        return legacy and all(s is None or s.blocking for s in both)

    def _wait(self, over: Callable[[Pending], bool]) -> None:
        self.pending = [p for p in self.pending if not over(p)]

    def _wait_before(self, site: Site, stream: int, storage: Storage | None) -> None:
        """A finding where a copy reads what work of another stream may still be writing."""
        if storage is None:
            return
        for pending in self.pending:
            if storage.slot in pending.writes and not self._waits_for(stream, pending):
                self.findings.not_waited_for(
                    self._api, site, storage.name, pending.what, pending.site
                )
                return

    def touched(self, address: int, site: Site | None) -> None:
        """The host used shared memory that pending work may write."""
        found = self.memory.at(address)
        last = self.pending[-1] if self.pending else None
        for pending in self.pending:
            if found and found.storage.slot in pending.writes:
                last = pending
        if last is not None and found is not None:
            self.findings.not_waited_for(
                "the host", site or last.site, found.name, last.what, last.site
            )

    def _synchronise(self, site: Site, n: list[int], p: bytes) -> Answer:
        self._wait(lambda pending: True)
        self.host_ns = max([self.host_ns, *(s.end_ns for s in self.streams.values())])
        for event in self.events.values():
            event.waited = event.recorded
        return Answer(opens=True)

    def _stream_create(self, site: Site, n: list[int], p: bytes) -> Answer:
        self._handles += 8
        self.streams[self._handles] = Stream(blocking=not n[0] & 1, end_ns=self.host_ns)
        return Answer(numbers=(self._handles,))

    def _stream_destroy(self, site: Site, n: list[int], p: bytes) -> Answer:
        if n[0] not in self.streams or n[0] == LEGACY:
            return Answer(E.INVALID_HANDLE)
        return Answer()

    def _stream_synchronise(self, site: Site, n: list[int], p: bytes) -> Answer:
        stream = n[0] if n[0] > 2 else LEGACY
        if stream not in self.streams:
            return Answer(E.INVALID_HANDLE)
        self._wait(lambda pending: self._waits_for(stream, pending))
        self.host_ns = max(self.host_ns, self.streams[stream].end_ns)
        for event in self.events.values():
            if event.stream == stream and event.recorded:
                event.waited = True
        return Answer(opens=not self.pending)

    def _stream_query(self, site: Site, n: list[int], p: bytes) -> Answer:
        return self._stream_synchronise(site, n, p)

    def _stream_wait_event(self, site: Site, n: list[int], p: bytes) -> Answer:
        event = self.events.get(n[1])
        if event is None:
            return Answer(E.INVALID_HANDLE)
        for pending in self.pending:
            if pending.number <= event.work and self._waits_for(event.stream, pending):
                pending.ordered.add(n[0])
        mine = self.streams.setdefault(n[0], Stream())
        mine.end_ns = max(mine.end_ns, event.end_ns)
        return Answer()

    def _event_create(self, site: Site, n: list[int], p: bytes) -> Answer:
        self._handles += 8
        self.events[self._handles] = Event()
        return Answer(numbers=(self._handles,))

    def _event_destroy(self, site: Site, n: list[int], p: bytes) -> Answer:
        return Answer() if self.events.pop(n[0], None) else Answer(E.INVALID_HANDLE)

    def _event_record(self, site: Site, n: list[int], p: bytes) -> Answer:
        event = self.events.get(n[0])
        if event is None:
            return Answer(E.INVALID_HANDLE)
        self._spend(n[1], 0.0)
        event.stream, event.end_ns = n[1], self.streams[n[1]].end_ns
        event.recorded, event.waited, event.work = True, False, self._work
        return Answer()

    def _event_synchronise(self, site: Site, n: list[int], p: bytes) -> Answer:
        event = self.events.get(n[0])
        if event is None:
            return Answer(E.INVALID_HANDLE)
        event.waited = event.recorded
        self._wait(
            lambda pending: pending.number <= event.work and self._waits_for(event.stream, pending)
        )
        self.host_ns = max(self.host_ns, event.end_ns)
        return Answer(opens=not self.pending)

    def _event_query(self, site: Site, n: list[int], p: bytes) -> Answer:
        return self._event_synchronise(site, n, p)

    def _elapsed(self, site: Site, n: list[int], p: bytes) -> Answer:
        first, last = self.events.get(n[0]), self.events.get(n[1])
        if first is None or last is None or not (first.recorded and last.recorded):
            return Answer(E.INVALID_HANDLE, (0,))
        if not last.waited:
            self.findings.event_not_waited_for(site)
            return Answer(E.NOT_READY, (0,))
        milliseconds = (last.end_ns - first.end_ns) / 1e6
        return Answer(numbers=(struct.unpack("<Q", struct.pack("<d", milliseconds))[0],))

    # -- what is left --------------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """Findings, trace and counts, as JSON."""
        return {
            "faults": self.findings.as_json(),
            "trace": self.trace,
            "launches": self.launcher.summary(),
            "counts": self.launcher.counts,
            "lines": self.launcher.line_counts(),
            "modelled_ns": max(s.end_ns for s in self.streams.values()),
            "kernel_ns": self.launcher.nanoseconds,
            "stopped": self.stopped,
            "stopped_reason": self.launcher.reason,
        }


ATTRIBUTES = {
    1: 1024, 2: 1024, 3: 1024, 4: 64, 5: 2**31 - 1, 6: 65535, 7: 65535, 8: 48 << 10, 9: 64 << 10,
    10: 32, 12: 65536, 13: 1410000, 16: 108, 19: 1, 31: 1, 36: 1215000, 37: 5120, 38: 40 << 20,
    39: 2048, 40: 3, 41: 1, 75: 8, 76: 0, 81: 164 << 10, 82: 65536, 83: 1, 89: 1, 90: 1, 95: 1,
    97: 163 << 10, 106: 32,
}  # fmt: skip
"""Attributes of the device by CUDA's number (cudaDeviceAttr): an A100's."""


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _rows(data: Any, at: int, pitch: int, width: int, rows: int) -> Any:
    """`rows` of `width` bytes as a view of `data`."""
    if rows <= 1:
        return data[at : at + width].reshape(1, width)
    return np.lib.stride_tricks.as_strided(data[at:], (rows, width), (pitch, 1))
