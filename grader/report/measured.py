"""What was measured on real hardware, and by frameworks, as the tables every report shows."""

from __future__ import annotations

from collections.abc import Sequence

from grader.report import words
from grader.result import Baseline, CaseResult, Hardware, Measured, Result, Verdict

Row = tuple[str, ...]


def heading(result: Result) -> str:
    """`Measured on the NVIDIA H200 (sm_90, CUDA 13.0)`; empty where nothing was measured."""
    if result.hardware is None:
        return "Frameworks on this machine" if baselines(result) else ""
    about = ", ".join(filter(None, (result.hardware.architecture, result.hardware.driver)))
    return f"Measured on the {result.hardware.name}" + (f" ({about})" if about else "")


def introduction(result: Result) -> str:
    """What a reader must know before the numbers."""
    if result.hardware is None:
        return ""
    if not any(case.measured for case in result.cases):
        return (
            "Not run there: the virtual GPU found something wrong, and hardware that lets it pass "
            "would overrule nothing."
        )
    copy = result.hardware.copy_bytes_per_second
    text = f"A copy moves {gigabytes(copy)} there. " if copy else ""
    counted = any("measured on" in line.why for line in result.score.lines)
    points = "Speed points come from this time" if counted else "Points come from the modelled time"
    return f"{text}{points}; findings come from the virtual GPU."


def gigabytes(rate: float) -> str:
    """`4,312 GB/s`."""
    return f"{rate / 1e9:,.0f} GB/s"


def rows(result: Result) -> list[Row]:
    """A row for each case that ran on hardware, under a heading; empty where none did."""
    found = [_row(case, case.measured) for case in result.cases if case.measured is not None]
    heading_ = ("case", "there", "measured", "modelled", "of a copy's bandwidth", "remarks")
    return [heading_, *found] if found else []


def _row(case: CaseResult, there: Measured) -> Row:
    share = "" if there.copy_share is None else f"{there.copy_share:.0%}"
    modelled = words.timing(case.timing) if there.timing is not None else ""
    measured = words.timing(there.timing)
    if measured and there.relative_error is not None:
        measured += f" ±{there.relative_error:.1%}"
    return case.name, there.verdict.value, measured, modelled, share, "; ".join(_said(there))


def _said(there: Measured) -> list[str]:
    """What is wrong there, and what to know about its time."""
    said = [f"not believed: {reason}" for reason in there.untrusted]
    if there.verdict is not Verdict.ACCEPTED and there.reason not in there.untrusted:
        said.insert(0, there.reason)
    return [*said, *there.remarks]


def baselines(result: Result) -> list[Row]:
    """A row for each framework and case, under a heading; empty where none was asked for."""
    found = [_baseline(case, baseline) for case in result.cases for baseline in case.baselines]
    heading_ = ("case", "framework", "where", "time", "first call, compiling included", "your time")
    return [heading_, *found] if found else []


def _baseline(case: CaseResult, baseline: Baseline) -> Row:
    named = f"{baseline.framework} {baseline.version}".strip()
    if baseline.nanoseconds is None:
        return case.name, named, "", f"not timed: {baseline.missing}", "", ""
    time = words.duration(baseline.nanoseconds)
    if baseline.relative_error is not None:
        time += f" ±{baseline.relative_error:.1%}"
    first = words.duration(baseline.first_nanoseconds) if baseline.first_nanoseconds else ""
    yours = "" if baseline.ratio is None else f"{baseline.ratio:.2f} × {baseline.framework}"
    if yours and baseline.timer == "wall clock":
        yours += " (its launching counted)"
    return case.name, named, baseline.device, time, first, yours


def sentences(result: Result) -> list[str]:
    """The same in sentences, for a narrow terminal: times, what is odd, and frameworks."""
    said = []
    for name, there, time, modelled, share, remarks in rows(result)[1:]:
        clauses = [
            there if there != Verdict.ACCEPTED.value else "",
            f"{time} measured" if time else "",
            f"{modelled} modelled" if modelled else "",
            f"{share} of a copy's bandwidth" if share else "",
            remarks,
        ]
        if any(clauses):
            said.append(f"{name}: {', '.join(clause for clause in clauses if clause)}")
    for name, framework, where, time, first, yours in baselines(result)[1:]:
        clauses = [f"{time} on {where}" if where else time]
        if framework.startswith("torch.compile") and first:
            clauses.append(f"compiled in {first}")
        said.append(f"{name}: {yours or framework} ({', '.join(clauses)})")
    return said


def facts(hardware: Hardware) -> Sequence[str]:
    """What was probed, a clause each; what is unknown is left out."""
    known = [
        f"{hardware.multiprocessors} multiprocessors" if hardware.multiprocessors else "",
        f"{hardware.clock_hz / 1e6:,.0f} MHz" if hardware.clock_hz else "",
        f"{hardware.memory_bytes / 2**30:,.1f} GiB of memory" if hardware.memory_bytes else "",
        f"{hardware.l2_bytes / 2**20:,.0f} MiB of L2" if hardware.l2_bytes else "",
        f"{gigabytes(hardware.peak_bytes_per_second)} at most"
        if hardware.peak_bytes_per_second
        else "",
    ]
    return [clause for clause in known if clause]
