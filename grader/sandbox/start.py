"""Starts a child in a fresh interpreter: its paths, its environment, its private directory."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import grader
from grader.sandbox.supervise import Ended

PACKAGE = Path(grader.__file__).resolve().parent

# OpenBLAS picks wrong kernels on some virtual machines unless told; one thread per library, since
# a batch runs one child per core already.
PASSED_ON = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@contextlib.contextmanager
def scratch_directory() -> Iterator[Path]:
    """A private temporary directory (mode 700), emptied and removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="grade-"))
    try:
        yield folder.resolve()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
    (-S: no `sitecustomize`, no .pth file): the import path is this process's own, less entries
    that are relative, with the package's own parent last.
    """
    paths = [path for path in sys.path if Path(path).is_absolute()]
    paths.append(str(PACKAGE.parent))
    code = f"import sys; sys.path[:] = {paths!r}; import {module} as m; m.launch()"
    return [sys.executable, "-I", "-S", "-c", code, *arguments]


@dataclass
class Started:
    """A child of this process, leader of its own session and group."""

    process: subprocess.Popen[bytes]
    result: Ended | None = None

    @property
    def pid(self) -> int:
        return self.process.pid

    def ended(self) -> Ended | None:
        if self.result is None:
            pid, status, use = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                # Popen must not wait for it again.
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.result = Ended(self.process.returncode, use.ru_utime + use.ru_stime)
        return self.result

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)


def start(argv: list[str], scratch: Path, keep: tuple[int, ...], output_fd: int) -> Started:
    """Start `argv` in `scratch` with its own session, no standard input and `keep` left open."""
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=output_fd,
        stderr=output_fd,
        cwd=scratch,
        env=environment(scratch),
        pass_fds=keep,
        start_new_session=True,
    )
    return Started(process)
