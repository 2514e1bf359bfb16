"""`grade run script.py` in a terminal: what the script printed, then each kernel it launched."""

from __future__ import annotations

from rich.console import Console

from grader.languages.triton_program import KernelRun, ScriptRun
from grader.report import run_file, words
from grader.report.terminal import lines
from grader.run_file import FileRun

CONTIGUOUS = "pass them, or the tensor's .contiguous(), unless the memory is meant as it lies"


def show(found: ScriptRun, text: str, out: Console, *, quiet: bool = False) -> None:
    """Print a run of `text`, the script's content; `quiet` prints a line for each kernel."""
    if found.printed and not quiet:
        lines(out, "\n".join(f"| {row}" for row in found.printed.rstrip().splitlines()), "dim")
    for kernel in found.kernels:
        if not quiet:
            out.print()
        run_file.show(_as_file_run(found, kernel), text, out, quiet=quiet)
        if not quiet:
            for view in kernel.views:
                lines(out, f"note: {view}: {CONTIGUOUS}", "dim")
            lines(out, _time(kernel), "dim")
    if not found.kernels:
        lines(out, f"{found.file}: no Triton kernel was launched", "bold")
    if found.error:
        out.print()
        lines(out, f"{words.place(found.file, found.error_line)}: {found.error}", "bold red")


def _as_file_run(found: ScriptRun, kernel: KernelRun) -> FileRun:
    """One kernel's launches in the form of a run of one kernel."""
    return FileRun(
        file=found.file,
        kernel=kernel.kernel,
        grid=kernel.grid,
        block=kernel.block,
        shared_bytes=0,
        ended=kernel.ended,
        reason=kernel.reason,
        checks=found.checks,
        faults=kernel.faults,
        metrics=kernel.metrics,
    )


def _time(kernel: KernelRun) -> str:
    times = "" if kernel.launches == 1 else f" in {kernel.launches} launches"
    return f"modelled time {kernel.modelled_milliseconds:.4f} ms{times}"
