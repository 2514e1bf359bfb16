"""The program that compute-sanitizer watches: one work of a request, run on the card once.

`python -m grader.devices.sanitized FOLDER BLOBS`, where FOLDER holds request.json and blob0 ...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from grader.devices import hardware_child
from grader.devices.cuda_card import open_card


def main(folder: Path, count: int) -> None:
    """Run the works; what they answer is of no interest, the tool looks at how."""
    request = json.loads((folder / "request.json").read_text())
    blobs = [(folder / f"blob{index}").read_bytes() for index in range(count)]
    for work in request["works"]:
        work["values"] = False  # once, not once for each poison
    for _ in hardware_child.run(open_card(), request, blobs):
        pass


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
