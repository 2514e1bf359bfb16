"""The instructor's commands: options in, a gradebook and text out."""

from __future__ import annotations

import datetime
import getpass
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from grader import assignment as assignments
from grader import warm
from grader.assignment_schema import Assignment
from grader.batch import class_report, hidden, layouts, origin, roster, settings
from grader.batch.gradebook import NAME, Gradebook
from grader.batch.grades import Grade, grades
from grader.batch.roster import Roster, Student
from grader.errors import UsageError
from grader.report import terminal
from grader.result import Record, Result, Verdict
from grader.sandbox import archive

if TYPE_CHECKING:
    from grader.batch.run import Graders, Job, Outcome  # imported late: it loads the whole line

SHOWN = 12
"""Lines of one kind before the rest is a number."""


class Summary(Record):
    """What `grade batch` did, for --json."""

    assignment: str
    layout: str
    found: int
    skipped: tuple[layouts.Skipped, ...]
    remarks: tuple[str, ...]
    missing: tuple[str, ...]
    graded: int
    left: int
    seconds: float
    verdicts: dict[str, int]
    infrastructure: int
    changes: tuple[str, ...] = ()
    class_page: str | None = None


class Selection(Record):
    """Which submissions to grade, even where they are graded already."""

    only: tuple[str, ...] = ()
    students: tuple[str, ...] = ()
    since: datetime.datetime | None = None

    @property
    def any(self) -> bool:
        """Whether anything is selected."""
        return bool(self.only or self.students or self.since)


def selection(only: Sequence[str], students: Sequence[str], since: str | None) -> Selection:
    """The options as a record. Raises UsageError for what is none."""
    verdicts = []
    for text in only:
        key, _, value = text.partition("=")
        if key != "verdict" or value not in {v.value for v in Verdict}:
            raise UsageError(
                f"expected --only verdict=WORD, found {text!r}",
                "WORD is one of " + ", ".join(v.value for v in Verdict) + ".",
            )
        verdicts.append(value)
    moment = layouts.moment(since) if since else None
    if since and moment is None:
        raise UsageError(f"expected --since 2026-11-30 or 2026-11-30T23:59, found {since!r}")
    return Selection(only=tuple(verdicts), students=tuple(students), since=moment)


def batch(
    name: str,
    submissions: Path,
    *,
    roster_file: Path | None,
    workers: int | None,
    hidden_folder: Path | None,
    gradebook: Path,
    chosen: Selection,
    compare: bool,
    quiet: bool,
    console: Console,
    scheduler: str | None = None,
    weak_sandbox: bool = False,
) -> Summary:
    """Grade a class into the gradebook; everything that was graded already is left alone."""
    assignment = hidden.add(assignments.load(name), hidden_folder)
    people = roster.read(roster_file) if roster_file else None
    with ExitStack() as stack:
        book = stack.enter_context(Gradebook(gradebook, writing=True))
        folder, left_out = _unpacked(submissions, stack)
        due = settings.load(gradebook.parent / settings.NAME).deadline(assignment.name).due
        times = layouts.Times(
            unpacked=folder != submissions, zone=(due and due.tzinfo) or _zone_here()
        )
        finding = layouts.discover(folder, assignment.name, people, times)
        odd = origin.odd_times(finding.found) if due else ()
        finding = finding.model_copy(
            update={
                "skipped": (*left_out, *finding.skipped),
                "remarks": (*finding.remarks, *odd),
            }
        )
        _say_found(console, finding, people, submissions)
        if people:
            book.add_students(people.students)
        if not compare:
            book.set_feedback(assignment.name, assignment.feedback)
        if scheduler is None:
            stack.enter_context(warm.children(many=True))
        from grader.batch import run  # while the warm process starts

        everything = run.jobs(assignment, finding.found)
        wanted = _wanted(book, assignment, everything, chosen, people, compare=compare)
        _say_plan(console, everything, wanted)
        at_a_time = workers or os.cpu_count() or 1
        with _graders(assignment, scheduler, at_a_time, weak_sandbox) as graders:
            outcome, counts = _graded(graders, wanted, book, compare, console, quiet)
        changes = _changes(book, assignment, wanted) if compare else ()
        page = None
        if not compare and everything:
            with terminal.progress(quiet=quiet) as say:
                page = class_report.write(
                    book, assignment.name, step=lambda done: say(f"writing report {done}")
                )
        summary = Summary(
            assignment=assignment.name,
            layout=finding.layout,
            found=len(finding.found),
            skipped=finding.skipped,
            remarks=finding.remarks,
            missing=tuple(s.id for s in layouts.missing(people, finding.found)) if people else (),
            graded=outcome.graded,
            left=outcome.left,
            seconds=round(outcome.seconds, 3),
            verdicts={v.value: counts[v] for v in Verdict if counts[v]},
            infrastructure=counts[Verdict.GRADER_ERROR] + counts[Verdict.NOT_GRADABLE],
            changes=changes,
            class_page=str(page) if page else None,
        )
    _say_done(console, summary, gradebook, compare=compare)
    return summary


def _zone_here() -> datetime.tzinfo:
    """The zone of this machine, for times that say none where no due date says one."""
    return datetime.datetime.now().astimezone().tzinfo or datetime.UTC


def _unpacked(submissions: Path, stack: ExitStack) -> tuple[Path, tuple[layouts.Skipped, ...]]:
    """The folder of submissions; an archive of the class is unpacked into a temporary one, and
    what of it cannot be is named."""
    if not (submissions.is_file() and submissions.name.lower().endswith(archive.SUFFIXES)):
        return submissions, ()
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="grade-class-")))
    when = submissions.stat().st_mtime
    names, odd = archive.unpack_class(submissions, folder)
    for name in names:
        os.utime(folder / name, (when, when))
    left_out = tuple(layouts.Skipped(name=name, reason=why) for name, why in odd.items())
    inner = [p for p in folder.iterdir() if p.name != "__MACOSX"]
    alone = len(inner) == 1 and inner[0].is_dir() and not inner[0].name.endswith("-submissions")
    return (inner[0] if alone else folder), left_out


def _wanted(
    book: Gradebook,
    assignment: Assignment,
    everything: list[Job],
    chosen: Selection,
    people: Roster | None,
    *,
    compare: bool,
) -> list[Job]:
    """What is to be graded: what has no result under its key, or what was selected."""
    students = set()
    for word in chosen.students:
        student = people.find(word) if people else Student(id=word)
        known = {s for job in everything for s in job.found.students}
        if student is None or student.id not in known:
            raise UsageError(f"--student {word}: there is no submission of such a student")
        students.add(student.id)
    verdicts = {row.student: row.verdict.value for row in book.rows(assignment.name)}
    done = book.keys(assignment.name, published=None if compare else True)
    wanted = []
    for job in everything:
        mine = job.found.students
        if chosen.only and not any(verdicts.get(s) in chosen.only for s in mine):
            continue
        if students and not students & set(mine):
            continue
        timed = job.found.time_from not in origin.UNTIMED
        if chosen.since and timed and job.found.submitted < chosen.since:
            continue
        if not chosen.any and all((s, job.key) in done for s in mine):
            continue
        if not compare and not chosen.any and book.publish(assignment.name, job.key, mine):
            continue
        wanted.append(job)
    return wanted


def _graders(
    assignment: Assignment, scheduler: str | None, workers: int, weak_sandbox: bool
) -> AbstractContextManager[Graders]:
    if scheduler is None:
        from grader.batch import run

        return run.here(assignment, workers)
    from grader.batch import cluster

    return cluster.connected(scheduler, assignment, workers, weak_sandbox=weak_sandbox)


def _graded(
    graders: Graders,
    wanted: list[Job],
    book: Gradebook,
    compare: bool,
    console: Console,
    quiet: bool,
) -> tuple[Outcome, Counter[Verdict]]:
    from grader.batch import run

    counts: Counter[Verdict] = Counter()
    progress = Progress(
        TextColumn("grading"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]} {task.fields[counts]}"),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        disable=quiet or not console.is_terminal,
        transient=True,
    )
    with progress:
        bar = progress.add_task("grading", total=len(wanted), rate="", counts="")

        def done(job: Job, result: Result) -> None:
            counts[result.verdict] += 1
            seconds = progress.tasks[0].elapsed or 0.0
            rate = sum(counts.values()) / seconds if seconds else 0.0
            said = " ".join(f"{v.value} {n}" for v, n in counts.most_common(4))
            progress.update(bar, advance=1, rate=f"{rate:.1f}/s", counts=said)
            if not quiet and not console.is_terminal and sum(counts.values()) % 25 == 0:
                console.print(f"{sum(counts.values())} of {len(wanted)}: {said}", markup=False)

        def stopping(running: int) -> None:
            console.print(f"stopping: waiting for {running} being graded (Ctrl-C again drops them)")

        outcome = run.run(
            graders, wanted, book, published=not compare, done=done, stopping=stopping
        )
    return outcome, counts


def _changes(book: Gradebook, assignment: Assignment, wanted: list[Job]) -> tuple[str, ...]:
    """Every grade that publishing would change, in words."""
    stands = {row.attempt: row for row in book.rows(assignment.name)}
    keys = {job.key for job in wanted}
    said = []
    for row in book.rows(assignment.name, published=False):
        before = stands.get(row.attempt)
        if row.key not in keys and before is not None and before.key == row.key:
            continue
        if before is None:
            said.append(f"{row.student}: new: {row.verdict.value}, {_points(row.points)}")
        elif (before.verdict, before.points) != (row.verdict, row.points):
            said.append(
                f"{row.student}: {before.verdict.value}, {_points(before.points)} -> "
                f"{row.verdict.value}, {_points(row.points)}"
            )
    return tuple(said)


def _points(points: int | None) -> str:
    return "no points" if points is None else f"{points} points"


# ---- what is said ------------------------------------------------------------------------------


def _some(console: Console, lines: Sequence[str]) -> None:
    for line in lines[:SHOWN]:
        terminal.line(console, f"  {line}")
    if len(lines) > SHOWN:
        terminal.line(console, f"  and {len(lines) - SHOWN} more")


def _say_found(
    console: Console, finding: layouts.Finding, people: Roster | None, folder: Path
) -> None:
    count = len(finding.found)
    plural = "" if count == 1 else "s"
    terminal.line(console, f"found {count} submission{plural} in {folder} ({finding.layout})")
    if finding.skipped:
        terminal.line(console, f"skipped {len(finding.skipped)}:")
        _some(console, [f"{s.name}: {s.reason}" for s in finding.skipped])
    for remark in finding.remarks:
        terminal.line(console, f"look at this: {remark}")
    if people is None:
        return
    if people.remarks:
        terminal.line(console, "about the roster:")
        _some(console, people.remarks)
    missing = layouts.missing(people, finding.found)
    if missing:
        terminal.line(
            console, f"no submission from {len(missing)} of {len(people.students)} students:"
        )
        _some(console, [f"{s.id} {s.name}".strip() for s in missing])


def _say_plan(console: Console, everything: Sequence[object], wanted: Sequence[object]) -> None:
    if len(wanted) < len(everything):
        terminal.line(
            console,
            f"{len(everything) - len(wanted)} need no grading; {len(wanted)} to grade",
        )


def _say_done(console: Console, summary: Summary, gradebook: Path, *, compare: bool) -> None:
    said = ", ".join(f"{word} {n}" for word, n in summary.verdicts.items()) or "nothing new"
    terminal.line(console, f"graded {summary.graded} in {summary.seconds:.1f} s: {said}")
    if summary.infrastructure:
        terminal.line(
            console,
            f"{summary.infrastructure} have no grade and it is not the students' doing; "
            "`--only verdict=grader_error` tries them again",
        )
    if summary.left:
        terminal.line(console, f"{summary.left} are left; the same command goes on with them")
    if compare:
        count = len(summary.changes)
        terminal.line(console, f"{count} grades would change{':' if count else ''}")
        for line in summary.changes:
            terminal.line(console, f"  {line}")
        terminal.line(
            console, "nothing was published; the same command without --compare does that"
        )
    terminal.line(console, f"gradebook: {gradebook}")
    if summary.class_page:
        terminal.line(console, f"class report: {summary.class_page}")


# ---- an instructor's word ----------------------------------------------------------------------


def who(given: str | None) -> str:
    """Who changes a grade: as given, or the user of this machine."""
    return given or getpass.getuser()


def override(
    name: str, student: str, *, points: int | None, plus: int | None, clear: bool,
    who_: str, why: str, gradebook: Path, console: Console,
) -> None:  # fmt: skip
    """Set, add or withdraw points. Raises UsageError."""
    if (points is not None) + (plus is not None) + clear != 1:
        raise UsageError("expected one of --points, --plus and --clear")
    if points is not None and points < 0:
        raise UsageError(f"expected --points of at least 0, found {points}")
    _existing(gradebook)
    name = assignments.called(name)
    with Gradebook(gradebook, writing=True) as book:
        known = _student(book, student)
        book.override(name, known.id, points=points, plus=plus, who=who_, why=why)
        _say_grade(console, book, name, known, gradebook)


def extend(
    name: str, student: str, *, days: float, who_: str, why: str, gradebook: Path, console: Console
) -> None:
    """Move the due date of one student. Raises UsageError."""
    if days < 0:
        raise UsageError(f"expected --days of at least 0, found {days:g}")
    _existing(gradebook)
    name = assignments.called(name)
    with Gradebook(gradebook, writing=True) as book:
        known = _student(book, student)
        book.extend(name, known.id, days, who=who_, why=why)
        _say_grade(console, book, name, known, gradebook)


def _existing(gradebook: Path) -> None:
    if not gradebook.is_file():
        raise UsageError(
            f"there is no gradebook {gradebook}",
            "`grade batch` makes one; --gradebook FILE names another.",
        )


def _student(book: Gradebook, word: str) -> Student:
    found = Roster(students=tuple(book.students().values())).find(word)
    if found is None:
        raise UsageError(f"there is no student {word!r} in {book.path}")
    return found


def _say_grade(
    console: Console, book: Gradebook, name: str, student: Student, gradebook: Path
) -> None:
    grade = next(g for g in all_grades(book, name, gradebook) if g.student.id == student.id)
    remark = f" ({grade.remark})" if grade.remark else ""
    terminal.line(
        console, f"{student.id}, {name}: {_points(grade.points)} of {grade.out_of}{remark}"
    )


def all_grades(book: Gradebook, name: str, gradebook: Path) -> tuple[Grade, ...]:
    """The grades of an assignment under the `class.toml` beside the gradebook."""
    return grades(book, name, settings.load(gradebook.parent / settings.NAME))


DEFAULT_GRADEBOOK = Path(NAME)
