"""What a launch on the virtual GPU reports: frozen records without any grading in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Dim3 = tuple[int, int, int]
Access = Literal["read", "write", "atomic"]
Severity = Literal["error", "warning", "note"]
Ended = Literal["finished", "trap", "assertion", "fuel", "deadlock", "unsupported"]


@dataclass(frozen=True, slots=True)
class Place:
    """The other half of a race."""

    access: Access
    file: str | None = None
    line: int | None = None
    block: Dim3 | None = None
    thread: Dim3 | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """One finding: one record per kind, source line and buffer.

    `index` and `extent` count elements of `buffer` (its dtype for global buffers, the access size
    elsewhere); `count` counts lane accesses; `block` and `thread` are those of the first one;
    `lanes` is the element each lane of that one's warp touched, None for lanes that did not.
    """

    kind: str
    severity: Severity
    message: str
    access: Access | None = None
    space: str | None = None
    buffer: str | None = None
    index: int | None = None
    extent: int | None = None
    size_bytes: int | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    block: Dim3 | None = None
    thread: Dim3 | None = None
    other: Place | None = None
    count: int = 1
    lanes: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Metrics:
    """Exact counts of a launch, whole and per (file, line)."""

    counts: dict[str, float] = field(default_factory=dict)
    lines: dict[tuple[str | None, int], dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Launch:
    """How a launch ended, what was found and what was counted."""

    ended: Ended
    reason: str
    faults: tuple[Fault, ...]
    metrics: Metrics
    printed: str
