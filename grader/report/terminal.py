"""The report in a terminal: verdict, the finding that leads, one next step, points, cases."""

from __future__ import annotations

import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from grader.report import measured, words
from grader.report import notes as noted
from grader.report.findings import (
    Finding,
    excerpt,
    findings,
    leading_case,
    leading_fault,
    source,
    telling_line,
    waste,
    wrong_beside,
)
from grader.result import CaseResult, Diagnostic, Result, Severity, Verdict

if TYPE_CHECKING:  # what makes these imports the whole line; showing them does not
    from grader.devices.survey import Survey
    from grader.new import Created
    from grader.student_repository import LaidOut
    from grader.verify import Verification
    from grader.watch import Difference

WIDTH = 80
CASES_SHOWN = 12
LOG_LINES = 12
MOST_FOUND = 100
STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def console(*, stderr: bool = False) -> Console:
    """A console of at most 80 columns, plain where the output is no terminal or NO_COLOR is set."""
    made = Console(stderr=stderr, highlight=False, emoji=False, markup=False, soft_wrap=False)
    made.width = min(made.width, WIDTH)
    return made


@contextmanager
def progress(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Gives a function to call at each step; steps show on a terminal after half a second."""
    screen = Console(stderr=True)
    if quiet or not screen.is_terminal:
        yield lambda text: None
        return
    status = screen.status("reading the submission", spinner="line")
    timer = threading.Timer(0.5, status.start)
    timer.start()
    try:
        yield lambda text: status.update(Text(text))
    finally:
        timer.cancel()
        timer.join()
        status.stop()


def show(
    result: Result,
    out: Console,
    *,
    quiet: bool = False,
    verbose: bool = False,
    brief: bool = False,
    folder: Path | None = None,
) -> None:
    """Print a result.

    `quiet` is one line; `verbose` adds every case, finding and log; `brief` leaves out points.
    """
    if quiet:
        title = f"{result.assignment}: {result.verdict.value}, {words.points(result.score)}"
        lines(out, title)
        return
    _headline(out, result, "" if brief else words.points(result.score))
    _cause(out, result)
    if result.next_step:
        lines(out, f"Next: {result.next_step}", "bold")
        out.print()
    _more(out, result, verbose)
    if not brief:
        _score(out, result)
    _cases(out, result, verbose)
    _measured(out, result)
    if not brief:
        _notes(out, result)
    for mention in result.mentions:
        lines(out, mention)
    if verbose:
        _details(out, result)
    if folder is not None:
        lines(out, f"Report: {folder / 'report.html'}", whole=True)


def lines(
    out: Console, text: str, style: str = "", indent: int = 0, *, whole: bool = False
) -> None:
    """Print text wrapped to the console, whatever it holds.

    `whole` breaks no word: for lines with a path or an address, which somebody copies.
    """
    for line in words.clean(text).splitlines() or [""]:
        for piece in _wrap(_ascii(out, words.cut(line)), out.width - indent, whole=whole):
            _row(out, Text(" " * indent + piece, style=style))


def line(out: Console, text: str) -> None:
    """Print text with the indentation it begins with on every row, breaking no word."""
    indent = len(text) - len(text.lstrip())
    lines(out, text[indent:], indent=indent, whole=True)


def _row(out: Console, text: Text) -> None:
    text.rstrip()
    out.print(text, no_wrap=True, overflow="ignore", crop=False)


def _wrap(line: str, width: int, *, whole: bool = False) -> list[str]:
    return textwrap.wrap(
        line,
        max(20, width),
        break_on_hyphens=False,
        break_long_words=not whole,
        drop_whitespace=True,
        tabsize=4,
    ) or [""]


def table(out: Console, rows: Sequence[tuple[Text, ...]], right: tuple[int, ...] = ()) -> None:
    """Columns two spaces apart; the last one wraps, the columns of `right` are aligned right."""
    widths = [max(len(row[i].plain) for row in rows) for i in range(len(rows[0]) - 1)]
    indent = sum(widths) + 2 * len(widths)
    for *cells, last in rows:
        line = Text()
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            gap = " " * (width - len(cell.plain))
            line.append(gap if i in right else "").append_text(cell)
            line.append(("" if i in right else gap) + "  ")
        said = words.cut(words.clean(last.plain))
        first, *more = _wrap(_ascii(out, said), out.width - indent)
        _row(out, line.append(first, style=last.style))
        for piece in more:
            _row(out, Text(" " * indent).append(piece, style=last.style))


def _ascii(out: Console, text: str) -> str:
    if out.encoding.lower().startswith("utf"):
        return text
    plain = text.replace("µ", "u").replace("×", "x").replace("…", "...").replace("·", "-")
    return plain.encode(out.encoding, "replace").decode(out.encoding)


def _headline(out: Console, result: Result, score: str) -> None:
    lines(out, words.subject(result))
    title = words.TITLES[result.verdict].upper()
    style = "bold green" if result.verdict is Verdict.ACCEPTED else "bold red"
    if result.verdict in (Verdict.GRADER_ERROR, Verdict.NOT_GRADABLE):
        style = "bold yellow"
    gap = max(2, out.width - len(title) - len(score))
    _row(out, Text(title, style=style).append(" " * gap + score, style="not bold default"))
    out.print()


def _cause(out: Console, result: Result) -> None:
    """The one finding, mismatch, diagnostic or reason behind the verdict, with its source."""
    finding, case = leading_fault(result), leading_case(result)
    if finding is not None:
        _finding(out, result, finding)
    elif result.verdict is Verdict.BUILD_FAILED:
        _diagnostics(out, result)
    elif case is not None and case.mismatch and result.verdict is Verdict.WRONG_ANSWER:
        lines(out, f"case {case.name}: {case.mismatch.message}")
        _telling_line(out, result, case)
    elif result.reason:
        lines(out, result.reason)
        wasted = waste(result.cases) if words.slow(result.score) else None
        if result.verdict is Verdict.ACCEPTED and wasted is not None:
            place = words.place(wasted.line.file, wasted.line.line)
            lines(out, f"{place}: {wasted.words}")
            _source(out, result, wasted.line.file, wasted.line.line, None)
        elif case is not None:
            _telling_line(out, result, case)
        else:
            out.print()


def _telling_line(out: Console, result: Result, case: CaseResult) -> None:
    """The source line that a finding without a line is about, where the counts know it."""
    line = telling_line(case)
    if line is None or source(result, line.file) is None:
        out.print()
    else:
        _source(out, result, line.file, line.line, None)


def _finding(out: Console, result: Result, finding: Finding) -> None:
    fault = finding.fault
    lines(out, words.fault_text(fault))
    _source(out, result, fault.file, fault.line, fault.column)
    other = fault.other
    if other is not None and other.line is not None and other.line != fault.line:
        lines(out, f"the other access, {words.other(other, result.language)}:", indent=2)
        _source(out, result, other.file or fault.file, other.line, None, around=1)
    if fault.line is None:
        case = next(case for case in result.cases if case.name == finding.cases[0])
        _telling_line(out, result, case)
    if len(finding.cases) > 1:
        more = len(finding.cases) - 1
        lines(out, f"in case {finding.cases[0]} and {more} more", "dim", indent=2)
    elif finding.cases:
        lines(out, f"in case {finding.cases[0]}", "dim", indent=2)
    out.print()


def _source(
    out: Console,
    result: Result,
    file: str | None,
    line: int | None,
    column: int | None,
    around: int = 2,
) -> None:
    text = source(result, file)
    cut = excerpt(text.text, line, column, around) if text and text.text and line else None
    if cut is None:
        return
    width = len(str(cut.lines[-1][0]))
    room = out.width - width - 6
    out.print()
    for number, row in cut.lines:
        shown = words.clean(row)
        shown = shown if len(shown) <= room else shown[: room - 3] + "..."
        marker = ">" if number == cut.marked else " "
        style = "bold" if number == cut.marked else "dim"
        _row(out, Text(_ascii(out, f" {marker} {number:>{width}} | {shown}"), style=style))
        if number == cut.marked and cut.caret is not None and cut.caret < room:
            _row(out, Text(f"   {'':>{width}} | {' ' * cut.caret}^", style="bold red"))
    out.print()


def _diagnostics(out: Console, result: Result) -> None:
    shown = [d for build in result.builds for d in build.diagnostics if d.severity == "error"]
    unique = list(dict.fromkeys(shown))
    if not unique and result.reason:
        lines(out, result.reason)
        out.print()
        return
    for diagnostic in unique[:3]:
        _diagnostic(out, result, diagnostic)
    if len(unique) > 3:
        lines(out, f"and {len(unique) - 3} more errors (--verbose shows the compiler's log)")
        out.print()


def _diagnostic(out: Console, result: Result, diagnostic: Diagnostic) -> None:
    where = words.place(diagnostic.file, diagnostic.line)
    lines(out, f"{where}: {diagnostic.message}")
    _source(out, result, diagnostic.file, diagnostic.line, diagnostic.column)


def _more(out: Console, result: Result, verbose: bool) -> None:
    """The findings beside the leading one."""
    leading = leading_fault(result)
    rest = [f for f in findings(result) if leading is None or f.fault is not leading.fault]
    shown = [f for f in rest if verbose or f.fault.severity != Severity.NOTE]
    shown = shown[: MOST_FOUND if verbose else 5]
    wrong = wrong_beside(result)
    if not shown and not wrong:
        return
    lines(out, "Also found")
    if wrong:
        lines(out, f"wrong numbers: {wrong}", indent=2)
    for finding in shown:
        fault = finding.fault
        lines(out, f"{fault.severity.value}: {words.fault_text(fault)}", indent=2)
        if fault.advice and verbose:
            lines(out, fault.advice, "dim", indent=4)
    if len(rest) > len(shown):
        where = "in report.html" if verbose else "with --verbose"
        lines(out, f"{len(rest) - len(shown)} more {where}", "dim", indent=2)
    out.print()


def _score(out: Console, result: Result) -> None:
    if not result.score.lines:
        return
    rows = []
    for line in result.score.lines:
        style = "red" if line.points < line.out_of else "green"
        number = Text(f"{line.points}/{line.out_of}", style=style)
        rows.append((Text(line.item), number, Text(line.why)))
    table(out, rows, right=(1,))
    out.print()


def _cases(out: Console, result: Result, verbose: bool) -> None:
    if not result.cases:
        return
    bad = [case for case in result.cases if case.verdict is not Verdict.ACCEPTED]
    if not bad and not verbose:
        lines(
            out,
            f"All {len(result.cases)} cases accepted."
            if len(result.cases) > 1
            else "The one case is accepted.",
        )
        out.print()
        return
    shown = result.cases if verbose or len(result.cases) <= CASES_SHOWN else bad[:CASES_SHOWN]
    head = tuple(Text(title, style="dim") for title in ("case", "sizes", "verdict", ""))
    table(
        out,
        [
            head,
            *(
                (Text(c.name), Text(words.sizes(c)), _verdict(c), Text(_said(c, verbose)))
                for c in shown
            ),
        ],
    )
    if len(result.cases) > len(shown):
        passed = len(result.cases) - len(bad)
        text = f"{passed} of {len(result.cases)} cases accepted"
        if len(bad) > len(shown):
            text += f"; {len(bad) - len(shown)} more failed (--verbose shows all)"
        lines(out, text)
    out.print()


def _measured(out: Console, result: Result) -> None:
    heading = measured.heading(result)
    if not heading:
        return
    lines(out, heading, "bold")
    if result.hardware is not None:
        lines(out, measured.introduction(result))
    for text in measured.sentences(result):
        lines(out, text, indent=2)
    out.print()


def _verdict(case: CaseResult) -> Text:
    style = "green" if case.verdict is Verdict.ACCEPTED else "red"
    return Text(case.verdict.value, style=style)


def _said(case: CaseResult, verbose: bool) -> str:
    if case.verdict is Verdict.ACCEPTED:
        return words.timing(case.timing)
    return words.what_happened(case) if verbose else words.in_short(case)


def _notes(out: Console, result: Result) -> None:
    if result.notes is None:
        return
    for problem in result.notes.problems:
        lines(out, f"{words.place(problem.file, problem.line)}: {problem.message}")
    for entry in result.notes.entries:
        lines(out, f"notes, {entry.framework}: {entry.verdict}")
        for claim in entry.claims:
            worth = noted.points(claim)
            worth = f", {worth}" if worth else ""
            lines(out, f"{claim.claim}: {claim.verdict}{worth}. {claim.reason}", indent=2)
    heading, *rows = noted.rows(result.notes) or ((),)
    for row in rows:
        lines(out, row[0])
        for kernel, said in zip(heading[1:], row[1:], strict=True):
            lines(out, f"{kernel}: {said}", indent=2)
    for reason in result.notes.not_compiled:
        lines(out, f"not compared: {reason}")
    if result.notes.problems or result.notes.entries:
        out.print()


def _details(out: Console, result: Result) -> None:
    for case in result.cases:
        if case.printed:
            lines(out, f"Printed by case {case.name}")
            # The bar keeps a line that looks like a CI command from being one.
            lines(out, "\n".join(f"| {row}" for row in case.printed.splitlines()), "dim")
    for build in result.builds:
        options = " ".join(build.options)
        lines(out, f"{build.compiler} {build.version} {options}: {'ok' if build.ok else 'failed'}")
        rows = build.log.splitlines()
        if len(rows) > 2 * LOG_LINES:
            cut = len(rows) - 2 * LOG_LINES
            rows = [*rows[:LOG_LINES], f"({cut} lines left out)", *rows[-LOG_LINES:]]
        if rows:
            lines(out, "\n".join(f"| {row}" for row in rows), "dim")
    for name, version in result.versions.items():
        lines(out, f"{name} {version}", "dim")
    out.print()


def show_difference(found: Difference, out: Console) -> None:
    """Print what changed since the last check."""
    for text in found.fixed:
        lines(out, f"fixed: {text}", "green")
    for text in found.new:
        lines(out, f"new: {text}", "red")
    if not found.fixed and not found.new:
        lines(out, "nothing changed since the last check", "dim")
    out.print()


def show_survey(found: Survey, out: Console) -> None:
    """Print what `grade devices` found: a row per language and device, with the reason if not."""
    rows = []
    for item in found.found:
        ready = item.missing is None
        state = Text("ready" if ready else "no", style="green" if ready else "yellow")
        rows.append((Text(f"{item.kind} {item.name}"), state, Text(item.missing or item.detail)))
    table(out, rows)
    if found.next_step:
        out.print()
        lines(out, found.next_step)


def show_verification(
    found: Verification, out: Console, *, quiet: bool = False, verbose: bool = False
) -> None:
    """Print what `grade verify` found: what failed, with `verbose` everything, then the sums."""
    failed = [check for check in found.checks if not check.ok]
    rows = []
    for check in () if quiet else found.checks if verbose else failed:
        state = Text("ok" if check.ok else "FAILED", style="green" if check.ok else "red")
        text = f"expected {check.expected}, found {check.found}. {check.detail}"
        said = f"{check.found}, {check.seconds:.1f} s" if check.ok else text
        rows.append((state, Text(f"{check.assignment} {check.name}"), Text(said)))
    if rows:
        table(out, rows)
        out.print()
    sums = []
    for name in dict.fromkeys(check.assignment for check in found.checks):
        mine = [check for check in found.checks if check.assignment == name]
        bad = sum(not check.ok for check in mine)
        state = Text(f"{bad} failed" if bad else "ok", style="red" if bad else "green")
        sums.append((Text(name), state, Text(_checks(len(mine)))))
    if sums:
        table(out, sums)
    lines(out, f"{_checks(len(found.checks))} in {found.seconds:.1f} s, {len(failed)} failed")


def _checks(count: int) -> str:
    return f"{count} check{'s' * (count != 1)}"


def show_created(made: Created, out: Console, *, quiet: bool = False) -> None:
    """Print what `grade new` wrote, a row for each folder, and what comes next."""
    if quiet:
        lines(out, _near(made.folder))
        return
    does = {
        "assignments": "assignment.toml, inputs.py, README.md, known submissions",
        "reference": "a reference kernel for each language, frameworks.py",
        "student_template": "what students start from",
    }
    rows = []
    for folder in (made.folder, *made.beside):
        count = sum(file.is_relative_to(folder) for file in made.files)
        said = does.get(folder.parent.name, does["assignments"])
        rows.append((Text(_near(folder)), Text(f"{count} file{'s' * (count != 1)}"), Text(said)))
    lines(out, f"{made.name}, like {made.like}, in {', '.join(made.languages)}:")
    table(out, rows)
    if made.hides is not None:
        lines(out, f"In this course it stands for the {made.name} in {made.hides.parent}.")
    out.print()
    lines(out, f"Next: grade verify {made.name}")
    lines(out, "Then change it step by step: docs/instructor-guide.md shows how.")


def show_laid_out(made: LaidOut, out: Console, *, quiet: bool = False) -> None:
    """Print what `grade new --student-template` wrote, and what to do with it."""
    if quiet:
        lines(out, str(made.folder))
        return
    lines(out, f"{made.folder}: {len(made.files)} files, for {', '.join(made.assignments)}")
    out.print()
    lines(
        out,
        "Next: in requirements.txt put your grader's address for REPOSITORY; in grade.toml say "
        "where submissions go. Then push it as your students' template.",
    )


def _near(path: Path) -> str:
    """A path from the current folder, where it is inside of it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
