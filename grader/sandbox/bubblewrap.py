"""Bubblewrap: a process that sees no other files, processes or network at all (bwrap(1)).

On top of the other layers, where the program is installed and a probe passes: Landlock lets a
process ask whether a path exists, here the path does not.
"""

from __future__ import annotations

import functools
import shutil
import subprocess

from grader.sandbox import orphans
from grader.sandbox.confine import Confinement
from grader.sandbox.paths import interpreter_file, toolkit

PROBE_SECONDS = 10


def program() -> str | None:
    """Where bwrap is installed, or None."""
    return shutil.which("bwrap")


@functools.cache
def missing() -> str | None:
    """Why bubblewrap cannot be used here, or None after it really ran a program."""
    if program() is None:
        return "bwrap is not installed"
    words = [*_prefix(toolkit(), ()), interpreter_file(), "-I", "-S", "-c", ""]
    orphans.adopt()
    try:
        # bwrap ends before the processes that it made, so the probe too has a group of its own.
        probe = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return f"bwrap: {error}"
    try:
        _, said = probe.communicate(timeout=PROBE_SECONDS)
    except subprocess.TimeoutExpired as error:
        return f"bwrap: {error}"
    finally:
        orphans.stop(probe)
    if probe.returncode:
        return said.decode(errors="replace").strip()[:200] or "its probe failed"
    return None


@functools.cache
def version() -> str:
    """What `bwrap --version` says."""
    bwrap = program()
    if bwrap is None:
        return ""
    done = subprocess.run([bwrap, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def wrapped(argv: list[str], confinement: Confinement) -> list[str]:
    """`argv` under bubblewrap, with the paths of `confinement` and nothing else."""
    prefix = _prefix(confinement.read, confinement.write, confinement.devices)
    return [*prefix, "--chdir", confinement.scratch, "--", *argv]


def _prefix(
    read: tuple[str, ...], write: tuple[str, ...], devices: tuple[str, ...] = ()
) -> list[str]:
    # A new session would take the child out of the process group that is watched; `start` has
    # given it a session of its own already.
    bwrap = program() or "bwrap"
    words = [bwrap, "--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev"]
    binds = dict.fromkeys(read, "--ro-bind-try")
    binds |= dict.fromkeys(write, "--bind-try")
    for path in sorted(binds):  # a folder before what is in it
        if not path.startswith(("/proc/", "/dev/")):
            words += [binds[path], path, path]
    for path in devices:  # an ordinary bind mount would not let a node be a device
        words += ["--dev-bind-try", path, path]
    return words
