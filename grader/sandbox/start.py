"""Starts a child in a fresh interpreter: its environment, its private directory, its wrapper."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox import bubblewrap, seatbelt
from grader.sandbox.confine import Confinement
from grader.sandbox.paths import import_path, interpreter_file
from grader.sandbox.records import Exit
from grader.sandbox.removal import remove_tree
from grader.sandbox.supervise import Ended, Heard, Pipes, watch

# OpenBLAS picks wrong kernels on some virtual machines unless told; one thread per library, since
# a batch runs one child per core already.
PASSED_ON = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

SHELL_SIGNAL = 128


@contextlib.contextmanager
def scratch_directory() -> Iterator[Path]:
    """A private temporary directory (mode 700), emptied and removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="grade-")).resolve()
    try:
        yield folder
    finally:
        remove_tree(folder)


def environment(scratch: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a child: nothing of the parent's that could hold a secret."""
    home = str(scratch)
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": home,
        "TMPDIR": home,
        "XDG_CACHE_HOME": f"{home}/.cache",
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
    result: Ended | None = None

    @property
    def pid(self) -> int:
        return self.process.pid

    def ended(self) -> Ended | None:
        if self.result is None:
            pid, status, use = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                self.process.returncode = code  # Popen must not wait for it again
                if self.wrapped and code > SHELL_SIGNAL:
                    code = SHELL_SIGNAL - code  # bwrap tells of a signal as a shell does
                self.result = Ended(code, use.ru_utime + use.ru_stime)
        return self.result

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)


def converse(pieces: Sequence[bytes], confinement: Confinement) -> tuple[Exit, Heard]:
    """Start a fresh child, say `pieces` to it and watch it to its end."""
    request_in, request_out = os.pipe()
    reply_in, reply_out = os.pipe()
    output_in, output_out = os.pipe()
    pipes = Pipes(request_out, reply_in, output_in)
    try:
        argv = interpreter("grader.sandbox.child", str(request_in), str(reply_out))
        wrapped = "bubblewrap" in confinement.layers
        if wrapped:
            argv = bubblewrap.wrapped(argv, confinement)
        if "seatbelt" in confinement.layers:
            argv = seatbelt.wrapped(argv, confinement)
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output_out,
            stderr=output_out,
            cwd=confinement.scratch,
            env=environment(Path(confinement.scratch)),
            pass_fds=(request_in, reply_out),
            start_new_session=True,
        )
    except BaseException:
        for fd in (request_out, reply_in, output_in):
            os.close(fd)
        raise
    finally:
        for fd in (request_in, reply_out, output_out):
            os.close(fd)
    return watch(Started(process, wrapped), pieces, pipes, confinement)
