"""Streams, events and time: what the host has waited for, and when modelled work ends.

Everything runs when it is asked for; kept beside it is what the program may rely on.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from grader.programs import errors as E
from grader.programs.calls import Answer, Request
from grader.programs.device_memory import Allocation, Site
from grader.programs.findings import Findings
from grader.vgpu.memory import Storage

LEGACY = 0


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


Span = tuple[int, int]
"""Bytes of a buffer, from the first to behind the last."""

NOWHERE: Mapping[int, Span] = MappingProxyType({})


@dataclass
class Pending:
    """Work that the host has not waited for: a launch or a copy, and what it may write.

    `writes` are slots of buffers, `spans` the part of one, in bytes, where it is known.
    `system_atomics`: it is a kernel with atomics that the host's own atomics are ordered with.
    """

    number: int
    stream: int
    what: str
    site: Site
    writes: frozenset[int]
    spans: Mapping[int, Span]
    system_atomics: bool = False
    ordered: set[int] = field(default_factory=set)


class Order:
    """The order of one program's work."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.streams: dict[int, Stream] = {LEGACY: Stream()}
        self.events: dict[int, Event] = {}
        self.pending: list[Pending] = []
        self.host_ns = 0.0
        self._work = 0
        self._handles = 0x1000
        self.calls: dict[str, Callable[[Request], Answer]] = {
            "cudaDeviceSynchronize": self._synchronise,
            "cudaStreamCreate": self._stream_create,
            "cudaStreamDestroy": self._stream_destroy,
            "cudaStreamSynchronize": self._stream_synchronise,
            "cudaStreamQuery": self._stream_query,
            "cudaStreamGetFlags": self._stream_flags,
            "cudaStreamWaitEvent": self._stream_wait_event,
            "cudaLaunchHostFunc": self._stream_synchronise,
            "cudaEventCreate": self._event_create,
            "cudaEventDestroy": self._event_destroy,
            "cudaEventRecord": self._event_record,
            "cudaEventSynchronize": self._event_synchronise,
            "cudaEventQuery": self._event_query,
            "cudaEventElapsedTime": self._elapsed,
        }

    def known(self, stream: int) -> bool:
        """Whether `stream` is one: the default ones have small numbers."""
        return stream <= 2 or stream in self.streams

    def modelled_ns(self) -> float:
        """When the last work ends."""
        return max(s.end_ns for s in self.streams.values())

    def spend(self, stream: int, nanoseconds: float) -> None:
        """Modelled time: work begins when its stream is free and the host has asked for it."""
        mine = self.streams.setdefault(stream, Stream())
        start = max(mine.end_ns, self.host_ns)
        if stream == LEGACY:
            start = max([start, *(s.end_ns for s in self.streams.values() if s.blocking)])
        elif mine.blocking:
            start = max(start, self.streams[LEGACY].end_ns)
        mine.end_ns = start + nanoseconds

    def pend(
        self, stream: int, what: str, site: Site, writes: set[int] | frozenset[int], *,
        spans: Mapping[int, Span] = NOWHERE, system_atomics: bool = False,
    ) -> None:  # fmt: skip
        self._work += 1
        self.pending.append(
            Pending(self._work, stream, what, site, frozenset(writes), spans, system_atomics)
        )
        del self.pending[:-1000]

    def waits_for(self, stream: int, pending: Pending) -> bool:
        """Whether work in `stream` begins only after `pending`."""
        if pending.stream == stream or stream in pending.ordered:
            return True
        both = self.streams.get(stream), self.streams.get(pending.stream)
        legacy = LEGACY in (stream, pending.stream)
        return legacy and all(s is None or s.blocking for s in both)

    def wait(self, over: Callable[[Pending], bool]) -> None:
        self.pending = [p for p in self.pending if not over(p)]

    def wait_before(self, q: Request, stream: int, storage: Storage, span: Span) -> None:
        """A finding where a copy reads what work of another stream may still be writing."""
        for pending in self.pending:
            if storage.slot not in pending.writes or self.waits_for(stream, pending):
                continue
            first, end = pending.spans.get(storage.slot, span)
            if first < span[1] and span[0] < end:
                self.findings.not_waited_for(
                    q.api, q.site, storage.name, pending.what, pending.site
                )
                return

    def touched(self, found: Allocation | None, site: Site | None, *, atomically: bool) -> None:
        """The host used shared memory that pending work may write; `atomically` by an instruction
        that kernels' atomics of system scope are ordered with.
        """
        last = self.pending[-1] if self.pending else None
        writing = [p for p in self.pending if found and found.storage.slot in p.writes]
        if atomically and writing and all(p.system_atomics for p in writing):
            return
        # A kernel may come to managed memory by ways that are not seen, pinned memory it is given.
        elsewhere = None if found and found.kind in ("pinned", "registered") else last
        last = writing[-1] if writing else elsewhere
        if last is not None and found is not None:
            self.findings.not_waited_for(
                "the host", site or last.site, found.name, last.what, last.site
            )

    def _synchronise(self, q: Request) -> Answer:
        self.wait(lambda pending: True)
        self.host_ns = max([self.host_ns, *(s.end_ns for s in self.streams.values())])
        for event in self.events.values():
            event.waited = event.recorded
        return Answer(opens=True)

    def new_stream(self, *, blocking: bool) -> int:
        """The handle of a new stream."""
        self._handles += 8
        self.streams[self._handles] = Stream(blocking=blocking, end_ns=self.host_ns)
        return self._handles

    def let_wait(self, stream: int, other: int) -> None:
        """What `stream` is given from now on begins behind all that `other` waits for."""
        for pending in self.pending:
            if self.waits_for(other, pending):
                pending.ordered.add(stream)
        mine = self.streams.setdefault(stream, Stream())
        mine.end_ns = max(mine.end_ns, self.streams.setdefault(other, Stream()).end_ns)

    def _stream_create(self, q: Request) -> Answer:
        return Answer(numbers=(self.new_stream(blocking=not q.numbers[0] & 1),))

    def _stream_destroy(self, q: Request) -> Answer:
        if q.numbers[0] not in self.streams or q.numbers[0] == LEGACY:
            return Answer(E.INVALID_HANDLE)
        return Answer()

    def _stream_synchronise(self, q: Request) -> Answer:
        stream = q.numbers[0] if q.numbers[0] > 2 else LEGACY
        if stream not in self.streams:
            return Answer(E.INVALID_HANDLE)
        self.wait(lambda pending: self.waits_for(stream, pending))
        self.host_ns = max(self.host_ns, self.streams[stream].end_ns)
        for event in self.events.values():
            if event.stream == stream and event.recorded:
                event.waited = True
        return Answer(opens=not self.pending)

    def _stream_query(self, q: Request) -> Answer:
        return self._stream_synchronise(q)

    def _stream_flags(self, q: Request) -> Answer:
        stream = self.streams.get(q.numbers[0], self.streams[LEGACY])
        return Answer(numbers=(0 if stream.blocking else 1,))

    def _stream_wait_event(self, q: Request) -> Answer:
        event = self.events.get(q.numbers[1])
        if event is None:
            return Answer(E.INVALID_HANDLE)
        for pending in self.pending:
            if pending.number <= event.work and self.waits_for(event.stream, pending):
                pending.ordered.add(q.numbers[0])
        mine = self.streams.setdefault(q.numbers[0], Stream())
        mine.end_ns = max(mine.end_ns, event.end_ns)
        return Answer()

    def _event_create(self, q: Request) -> Answer:
        self._handles += 8
        self.events[self._handles] = Event()
        return Answer(numbers=(self._handles,))

    def _event_destroy(self, q: Request) -> Answer:
        return Answer() if self.events.pop(q.numbers[0], None) else Answer(E.INVALID_HANDLE)

    def _event_record(self, q: Request) -> Answer:
        event = self.events.get(q.numbers[0])
        if event is None:
            return Answer(E.INVALID_HANDLE)
        self.spend(q.numbers[1], 0.0)
        event.stream, event.end_ns = q.numbers[1], self.streams[q.numbers[1]].end_ns
        event.recorded, event.waited, event.work = True, False, self._work
        return Answer()

    def _event_synchronise(self, q: Request) -> Answer:
        event = self.events.get(q.numbers[0])
        if event is None:
            return Answer(E.INVALID_HANDLE)
        event.waited = event.recorded
        self.wait(
            lambda pending: pending.number <= event.work and self.waits_for(event.stream, pending)
        )
        self.host_ns = max(self.host_ns, event.end_ns)
        return Answer(opens=not self.pending)

    def _event_query(self, q: Request) -> Answer:
        return self._event_synchronise(q)

    def _elapsed(self, q: Request) -> Answer:
        first, last = self.events.get(q.numbers[0]), self.events.get(q.numbers[1])
        if first is None or last is None or not (first.recorded and last.recorded):
            return Answer(E.INVALID_HANDLE, (0,))
        if not last.waited:
            self.findings.event_not_waited_for(q.site)
            return Answer(E.NOT_READY, (0,))
        milliseconds = (last.end_ns - first.end_ns) / 1e6
        return Answer(numbers=(struct.unpack("<Q", struct.pack("<d", milliseconds))[0],))
