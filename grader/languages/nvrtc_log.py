"""Reads NVRTC's log: diagnostics with file, line and column, and what ptxas says of resources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from grader.languages.cuda_compilation import Message, Resources
from grader.result import Diagnostic

_HEAD = re.compile(
    r"^(?P<file>.+?)\((?P<line>\d+)\): "
    r"(?P<severity>catastrophic error|error|warning|remark|note)(?P<number> #[\w-]+)?: "
    r"(?P<message>.*)$"
)
_END_OF_SOURCE = re.compile(r"^At end of source: (?:error|warning)(?: #[\w-]+)?: (?P<message>.*)$")
_PTXAS = re.compile(
    r"^ptxas (?:application ptx input, line (?P<line>\d+); )?(?P<severity>error|fatal)\s*: "
    r"(?P<message>.*)$"
)
_CLOSING = re.compile(r"^(?:\d+ errors? detected in the compilation of|Remark: The warnings can)")
_CARET = re.compile(r"^(?P<before>[ \t]+)\^\s*$")
_INDENT = 2  # NVRTC indents the source line and its caret by two characters


def messages(log: str, last_line: int | None = None) -> tuple[Message, ...]:
    """The compiler's messages in their order.

    `last_line` stands for "at end of source". The column is 1-based: the caret's 0-based place in
    the log less the two characters by which NVRTC indents the source line. A message of ptxas has
    the line of the PTX text, under the file name "ptx".
    """
    return tuple(_message(block, last_line) for block in _blocks(log.splitlines()))


def resources(log: str) -> dict[str, Resources]:
    """Registers, spills and static shared memory by entry, from `--ptxas-options=-v`."""
    found: dict[str, Resources] = {}
    entry: str | None = None
    spills = 0
    for line in log.splitlines():
        if start := re.match(r"ptxas info\s*: Compiling entry function '([^']+)'", line):
            entry, spills = start[1], 0
        elif spill := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            spills = int(spill[1]) + int(spill[2])
        elif entry and (used := re.match(r"ptxas info\s*: Used (\d+) registers", line)):
            shared = re.search(r"(\d+) bytes smem", line)
            found[entry] = Resources(int(used[1]), spills, int(shared[1]) if shared else 0)
            entry = None
    return found


def _blocks(lines: Sequence[str]) -> Iterator[tuple[re.Match[str], list[str]]]:
    """The log cut into messages: each head with the lines that follow it."""
    head: re.Match[str] | None = None
    block: list[str] = []
    for line in lines:
        start = _HEAD.match(line) or _END_OF_SOURCE.match(line) or _PTXAS.match(line)
        if start or _CLOSING.match(line) or line.startswith("ptxas "):
            if head:
                yield head, block
            head, block = start, [line]
        elif head:
            block.append(line)
    if head:
        yield head, block


def _message(block: tuple[re.Match[str], list[str]], last_line: int | None) -> Message:
    head, lines = block
    fields = head.groupdict()
    column = None
    wording = [fields["message"]]
    for index, line in enumerate(lines[1:], start=1):
        if caret := _CARET.match(line):
            column = len(caret["before"]) - _INDENT + 1
            # Between the head and the source line stand argument lists and candidates.
            wording += [more.strip() for more in lines[1 : index - 1] if more.strip()]
            break
    severity: Literal["error", "warning", "note"] = "error"
    if "severity" in fields and fields["severity"] in ("warning", "remark", "note"):
        severity = "warning" if fields["severity"] == "warning" else "note"
    file = fields.get("file")
    number = fields.get("line")
    at_end = head.re is _END_OF_SOURCE
    diagnostic = Diagnostic(
        file=file or ("" if at_end else "ptx"),
        line=last_line if at_end else int(number) if number else None,
        column=column,
        severity=severity,
        message="; ".join(wording).strip(),
    )
    return Message(diagnostic, (fields.get("number") or "").strip(), tuple(lines))
