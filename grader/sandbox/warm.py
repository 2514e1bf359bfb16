"""A warm process: imports the heavy modules once, then forks one child per call.

The parent's side. What the process knows is Python, the packages and nothing else: it is started
fresh, not forked from the parent, and never sees a request; each forked child reads its own order
from its own pipe and confines itself before it reads what a student wrote.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from grader.sandbox import orphans
from grader.sandbox.confine import Confinement
from grader.sandbox.layers import available, likely
from grader.sandbox.paths import WRITABLE_DEVICES, toolkit
from grader.sandbox.records import Limits
from grader.sandbox.removal import remove_tree
from grader.sandbox.start import spawn
from grader.sandbox.supervise import Ended
from grader.sandbox.usage import of_group
from grader.sandbox.warm_child import BORN, ENDED, READY

START_SECONDS = 120.0
CREDENTIALS = struct.Struct("3i")  # struct ucred of unix(7): pid, uid, gid
SO_PASSCRED, SCM_CREDENTIALS = 16, 2  # socket.h


class WarmUnavailable(Exception):
    """The warm process could not be started, or died."""


@dataclass
class Forked:
    """A child of the warm process, told about over a socket of its own."""

    status: socket.socket
    inherited_bytes: int
    pid: int | None = None
    result: Ended | None = None
    heard: bytearray = field(default_factory=bytearray)

    def ended(self) -> Ended | None:
        """Read what the warm process says; a closed socket means that it died itself."""
        with contextlib.suppress(BlockingIOError):
            while self.result is None:
                piece, ancillary, _, _ = self.status.recvmsg(64, socket.CMSG_SPACE(12))
                if not piece:
                    self.result = Ended(-signal.SIGKILL, 0.0)
                    break
                self.heard += piece
                self._understand(ancillary)
        if self.result is not None:
            self.status.close()
        return self.result

    def _understand(self, ancillary: list[tuple[int, int, bytes]]) -> None:
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, SCM_CREDENTIALS) and self.pid is None:
                # The kernel says the pid as seen from here, whatever namespace the child is in.
                self.pid = CREDENTIALS.unpack(data[: CREDENTIALS.size])[0]
        if len(self.heard) >= len(BORN) + ENDED.size:
            code, cpu_seconds = ENDED.unpack_from(self.heard, len(BORN))
            self.result = Ended(code, cpu_seconds)

    def kill(self) -> None:
        """Ask the warm process, which alone knows that the pid is still this child's."""
        with contextlib.suppress(OSError):
            self.status.send(b"K")


class Warm:
    """A context in which `call(..., warm=...)` forks instead of starting an interpreter.

    `preload` are modules to import once, `module:function:argument` also calls; `read` is what any
    of its children may need to read.
    Safe to use from several threads.
    """

    def __init__(
        self,
        preload: Sequence[str] = (),
        *,
        read: Sequence[str | Path] = (),
        layers: Sequence[str] | None = None,
    ) -> None:
        self.preload = tuple(preload)
        self.read = tuple(str(Path(path).resolve()) for path in read)
        self.layers = tuple(likely() if layers is None else layers)
        self._probed = layers is not None
        self.folder = Path(tempfile.mkdtemp(prefix="grade-warm-")).resolve()
        self.inherited_bytes = 0
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def __enter__(self) -> Self:
        with self._lock:
            self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._stop()
        remove_tree(self.folder)

    def serves(self, read: Sequence[str | Path], write: Sequence[str | Path]) -> bool:
        """Whether a child may be given these paths: inside bubblewrap others do not exist."""
        if not {"bubblewrap", "seatbelt"} & set(self.layers):
            return True
        seen = [Path(path) for path in (*toolkit(), *self.read)]
        paths = [Path(path).resolve() for path in read]
        return not write and all(any(p.is_relative_to(base) for base in seen) for p in paths)

    def fork(self, request_fd: int, reply_fd: int, output_fd: int) -> Forked:
        """A child that reads its order from `request_fd`; restarts a process that died.

        Raises WarmUnavailable.
        """
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        ours.setsockopt(socket.SOL_SOCKET, SO_PASSCRED, 1)
        with theirs:
            fds = [request_fd, reply_fd, output_fd, theirs.fileno()]
            with self._lock:
                try:
                    self._send(fds)
                except OSError:
                    self._stop()
                    self._start()
                    self._send(fds)
        return Forked(ours, self.inherited_bytes)

    def _send(self, fds: list[int]) -> None:
        if self._control is None:
            raise WarmUnavailable("the warm process was used outside its `with` block")
        socket.send_fds(self._control, [b"F"], fds)

    def _start(self) -> None:
        """Start the process; where bubblewrap does not start here, without it."""
        try:
            self._start_once()
        except WarmUnavailable:
            if self._probed:
                raise
            tried, self.layers = self.layers, available()
            if self.layers == tried:
                raise
            self._start_once()
        self._probed = True

    def _start_once(self) -> None:
        if not sys.platform.startswith("linux"):
            raise WarmUnavailable("forking without executing is not safe on this system")
        ours, theirs = socket.socketpair()
        confinement = Confinement(
            limits=Limits(processes=1),
            scratch=str(self.folder),
            read=(*toolkit(), *self.read),
            write=(*WRITABLE_DEVICES, str(self.folder)),
            layers=self.layers,
            starting=True,
        )
        arguments = (str(theirs.fileno()), *self.preload)
        with theirs:
            process = spawn(
                "grader.sandbox.warm_child",
                arguments,
                confinement,
                keep=(theirs.fileno(),),
                output_fd=subprocess.DEVNULL,
            )
        ours.settimeout(START_SECONDS)
        try:
            answer = ours.recv(4096)
        except TimeoutError:
            answer = b""
        if answer != READY:
            orphans.stop(process)
            ours.close()
            raise WarmUnavailable(answer.decode(errors="replace") or "it did not start")
        ours.settimeout(None)
        self._process, self._control = process, ours
        self.inherited_bytes = of_group(process.pid, alone=False).resident_bytes

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            orphans.stop(self._process)
            self._process = None
