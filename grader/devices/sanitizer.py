"""NVIDIA's compute-sanitizer around the run of a case: what it prints, as our findings.

It sees what red zones cannot (reads, shared memory, barriers) on the card itself. The program it
watches is our own child, which runs the kernel's code and nothing else of the student's; it is not
in the sandbox, because the tool speaks to it over sockets.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from grader.devices import exchange
from grader.errors import NotGradableError, UsageError
from grader.result import Dim3, Fault, Place, Severity
from grader.run import Work

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SECONDS = 300
PRINT_LIMIT = 200

_HEADS = (
    # memcheck
    (re.compile(r"Invalid __(?P<space>\w+)__ (?P<access>read|write|atomic) of size (?P<size>\d+)"),
     "out_of_bounds"),
    # initcheck
    (re.compile(r"Uninitialized __(?P<space>\w+)__ memory read of size (?P<size>\d+)"),
     "uninitialised"),
    # synccheck
    (re.compile(r"Barrier error detected\. (?P<what>.*)"), "bad_barrier"),
    # racecheck
    (re.compile(r"(?P<severity>Error|Warning|Info): Race reported between "
                r"(?P<access>Read|Write|Atomic) access at .*"), "race"),
)  # fmt: skip
_PLACE = re.compile(r" in (?:\S*/)?(?P<file>[^\s/:]+):(?P<line>\d+)")
_THREAD = re.compile(r"by thread \((\d+),(\d+),(\d+)\) in block \((\d+),(\d+),(\d+)\)")
_OTHER = re.compile(r"and (?P<access>Read|Write|Atomic) access at ")
_HAZARDS = re.compile(r"\[(\d+) hazards?\]")
_ADVICE = {
    "out_of_bounds": "Guard the access with the size of the buffer.",
    "uninitialised": "Write the memory before it is read.",
    "bad_barrier": "Every thread of the block must reach the same barrier.",
    "race": "Put a barrier between the two accesses.",
}


def tools(text: str) -> tuple[str, ...]:
    """The tools of `--sanitizer memcheck,racecheck`. Raises UsageError."""
    asked = tuple(word.strip() for word in text.split(",") if word.strip())
    unknown = [tool for tool in asked if tool not in TOOLS]
    if unknown or not asked:
        raise UsageError(f"expected --sanitizer {','.join(TOOLS)} or some of them, found {text!r}")
    return asked


@functools.cache
def program() -> Path | None:
    """Where compute-sanitizer is: on the path, or in its wheel."""
    found = shutil.which("compute-sanitizer")
    if found is not None:
        return Path(found)
    package = importlib.util.find_spec("nvidia")
    folders = list(package.submodule_search_locations or ()) if package is not None else []
    for folder in folders:
        for path in sorted(Path(folder).glob("*/compute-sanitizer/compute-sanitizer")):
            return path
    return None


def argv(where: Path, tool: str, log: Path, watched: Sequence[str]) -> list[str]:
    """The command that watches `watched` with one tool and writes what it finds to `log`."""
    return [
        str(where),
        *("--tool", tool),
        *("--log-file", str(log)),
        *("--print-limit", str(PRINT_LIMIT)),
        *("--show-backtrace", "no"),
        *("--destroy-on-device-error", "kernel"),  # what follows is looked at as well
        *(("--racecheck-report", "analysis") if tool == "racecheck" else ()),
        *watched,
    ]


def check(works: Sequence[Work], asked: Sequence[str], *, file: str) -> dict[str, list[Fault]]:
    """What the tools found in each case. Raises NotGradableError where there is no such program.

    `file` is the kernel's file as the submission names it.
    """
    where = program()
    if where is None:
        raise NotGradableError(
            "expected compute-sanitizer for --sanitizer, it is not installed",
            "pip install nvidia-cuda-sanitizer-api, or leave --sanitizer out.",
        )
    found: dict[str, list[Fault]] = {work.case: [] for work in works}
    for number, work in enumerate(works):
        with tempfile.TemporaryDirectory(prefix="grade-sanitizer-") as name:
            folder = Path(name)
            request, blobs = exchange.request(works, [number])
            (folder / "request.json").write_text(json.dumps(request))
            for index, blob in enumerate(blobs):
                (folder / f"blob{index}").write_bytes(blob)
            watched = [
                sys.executable,
                "-m",
                "grader.devices.sanitized",
                str(folder),
                str(len(blobs)),
            ]
            for tool in asked:
                log = folder / f"{tool}.log"
                _run(argv(where, tool, log, watched))
                text = log.read_text(errors="replace") if log.exists() else ""
                found[work.case] += parse(text, tool, file)
    return found


def _run(words: Sequence[str]) -> None:
    # No exit status is looked at: it is that of the watched program, which a fault ends.
    kept = {key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in os.environ}
    try:
        subprocess.run(words, env=kept, timeout=SECONDS, capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        raise NotGradableError(f"compute-sanitizer was still running after {SECONDS} s") from None


def parse(text: str, tool: str, file: str) -> list[Fault]:
    """The findings in a log, one for each kind and line, with how often it was seen.

    Lines begin with `=========`; a finding is a heading and indented lines about it. Messages about
    API calls, which follow from a finding, are left out.
    """
    found: dict[tuple[object, ...], Fault] = {}
    for block in _blocks(text):
        fault = _fault(block, tool, file)
        if fault is None:
            continue
        key = (fault.kind, fault.severity, fault.line, fault.access, fault.space)
        if key in found:
            count = found[key].count + fault.count
            found[key] = found[key].model_copy(update={"count": count})
        else:
            found[key] = fault
    return list(found.values())


def _blocks(text: str) -> list[list[str]]:
    """The findings of a log: each a heading and what is indented below it."""
    blocks: list[list[str]] = []
    for line in text.splitlines():
        if not line.startswith("========="):
            continue
        said = line[len("=========") :]
        if said.startswith(" " * 3):
            if blocks:
                blocks[-1].append(said.strip())
        else:
            blocks.append([said.strip()])
    return blocks


def _fault(block: Sequence[str], tool: str, file: str) -> Fault | None:
    heading, *rest = block
    matches = ((pattern.match(heading), kind) for pattern, kind in _HEADS)
    match, kind = next(((found, kind) for found, kind in matches if found), (None, ""))
    if match is None:
        return None
    named = match.groupdict()
    about = " ".join(rest)
    if kind == "out_of_bounds" and "misaligned" in about:
        kind = "misaligned"
    if kind == "bad_barrier" and "nvalid" in (named.get("what") or ""):
        kind = "warp_mask"
    access = {"read": "read", "write": "write", "atomic": "atomic"}.get(
        (named.get("access") or ("read" if kind == "uninitialised" else "")).lower()
    )
    here = _PLACE.search(heading) or next(
        (found for line in rest if not _OTHER.match(line) and (found := _PLACE.search(line))), None
    )
    thread = _THREAD.search(about)
    numbers = [int(number) for number in thread.groups()] if thread else []
    words = {"Warning": Severity.WARNING, "Info": Severity.NOTE}
    hazards = [int(number) for number in _HAZARDS.findall(about)]
    address = next((line for line in rest if line.startswith("Address ")), "")
    said = heading.partition(" at ")[0] if kind == "race" else heading
    return Fault(
        kind=kind,
        severity=words.get(named.get("severity") or "", Severity.ERROR),
        access=access,  # type: ignore[arg-type]  # one of the three, or None
        space=named.get("space") or ("shared" if kind == "race" else None),
        size_bytes=int(named["size"]) if named.get("size") else None,
        file=file if here is not None else None,
        line=int(here["line"]) if here is not None else None,
        thread=_three(numbers[:3]),
        block=_three(numbers[3:]),
        other=_other(rest, file),
        count=max(1, sum(hazards)),
        message=f"{said}{f' ({address})' if address else ''} (compute-sanitizer {tool})",
        advice=_ADVICE.get(kind),
    )


def _other(lines: Sequence[str], file: str) -> Place | None:
    """The other half of a race."""
    for line in lines:
        match = _OTHER.match(line)
        if match is not None:
            place = _PLACE.search(line)
            return Place(
                access=match["access"].lower(),  # type: ignore[arg-type]  # one of the three
                file=file if place else None,
                line=int(place["line"]) if place else None,
            )
    return None


def _three(numbers: Sequence[int]) -> Dim3 | None:
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else None
