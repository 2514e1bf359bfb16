"""How buffers lie in a real device's memory, and what can be read from them afterwards.

All buffers of a case lie in one arena of exact sizes, each between two red zones. Real hardware
says nothing of a write that lands beside a buffer; a red zone that changed does. Outputs hold a
poison before they are written, another one in a second run: an element that holds the first after
the first run and the second after the second was never written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

ALIGNMENT = 256
"""What cudaMalloc promises; Metal asks for as much of a constant buffer."""

RED_ZONE = 4096
RED = 0xC3
POISONS = (0xFF, 0xA5)
"""Of every byte: NaN in each floating-point type, and a number that no case expects."""

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Place:
    """Where a buffer lies, in bytes from the start of its arena."""

    name: str
    role: str
    dtype: np.dtype[Any]
    count: int
    offset: int

    @property
    def size(self) -> int:
        """Its bytes, to the exact number."""
        return self.count * self.dtype.itemsize

    @property
    def span(self) -> slice:
        """Its bytes in the arena."""
        return slice(self.offset, self.offset + self.size)


@dataclass(frozen=True)
class Layout:
    """The buffers of a case in one arena of `size` bytes."""

    places: tuple[Place, ...]
    size: int

    def place(self, name: str) -> Place:
        """The place of a buffer."""
        return next(place for place in self.places if place.name == name)


def layout(buffers: Sequence[Mapping[str, Any]]) -> Layout:
    """Places for buffers as a request words them: name, role, dtype, shape."""
    places = []
    offset = RED_ZONE
    for buffer in buffers:
        dtype = np.dtype(buffer["dtype"])
        count = int(np.prod(buffer["shape"], dtype=np.int64))
        places.append(Place(buffer["name"], buffer["role"], dtype, count, offset))
        end = offset + count * dtype.itemsize + RED_ZONE
        offset = -(-end // ALIGNMENT) * ALIGNMENT
    return Layout(tuple(places), offset)


def image(found: Layout, contents: Mapping[str, bytes | None], poison: int) -> Bytes:
    """The arena before a run: red zones, contents, and poison where a buffer has none."""
    arena = np.full(found.size, RED, np.uint8)
    for place in found.places:
        given = contents[place.name]
        arena[place.span] = poison if given is None else np.frombuffer(given, np.uint8)
    return arena


def damage(found: Layout, before: Bytes, after: Bytes) -> list[dict[str, Any]]:
    """Faults in the words of `result.Fault`: red zones and inputs that are not what they were.

    The line is unknown; a write beside a buffer is told of the buffer it lies nearest to.
    """
    faults = []
    for number, place in enumerate(found.places):
        changed = np.flatnonzero(after[place.span] != before[place.span])
        if place.role == "input" and changed.size:
            faults.append(_modified(place, changed))
        around = _around(found, number)
        touched = around[after[around] != before[around]]
        if touched.size:
            faults.append(_outside(place, touched))
    return faults


def _around(found: Layout, number: int) -> npt.NDArray[np.int64]:
    """The bytes of red zones that lie nearer to this buffer than to another."""
    here = found.places[number].span
    start = (found.places[number - 1].span.stop + here.start) // 2 if number else 0
    last = number + 1 == len(found.places)
    stop = found.size if last else (here.stop + found.places[number + 1].offset) // 2
    return np.concatenate([np.arange(start, here.start), np.arange(here.stop, stop)])


def _modified(place: Place, changed: npt.NDArray[np.int64]) -> dict[str, Any]:
    elements = np.unique(changed // place.dtype.itemsize)
    return {
        "kind": "input_modified",
        "severity": "error",
        "access": "write",
        "space": "global",
        "buffer": place.name,
        "index": int(elements[0]),
        "extent": place.count,
        "count": int(elements.size),
        "message": f"expected {place.name} to keep its values, found {place.name}"
        f"[{elements[0]}] changed after the run",
    }


def _outside(place: Place, touched: npt.NDArray[np.int64]) -> dict[str, Any]:
    elements = np.unique((touched - place.offset) // place.dtype.itemsize)
    # The nearest one is the best guess at what was meant.
    index = int(elements[np.argmin(np.where(elements < 0, -elements, elements - place.count))])
    many = "" if place.count == 1 else "s"
    return {
        "kind": "out_of_bounds",
        "severity": "error",
        "access": "write",
        "space": "global",
        "buffer": place.name,
        "index": index,
        "extent": place.count,
        "count": int(elements.size),
        "message": f"write of {place.name}[{index}], but {place.name} has {place.count} "
        f"element{many} (a red zone beside it changed)",
    }


def written(place: Place, first: Bytes, second: Bytes) -> npt.NDArray[np.bool_]:
    """Which elements were written, from the arenas after runs with either poison."""
    untouched = (first[place.span] == POISONS[0]) & (second[place.span] == POISONS[1])
    flags: npt.NDArray[np.bool_] = ~untouched.reshape(place.count, place.dtype.itemsize).all(axis=1)
    return flags
