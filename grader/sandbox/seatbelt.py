"""Seatbelt, the sandbox of macOS, through its `sandbox-exec` program.

Written from the published profile language and not yet tried on a Mac by the authors: `layers()`
says so, and its probe must pass on the machine before anything is run under it.
"""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

from grader.sandbox.confine import Confinement
from grader.sandbox.paths import interpreter_file, toolkit

PROGRAM = "/usr/bin/sandbox-exec"
PROBE_SECONDS = 10
# What dyld and the system's libraries read in every program.
SYSTEM = (
    *("/System", "/usr/lib", "/usr/share", "/Library/Apple", "/private/var/db/dyld"),
    *("/private/var/db/timezone", "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"),
)


# What a program needs to speak to the GPU and to have Metal compile: the user clients of the
# driver, and the services that compile and keep what was compiled.
GPU = (
    "(allow iokit-open)",
    *(
        f'(allow mach-lookup (global-name "{name}"))'
        for name in (
            "com.apple.MTLCompilerService",
            "com.apple.gpumemd.source",
            "com.apple.cvmsServ",
            "com.apple.CARenderServer",
        )
    ),
    '(allow mach-lookup (xpc-service-name "com.apple.MTLCompilerService"))',
)


@functools.cache
def missing() -> str | None:
    """Why Seatbelt cannot be used here, or None after a probe ran and was held back."""
    if sys.platform != "darwin":
        return "Seatbelt is a part of macOS"
    if not Path(PROGRAM).exists():
        return f"there is no {PROGRAM}"
    code = (
        "import os, socket, sys\n"
        "try: os.listdir(os.path.expanduser('~'))\n"
        "except PermissionError: sys.exit(0)\n"
        "sys.exit(1)"
    )
    text = profile(toolkit(), (), processes=0)
    words = [PROGRAM, "-p", text, interpreter_file(), "-I", "-S", "-c", code]
    try:
        done = subprocess.run(words, capture_output=True, timeout=PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"sandbox-exec: {error}"
    return None if done.returncode == 0 else "its probe was not held back"


def wrapped(argv: list[str], confinement: Confinement) -> list[str]:
    """`argv` under Seatbelt, with the paths of `confinement` and nothing else."""
    text = profile(confinement.read, confinement.write, processes=confinement.limits.processes)
    if confinement.devices:
        text += "\n" + "\n".join(GPU)
    return [PROGRAM, "-p", text, *argv]


def profile(read: tuple[str, ...], write: tuple[str, ...], *, processes: int) -> str:
    """A profile that denies everything but reading `read`, writing `write` and, if asked, fork."""
    lines = [
        "(version 1)",
        "(deny default)",
        "(allow process-exec*)",
        "(allow sysctl-read)",
        "(allow file-read-metadata)",
        "(allow signal (target self))",
        '(allow mach-lookup (global-name "com.apple.system.notification_center"))',
    ]
    if processes:
        lines.append("(allow process-fork)")
    lines += [f"(allow file-read* (subpath {_quoted(path)}))" for path in (*SYSTEM, *read, *write)]
    lines += [f"(allow file-write* (subpath {_quoted(path)}))" for path in write]
    return "\n".join(lines)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
