"""The CUDA runtime API on the virtual GPU: which call goes where, and what errors it leaves.

`Device.call` takes a call with its place and answers with a status, numbers and bytes. Mistakes
become findings with the host's line; what kernels do wrong comes from the engine. Semantics: CUDA
Runtime API reference and CUDA C++ Programming Guide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grader.programs import errors as E
from grader.programs.calls import Answer, Request, signed
from grader.programs.copies import Copies
from grader.programs.device_memory import DEVICE_BYTES, DeviceMemory, Site
from grader.programs.findings import Findings
from grader.programs.graph_calls import GraphCalls
from grader.programs.kernel_calls import KernelCalls
from grader.programs.launches import Launcher, Program
from grader.programs.memory_calls import MemoryCalls
from grader.programs.order import Order
from grader.programs.texture_calls import TextureCalls

AFTER_STICKY = frozenset(
    ("cudaGetLastError", "cudaPeekAtLastError", "cudaDeviceReset", "cudaFree", "cudaFreeHost",
     "cudaHostUnregister", "error string", "error name", "shared read", "shared write",
     "variable read", "variable write", "variable address", "came to", "refused", "graph branch",
     "graph end")
)  # fmt: skip
"""Calls that still do something once an error has broken the context; all others return it."""

INTERNAL = frozenset(
    ("given", "kernel", "error string", "error name", "shared read", "shared write",
     "variable read", "variable write", "variable address", "graph branch", "graph end")
)  # fmt: skip
"""What the headers ask for themselves: no call of the program's."""

LAUNCHES = ("<<<>>>", "cudaLaunchKernel", "cudaLaunchCooperativeKernel", "kernel node")
RETURN_NOTHING = ("<<<>>>", "into a graph")
"""Launches whose errors a program must ask for."""

ONE_DEVICE = (
    "cudaSetDevice", "cudaGetDeviceProperties", "cudaDeviceCanAccessPeer", "cudaMemcpyPeer",
    "cudaDeviceGetP2PAttribute", "cudaDeviceGetDefaultMemPool", "cudaDeviceSetMemPool",
    "cudaDeviceGetPCIBusId",
)  # fmt: skip
"""Calls whose first number is a device: there is number 0."""

MOST_TRACED, MOST_TRACED_CHARACTERS = 5000, 1 << 20
"""Calls that are kept, and characters of all their names: those that come later are not."""


class Device:
    """The device of one program, and what it saw of the host."""

    def __init__(self, program: Program, lines: dict[str, list[str]]) -> None:
        self.memory = DeviceMemory(lines)
        self.findings = Findings(lines)
        self.launcher = Launcher(program, self.memory, self.findings)
        self.order = Order(self.findings)
        self.kernels = KernelCalls(self.findings, self.launcher, self.order)
        self.trace: list[dict[str, Any]] = []
        self._characters_left = MOST_TRACED_CHARACTERS
        self.last_error = E.SUCCESS
        self.sticky = E.SUCCESS
        self.stopped = ""
        self._reason = ""
        copies = Copies(self.memory, self.findings, self.launcher, self.order)
        self._calls: dict[str, Callable[[Request], Answer]] = {
            **dict.fromkeys(ONE_DEVICE, _device_zero),
            **self.order.calls,
            **self.kernels.calls,
            **GraphCalls(self.findings, self.order).calls,
            **MemoryCalls(self.memory, self.findings, self.order).calls,
            **copies.calls,
            **TextureCalls(self.memory, copies).calls,
            "error string": lambda q: Answer(payload=E.text(signed(q.numbers[0])).encode()),
            "error name": lambda q: Answer(payload=E.name(signed(q.numbers[0])).encode()),
            "cudaGetLastError": self._last_error,
            "cudaPeekAtLastError": self._last_error,
            "cudaDeviceGetAttribute": self._attribute,
            "cudaDeviceEnablePeerAccess": lambda q: Answer(E.INVALID_DEVICE),
            "cudaDeviceReset": self._reset,
        }

    def call(self, name: str, site: Site, numbers: list[int], payload: bytes) -> Answer:
        """Do what the call says. Raises ValueError for a call that no header of ours makes."""
        noted: dict[str, Any] = {"api": name, "file": site.file, "line": site.line}
        q = Request(name, site, numbers, payload, noted)
        served = None if self.sticky and name not in AFTER_STICKY else self._calls.get(name)
        try:
            answer = served(q) if served else Answer()
        except IndexError:
            raise ValueError(f"{name} with {len(numbers)} numbers") from None
        if answer.missing:
            self.give_up(answer.missing, site)
        if name in INTERNAL:
            return answer
        self._remember(name, answer)
        noted["status"] = answer.status
        self._characters_left -= _characters(noted)
        if len(self.trace) < MOST_TRACED and self._characters_left >= 0:
            self.trace.append(noted)
        return answer

    def _remember(self, name: str, answer: Answer) -> None:
        """What the call leaves behind as an error.

        A kernel that broke the context does not fail its own launch; every later call returns that.
        """
        if self.sticky and answer.status == E.SUCCESS:
            answer.status = self.sticky
        if name in LAUNCHES and self.kernels.broken:
            self.sticky, self.stopped = self.kernels.broken, self.kernels.stopped
        if answer.status and answer.status != E.NOT_READY:
            self.last_error = answer.status
            if name not in (*RETURN_NOTHING, "cudaGetLastError", "cudaPeekAtLastError"):
                self.findings.seen(answer.status)
        if name == "cudaGetLastError" and not self.sticky:
            self.last_error = E.SUCCESS

    def give_up(self, what: str, site: Site | None) -> None:
        """The program reached a call that is not served."""
        where = f" in {site.file}:{site.line}" if site else ""
        self.refuse(f"{what}{where} is not served by the virtual GPU")

    def refuse(self, reason: str) -> None:
        """The program cannot be run to its end, for a lack of ours."""
        self.stopped, self._reason = "unsupported", reason

    def touched(self, address: int, site: Site | None, *, atomically: bool) -> None:
        """The host used memory it shares with the device."""
        self.order.touched(self.memory.at(address), site, atomically=atomically)

    def end(self, code: int | None) -> None:
        """The program is over: what it left behind.

        One that gave up because memory ran out which a card has was not its own fault.
        """
        if self.memory.short is not None:
            size, site = self.memory.short
            self._reason = self._reason or (
                f"{site.file}:{site.line} allocates {size / 2**20:,.0f} MiB: expected at most "
                f"{DEVICE_BYTES >> 20:,} MiB in all, the memory of the virtual GPU, so CUDA "
                "answered cudaErrorMemoryAllocation. Run the program with a smaller size."
            )
            if code != 0 and not self.stopped:
                self.stopped = "unsupported"
        clean = code == 0 and not self.sticky
        self.findings.at_end(self.memory, clean=clean)

    def _last_error(self, q: Request) -> Answer:
        self.findings.seen(self.last_error)
        return Answer(self.last_error)

    def _attribute(self, q: Request) -> Answer:
        if q.numbers[1]:
            return Answer(E.INVALID_DEVICE, (0,))
        return Answer(numbers=(ATTRIBUTES.get(q.numbers[0], 0),))

    def _reset(self, q: Request) -> Answer:
        self.order.wait(lambda pending: True)
        for allocation in self.memory.live():
            if not self.sticky and allocation.kind not in ("given", "registered"):
                self.findings.left_to_reset(q.site, allocation)
            self.memory.free(allocation, q.site)
        self.sticky = self.kernels.broken = E.SUCCESS
        return Answer(opens=True)

    def summary(self) -> dict[str, Any]:
        """Findings, trace and counts, as JSON."""
        return {
            "faults": self.findings.as_json(),
            "trace": self.trace,
            "launches": self.launcher.summary(),
            "counts": self.launcher.counts,
            "lines": self.launcher.line_counts(),
            "modelled_ns": self.order.modelled_ns(),
            "kernel_ns": self.launcher.nanoseconds,
            "stopped": self.stopped,
            "stopped_reason": self._reason or self.launcher.reason,
        }


def _characters(noted: dict[str, Any]) -> int:
    """How long the words of a traced call are, those of its lists too."""
    words = [
        w for value in noted.values() for w in (value if isinstance(value, tuple) else (value,))
    ]
    return sum(len(word) for word in words if isinstance(word, str))


def _device_zero(q: Request) -> Answer:
    return Answer(E.INVALID_DEVICE if q.numbers[0] else E.SUCCESS)


ATTRIBUTES = {
    1: 1024, 2: 1024, 3: 1024, 4: 64, 5: 2**31 - 1, 6: 65535, 7: 65535, 8: 48 << 10, 9: 64 << 10,
    10: 32, 12: 65536, 13: 1410000, 15: 1, 16: 108, 19: 1, 31: 1, 32: 1, 36: 1215000, 37: 5120,
    38: 40 << 20, 39: 2048, 40: 3, 41: 1, 75: 8, 76: 0, 81: 164 << 10, 82: 65536, 83: 1, 89: 1,
    90: 1, 95: 1, 97: 163 << 10, 106: 32, 111: 1024, 115: 1,
}  # fmt: skip
"""Attributes of the device by CUDA's number (cudaDeviceAttr): an A100's."""
