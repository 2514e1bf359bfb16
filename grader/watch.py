"""Waits for a submission to be saved, and says what changed between two results."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from grader.report import words
from grader.report.findings import findings, source
from grader.result import Fault, Record, Result, Verdict

POLL_SECONDS = 0.05

State = dict[str, tuple[int, int]]

_WITHOUT_A_FINDING = (Verdict.REFUSED, Verdict.NOT_GRADABLE, Verdict.GRADER_ERROR)
"""Verdicts that their reason alone explains."""


class Difference(Record):
    """Findings, diagnostics and mismatches that are gone, and those that are new."""

    fixed: tuple[str, ...]
    new: tuple[str, ...]


class Said(NamedTuple):
    """One thing that is wrong: what it is, the text of its line, and words for it."""

    key: tuple[Hashable, ...]
    line: str
    text: str


Same = Callable[[Said], Hashable]
"""What two results' findings must agree on to be the same."""


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

    Lines move while a student types, so findings are matched by what they are and by the text of
    their line, then by what they are alone: a line that was edited and is still wrong is not news.
    Where the later one did not get to run, nothing is known of what the runs found: none is fixed.
    """
    old, new = [*_said(before, runs=bool(after.cases))], [*_said(after)]
    same: Same
    for same in (lambda one: (one.key, one.line), lambda one: one.key):
        old, new = [*_only(old, new, same)], [*_only(new, old, same)]
    return Difference(fixed=tuple(one.text for one in old), new=tuple(one.text for one in new))


def _only(these: Iterable[Said], others: Iterable[Said], same: Same) -> Iterator[Said]:
    """Those without a partner among the others; each has one partner at most."""
    partners = Counter(map(same, others))
    for one in these:
        partners[same(one)] -= 1
        if partners[same(one)] < 0:
            yield one


def remembered(before: Result | None, after: Result) -> Result:
    """What the next result is compared with: the later one, with the last runs there were."""
    if before is None or after.cases:
        return after
    return after.model_copy(update={"cases": before.cases, "files": before.files})


def _said(result: Result, *, runs: bool = True) -> Iterator[Said]:
    """Each thing that is wrong, once; what the runs found only if `runs`."""
    if result.verdict in _WITHOUT_A_FINDING:
        yield Said((result.verdict,), "", result.reason)
    messages = dict.fromkeys(
        (diagnostic.message, words.place(diagnostic.file, diagnostic.line))
        for build in result.builds
        for diagnostic in build.diagnostics
    )
    for message, where in messages:
        yield Said((message,), "", f"{where}: {message}")
    for finding in findings(result) if runs else ():
        fault = finding.fault
        key = (fault.kind, fault.severity, fault.buffer, fault.access)
        yield Said(key, _line(result, fault), words.fault_text(fault))
    wrong: dict[tuple[Hashable, ...], str] = {}
    for case in result.cases if runs else ():
        if (mismatch := case.mismatch) is not None:
            what = ("mismatch", mismatch.output, mismatch.pattern)
            wrong.setdefault(what, f"case {case.name}: {mismatch.message}")
    for known, message in wrong.items():
        yield Said(known, "", message)


def _line(result: Result, fault: Fault) -> str:
    """The text of the line a fault stands on, without its indentation."""
    file = source(result, fault.file)
    lines = (file.text or "").splitlines() if file else []
    return lines[fault.line - 1].strip() if fault.line and fault.line <= len(lines) else ""
