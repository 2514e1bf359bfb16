"""Waits for a submission to be saved, and says what changed between two results."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from grader.report import words
from grader.report.findings import findings
from grader.result import Record, Result

POLL_SECONDS = 0.15

State = dict[str, tuple[int, int]]


class Difference(Record):
    """Findings, diagnostics and mismatches that are gone, and those that are new."""

    fixed: tuple[str, ...]
    new: tuple[str, ...]


def saves(path: Path, poll_seconds: float = POLL_SECONDS) -> Iterator[None]:
    """Yields once at the start and then after every change of the file, or of a file in the folder.

    A change counts when two looks in a row agree, so that a file is never read half written.
    """
    seen: State | None = None
    while True:
        now = state(path)
        while now != (after := _later(path, poll_seconds)):
            now = after
        if now != seen:
            seen = now
            yield


def _later(path: Path, seconds: float) -> State:
    time.sleep(seconds)
    return state(path)


def state(path: Path) -> State:
    """Size and time of each file that could be handed in; a file that vanishes is not there."""
    files = [path] if not path.is_dir() else sorted(path.iterdir())
    found = {}
    for file in files:
        try:
            status = file.stat()
        except OSError:
            continue
        if not file.name.startswith(".") and not file.is_dir():
            found[file.name] = (status.st_size, status.st_mtime_ns)
    return found


def difference(before: Result, after: Result) -> Difference:
    """What the later result no longer says, and what it says for the first time.

    Lines move while a student types, so findings are matched by what they are, not where.
    """
    old, new = _said(before), _said(after)
    return Difference(
        fixed=tuple(text for key, text in old.items() if key not in new),
        new=tuple(text for key, text in new.items() if key not in old),
    )


def _said(result: Result) -> dict[tuple[object, ...], str]:
    said: dict[tuple[object, ...], str] = {}
    for finding in findings(result):
        fault = finding.fault
        key = (fault.kind, fault.severity, fault.buffer, fault.access)
        said.setdefault(key, words.fault_text(fault))
    for build in result.builds:
        for diagnostic in build.diagnostics:
            where = words.place(diagnostic.file, diagnostic.line)
            said.setdefault((diagnostic.message,), f"{where}: {diagnostic.message}")
    for case in result.cases:
        if case.mismatch is not None:
            wrong = ("mismatch", case.mismatch.output, case.mismatch.pattern)
            said.setdefault(wrong, f"case {case.name}: {case.mismatch.message}")
    return said
