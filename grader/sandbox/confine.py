"""What a child does to itself, layer by layer, before it touches what a student wrote."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import sys
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from grader.sandbox import capabilities, forks, landlock, seccomp
from grader.sandbox.paths import home
from grader.sandbox.records import GIB, Limits

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
SIGKILL = 9
OWN_PROCESS, OWN_THREADS = "/proc/self", "/proc/self/task"


class SandboxUnavailable(Exception):
    """A layer that was ordered could not be put on; nothing of the student's has run."""


@dataclass(frozen=True)
class Confinement:
    """Everything a child must know to confine itself.

    `read` and `write` are the only paths it may open (the private directory `scratch` is in
    `write`); `layers` are the layers that the parent found here and that must hold; `starting`
    allows other programs, and `limits.processes` other processes. `devices` are nodes of a GPU, to
    open, map and ask anything; its driver also looks at this very process and names its threads.
    """

    limits: Limits
    scratch: str
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    starting: bool = False
    devices: tuple[str, ...] = ()

    def to_order(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @property
    def asks(self) -> bool:
        """Each new process waits for the parent's permission (forks.py)."""
        return "fork limit" in self.layers and self.starting and self.limits.processes > 0

    @classmethod
    def from_order(cls, order: dict[str, Any]) -> Confinement:
        """From the JSON of `to_order`; other keys of the order are not looked at."""
        values = {field.name: order[field.name] for field in fields(cls)}
        values["limits"] = Limits(**values["limits"])
        for name in ("read", "write", "layers", "devices"):
            values[name] = tuple(values[name])
        return cls(**values)


def confine(confinement: Confinement, keep: tuple[int, ...], channel_fd: int = -1) -> None:
    """Put every layer on this process; `keep` are descriptors to leave open besides 0, 1, 2.

    `channel_fd` is the socket to a parent that wants to be asked before each new process.
    Raises SandboxUnavailable where a layer that was ordered does not hold.
    """
    os.chdir(confinement.scratch)
    os.environ.update(home(confinement.scratch))  # a forked child has its parent's
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None  # type: ignore[attr-defined]
    close_descriptors(keep)
    limit_resources(confinement.limits)
    if sys.platform.startswith("linux"):
        _die_first()
        no_new_privileges()
        capabilities.drop()
        _only_thread()
        if "landlock" in confinement.layers:
            own = (OWN_PROCESS,) if confinement.devices else ()
            threads = (OWN_THREADS,) if confinement.devices else ()
            landlock.restrict(
                (*confinement.read, *own), (*confinement.write, *confinement.devices), threads
            )
        if confinement.asks:
            forks.hand_over(forks.listen(), channel_fd)
        if "seccomp" in confinement.layers:
            starting = confinement.starting
            forking = starting and confinement.limits.processes > 0
            devices = bool(confinement.devices)
            seccomp.restrict(starting=starting, forking=forking, devices=devices)


def _die_first() -> None:
    """Be what the kernel ends when memory runs out, and end when the parent does."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


def no_new_privileges() -> None:
    """Nothing that this process executes gains a right by being executed (prctl(2))."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise SandboxUnavailable("no_new_privs: " + os.strerror(ctypes.get_errno()))


def _only_thread() -> None:
    # Landlock and seccomp confine the calling thread; another one would stay free.
    if len(list(Path("/proc/self/task").iterdir())) != 1:
        raise SandboxUnavailable("the child had more than one thread before it was confined")


def close_descriptors(keep: tuple[int, ...]) -> None:
    """Close every descriptor above 2 that is not in `keep`."""
    # Not up to the limit of descriptors: where that is a billion, closing them takes minutes.
    with os.scandir("/dev/fd") as listing:
        mine = {int(entry.name) for entry in listing}
    for fd in mine - {0, 1, 2, *keep}:
        with contextlib.suppress(OSError):  # the listing's own is closed already
            os.close(fd)


def limit_resources(limits: Limits) -> None:
    """Set the kernel's own limits: CPU time, file size, descriptors, no core dumps.

    Not RLIMIT_AS (it breaks sanitizers and GPU drivers, which reserve far more than they use) and
    not RLIMIT_NPROC (it does not bind root): resident memory and processes are watched by the
    parent. RLIMIT_DATA is a backstop for the time between two looks.
    """
    cpu = max(1, int(limits.cpu_seconds + 0.999))
    _limit(resource.RLIMIT_CPU, cpu, cpu + 1)
    _limit(resource.RLIMIT_FSIZE, limits.disk_bytes, limits.disk_bytes)
    _limit(resource.RLIMIT_NOFILE, limits.open_files, limits.open_files)
    _limit(resource.RLIMIT_CORE, 0, 0)
    if sys.platform.startswith("linux"):
        data = 2 * limits.memory_bytes + 1 * GIB
        _limit(resource.RLIMIT_DATA, data, data)
        _limit(resource.RLIMIT_MSGQUEUE, 0, 0)
        _limit(resource.RLIMIT_MEMLOCK, 0, 0)


def _limit(which: int, soft: int, hard: int) -> None:
    _, ceiling = resource.getrlimit(which)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(which, (soft, hard))
