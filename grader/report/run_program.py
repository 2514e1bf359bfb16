"""`grade run` of a whole program in a terminal: what it printed, what was found, what it did."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from grader.report import run_findings, words
from grader.report.run_findings import Texts
from grader.report.terminal import lines, table
from grader.result import Diagnostic
from grader.run_program import ProgramRun

PRINTED_LINES = 200
ENDED = {
    "died": "the program died",
    "odd": "the program spoke to the device in an unknown way",
    "unsupported": "not supported by the virtual GPU",
    "fuel": "a kernel did not end",
    "deadlock": "a kernel waits for ever",
    "time": "the run was stopped",
    "memory": "the run was stopped",
    "build_failed": "build failed",
}
LESS = "If no loop is endless, give the program less to do: smaller sizes, fewer repetitions."


def show(found: ProgramRun, texts: Texts, out: Console, *, quiet: bool = False) -> None:
    """Print a run of the program that `texts` are; `quiet` prints the headline only."""
    if not quiet:
        _printed(found, out)
    _headline(found, out)
    if quiet:
        return
    failed = not all(build.ok for build in found.builds)
    if found.reason and not failed:
        lines(out, found.reason)
        if found.ended == "fuel":
            lines(out, LESS, indent=2)
    for diagnostic in _said(found, failed)[: run_findings.MOST]:
        place = words.place(diagnostic.file, diagnostic.line)
        lines(out, f"{'' if failed else 'note: '}{place}: {diagnostic.message}")
        if failed:
            run_findings.source(texts, diagnostic.file, diagnostic.line, diagnostic.column, out)
    run_findings.show(found.faults, texts, out)
    if not failed:
        _counts(found, out)


def _said(found: ProgramRun, failed: bool) -> list[Diagnostic]:
    """A compiler's errors; of a host half that was built, what it uses that is not served."""
    if failed:
        return [d for b in found.builds for d in b.diagnostics if d.severity == "error"]
    return [d for d in found.builds[0].diagnostics if d.severity != "error"]


def _printed(found: ProgramRun, out: Console) -> None:
    for printed, style in ((found.stdout, ""), (found.stderr, "dim")):
        rows = printed.splitlines()
        for row in rows[:PRINTED_LINES]:
            out.print(Text(f"| {words.clean(row)}", style=style), crop=False, soft_wrap=True)
        if len(rows) > PRINTED_LINES:
            lines(out, f"| and {len(rows) - PRINTED_LINES} more lines (--json has them all)", "dim")


def _headline(found: ProgramRun, out: Console) -> None:
    errors = sum(fault.severity == "error" for fault in found.faults)
    others = words.lesser(found.faults)
    said, style = "no errors", "bold green"
    if errors:
        said, style = f"{errors} error{'s' * (errors > 1)}", "bold red"
    if found.ended in ENDED:
        said, style = ENDED[found.ended] + (f", {said}" if errors else ""), "bold red"
    elif found.exit_status:
        said, style = f"it exited with status {found.exit_status}, {said}", "bold red"
    if others:
        said += f", {others}"
    lines(out, f"{found.file}: {said}", style)


def _counts(found: ProgramRun, out: Console) -> None:
    launched = ", ".join(
        name + (f" {times} times" if times > 1 else "") for name, times in found.launches.items()
    )
    rows = [
        ("launched", launched or "no kernel"),
        ("modelled time", f"{words.duration(found.kernel_ns)} in kernels, "
         f"{words.duration(found.modelled_ns)} with copies (of an A100; no measurement)"),
    ]  # fmt: skip
    out.print()
    table(out, [(Text(name, style="dim"), Text(value)) for name, value in rows])
