"""Calls of CUDA graphs and stream capture: the device's side of them.

The program's side (runtime/graphs.c) keeps graphs and asks here for streams to run their branches
in, and says what its calls came to. Semantics: CUDA C++ Programming Guide, "CUDA Graphs".
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from grader.programs import errors as E
from grader.programs.calls import Answer, Request
from grader.programs.findings import Findings
from grader.programs.order import LEGACY, Order, Stream


class GraphCalls:
    """Capture and the launches of graphs."""

    def __init__(self, findings: Findings, order: Order) -> None:
        self.findings = findings
        self.order = order
        self._of_launch = LEGACY
        self._branches: set[int] = set()
        self.calls: dict[str, Callable[[Request], Answer]] = {
            "came to": self._came_to,
            "refused": self._refused,
            "cudaStreamBeginCapture": self._begin,
            "cudaGraphLaunch": self._launch,
            "graph branch": self._branch,
            "graph end": self._end,
        }

    def _came_to(self, q: Request) -> Answer:
        """A call that the program's side has done by itself."""
        q.note(api=q.payload.decode(errors="replace"))
        return Answer(q.numbers[0])

    def _refused(self, q: Request) -> Answer:
        """A call that must not be made while a stream is captured, or ends no capture."""
        api, (status, begun) = q.payload.decode(errors="replace"), q.numbers[:2]
        q.note(api=api)
        self.findings.capture_refused(api, q.site, status, begun)
        return Answer(status)

    def _begin(self, q: Request) -> Answer:
        stream = self.order.streams.get(q.numbers[0], Stream())
        if not self.order.known(q.numbers[0]):
            return Answer(E.INVALID_HANDLE)
        return Answer(numbers=(0 if stream.blocking else 1,))

    def _launch(self, q: Request) -> Answer:
        if not self.order.known(q.numbers[0]):
            return Answer(E.INVALID_HANDLE)
        self._of_launch = q.numbers[0]
        self.order.spend(self._of_launch, 0.0)
        return Answer()

    def _branch(self, q: Request) -> Answer:
        """A stream for a node: it begins behind all that the named streams have to do."""
        before = struct.unpack(f"<{len(q.payload) // 8}Q", q.payload)
        around = self.order.streams.get(self._of_launch, Stream())
        handle = self.order.new_stream(blocking=around.blocking)
        for stream in before:
            self.order.let_wait(handle, stream)
        self._branches.add(handle)
        return Answer(numbers=(handle,))

    def _end(self, q: Request) -> Answer:
        """The graph's work belongs to the stream it was launched in; its streams are gone."""
        stream, last = q.numbers[:2]
        self.order.let_wait(stream, last)
        for pending in self.order.pending:
            if pending.stream in self._branches:
                pending.ordered.add(pending.stream)  # for an event that was recorded there
                pending.stream = stream
        for branch in self._branches:
            self.order.streams.pop(branch, None)  # a program may have destroyed it itself
        self._branches.clear()
        return Answer()
