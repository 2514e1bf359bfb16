"""The parent's side: feeds a child, listens to it, measures it, and ends all of it.

One loop moves the request out and the reply and the output in, and looks at the child's memory,
disk and number of processes between; a process that wants to make another waits meanwhile. The
child is the leader of its own process group; whatever is left of the group is killed before
`watch` returns, and waited for, orphans too.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from grader.sandbox import forks, usage
from grader.sandbox.channel import ChannelError, Kind, decoder
from grader.sandbox.confine import Confinement
from grader.sandbox.records import Cause, Exit, Frame, Limits

TICK_SECONDS = 0.01
DISK_TICKS = 10  # the directory is measured every tenth tick
DRAIN_SECONDS = 10.0  # for one that was killed; a busy machine takes its time
CPU_GRACE_SECONDS = 1.5
PIPE_BYTES = 1 << 20
MOST_FORKS = 300  # in all: each one that is asked about costs the parent a look through /proc


@dataclass(frozen=True)
class Ended:
    """What the kernel said of a process: exit status (negative: a signal) and CPU time."""

    code: int
    cpu_seconds: float


@dataclass(frozen=True)
class Pipes:
    """The parent's ends of a child's three pipes."""

    request: int
    reply: int
    output: int


class Child(Protocol):
    """A started process: how to wait for it and how to end its group."""

    @property
    def pid(self) -> int | None:
        """As the parent sees it; None while it is not known yet."""
        ...

    @property
    def inherited_bytes(self) -> int:
        """Resident memory it was born with and is not charged for."""
        ...

    def ended(self) -> Ended | None:
        """How it ended, or None while it runs; never blocks."""
        ...

    def kill(self) -> None:
        """End its whole process group at once."""
        ...


@dataclass
class Heard:
    """What came out of a child: frames in order, what it printed, and what was wrong with it."""

    frames: list[Frame] = field(default_factory=list)
    last: tuple[Kind, Frame] | None = None
    printed: bytearray = field(default_factory=bytearray)
    malformed: str = ""
    over: tuple[Cause, str] | None = None


def watch(
    child: Child,
    request: Sequence[bytes],
    pipes: Pipes,
    confinement: Confinement,
) -> tuple[Exit, Heard]:
    """Run the loop until the child ended or had to be ended; closes the three pipes."""
    limits = confinement.limits
    # Under bubblewrap two more processes belong to the group: its monitor and its init.
    wrapper = 2 if "bubblewrap" in confinement.layers else 0
    alone = not (wrapper or confinement.starting)
    scratch = Path(confinement.scratch)
    started = time.monotonic()
    heard = Heard()

    def count() -> int:
        """Processes of the group, as the kernel lists them now."""
        if child.pid is None:
            child.ended()  # a forked child tells its pid beside how it ended
        assert child.pid is not None  # it said so before it confined itself, let alone forked
        return usage.of_group(child.pid, alone=False).processes - wrapper

    conversation = _Conversation(request, pipes, limits, heard, count if confinement.asks else None)
    peak = ticks = 0
    seen_cpu = 0.0  # bwrap does not wait for what it runs, so its own sum may lack it
    ended: Ended | None = None
    try:
        next_tick = started
        while True:
            conversation.step(TICK_SECONDS)
            if heard.last is not None or heard.malformed or heard.over:
                break
            if (ended := child.ended()) is not None:
                break
            now = time.monotonic()
            if now - started > limits.wall_seconds:
                heard.over = ("wall_timeout", f"still running after {limits.wall_seconds:g} s")
                break
            if now < next_tick or child.pid is None:
                continue
            use = usage.of_group(child.pid, alone=alone)
            # Looking through all of /proc takes a while where much runs: a tenth of the time.
            next_tick = now + max(TICK_SECONDS, 10 * (time.monotonic() - now))
            resident = use.resident_bytes - child.inherited_bytes
            peak = max(peak, resident)
            seen_cpu = max(seen_cpu, use.cpu_seconds)
            heard.over = _over(resident, use, limits, wrapper)
            if heard.over is None and ticks % DISK_TICKS == 0:
                heard.over = _over_disk(scratch, limits)
            ticks += 1
            if heard.over:
                break
    finally:
        child.kill()
    deadline = time.monotonic() + DRAIN_SECONDS
    while ended is None and time.monotonic() < deadline:
        if (ended := child.ended()) is None:
            conversation.step(0.001)
    conversation.drain(deadline)
    conversation.close()
    code = ended.code if ended else -signal.SIGKILL
    cpu = max(seen_cpu, ended.cpu_seconds if ended else 0.0)
    cause, code, detail = _cause(heard, code, cpu, limits)
    exit_ = Exit(
        cause=cause,
        code=code,
        detail=detail,
        output=heard.printed.decode("utf-8", "replace"),
        wall_seconds=time.monotonic() - started,
        cpu_seconds=cpu,
        memory_bytes=peak,
    )
    return exit_, heard


def _over(
    resident: int, use: usage.Usage, limits: Limits, wrapper: int
) -> tuple[Cause, str] | None:
    if resident > limits.memory_bytes:
        return "memory", f"used more than {limits.memory_bytes >> 20} MiB"
    if use.cpu_seconds > limits.cpu_seconds + CPU_GRACE_SECONDS:
        # One process is ended by the kernel at its own limit; this is the sum over a group.
        return "cpu_limit", _cpu_detail(limits)
    most_written = limits.disk_bytes + limits.output_bytes + limits.printed_bytes
    most_written += limits.exchanged_bytes
    if use.written_bytes > most_written:
        return "output_cap", f"wrote more than {most_written >> 20} MiB in all"
    if use.processes > limits.processes + 1 + wrapper:
        return "processes", _processes_detail(limits)
    if use.threads > limits.threads:
        return "processes", f"started more than {limits.threads} threads"
    return None


def _over_disk(scratch: Path, limits: Limits) -> tuple[Cause, str] | None:
    if usage.exceeds(scratch, limits.disk_bytes, limits.disk_entries):
        return (
            "output_cap",
            f"wrote more than {limits.disk_bytes >> 20} MiB or {limits.disk_entries} files",
        )
    return None


def _cause(heard: Heard, code: int, cpu: float, limits: Limits) -> tuple[Cause, int, str]:
    """Tell the causes apart from what was heard and how the kernel says it ended."""
    if heard.over:
        return heard.over[0], 0, heard.over[1]
    if heard.last and heard.last[0] is Kind.REFUSED:
        return "refused", 0, str(heard.last[1].header.get("error", ""))
    if heard.last:
        return "exited", 0, ""
    if heard.malformed:
        return "exited", 0, f"its reply was malformed: {heard.malformed}"
    out_of_time = code == -signal.SIGKILL and cpu >= limits.cpu_seconds - 0.1
    if code == -signal.SIGXCPU or out_of_time:
        return "cpu_limit", 0, _cpu_detail(limits)
    if code == -signal.SIGXFSZ:
        return "output_cap", 0, f"wrote a file of more than {limits.disk_bytes >> 20} MiB"
    if code < 0:
        return "signalled", -code, _signal_name(-code)
    return "exited", code, ""


def _cpu_detail(limits: Limits) -> str:
    return f"used more than {limits.cpu_seconds:g} s of CPU time"


def _processes_detail(limits: Limits) -> str:
    return f"started more than {limits.processes} processes"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Conversation:
    """The three channels of one child, moved without ever blocking, and its forks.

    `count` says how many processes it has, where it asks before it makes one.
    """

    def __init__(
        self,
        request: Sequence[bytes],
        pipes: Pipes,
        limits: Limits,
        heard: Heard,
        count: Callable[[], int] | None,
    ) -> None:
        self.heard = heard
        self.limits = limits
        self.count = count
        self.granted = 0
        self.request = pipes.request
        self.pieces = [memoryview(piece).cast("B") for piece in request if len(piece)]
        self.pieces.reverse()
        self.frames = decoder(limits.output_bytes)
        self.wanted = next(self.frames)
        self.open = {pipes.request, pipes.reply, pipes.output}
        self.selector = selectors.DefaultSelector()
        for fd, does, event in (
            (pipes.request, self._send, selectors.EVENT_WRITE),
            (pipes.reply, self._hear, selectors.EVENT_READ),
            (pipes.output, self._print, selectors.EVENT_READ),
        ):
            os.set_blocking(fd, False)
            self.selector.register(fd, event, does)
        if not self.pieces:
            self._said_all()

    def step(self, seconds: float) -> None:
        """Move what can be moved now, waiting at most `seconds` for anything."""
        if not self.open:
            time.sleep(seconds)
        for key, _ in self.selector.select(seconds):
            with contextlib.suppress(BlockingIOError):
                key.data(key.fd)

    def drain(self, deadline: float) -> None:
        """Read what a dead child left in its pipes."""
        while self.open and time.monotonic() < deadline and not self.heard.malformed:
            events = self.selector.select(0)
            readable = [key for key, event in events if event & selectors.EVENT_READ]
            if not readable:
                return
            for key in readable:
                with contextlib.suppress(BlockingIOError):
                    key.data(key.fd)

    def close(self) -> None:
        for fd in list(self.open):
            self._close(fd)
        self.selector.close()

    def _close(self, fd: int) -> None:
        self.selector.unregister(fd)
        self.open.discard(fd)
        os.close(fd)

    def _send(self, fd: int) -> None:
        try:
            sent = os.write(fd, self.pieces[-1][:PIPE_BYTES])
        except (BrokenPipeError, ConnectionResetError):
            self._close(fd)
            return
        self.pieces[-1] = self.pieces[-1][sent:]
        if not self.pieces[-1]:
            self.pieces.pop()
        if not self.pieces:
            self._said_all()

    def _said_all(self) -> None:
        """Close the request's channel, unless a listener is to come back through it."""
        if self.count is None:
            self._close(self.request)
        else:
            self.selector.modify(self.request, selectors.EVENT_READ, self._listen)

    def _listen(self, fd: int) -> None:
        listener = forks.taken_over(fd)
        self._close(fd)
        if listener is not None:
            self.open.add(listener)
            self.selector.register(listener, selectors.EVENT_READ, self._permit)

    def _permit(self, fd: int) -> None:
        """Answer one process that wants to make another; over the limit it is left waiting."""
        assert self.count is not None
        try:
            number = forks.asked(fd)
        except OSError:  # nobody is left who could ask
            self._close(fd)
            return
        if number is None:
            return
        self.granted += 1
        # The first ones need no look through /proc: however long they live, they are not too many.
        most = self.limits.processes
        if self.granted > MOST_FORKS or (self.granted > most and self.count() > most):
            self.heard.over = ("processes", _processes_detail(self.limits))
        else:
            forks.allow(fd, number)

    def _hear(self, fd: int) -> None:
        assert isinstance(self.wanted, int)
        piece = os.read(fd, min(self.wanted, PIPE_BYTES))
        if not piece:
            self._close(fd)
            return
        try:
            self.wanted = self.frames.send(piece)
            while not isinstance(self.wanted, int):
                kind, frame = self.wanted
                if kind is not Kind.EARLY:
                    self.heard.last = (kind, frame)
                    self._close(fd)
                    return
                self.heard.frames.append(frame)
                self.wanted = self.frames.send(b"")
        except ChannelError as error:
            self.heard.malformed = str(error)
            self._close(fd)

    def _print(self, fd: int) -> None:
        piece = os.read(fd, PIPE_BYTES)
        if not piece:
            self._close(fd)
            return
        left = self.limits.printed_bytes - len(self.heard.printed)
        self.heard.printed += piece[:left]
        if len(piece) > left:
            printed = self.limits.printed_bytes
            self.heard.over = ("output_cap", f"printed more than {printed} bytes")
