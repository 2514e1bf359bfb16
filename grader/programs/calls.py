"""A call of a host program to the CUDA runtime, and what it is answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from grader.programs import errors as E
from grader.programs.device_memory import Site


@dataclass(frozen=True)
class Request:
    """A call: its name, where it stands, its numbers and bytes. `noted` goes into the trace."""

    api: str
    site: Site
    numbers: list[int]
    payload: bytes
    noted: dict[str, Any] = field(default_factory=dict)

    def note(self, **what: Any) -> None:
        """Keep something for the trace."""
        self.noted.update(what)


@dataclass
class Answer:
    """What a call returns; `opens` says that the device has finished what shared memory awaits, and
    `missing` what it asked for that is not served: the run ends.
    """

    status: int = E.SUCCESS
    numbers: tuple[int, ...] = ()
    payload: bytes = b""
    text: str = ""
    opens: bool = False
    missing: str = ""


def signed(value: int) -> int:
    """A number of the pipe as the signed one it was."""
    return value - (1 << 64) if value >> 63 else value


def kernel_name(q: Request) -> str:
    """The kernel or variable a call begins its bytes with."""
    return q.payload.partition(b"\0")[0].decode(errors="replace")
