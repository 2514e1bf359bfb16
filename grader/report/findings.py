"""What a report says first: the findings of a result, each once, and the one that leads."""

from __future__ import annotations

from grader.result import (
    CaseResult,
    Fault,
    LineMetrics,
    Record,
    Result,
    Severity,
    SourceFile,
    Verdict,
)
from grader.verdict import VERDICT_OF_FAULT, telling


class Finding(Record):
    """One fault as it stands in the report: a telling one of its kind, line and buffer.

    `cases` names every case that showed it, first the one whose fault this is.
    """

    fault: Fault
    verdict: Verdict | None
    cases: tuple[str, ...]


def findings(result: Result) -> tuple[Finding, ...]:
    """The faults of a result, as `of_cases` has them."""
    return of_cases(result.cases)


def of_cases(cases: tuple[CaseResult, ...]) -> tuple[Finding, ...]:
    """The faults of all cases, one per kind, severity, file, line and buffer; errors first.

    Warnings and notes follow; inside a severity the order is that of the verdict table, then of
    the source, leaks last.
    """
    groups: dict[tuple[object, ...], list[tuple[CaseResult, Fault]]] = {}
    for case in cases:
        for fault in case.faults:
            key = (fault.kind, fault.severity, fault.file, fault.line, fault.buffer, fault.access)
            groups.setdefault(key, []).append((case, fault))
    found = [
        Finding(
            fault=_telling(members),
            verdict=_verdict(members[0][1]),
            cases=_cases(members),
        )
        for members in groups.values()
    ]
    return tuple(sorted(found, key=_order))


def _cases(members: list[tuple[CaseResult, Fault]]) -> tuple[str, ...]:
    told = _telling(members)
    first = next(case.name for case, fault in members if fault is told)
    return tuple(dict.fromkeys((first, *(case.name for case, _ in members))))


def _telling(members: list[tuple[CaseResult, Fault]]) -> Fault:
    """The fault that shows the mistake best: in a buffer with a warp's elements, else with any,
    and done by several lanes."""
    faults = [fault for _, fault in members]
    shaped = [f for f in faults if f.kind == "unwritten" and ": " in f.message]
    if shaped:  # what is missing has a shape, which an output that is wholly missing has not
        return next((fault for fault in shaped if (fault.extent or 0) >= 32), shaped[0])
    full = [fault for fault in faults if (fault.extent or 0) >= 32]
    if full:
        return next((fault for fault in full if fault.count >= 8), full[0])
    return next((fault for fault in faults if fault.extent != 0), faults[0])


def _verdict(fault: Fault) -> Verdict | None:
    """The verdict a fault leads to; None for warnings and notes, which change nothing."""
    return VERDICT_OF_FAULT[fault.kind] if fault.severity is Severity.ERROR else None


def _order(finding: Finding) -> tuple[int, int, bool, str, int]:
    fault = finding.fault
    severity = list(Severity).index(fault.severity)
    rank = finding.verdict.rank if finding.verdict else len(Verdict)
    # What was left allocated changes no number: it waits behind whatever does.
    return severity, rank, fault.kind == "leak", fault.file or "", fault.line or 0


def leading_fault(result: Result) -> Finding | None:
    """The finding that the verdict rests on, or None where the verdict has another cause."""
    return leading(result.verdict, result.cases)


def leading(verdict: Verdict, cases: tuple[CaseResult, ...]) -> Finding | None:
    """The finding that a verdict of these cases rests on."""
    return next((f for f in of_cases(cases) if f.verdict is verdict), None)


def wrong_beside(result: Result) -> str:
    """The wrong numbers that say most, where a finding leads: in words, or nothing.

    They may be another mistake than the one that leads, and would else be seen when that is mended.
    """
    if leading_fault(result) is None:
        return ""
    wrong = [case for case in result.cases if case.mismatch is not None and not case.hidden]
    told = [case for case in wrong if case.mismatch is not None and case.mismatch.pattern]
    case = next(iter(told or wrong), None)
    return f"case {case.name}: {case.mismatch.message}" if case and case.mismatch else ""


def leading_case(result: Result) -> CaseResult | None:
    """The case that shows best why the result has its verdict."""
    return telling(result.verdict, result.cases)


def telling_line(case: CaseResult) -> LineMetrics | None:
    """The source line that a case without a faulty line is about: the one that stores to global
    memory where numbers are wrong or missing, the busiest one where the time ran out."""
    if case.verdict is Verdict.TIMED_OUT and case.metrics is not None:
        return max(case.metrics.lines, key=_instructions, default=None)
    return next(iter(stores(case)), None)


class Waste(Record):
    """The source line that costs an accepted kernel most beyond what it needs, in words."""

    line: LineMetrics
    words: str


def waste(cases: tuple[CaseResult, ...]) -> Waste | None:
    """The line with the most needless memory traffic, bank conflicts or queued atomics in the
    largest case; None where no line needs twice what would do."""
    case = widest(cases)
    if case is None or case.metrics is None:
        return None
    found: list[tuple[float, LineMetrics, str]] = []
    for line in case.metrics.lines:
        for name, ideal_name, text in WASTES:
            cost = line.counts.get(name, 0.0)
            ideal = line.counts.get(ideal_name, 0.0) if ideal_name else 0.0
            if cost >= 2 * max(ideal, 1.0):
                said = text.format(cost=f"{cost:,.0f}", ideal=f"{ideal:,.0f}")
                found.append((cost - ideal, line, f"{said} (case {case.name})"))
    if not found:
        return None
    _, line, text = max(found, key=lambda item: item[0])
    return Waste(line=line, words=text)


WASTES = (
    (
        "global_sectors",
        "global_sectors_ideal",
        "{cost} sectors of 32 bytes are moved where {ideal} would do",
    ),
    (
        "shared_wavefronts",
        "shared_wavefronts_ideal",
        "bank conflicts make {cost} passes over shared memory where {ideal} would do",
    ),
    ("atomic_serialisation", None, "{cost} atomic operations queue up at one address"),
)
"""Counts of a line, what would do, and the words for it."""


def widest(cases: tuple[CaseResult, ...]) -> CaseResult | None:
    """The case whose counts per line say most: the one that executed most."""
    counted = [case for case in cases if case.metrics is not None and case.metrics.lines]
    return max(counted, key=_all_instructions, default=None)


def _all_instructions(case: CaseResult) -> float:
    return case.metrics.counts.get("warp_instructions", 0.0) if case.metrics else 0.0


def _instructions(line: LineMetrics) -> float:
    return line.counts.get("warp_instructions", 0.0)


def stores(case: CaseResult) -> tuple[LineMetrics, ...]:
    """The lines that wrote to global memory in a case with wrong or missing numbers, in order;
    where none stored, those with atomic operations. Of several kernels those count that were given
    the output."""
    outputs = {fault.buffer for fault in case.faults if fault.kind == "unwritten"}
    if case.mismatch is not None and not outputs:  # what is missing leads what is wrong
        outputs = {case.mismatch.output}
    if case.metrics is None or not outputs:
        return ()
    lines = case.metrics.lines
    if any(line.stores_to for line in lines):
        lines = tuple(line for line in lines if outputs & {*line.stores_to})
    for name in ("global_store_requests", "atomics"):
        found = tuple(line for line in lines if line.counts.get(name, 0) > 0)
        if found:
            return found
    return ()


def source(result: Result, name: str | None) -> SourceFile | None:
    """The file of the submission that a finding names, by name or by the end of its path."""
    if name is None:
        return None
    return next(
        (f for f in result.files if f.text is not None and same_file(f.name, name)),
        None,
    )


def same_file(one: str, other: str) -> bool:
    """Whether two names mean the same file of a submission: compilers may add or drop a folder."""
    return one == other or one.rsplit("/", 1)[-1] == other.rsplit("/", 1)[-1]


class Excerpt(Record):
    """A few source lines around one: (number, text) pairs, the marked line, and a caret column.

    `caret` counts characters from 0 into the shown text, where tabs are already four spaces.
    """

    lines: tuple[tuple[int, str], ...]
    marked: int
    caret: int | None


def excerpt(text: str, line: int, column: int | None, around: int = 2) -> Excerpt | None:
    """Cut the lines around `line` (from 1). The caret stands at `column` (from 1), else under the
    first character of the line. None when the file has no such line."""
    rows = text.splitlines()
    if not 1 <= line <= len(rows):
        return None
    first, last = max(1, line - around), min(len(rows), line + around)
    marked = rows[line - 1]
    before = marked[: column - 1] if column else marked[: len(marked) - len(marked.lstrip())]
    return Excerpt(
        lines=tuple((n, rows[n - 1].expandtabs(4).rstrip()) for n in range(first, last + 1)),
        marked=line,
        caret=len(before.expandtabs(4)) if marked.strip() else None,
    )
