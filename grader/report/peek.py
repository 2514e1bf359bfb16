"""`grade peek` in a terminal: a block for each framework and backend."""

from __future__ import annotations

import textwrap

from rich.console import Console
from rich.text import Text

from grader.peek import Kernel, Line, Peek, where

INDENT = 18
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
        ("cite", kernel.citation),
    ):
        if text:
            _row(label, text, "", out)


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
        out.print(Text(" " * INDENT + place, style="cyan"), soft_wrap=True)
