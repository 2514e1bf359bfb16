"""How many submissions a second one core grades, through the whole of `grade batch`.

    python benchmarks/batch.py [--count N] [--jobs N] [--suffix .cu|.metal|.py] [--json FILE]

A class is made from the known submissions of assignment3, good and bad, each renamed so that no
build is found in the cache, and hostile ones between them; what is graded is compared with what
must come out. Counted are the CPU seconds of the parent and of every child, so that the rate per
core does not depend on what else the machine does; the wall-clock rate stands beside it.
Submissions that ran into a time limit are not counted, nor is their time. The class page and
everybody's report are written once at the end and timed apart (`pages_ms`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from grader import sandbox
from grader.batch import class_report, command
from grader.batch.gradebook import Gradebook
from tests.batch import made_class

NAME = "assignment3"


class _Pages:
    """Times what is written once at the end: the class page and everybody's report."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0
        self._write = class_report.write

    def write(self, *arguments: Any, **options: Any) -> Path:
        """The same, timed."""
        cpu, wall = _cpu(), time.perf_counter()
        page = self._write(*arguments, **options)
        self.cpu, self.wall = _cpu() - cpu, time.perf_counter() - wall
        return page


class Children:
    """Counts the CPU time of every child: `sandbox.call` with a counter around it."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self._call, self._lock = sandbox.call, threading.Lock()

    def call(self, job: str, *arguments: object, **options: object) -> sandbox.Reply:
        """The same call, counted under its job."""
        reply = self._call(job, *arguments, **options)  # type: ignore[arg-type]
        with self._lock:
            self.seconds[job] += reply.exit.cpu_seconds
            self.calls[job] += 1
        return reply


def main() -> int:
    """Make, grade, compare, print; 1 where a verdict is not the one it must be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--suffix", default=".cu", choices=[".cu", ".metal", ".py"])
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    children = Children()
    sandbox.call = children.call  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        # A salt from the clock: what an earlier run built is not found again.
        expected = made_class.make(
            place / "class", asked.count, seed=time.time_ns(), suffix=asked.suffix
        )
        for number, file in enumerate(sorted(place.glob(f"class/*/*{asked.suffix}"))):
            comment = "#" if asked.suffix == ".py" else "//"
            text = f"{file.read_text()}{comment} {time.time_ns()} {number}\n"
            file.write_text(text)
        pages = _Pages()
        class_report.write = pages.write  # type: ignore[assignment]
        before, started = _cpu(), time.perf_counter()
        summary = command.batch(
            NAME, place / "class", roster_file=None, workers=asked.jobs, hidden_folder=None,
            gradebook=place / "gradebook.db", chosen=command.Selection(), compare=False,
            quiet=True, console=Console(stderr=True),
        )  # fmt: skip
        wall = time.perf_counter() - started - pages.wall
        parent = _cpu() - before - pages.cpu
        with Gradebook(place / "gradebook.db") as book:
            rows = book.rows(NAME)
            slow = [r for r in rows if r.verdict.value == "timed_out"]
            lost = sum(book.result(r.id).seconds for r in slow)
    wrong = [f"{r.student}: {r.verdict.value}, expected {'/'.join(sorted(expected[r.student]))}"
             for r in rows if r.verdict.value not in expected[r.student]]  # fmt: skip
    counted = summary.graded - len(slow)
    cpu = parent + sum(children.seconds.values()) - lost
    found = {
        "count": counted, "timed_out": len(slow), "jobs": asked.jobs, "cpu_seconds": round(cpu, 2),
        "per_second_per_core": round(counted / cpu, 2),
        "per_second_wall": round(counted / wall, 2),
        "pages_ms": round(1e3 * pages.cpu / summary.graded, 1),
        "parent_ms": round(1e3 * parent / counted, 1),
        "children_ms": {job: round(1e3 * seconds / counted, 1)
                        for job, seconds in children.seconds.items()},
        "wrong": wrong, "machine": platform.processor() or platform.machine(),
        "load": os.getloadavg()[0],
    }  # fmt: skip
    print(json.dumps(found, indent=1))
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if wrong else 0


def _cpu() -> float:
    """CPU seconds of this process, its threads included."""
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime


if __name__ == "__main__":
    sys.exit(main())
