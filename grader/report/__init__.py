"""Writes a `Result` for people and machines. Every writer is a pure function of the record.

words.py      headlines, labels and numbers that all reports share
findings.py   the findings of a result, each once, and the one that leads
terminal.py   the terminal (rich)
markdown.py   report.md, for CI summaries and pull requests
html.py       report.html, one self-contained file (templates/)
json.py       result.json and its schema
class_*.py    a whole class: class.html, class.csv, leaderboard.html
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from pydantic import BaseModel

from grader.errors import UsageError
from grader.result import Result


def write(result: Result, folder: Path) -> None:
    """Write `result.json`, `report.md` and `report.html` into `folder`, each whole or not at all.

    Raises UsageError where the folder cannot be made or written.
    """
    from grader.report import html, json, markdown

    texts = {
        "result.json": json.dumps(result),
        "report.md": markdown.render(result),
        "report.html": html.render(result),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            replace(folder / name, text.encode())
    except OSError as error:
        raise UsageError(
            f"expected a folder to write to; {folder}: {error.strerror}",
            "--out DIR selects another one.",
        ) from error


def write_json(record: BaseModel, target: str | None) -> None:
    """Write a record where `--json` says: a file, or `-` for standard output."""
    from grader.report import json

    if target is None:
        return
    if target == "-":
        sys.stdout.write(json.dumps(record))
        sys.stdout.flush()
        return
    try:
        replace(Path(target), json.dumps(record).encode())
    except OSError as error:
        raise UsageError(f"cannot write --json {target}: {error.strerror}") from error


def replace(path: Path, data: bytes) -> None:
    """Write beside the target, then move: a reader never sees half a file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
