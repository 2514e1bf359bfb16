"""`grade peek` in a terminal: a block for each framework and backend."""

from __future__ import annotations

import textwrap

from rich.console import Console
from rich.text import Text

from grader import peek_live
from grader.languages.inductor_run import COMPARED, Measured
from grader.peek import Kernel, Line, Peek, where

INDENT = 24
BACKENDS = {
    "compile-triton": "torch.compile on CUDA",
    "cpu": "CPU",
    "cuda": "CUDA",
    "metal": "Metal",
    "mps": "MPS",
}
NAMES = {"numpy": "numpy", "pytorch": "PyTorch", "mlx": "MLX", "cupy": "CuPy"}


def show(found: Peek, out: Console) -> None:
    """Print every kernel that was found."""
    for number, kernel in enumerate(found.kernels):
        if number:
            out.print()
        _kernel(found.operation, kernel, out)


def _kernel(operation: str, kernel: Kernel, out: Console) -> None:
    name = NAMES[kernel.framework]
    backend = BACKENDS[kernel.backend]
    out.print(Text(f"{operation} in {name} on {backend}", style="bold") if "torch" not in backend
              else Text(f"{operation} in {backend}", style="bold"))  # fmt: skip
    _row("version", f"{kernel.version}, {kernel.version_from}", "", out)
    if kernel.title:
        _row("runs", kernel.title, "", out)
    for line in (*kernel.steps, *kernel.facts):
        _line(line, out)
    for label, text in (
        ("per thread", kernel.elements_per_thread),
        ("the lesson", kernel.lesson),
        ("here", kernel.ran),
        ("profiled", peek_live.words(kernel.live)),
        *(("DISAGREES", text) for text in kernel.disagrees),
        ("cite", kernel.citation),
    ):
        if text:
            _row(label, text, "", out)
    for measured in kernel.generated:
        _generated(measured, out)


def _generated(measured: Measured, out: Console) -> None:
    """A kernel that torch.compile wrote, its mask marked, and what it does beside ours."""
    one = measured.generated
    chosen = ", ".join(f"{name} = {value}" for name, value in one.configuration.items())
    out.print()
    _row(f"N = {one.size:,}", f"{one.mask}. {chosen}; torch {one.torch_version}", "", out)
    for number, line in enumerate(one.source.splitlines(), start=1):
        masked = number in one.mask_lines
        shown = f"{'mask' if masked else '':>5} {number:>3} | {line}"[: out.width]
        out.print(Text(shown, style="bold" if masked else "dim"), crop=False)
    errors = sum(fault.severity == "error" for fault in measured.faults)
    said = "right" if measured.right else "WRONG"
    _row("on the virtual GPU", f"the numbers are {said}; {errors or 'no'} errors found", "", out)
    for name in COMPARED:
        theirs = measured.metrics.counts.get(name, 0)
        ours = measured.reference.counts.get(name, 0) if measured.reference else None
        beside = "" if ours is None else f" (the reference kernel: {ours:,.0f})"
        _row(f"  {name}", f"{theirs:,.0f}{beside}", "", out)


def _line(line: Line, out: Console) -> None:
    _row(line.name, line.text, where(line), out)


def _row(label: str, text: str, place: str, out: Console) -> None:
    """A label, wrapped text, and below it the place on a line of its own, never broken."""
    width = max(20, out.width - INDENT)
    lines = textwrap.wrap(text, width) or [""]
    out.print(Text(f"{label:<{INDENT}}{lines[0]}"))
    for more in lines[1:]:
        out.print(Text(" " * INDENT + more))
    if place:
        indent = max(2, min(INDENT, out.width - len(place)))
        out.print(Text(" " * indent + place, style="cyan"), soft_wrap=True)
