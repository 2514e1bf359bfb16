"""The findings of a `grade run` in a terminal, each with its lines of the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from grader.report import words
from grader.report.findings import excerpt
from grader.report.terminal import STYLES, lines
from grader.result import Fault

MOST = 20

Texts = Mapping[str, str]
"""The files that were run, by the names findings give them."""


def show(faults: Sequence[Fault], texts: Texts, out: Console) -> None:
    """Print the first `MOST` findings and how many more there are."""
    for fault in faults[:MOST]:
        out.print()
        lines(out, f"{fault.severity.value}: {words.fault_text(fault)}", STYLES[fault.severity])
        other = fault.other
        if other is not None and other.line is not None and other.line != fault.line:
            lines(out, f"the other access: {words.place(other.file, other.line)}", indent=2)
        source(texts, fault.file, fault.line, fault.column, out)
        if fault.advice:
            lines(out, fault.advice, indent=2)
    if len(faults) > MOST:
        lines(out, f"and {len(faults) - MOST} more findings (--json has them all)")


def source(
    texts: Texts, file: str | None, line: int | None, column: int | None, out: Console
) -> None:
    """Print the lines around a place, where it is in one of the files."""
    text = texts.get(file or "")
    cut = excerpt(text, line, column, around=1) if text and line else None
    for number, row in cut.lines if cut else ():
        marked = cut is not None and number == cut.marked
        shown = f" {'>' if marked else ' '} {number:>5} | {words.clean(row)}"[: out.width]
        out.print(Text(shown, style="bold" if marked else "dim"), crop=False)
