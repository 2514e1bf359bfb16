"""What a real device must do for us: an arena of memory, code, launches, marks in time.

`cuda_card.py` does it through CuPy, `metal_card.py` through PyObjC. What is done with it stands in
`hardware_child.py`, once for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

Ending = Literal["trap", "assertion", "stopped", "refused", "unsupported", "time"]


class CardError(Exception):
    """The device refused or stopped something.

    `ended` is the word for how the run ended (`grader/run.py`), `fault` the kind of finding where
    it names one. After a `sticky` error nothing more can be run in this process.
    """

    def __init__(
        self, ended: Ending, message: str, *, fault: str | None = None, sticky: bool = False
    ) -> None:
        super().__init__(message)
        self.ended = ended
        self.message = message
        self.fault = fault
        self.sticky = sticky


@dataclass(frozen=True)
class At:
    """A kernel argument that is an address: `offset` bytes into the arena."""

    offset: int


@dataclass(frozen=True)
class Queued:
    """One launch, ready but for the addresses of its buffers, which `arguments` gives as `At`."""

    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[At | np.generic, ...]
    shared_bytes: int = 0
    threads: tuple[int, int, int] | None = None
    threadgroup_bytes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Facts:
    """What was probed of a device. Rates are per second, sizes in bytes; 0 is unknown.

    `copy_bytes_per_second` (bytes read and written together) was measured by a copy.
    """

    name: str
    architecture: str = ""
    driver: str = ""
    multiprocessors: int = 0
    clock_hz: float = 0.0
    memory_bytes: int = 0
    l2_bytes: int = 0
    peak_bytes_per_second: float = 0.0
    peak_flops_per_second: float = 0.0
    copy_bytes_per_second: float = 0.0

    def to_reply(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


class Card(Protocol):
    """A real device, used by one process. Every method may raise CardError."""

    def facts(self) -> Facts:
        """What it is; the copy's bandwidth is measured elsewhere."""
        ...

    def reserve(self, size: int) -> None:
        """Make an arena of `size` bytes; the one before is given up."""
        ...

    def put(self, offset: int, data: npt.NDArray[np.uint8]) -> None:
        """Copy bytes from the host into the arena."""
        ...

    def get(self, offset: int, size: int) -> npt.NDArray[np.uint8]:
        """Copy bytes of the arena to the host, after everything queued."""
        ...

    def fill(self, offset: int, size: int, byte: int) -> None:
        """Queue: set bytes of the arena."""
        ...

    def copy(self, source: int, target: int, size: int) -> None:
        """Queue: copy bytes inside the arena."""
        ...

    def load(self, code: str) -> Any:
        """Load code anew: its globals hold their initial values."""
        ...

    def prepare(self, launches: Sequence[tuple[Any, Queued]]) -> Callable[[], None]:
        """Launches of loaded code as one thing to queue, which the function returned does."""
        ...

    def synchronise(self) -> None:
        """Wait for the whole device."""
        ...

    def event(self) -> Any:
        """Queue a mark in time."""
        ...

    def elapsed(self, before: Any, after: Any) -> float:
        """Nanoseconds between two marks that the device has reached."""
        ...

    def clear_l2(self) -> None:
        """Queue what puts everything out of L2, lines that persist in it too."""
        ...

    def clock(self) -> float:
        """The present clock of the device in Hz, measured; 0 where that is unknown."""
        ...
