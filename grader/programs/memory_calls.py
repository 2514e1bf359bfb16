"""Calls that allocate, free and describe device memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.programs import errors as E
from grader.programs.calls import Answer, Request
from grader.programs.device_memory import DEVICE_BYTES, DeviceMemory, Kind
from grader.programs.findings import Findings
from grader.programs.order import Order

_KINDS: dict[str, Kind] = {
    "cudaMallocManaged": "managed", "cudaMallocHost": "pinned", "cudaHostAlloc": "pinned",
    "cudaHostRegister": "registered",
}  # fmt: skip
_RESERVED_NOW, _USED_HIGH = 5, 8
"""Attributes of a memory pool that are sizes."""


class MemoryCalls:
    """Allocations, managed and pinned memory too."""

    def __init__(self, memory: DeviceMemory, findings: Findings, order: Order) -> None:
        self.memory = memory
        self.findings = findings
        self.order = order
        self.calls: dict[str, Callable[[Request], Answer]] = {
            "given": self._given,
            "shared read": self._shared_read,
            "shared write": self._shared_write,
            "cudaMalloc": self._malloc,
            "cudaMallocPitch": self._malloc,
            "cudaMallocArray": self._malloc_array,
            "cudaMalloc3DArray": self._malloc_array,
            "cudaMallocManaged": self._malloc,
            "cudaMallocHost": self._malloc,
            "cudaHostAlloc": self._malloc,
            "cudaHostRegister": self._register,
            "cudaHostUnregister": self._unregister,
            "cudaFree": self._free,
            "cudaFreeArray": self._free,
            "cudaFreeHost": self._free,
            "cudaHostGetDevicePointer": self._device_pointer,
            "cudaMemGetInfo": self._info,
            "cudaMemPoolGetAttribute": self._pool_attribute,
            "cudaPointerGetAttributes": self._pointer_attributes,
        }

    def _given(self, q: Request) -> Answer:
        """An array of the assignment, for a `main()` of ours."""
        found = self.memory.given.get(q.payload.decode(errors="replace"))
        return Answer(numbers=(found.address if found else 0,))

    def _shared_read(self, q: Request) -> Answer:
        found = self.memory.at(q.numbers[0])
        return Answer(payload=found.storage.data[: q.numbers[1]].tobytes() if found else b"")

    def _shared_write(self, q: Request) -> Answer:
        found = self.memory.at(q.numbers[0])
        if found and found.kind in ("device", "given"):
            raise ValueError(f"{found.name} is not shared with the host")
        if found and len(q.payload) == found.size:
            data = np.frombuffer(q.payload, np.uint8)
            if not np.array_equal(found.storage.data, data):
                found.storage.data[:] = data
                self.memory.version += 1
        return Answer()

    def _malloc(self, q: Request) -> Answer:
        size = q.numbers[0]
        q.note(bytes=size)
        if size == 0:
            return Answer(numbers=(0,))
        found = self.memory.allocate(size, _KINDS.get(q.api, "device"), q.site)
        if found is None:
            return Answer(E.MEMORY_ALLOCATION)
        q.note(buffer=found.name, address=found.address)
        return Answer(numbers=(found.address,))

    def _malloc_array(self, q: Request) -> Answer:
        """An array's texels: `numbers` has the bytes of all and of one."""
        if not 1 <= q.numbers[1] <= 16:
            return Answer(E.INVALID_CHANNEL)
        answer = self._malloc(q)
        found = self.memory.at(answer.numbers[0]) if answer.numbers else None
        if found is not None:
            found.storage.itemsize = q.numbers[1]
        return answer

    def _free(self, q: Request) -> Answer:
        if q.numbers[0] == 0:
            return Answer()
        found = self.memory.at(q.numbers[0])
        host = q.api == "cudaFreeHost"
        wrong = found is None or found.kind == "registered" or (found.kind == "pinned") != host
        if found is None or wrong or found.address != q.numbers[0]:
            self.findings.host_pointer_freed(q.api, q.site, found, q.numbers[0])
            return Answer(E.INVALID_VALUE)
        q.note(buffer=found.name, address=found.address)
        if found.freed is not None:
            self.findings.freed_twice(q.api, q.site, found)
            return Answer(E.INVALID_VALUE)
        self.order.wait(lambda pending: True)
        self.memory.free(found, q.site)
        return Answer(opens=True)

    def _register(self, q: Request) -> Answer:
        """Memory of the program's own: the device has a copy, brought when a launch may use it."""
        pointer, size, _, known = q.numbers[:4]
        q.note(bytes=size)
        if known:
            return Answer(E.ALREADY_REGISTERED)
        if not pointer or not size or self.memory.at(pointer):
            return Answer(E.INVALID_VALUE)
        found = self.memory.allocate(size, "registered", q.site)
        if found is None:
            return Answer(E.MEMORY_ALLOCATION)
        q.note(buffer=found.name, address=found.address)
        return Answer(numbers=(found.address,))

    def _unregister(self, q: Request) -> Answer:
        found = self.memory.at(q.numbers[0])
        if found is None or found.kind != "registered" or found.freed is not None:
            return Answer(E.NOT_REGISTERED)
        q.note(buffer=found.name, address=found.address)
        self.order.wait(lambda pending: True)
        self.memory.free(found, q.site)
        return Answer(opens=True)

    def _pointer_attributes(self, q: Request) -> Answer:
        found = self.memory.at(q.numbers[0])
        known = {"pinned": 1, "registered": 1, "device": 2, "given": 2, "managed": 3}
        kind = known[found.kind] if found else 2 if self.memory.variable_at(q.numbers[0]) else 0
        return Answer(numbers=(kind,))

    def _info(self, q: Request) -> Answer:
        return Answer(numbers=(DEVICE_BYTES - self.memory.used, DEVICE_BYTES))

    def _pool_attribute(self, q: Request) -> Answer:
        size = _RESERVED_NOW <= q.numbers[0] <= _USED_HIGH
        return Answer(numbers=(self.memory.used if size else 0,))

    def _device_pointer(self, q: Request) -> Answer:
        found = self.memory.at(q.numbers[0])
        return (
            Answer()
            if found and found.kind in ("pinned", "registered")
            else Answer(E.INVALID_VALUE)
        )
