"""NVIDIA's compute-sanitizer around the run of a case: started here, read in `sanitizer_log.py`.

It sees what red zones cannot (reads, shared memory, barriers) on the card itself. The program it
watches is our own child, which runs the kernel's code and nothing else of the student's; it is not
in the sandbox, because the tool speaks to it over sockets.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from grader.devices import exchange
from grader.devices.sanitizer_log import Allocation, incomplete, parse
from grader.errors import NotGradableError, UsageError
from grader.result import Fault
from grader.run import Work

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SECONDS = 300
PRINT_LIMIT = 200


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


@functools.cache
def knows(where: Path, option: str) -> bool:
    """Whether this version of the program has an option."""
    helped = subprocess.run([where, "--help"], capture_output=True, text=True, check=False)
    return option in helped.stdout


def argv(where: Path, tool: str, log: Path, watched: Sequence[str]) -> list[str]:
    """The command that watches `watched` with one tool and writes what it finds to `log`."""
    space = "--initcheck-address-space"
    return [
        str(where),
        *("--tool", tool),
        *("--log-file", str(log)),
        *("--print-limit", str(PRINT_LIMIT)),
        *("--show-backtrace", "device"),  # what calls an intrinsic of a header stands there
        *("--destroy-on-device-error", "kernel"),  # what follows is looked at as well
        *(("--racecheck-report", "analysis") if tool == "racecheck" else ()),
        *((space, "all") if tool == "initcheck" and knows(where, space) else ()),
        *watched,
    ]


def check(works: Sequence[Work], asked: Sequence[str], *, file: str) -> dict[str, list[Fault]]:
    """What the tools found in each case.

    Raises NotGradableError where there is no such program, or where it or the program it watched
    did not come to its end: a log that breaks off is no evidence that nothing was wrong.
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
            for tool in asked:
                found[work.case] += _watched(where, tool, folder, len(blobs), file)
    return found


def _watched(where: Path, tool: str, folder: Path, blobs: int, file: str) -> tuple[Fault, ...]:
    """The findings of one tool on the request in `folder`."""
    log, laid = folder / f"{tool}.log", folder / "buffers.json"
    laid.unlink(missing_ok=True)
    watched = [sys.executable, "-m", "grader.devices.sanitized", str(folder), str(blobs)]
    said = _run(argv(where, tool, log, watched))
    text = log.read_text(errors="replace") if log.exists() else ""
    why = incomplete(text)
    if not why and not laid.exists():
        why = "the program that runs the kernel ended before it"
    if why:
        last = said.strip().splitlines()
        raise NotGradableError(
            f"compute-sanitizer {tool} could not watch to the end: {why}"
            + (f" ({last[-1][:200]})" if last else "")
        )
    return parse(text, tool, file, [Allocation(**one) for one in json.loads(laid.read_text())])


def _run(words: Sequence[str]) -> str:
    """What was printed. No exit status is looked at: a fault of the kernel ends the program."""
    kept = {key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in os.environ}
    try:
        done = subprocess.run(
            words, env=kept, timeout=SECONDS, capture_output=True, check=False, text=True
        )
    except subprocess.TimeoutExpired:
        raise NotGradableError(f"compute-sanitizer was still running after {SECONDS} s") from None
    return done.stdout + done.stderr
