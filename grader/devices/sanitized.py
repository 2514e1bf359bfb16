"""The program that compute-sanitizer watches: the works of a request, run on the card once.

`python -m grader.devices.sanitized FOLDER BLOBS`, where FOLDER holds request.json and blob0 ... It
leaves buffers.json there, which says where each buffer lies.

Buffers are allocations of their own, of their exact sizes: that is all the tool knows of bounds.
Only what has contents is filled, so that it can tell what was never written.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from grader.devices import hardware_child
from grader.devices.buffers import Layout, layout
from grader.devices.card import CardError
from grader.devices.cuda_card import CudaCard
from grader.devices.sanitizer_log import Allocation


class Apart(CudaCard):
    """A card on which every buffer of a layout is an allocation of its own."""

    def lay(self, found: Layout, contents: Mapping[str, bytes | None]) -> list[Allocation]:
        """Allocate the buffers and fill those that have contents; where they lie."""
        self.places: dict[int, Any] = {}
        laid = []
        for place in found.places:
            memory = self.allocate(place.size)
            self.places[place.offset] = memory
            given = contents[place.name]
            if given:
                self.send(int(memory.ptr), np.frombuffer(given, np.uint8))
            laid.append(Allocation(place.name, int(memory.ptr), place.dtype.itemsize, place.count))
        return laid

    def address(self, offset: int) -> int:
        """Of the buffer that the layout has at this offset."""
        return int(self.places[offset].ptr)


def main(folder: Path, count: int) -> None:
    """Run the works; what they compute is of no interest, the tool looks at how."""
    request = json.loads((folder / "request.json").read_text())
    blobs = [(folder / f"blob{index}").read_bytes() for index in range(count)]
    card = Apart()
    for work in request["works"]:
        found = layout(work["buffers"])
        laid = card.lay(found, hardware_child.contents(work, blobs))
        queue = card.prepare(hardware_child.launches(card, work, blobs, found, 0))
        (folder / "buffers.json").write_text(json.dumps([asdict(one) for one in laid]))
        with contextlib.suppress(CardError):  # what stops a kernel is what the tool tells
            queue()
            card.synchronise()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
