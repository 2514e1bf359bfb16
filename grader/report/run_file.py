"""`grade run` in a terminal: findings with their source, then what the kernel did."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from grader.report import run_findings, words
from grader.report.terminal import lines, table
from grader.result import Diagnostic
from grader.run_file import FileRun

ENDED = {
    "trap": "the kernel stopped at a trap",
    "assertion": "an assertion failed",
    "fuel": "the kernel did not end",
    "deadlock": "every live thread waits",
    "unsupported": "not supported by the virtual GPU",
    "build_failed": "build failed",
    "time": "the run was stopped",
}


def show(found: FileRun, text: str, out: Console, *, quiet: bool = False) -> None:
    """Print a run of `text`, the file's content; `quiet` prints the one line of the headline."""
    _headline(found, out)
    if quiet:
        return
    if found.reason:
        lines(out, found.reason)
    for diagnostic in _diagnostics(found):
        lines(out, f"{words.place(diagnostic.file, diagnostic.line)}: {diagnostic.message}")
        place = (diagnostic.file, diagnostic.line, diagnostic.column)
        run_findings.source({found.file: text}, *place, out)
    run_findings.show(found.faults, {found.file: text}, out)
    if found.printed:
        out.print()
        lines(out, "\n".join(f"| {row}" for row in found.printed.splitlines()), "dim")
    if found.metrics is not None and found.ended != "unsupported":
        _counts(found, out)
    if found.checks == "bounds":
        lines(out, "Large buffers: only bounds were checked, not races and initialisation.", "dim")


def _headline(found: FileRun, out: Console) -> None:
    what = f"{found.file}: {found.kernel}".removesuffix(": ")
    shape = f"{_shape(found.grid)} blocks of {_shape(found.block)} threads"
    errors = sum(fault.severity == "error" for fault in found.faults)
    others = words.lesser(found.faults)
    if found.ended in ENDED:
        said, style = ENDED[found.ended], "bold red"
    elif errors:
        said, style = f"{errors} error{'s' * (errors > 1)}", "bold red"
    else:
        said, style = "no errors", "bold green"
    if others:
        said += f", {others}"
    lines(out, f"{what}, {shape}: {said}", style)


def _shape(sizes: tuple[int, int, int]) -> str:
    x, y, z = sizes
    return f"{x}×{y}×{z}" if z > 1 else f"{x}×{y}" if y > 1 else str(x)


def _diagnostics(found: FileRun) -> list[Diagnostic]:
    if found.ended != "build_failed":
        return []
    every = [d for build in found.builds for d in build.diagnostics if d.severity == "error"]
    return list(dict.fromkeys(every))[: run_findings.MOST]


def _counts(found: FileRun, out: Console) -> None:
    """The counts a person reads first; --json has all of them, per line too."""
    assert found.metrics is not None, "the caller has looked"
    counts = found.metrics.counts
    rows = [
        ("warp instructions", _count(counts, "warp_instructions")),
        ("active lanes", _share(counts, "lane_instructions", "warp_instructions", 32)),
        ("divergent branches", _of(counts, "divergent_branches", "branches")),
        ("global memory", _share(counts, "global_bytes_useful", "global_bytes_moved")),
        ("shared memory", _share(counts, "shared_wavefronts_ideal", "shared_wavefronts")),
        ("floating point", _count(counts, "flops")),
        ("barriers", _count(counts, "barriers")),
        ("registers", str(found.registers) if found.registers is not None else "unknown"),
    ]
    if found.spill_bytes:
        rows.append(("spilled", f"{found.spill_bytes} bytes"))
    out.print()
    table(out, [(Text(name, style="dim"), Text(value)) for name, value in rows if value])


def _count(counts: dict[str, float], name: str) -> str:
    return words.count(counts[name]) if counts.get(name) else ""


def _of(counts: dict[str, float], part: str, whole: str) -> str:
    if not counts.get(whole):
        return ""
    return f"{words.count(counts.get(part, 0))} of {words.count(counts[whole])}"


def _share(counts: dict[str, float], part: str, whole: str, width: int = 1) -> str:
    """`87 % (useful of moved)` of two counts, the second times `width`."""
    total = counts.get(whole, 0) * width
    if not total:
        return ""
    labels = {
        "lane_instructions": "of the lanes of issued warps",
        "global_bytes_useful": f"useful of {words.count(total)} bytes moved",
        "shared_wavefronts_ideal": f"of ideal: {words.count(total)} wavefronts",
    }
    return f"{100 * counts.get(part, 0) / total:.0f} % {labels[part]}"
