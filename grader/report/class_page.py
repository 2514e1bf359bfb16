"""The class page, its CSV and the leaderboard, as text made from the records of `class_rows`."""

from __future__ import annotations

import base64
import bisect
import functools
import hashlib
from collections import Counter
from collections.abc import Callable

from jinja2 import Template
from markupsafe import Markup

from grader.report import grades as grade_files
from grader.report import words
from grader.report.cells import table
from grader.report.class_rows import INFRASTRUCTURE, CaseRate, ClassReport, Row
from grader.report.html import environment
from grader.result import Record, Verdict

CODES: dict[Verdict, str] = {
    Verdict.GRADER_ERROR: "GE",
    Verdict.NOT_GRADABLE: "NG",
    Verdict.REFUSED: "RF",
    Verdict.BUILD_FAILED: "BF",
    Verdict.CRASHED: "CR",
    Verdict.BAD_HOST_CALL: "HC",
    Verdict.TIMED_OUT: "TO",
    Verdict.OUT_OF_BOUNDS: "OB",
    Verdict.MISALIGNED: "MA",
    Verdict.INPUT_MODIFIED: "IM",
    Verdict.RACE: "RA",
    Verdict.BAD_BARRIER: "BB",
    Verdict.UNINITIALISED: "UN",
    Verdict.WRONG_ANSWER: "WA",
    Verdict.ACCEPTED: "ok",
}
"""Two letters for a cell of the matrix: a thousand rows of whole words could not be looked at."""

NEARLY_ALL = 0.8
"""A case that this share of the class fails may be the case's fault."""

BINS = 10


class Bin(Record):
    """Students whose points lie in a range; `height` is the share of the highest bin."""

    label: str
    students: int
    height: float


class Place(Record):
    """A place on the leaderboard; nothing here says who it is but the pseudonym."""

    rank: int
    pseudonym: str
    language: str
    time: str
    ratio: str


class Board(Record):
    """The leaderboard: what was timed, and the places."""

    case: str
    how: str
    places: tuple[Place, ...]
    elsewhere: int


def render(report: ClassReport, *, leaderboard: bool = False) -> str:
    """The class page as one HTML file that needs no network; scripts only sort its tables."""
    failing = [row for row in report.rows if row.failed]
    return _template("class.html.j2").render(
        report=report,
        words=words,
        Verdict=Verdict,
        codes=CODES,
        ends=[end for end in Verdict if any(end in row.cases.values() for row in failing)],
        tones={end: _tone(end) for end in Verdict},
        sections=any(row.grade.student.section for row in report.rows),
        bins=bins(report),
        worst=_worst(report),
        nearly_all=NEARLY_ALL,
        cases=sorted(report.cases, key=lambda case: -_rate(case.failed, case.graded)),
        matrix=sorted(failing, key=lambda row: _pattern(report, row)),
        without_cases=sum(not row.cases for row in report.submitted),
        leaderboard=leaderboard,
        policy=_policy(),
    )


def render_board(report: ClassReport, pseudonym: Callable[[str], str]) -> str:
    """The leaderboard as a page of its own, which names nobody."""
    return _template("leaderboard.html.j2").render(
        report=report, board=board(report, pseudonym), words=words, policy=_policy()
    )


def csv(report: ClassReport, pseudonym: Callable[[str], str] | None = None) -> str:
    """A line per student: the grade, what was found, and how each case ended."""
    header = [*grade_files.HEADER, "language", "faults", "pattern", "first_thing_wrong"]
    header += ["pseudonym"] if pseudonym else []
    header += [f"case {case.name}" for case in report.cases]
    lines = []
    for row in report.rows:
        cells = [*grade_files.cells(row.grade), row.language, " ".join(row.kinds), row.pattern,
                 words.clean(row.reason)]  # fmt: skip
        cells += [pseudonym(row.grade.student.id)] if pseudonym else []
        cells += [row.cases[case.name].value if case.name in row.cases else ""
                  for case in report.cases]  # fmt: skip
        lines.append(cells)
    return table(header, lines)


def bins(report: ClassReport) -> tuple[Bin, ...]:
    """The points of the class in at most BINS ranges; full points and more are in the last one."""
    points = report.points
    if not points:
        return ()
    count = min(BINS, max(report.out_of, 1))
    edges = [report.out_of * i // count for i in range(count)]
    counts = [0] * count
    for value in points:
        counts[bisect.bisect_right(edges, max(value, 0)) - 1] += 1
    tops = [edge - 1 for edge in edges[1:]] + [report.out_of]
    return tuple(
        Bin(label=f"{low} to {top}", students=students, height=students / max(counts))
        for low, top, students in zip(edges, tops, counts, strict=True)
    )


def board(report: ClassReport, pseudonym: Callable[[str], str]) -> Board | None:
    """The accepted kernels by time in one case; None where nothing was timed.

    Times of another case, source or device cannot be compared and are only counted.
    """
    timed = [row for row in report.rows if row.speed is not None]
    kinds = Counter((r.speed.case, r.speed.source, r.speed.device) for r in timed if r.speed)
    if not kinds:
        return None
    (case, source, device), count = kinds.most_common(1)[0]
    mine = [r for r in timed if r.speed and
            (r.speed.case, r.speed.source, r.speed.device) == (case, source, device)]  # fmt: skip
    mine.sort(key=lambda row: (row.speed.nanoseconds if row.speed else 0.0,
                               pseudonym(row.grade.student.id)))  # fmt: skip
    places: list[Place] = []
    for number, row in enumerate(mine, start=1):
        assert row.speed is not None
        time = words.duration(row.speed.nanoseconds)
        tied = bool(places) and places[-1].time == time
        places.append(
            Place(
                rank=places[-1].rank if tied else number,
                pseudonym=pseudonym(row.grade.student.id),
                language=words.LANGUAGES.get(row.language or "", row.language or ""),
                time=time,
                ratio=f"{row.speed.ratio:.2f}" if row.speed.ratio is not None else "",
            )
        )
    return Board(case=case, how=f"{source} on the {device}", places=tuple(places),
                 elsewhere=len(timed) - count)  # fmt: skip


def _tone(end: Verdict) -> str:
    """The colour of a cell: what kind of mistake it is; its letters say which."""
    if end is Verdict.ACCEPTED:
        return "ok"
    if end in INFRASTRUCTURE:
        return "none"
    if end in (Verdict.RACE, Verdict.BAD_BARRIER, Verdict.UNINITIALISED):
        return "order"
    return "value" if end is Verdict.WRONG_ANSWER else "no"


def _rate(failed: int, graded: int) -> float:
    return failed / graded if graded else 0.0


def _worst(report: ClassReport) -> CaseRate | None:
    """The case that most fail, the first of those that tie; None where nobody fails."""
    failed = [case for case in report.cases if case.failed]
    return max(failed, key=lambda case: _rate(case.failed, case.graded), default=None)


def _pattern(report: ClassReport, row: Row) -> tuple[int, tuple[str, ...], str]:
    """Rows that fail alike stand together, those that fail most first."""
    ends = tuple(row.cases.get(case.name, Verdict.ACCEPTED) for case in report.cases)
    return -row.failed, tuple(CODES[end] for end in ends), row.grade.student.id


@functools.cache
def _script() -> str:
    return environment().get_template("sort.js").render()


@functools.cache
def _policy() -> str:
    """What the page may load and run: its own style and the script that sorts, nothing else."""
    digest = base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


@functools.cache
def _template(name: str) -> Template:
    made = environment()
    made.globals["class_style"] = Markup(made.get_template("class.css").render())
    made.globals["script"] = Markup(_script())
    return made.get_template(name)
