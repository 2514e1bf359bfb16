"""Calls that launch kernels or ask about them."""

from __future__ import annotations

from collections.abc import Callable

from grader.programs import errors as E
from grader.programs.calls import Answer, Request, kernel_name, signed
from grader.programs.findings import Findings
from grader.programs.launches import Launcher, Refused
from grader.programs.order import Order

_MAX_DYNAMIC_SHARED = 8
"""cudaFuncAttributeMaxDynamicSharedMemorySize."""


class KernelCalls:
    """Launches, attributes and occupancy."""

    def __init__(self, findings: Findings, launcher: Launcher, order: Order) -> None:
        self.findings = findings
        self.launcher = launcher
        self.order = order
        self.stopped = ""
        self.broken = E.SUCCESS
        self.calls: dict[str, Callable[[Request], Answer]] = {
            "kernel": self._kernel,
            "<<<>>>": self._launch,
            "cudaLaunchKernel": self._launch,
            "cudaLaunchCooperativeKernel": self._launch,
            "kernel node": self._launch,
            "into a graph": self._into_a_graph,
            "cudaFuncSetAttribute": self._set_attribute,
            "cudaFuncGetAttributes": self._function_attributes,
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor": self._occupancy,
        }

    def _kernel(self, q: Request) -> Answer:
        sizes = self.launcher.parameter_bytes(q.payload.decode(errors="replace"))
        return Answer(len(sizes), tuple(sizes))

    def _launch(self, q: Request) -> Answer:
        name, _, packed = q.payload.partition(b"\0")
        grid, block = (
            (q.numbers[0], q.numbers[1], q.numbers[2]),
            (q.numbers[3], q.numbers[4], q.numbers[5]),
        )
        shared, stream = q.numbers[6], q.numbers[7]
        q.note(kernel=name.decode(errors="replace"), grid=grid, block=block, shared=shared)
        if not self.order.known(stream):
            return Answer(E.INVALID_HANDLE)
        try:
            done = self.launcher.launch(
                q.site, name.decode(errors="replace"), grid, block, shared, packed,
                cooperative=q.api == "cudaLaunchCooperativeKernel",
                spans=len(self.order.streams) > 1,
            )  # fmt: skip
        except Refused as error:
            self.findings.launch_refused(q.site, str(error), error.status, error.advice)
            return Answer(error.status)
        q.note(kernel=done.name, buffers=done.buffers, outputs=done.outputs,
                   threads=done.threads, largest_elements=done.largest_elements)  # fmt: skip
        self.order.spend(stream, done.nanoseconds)
        self.order.pend(
            stream,
            f"kernel {done.name}",
            q.site,
            done.slots,
            spans=done.spans,
            system_atomics=done.system_atomics,
        )
        if done.ended in ("unsupported", "fuel", "deadlock"):
            self.stopped = done.ended
        broken = {"trap": E.LAUNCH_FAILURE, "assertion": E.ASSERT, "fuel": E.LAUNCH_TIMEOUT,
                  "deadlock": E.LAUNCH_TIMEOUT, "unsupported": E.LAUNCH_FAILURE}  # fmt: skip
        self.broken = broken.get(done.ended, E.SUCCESS)
        return Answer(text=done.printed)

    def _into_a_graph(self, q: Request) -> Answer:
        """A launch for later: what CUDA refuses it refuses now."""
        name = kernel_name(q)
        grid, block = (
            (q.numbers[0], q.numbers[1], q.numbers[2]),
            (q.numbers[3], q.numbers[4], q.numbers[5]),
        )
        q.note(kernel=name, grid=grid, block=block, shared=q.numbers[6])
        try:
            self.launcher.check(name, grid, block, q.numbers[6], cooperative=False)
        except Refused as error:
            self.findings.launch_refused(q.site, str(error), error.status, error.advice)
            return Answer(error.status)
        return Answer()

    def _set_attribute(self, q: Request) -> Answer:
        name = kernel_name(q)
        if q.numbers[0] == 8 and not self.launcher.allow_shared(name, signed(q.numbers[1])):
            return Answer(E.INVALID_VALUE)
        return Answer()

    def _function_attributes(self, q: Request) -> Answer:
        name = kernel_name(q)
        found = self.launcher.attributes(name)
        if found is None:
            return Answer(E.INVALID_DEVICE_FUNCTION, (0, 0, 0, 0))
        return Answer(numbers=found)

    def _occupancy(self, q: Request) -> Answer:
        name = kernel_name(q)
        blocks = self.launcher.blocks_per_multiprocessor(name, q.numbers[0], q.numbers[1])
        return Answer(E.INVALID_DEVICE_FUNCTION if blocks is None else 0, (blocks or 0,))
