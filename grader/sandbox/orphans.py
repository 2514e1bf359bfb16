"""What a dead child leaves: its own children are taken in and waited for, to the last one.

A process whose parent ended becomes the child of the nearest ancestor that asked for orphans
(PR_SET_CHILD_SUBREAPER, prctl(2)), or else of process 1, which in a container may never ask how it
ended. A child leads a process group that nothing can leave, so waiting for the whole group says
when nothing of it is left; its number is nobody else's until then.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
# A killed process is gone at once, unless the kernel itself is busy with what it asked for.
PATIENCE_SECONDS = 10.0


def adopt() -> None:
    """Become the parent of every orphan among this process's descendants (Linux)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads a group, with all of the group, and wait until it is gone."""
    kill(process.pid)
    process.wait()
    end(process.pid)


def kill(group: int) -> None:
    """Kill process group `group`; none may be left of it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def end(group: int) -> None:
    """Kill what is left of a group whose leader was waited for, and wait until it is gone.

    Where orphans cannot be taken in they are killed all the same, and waited for by another.
    """
    if not sys.platform.startswith("linux"):
        kill(group)
    deadline = time.monotonic() + PATIENCE_SECONDS
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            # Asked first: of a group that nobody is left of, the number may be another's by now.
            waited, _ = os.waitpid(-group, os.WNOHANG)
            if not waited:
                kill(group)
                time.sleep(0.0005)
