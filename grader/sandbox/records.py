"""What a caller of the sandbox says (`Limits`) and what it gets back (`Exit`, `Reply`).

Plain dataclasses: the child imports this module before anything else, so it must cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

MIB = 1 << 20
GIB = 1 << 30

Cause = Literal[
    "exited",  # the process ended by itself; `code` is its exit status
    "signalled",  # a signal ended it that the sandbox did not send; `code` is the signal
    "wall_timeout",
    "cpu_limit",
    "memory",
    "output_cap",  # it printed, replied or wrote to disk more than it may
    "processes",  # it started more processes or threads than it may
    "refused",  # it was never started: the sandbox could not be set up, or there is no such program
]


@dataclass(frozen=True)
class Limits:
    """How much a sandboxed process may use before it is ended.

    `memory_bytes` is resident memory of the whole process group, `output_bytes` the size of the
    reply, `printed_bytes` standard output and error together, `disk_bytes` what lies in the
    private temporary directory (and the size of any one file), `disk_entries` how many files and
    folders, `exchanged_bytes` what its processes may write to each other besides.
    `processes` counts the processes
    it may have beside itself: with 0, creating one fails in the kernel. `threads` is per process.
    """

    wall_seconds: float = 60.0
    cpu_seconds: float = 60.0
    memory_bytes: int = 4 * GIB
    output_bytes: int = 1 * GIB
    printed_bytes: int = 1 * MIB
    disk_bytes: int = 1 * GIB
    disk_entries: int = 20_000
    exchanged_bytes: int = 0
    processes: int = 0
    threads: int = 128
    open_files: int = 256


@dataclass(frozen=True)
class Exit:
    """How a sandboxed process ended, what it printed and what it used.

    `detail` is one clause for a person; empty where the cause says everything.
    """

    cause: Cause
    code: int = 0
    detail: str = ""
    output: str = ""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory_bytes: int = 0

    @property
    def ok(self) -> bool:
        """The process ended by itself with status 0."""
        return self.cause == "exited" and self.code == 0

    def too_busy(self, what: str) -> str:
        """What is said of `what`, which never sleeps, where the clock ended it."""
        return (
            f"{what} had {self.cpu_seconds:.0f} s of CPU time in {self.wall_seconds:.0f} s: this "
            "machine is too busy; grade again when it is less so"
        )


@dataclass(frozen=True)
class Frame:
    """One message of the channel: a JSON object and raw bytes beside it."""

    header: dict[str, Any]
    blobs: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Reply:
    """What came back from a job.

    `header` is None unless the job returned; `error` then says what it raised, or what was wrong
    with its reply. `frames` are the messages a job that is a generator yielded before its last
    one, in order: they were on their way before the job went on. `blobs` belong to `header`.
    """

    exit: Exit
    header: dict[str, Any] | None
    blobs: tuple[bytes, ...] = ()
    frames: tuple[Frame, ...] = ()
    error: str = ""

    @property
    def output(self) -> str:
        """What the child printed, standard output and error together."""
        return self.exit.output
