"""A graded class as records: who got what, which cases fail and how, from grades and results.

Results are read one at a time, so that a class of thousands needs no more memory than its rows.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from grader.batch.grades import Grade
from grader.report import words
from grader.report.findings import findings, leading_fault
from grader.result import CaseResult, Record, Result, Severity, Timing, Verdict

INFRASTRUCTURE = (Verdict.GRADER_ERROR, Verdict.NOT_GRADABLE)
"""Verdicts that are not the student's doing."""


def fails(end: Verdict) -> bool:
    """Whether a case that ended so failed by the student's doing."""
    return end is not Verdict.ACCEPTED and end not in INFRASTRUCTURE


class Speed(Record):
    """The time of an accepted kernel in the case that took the reference longest.

    The measured one where a device measured it and it is believed, else the modelled one.
    """

    case: str
    source: str
    device: str
    nanoseconds: float
    ratio: float | None


class Row(Record):
    """One student: the grade, what led to it, and how each case ended.

    `report` is the address of the student's own report, relative to the page. `kinds` are the
    kinds of faults of error severity, `pattern` is what the wrong numbers have in common.
    """

    grade: Grade
    language: str | None = None
    reason: str = ""
    report: str | None = None
    cases: dict[str, Verdict] = {}
    items: dict[str, tuple[int, int]] = {}
    kinds: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    pattern: str | None = None
    speed: Speed | None = None

    @property
    def infrastructure(self) -> bool:
        """Whether there is no grade and it is not the student's doing."""
        return self.grade.verdict in INFRASTRUCTURE

    @property
    def failed(self) -> int:
        """How many cases failed by the student's doing."""
        return sum(map(fails, self.cases.values()))


class CaseRate(Record):
    """How a case went in the class; the failures by verdict, most first."""

    name: str
    sizes: str
    hidden: bool
    graded: int
    failed: int
    verdicts: tuple[tuple[Verdict, int], ...]


class ItemRate(Record):
    """How a rubric item went: students, their mean points, and how many have all or none."""

    name: str
    out_of: int
    students: int
    mean: float
    full: int
    none: int


class Kind(Record):
    """Students whose submission shows something, and one of them to look at."""

    name: str
    students: int
    example: Row


class ClassReport(Record):
    """Everything the class page shows. `rows` are in the roster's order."""

    assignment: str
    out_of: int
    rows: tuple[Row, ...]
    cases: tuple[CaseRate, ...]
    items: tuple[ItemRate, ...]
    kinds: tuple[Kind, ...]
    warnings: tuple[Kind, ...]
    patterns: tuple[Kind, ...]

    @property
    def points(self) -> tuple[int, ...]:
        """The points of everybody who has some, missing submissions left out."""
        return tuple(
            r.grade.points for r in self.rows if r.grade.attempts and r.grade.points is not None
        )

    @property
    def mean(self) -> float | None:
        """Mean points of those who have some."""
        return statistics.fmean(self.points) if self.points else None

    @property
    def median(self) -> float | None:
        """Median points of those who have some."""
        return statistics.median(self.points) if self.points else None

    @property
    def submitted(self) -> tuple[Row, ...]:
        """Who handed something in."""
        return tuple(row for row in self.rows if row.grade.attempts)

    @property
    def missing(self) -> tuple[Row, ...]:
        """Who has not."""
        return tuple(row for row in self.rows if not row.grade.attempts)

    @property
    def late(self) -> tuple[Row, ...]:
        """Whose counting attempt was late."""
        return tuple(row for row in self.rows if row.grade.late_days)

    @property
    def untimed(self) -> tuple[Row, ...]:
        """Students whose hand-in time is not known, where something was due."""
        return tuple(row for row in self.rows if row.grade.untimed)

    @property
    def infrastructure(self) -> tuple[Row, ...]:
        """Who has no grade through no doing of theirs."""
        return tuple(row for row in self.rows if row.infrastructure)

    @property
    def verdicts(self) -> tuple[tuple[Verdict, int], ...]:
        """How many have each verdict, most first."""
        found = Counter(row.grade.verdict for row in self.rows if row.grade.verdict is not None)
        return tuple(sorted(found.items(), key=lambda item: (-item[1], item[0].rank)))


def summarise(
    assignment: str,
    grades: Sequence[Grade],
    result_of: Callable[[int], Result],
    report_of: Callable[[Grade], str | None] = lambda grade: None,
) -> ClassReport:
    """The class report of an assignment.

    `result_of` reads the result of a row of the gradebook; `report_of` says where a student's own
    report stands, or None where there is none.
    """
    rows: list[Row] = []
    shown: dict[str, CaseResult] = {}
    for grade in grades:
        if grade.result is None:
            rows.append(Row(grade=grade))
            continue
        result = result_of(grade.result)
        for case in result.cases:
            shown.setdefault(case.name, case)
        rows.append(_row(grade, result, report_of(grade)))
    return ClassReport(
        assignment=assignment,
        out_of=next((row.grade.out_of for row in rows), 100),
        rows=tuple(rows),
        cases=_cases(rows, shown),
        items=_items(rows),
        kinds=_kinds(rows, lambda row: row.kinds),
        warnings=_kinds(rows, lambda row: row.warnings),
        patterns=_kinds(rows, lambda row: (row.pattern,) if row.pattern else ()),
    )


def _row(grade: Grade, result: Result, report: str | None) -> Row:
    found = findings(result)
    leading = leading_fault(result)
    wrong = next((c.mismatch for c in result.cases if c.mismatch and c.mismatch.pattern), None)
    counts = leading is None and result.verdict is Verdict.WRONG_ANSWER
    return Row(
        grade=grade,
        language=result.language,
        reason=words.without_place(words.fault_text(leading.fault)) if leading else _first(result),
        report=report,
        cases={case.name: case.verdict for case in result.cases},
        items={line.item: (line.points, line.out_of) for line in result.score.lines},
        kinds=_distinct(f.fault.kind for f in found if f.fault.severity is Severity.ERROR),
        warnings=_distinct(f.fault.kind for f in found if f.fault.severity is Severity.WARNING),
        pattern=wrong.pattern if wrong and counts else None,
        speed=_speed(result),
    )


def _first(result: Result) -> str:
    """What is wrong in a sentence, for a result that no fault leads."""
    if result.verdict is Verdict.ACCEPTED:
        return ""
    errors = (d for build in result.builds for d in build.diagnostics if d.severity == "error")
    if result.verdict is Verdict.BUILD_FAILED and (first := next(errors, None)) is not None:
        return f"{words.place(first.file, first.line)}: {first.message}"
    wrong = next((case.mismatch for case in result.cases if case.mismatch is not None), None)
    return wrong.message if wrong and result.verdict is Verdict.WRONG_ANSWER else result.reason


def _distinct(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))


def _speed(result: Result) -> Speed | None:
    if result.verdict is not Verdict.ACCEPTED:
        return None
    timed = [case for case in result.cases if _time(case) is not None and not case.hidden]
    case = max(timed, key=_weight, default=None)
    time = _time(case) if case is not None else None
    if case is None or time is None:
        return None
    return Speed(
        case=case.name,
        source=time.source,
        device=time.device,
        nanoseconds=time.nanoseconds,
        ratio=time.ratio_to_reference,
    )


def _time(case: CaseResult) -> Timing | None:
    there = case.measured
    if there is not None and there.timing is not None and not there.untrusted:
        return there.timing
    return case.timing


def _weight(case: CaseResult) -> float:
    """The reference's time, so that everybody is compared on the same case."""
    timing = case.reference.timing if case.reference else None
    return timing.nanoseconds if timing else math.prod(case.sizes.values())


def _cases(rows: Sequence[Row], shown: dict[str, CaseResult]) -> tuple[CaseRate, ...]:
    rates = []
    for name, case in shown.items():
        ends = [row.cases[name] for row in rows if name in row.cases]
        ends = [end for end in ends if end not in INFRASTRUCTURE]
        failed = Counter(filter(fails, ends))
        rates.append(
            CaseRate(
                name=name,
                sizes=words.sizes(case),
                hidden=case.hidden,
                graded=len(ends),
                failed=failed.total(),
                verdicts=tuple(failed.most_common()),
            )
        )
    return tuple(rates)


def _items(rows: Sequence[Row]) -> tuple[ItemRate, ...]:
    names = _distinct(name for row in rows for name in row.items)
    rates = []
    for name in names:
        earned = [row.items[name] for row in rows if name in row.items and not row.infrastructure]
        if not earned:
            continue
        rates.append(
            ItemRate(
                name=name,
                out_of=max(most for _, most in earned),
                students=len(earned),
                mean=statistics.fmean(points for points, _ in earned),
                full=sum(points == most for points, most in earned),
                none=sum(points == 0 for points, most in earned if most),
            )
        )
    return tuple(rates)


def _kinds(rows: Sequence[Row], of: Callable[[Row], tuple[str, ...]]) -> tuple[Kind, ...]:
    """What several students have in common, most first."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        for name in of(row):
            found.setdefault(name, []).append(row)
    kinds = [Kind(name=name, students=len(have), example=have[0]) for name, have in found.items()]
    return tuple(sorted(kinds, key=lambda kind: -kind.students))
