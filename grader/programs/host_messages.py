"""What clang and lld say of a host half, as diagnostics in the program's own files.

An error inside a header belongs to the line of the program that led there: the line that includes
the header, or the first of the program's own lines that clang's notes name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from grader.programs.unserved import FOLDER, SAYS
from grader.result import Diagnostic

HARNESS = "grade_harness.cu"
"""The name of the `main()` of ours behind a `solve` function."""

Severity = Literal["error", "warning"]

_HEAD = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): "
    r"(?P<severity>fatal error|error|warning|note): (?P<message>.*)$"
)
_INCLUDED = re.compile(r"^(?:In file included from|\s+from) (?P<file>[^\n:]+):(?P<line>\d+)[:,]")
_SERVED = re.compile(r"^'([\w:]+)(?:<.*>)?' is (?:unavailable|deprecated): (.*)$")


@dataclass
class _Said:
    """One message of clang's, with the includes that led to its file and the notes behind it."""

    file: str
    line: int
    column: int
    severity: Severity
    message: str
    includes: list[tuple[str, int]]
    notes: list[tuple[str, int]] = field(default_factory=list)

    def place(self) -> tuple[str, int, int | None] | None:
        """Where in the program's own files it belongs."""
        if _own(self.file):
            return self.file, self.line, self.column
        for file, line in [*reversed(self.includes), *self.notes]:
            if _own(file):
                return file, line, None
        return None


def of_clang(log: str, file: str) -> list[Diagnostic]:
    """Errors of a compilation of `file`, or of one that succeeded the warnings about what is not
    served. What is not served explains the rest, so where it is an error nothing else is told.
    """
    found: list[Diagnostic] = []
    for said in _messages(log):
        if said.file == HARNESS:
            found.append(_contract(said.message, file))
        elif said.severity != "warning" or SAYS in said.message:
            found.append(_diagnostic(said, file))
    unique = list(dict.fromkeys(found))
    unserved = [d for d in unique if d.severity == "error" and SAYS in d.message]
    return unserved or unique


def failed(log: str, file: str) -> list[Diagnostic]:
    """The same of a compilation that failed: never empty."""
    said = of_clang(log, file)
    if any(d.severity == "error" for d in said):
        return said
    return [Diagnostic(file=file, severity="error", message=log.strip()[-500:])]


def of_linker(said: str, file: str) -> Diagnostic:
    """What lld says, where the program is not whole."""
    undefined = re.findall(r"undefined symbol: (.+)", said)
    if "main" in undefined:
        message = "expected a function main(), found none: this is no whole program"
    elif undefined:
        names = ", ".join(dict.fromkeys(undefined[:3]))
        message = f"declared but defined nowhere: {names}"
    else:
        message = said.strip()[-500:]
    return Diagnostic(file=file, severity="error", message=message)


def _messages(log: str) -> Iterator[_Said]:
    includes: list[tuple[str, int]] = []
    last: _Said | None = None
    for line in log.splitlines():
        if chain := _INCLUDED.match(line):
            includes.append((_name(chain["file"]), int(chain["line"])))
            continue
        if head := _HEAD.match(line):
            place = _name(head["file"]), int(head["line"])
            if head["severity"] == "note":
                if last is not None:
                    last.notes.append(place)
            else:
                if last is not None:
                    yield last
                severity: Severity = "warning" if head["severity"] == "warning" else "error"
                last = _Said(
                    *place, int(head["column"]), severity, head["message"], includes
                )  # fmt: skip
            includes = []
    if last is not None:
        yield last


def _name(file: str) -> str:
    return file.removeprefix("./")


def _own(file: str) -> bool:
    return not Path(file).is_absolute() and PurePosixPath(file).parts[:1] != (FOLDER,)


def _diagnostic(said: _Said, file: str) -> Diagnostic:
    message = said.message.strip('"')
    if unserved := _SERVED.match(message):
        message = f"{unserved[1]}: {unserved[2]}"
    place = said.place()
    if place is None:
        return Diagnostic(
            file=file, severity=said.severity, message=f"in {Path(said.file).name}: {message}"
        )  # fmt: skip
    where, line, column = place
    if column is None and SAYS not in message:
        message = f"in {Path(said.file).name}: {message}"
    return Diagnostic(
        file=where, line=line, column=column, severity=said.severity, message=message
    )  # fmt: skip


def _contract(message: str, file: str) -> Diagnostic:
    """What the compiler says of our call of the student's function, in the contract's words."""
    expected = re.search(r"expected (void .*)$", message)
    if expected:
        given = re.search(r"std::is_same<void \(\*\)(\([^)]*\))", message)
        found = f", found {given[1]}" if given else ""
        message = f"expected {expected[1]}{found}"
    return Diagnostic(file=file, severity="error", message=message)
