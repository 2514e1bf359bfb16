"""Starts a child in a fresh interpreter: its environment, its private directory, its wrapper."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox import bubblewrap, orphans, seatbelt
from grader.sandbox.confine import Confinement
from grader.sandbox.paths import home, import_path, interpreter_file
from grader.sandbox.records import Exit
from grader.sandbox.removal import remove_tree
from grader.sandbox.supervise import Child, Ended, Heard, Pipes, watch

# OpenBLAS picks wrong kernels on some virtual machines unless told; some interpreters find their
# own library by LD_LIBRARY_PATH only. One thread per library: a batch runs one child per core.
PASSED_ON = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "LD_LIBRARY_PATH")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

SHELL_SIGNAL = 128


@contextlib.contextmanager
def scratch_directory(inside: Path | None = None) -> Iterator[Path]:
    """A private temporary directory (mode 700), emptied and removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="grade-", dir=inside)).resolve()
    try:
        yield folder
    finally:
        remove_tree(folder)


def environment(scratch: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a child: nothing of the parent's that could hold a secret."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        **home(str(scratch)),
        "PYTHONDONTWRITEBYTECODE": "1",
        **dict.fromkeys(ONE_THREAD, "1"),
        **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
        **(extra or {}),
    }


def interpreter(module: str, *arguments: str) -> list[str]:
    """A command that runs `module`'s `launch()` in an interpreter which trusts no environment.

    Isolated (-I: no PYTHON* variables, no user site, no current directory) and without `site`
    (-S: no `sitecustomize`, no .pth file); what `site` would have said of a virtual environment is
    taken from this process.
    """
    code = (
        f"import sys; sys.path[:] = {import_path()!r}\n"
        f"sys.prefix = {sys.prefix!r}; sys.exec_prefix = {sys.exec_prefix!r}\n"
        f"import {module} as module; module.launch()"
    )
    return [interpreter_file(), "-I", "-S", "-c", code, *arguments]


@dataclass
class Started:
    """A child of this process, leader of its own session and group."""

    process: subprocess.Popen[bytes]
    wrapped: bool = False
    inherited_bytes: int = 0
    result: Ended | None = None

    @property
    def pid(self) -> int:
        return self.process.pid

    def ended(self) -> Ended | None:
        if self.result is None:
            pid = self.process.pid
            if hasattr(os, "waitid"):  # not before Python 3.13 on macOS
                if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                    return None
                # Until it is waited for, its pid is nobody else's and so is the group's.
                self.kill()
            waited, status, use = os.wait4(pid, os.WNOHANG)
            if not waited:
                return None
            code = os.waitstatus_to_exitcode(status)
            self.process.returncode = code  # Popen must not wait for it again
            orphans.end(pid)
            if self.wrapped and code > SHELL_SIGNAL:
                code = SHELL_SIGNAL - code  # bwrap tells of a signal as a shell does
            self.result = Ended(code, use.ru_utime + use.ru_stime)
        return self.result

    def kill(self) -> None:
        if self.result is None:
            orphans.kill(self.process.pid)


def spawn(
    module: str,
    arguments: Sequence[str],
    confinement: Confinement,
    *,
    keep: Sequence[int],
    output_fd: int,
) -> subprocess.Popen[bytes]:
    """Start `module`'s `launch()` in its own session, under the wrapper that the layers name."""
    argv = interpreter(module, *arguments)
    if "bubblewrap" in confinement.layers:
        argv = bubblewrap.wrapped(argv, confinement)
    if "seatbelt" in confinement.layers:
        argv = seatbelt.wrapped(argv, confinement)
    orphans.adopt()
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=output_fd,
        stderr=output_fd,
        cwd=confinement.scratch,
        env=environment(Path(confinement.scratch)),
        pass_fds=tuple(keep),
        start_new_session=True,
    )


def start(confinement: Confinement, request_fd: int, reply_fd: int, output_fd: int) -> Started:
    """Start a child that reads its order from `request_fd`."""
    fds = (request_fd, reply_fd)
    words = tuple(str(fd) for fd in fds)
    process = spawn("grader.sandbox.child", words, confinement, keep=fds, output_fd=output_fd)
    return Started(process, wrapped="bubblewrap" in confinement.layers)


Start = Callable[[int, int, int], Child]


def converse(
    pieces: Sequence[bytes], confinement: Confinement, start_child: Start | None = None
) -> tuple[Exit, Heard]:
    """Start a child (in a fresh interpreter, or as told), say `pieces` to it, watch it to its end.

    `start_child` takes the child's ends of the three channels: request, reply, output. The first
    is a socket, because a child hands a descriptor back through it (forks.py).
    """
    ours, theirs = socket.socketpair()
    request_out, request_in = ours.detach(), theirs.detach()
    reply_in, reply_out = os.pipe()
    output_in, output_out = os.pipe()
    try:
        starter = start_child or functools.partial(start, confinement)
        child = starter(request_in, reply_out, output_out)
    except BaseException:
        for fd in (request_out, reply_in, output_in):
            os.close(fd)
        raise
    finally:
        for fd in (request_in, reply_out, output_out):
            os.close(fd)
    return watch(child, pieces, Pipes(request_out, reply_in, output_in), confinement)
