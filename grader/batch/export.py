"""`grade export`: grades and results from the gradebook, or one result, as files for elsewhere."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console

from grader import assignment as assignments
from grader.assignment_schema import Feedback
from grader.batch import bundle, class_report, settings
from grader.batch.gradebook import Gradebook
from grader.batch.grades import Grade, anonymous, grades
from grader.errors import GradeError, UsageError
from grader.feedback import withheld
from grader.report import classroom, feedback, gradescope, junit, replace, sarif, terminal
from grader.report import grades as grade_files
from grader.report import json as result_json
from grader.result import Result

OF_A_CLASS = ("csv", "canvas", "moodle", "feedback", "class")
OF_A_RESULT = ("junit", "sarif", "gradescope", "classroom50")
TARGETS = (*OF_A_CLASS, *OF_A_RESULT, "gradescope-bundle")

Graded = Sequence[tuple[Grade, Result | None]]


def export(
    name: str,
    to: str,
    *,
    gradebook: Path,
    result: Path | None,
    fill: Path | None,
    column: str | None,
    out: Path | None,
    hide_names: bool,
    console: Console,
) -> None:
    """Write the export and say where it is. Raises UsageError."""
    if to not in TARGETS:
        raise UsageError(f"expected --to {', '.join(TARGETS)}; found {to!r}")
    if to == "gradescope-bundle":
        path = out or Path(f"{Path(name).name}-gradescope.zip")
        _write(path, bundle.gradescope(assignments.load(name)))
        terminal.line(console, f"{path}: upload it under Configure Autograder")
        return
    if result is not None:
        _one(name, to, _read(result), out, console)
        return
    level = _level(name)
    name = assignments.called(name)
    with Gradebook(gradebook) as book:
        found = grades(book, name, settings.load(gradebook.parent / settings.NAME))
        if not any(grade.attempts for grade in found):
            raise UsageError(f"{gradebook} has no grades of {name}",
                             "`grade batch` grades submissions into it.")  # fmt: skip
        if hide_names:
            if to == "canvas":
                raise UsageError("Canvas needs names; --anonymous cannot go with it")
            found = anonymous(found, book.secret())
        if to == "class":
            page = class_report.write(
                book, name, folder=out, found=found if hide_names else None,
                result_of=(lambda row: _without_names(book.result(row, level)))
                if hide_names else None,
            )  # fmt: skip
            terminal.line(console, f"{page}: {len(found)} students")
        elif to == "canvas":
            _canvas(name, found, fill, column, out, console)
        elif to in ("csv", "moodle"):
            text = {"csv": grade_files.plain, "moodle": grade_files.moodle}[to](found)
            path = out or Path(f"{name}-{'grades' if to == 'csv' else 'moodle'}.csv")
            _write(path, text.encode("utf-8-sig" if to == "csv" else "utf-8"))
            terminal.line(console, f"{path}: {len(found)} students")
        else:
            now = datetime.datetime.now(datetime.UTC)
            deadline = settings.load(gradebook.parent / settings.NAME).deadline(name)
            graded = [(g, book.result(g.result, level) if g.result else None) for g in found]
            graded = [
                (g, withheld(r) if r and deadline.withholds(now, g.extension_days) else r)
                for g, r in graded
            ]
            if hide_names:
                graded = [(g, _without_names(r) if r else None) for g, r in graded]
            folder = out or Path(f"{name}-{to}")
            _results(to, name, graded, folder, console)


def _level(name: str) -> Feedback | None:
    """How much students may see as the assignment says now; None where it is not at hand."""
    try:
        return assignments.load(name).feedback
    except GradeError:
        return None


def _one(name: str, to: str, result: Result, out: Path | None, console: Console) -> None:
    """One result without a gradebook: for CI and editors."""
    if to not in OF_A_RESULT:
        raise UsageError(f"--to {to} is about a class: it needs --gradebook, not --result")
    text = {
        "junit": lambda: junit.render([(result.assignment, result)]),
        "sarif": lambda: sarif.render([(result.assignment, result)]),
        "gradescope": lambda: gradescope.render(result),
        "classroom50": lambda: classroom.classroom50(result, os.environ),
    }[to]()
    default = {"junit": "junit.xml", "sarif": "results.sarif", "gradescope": "results.json",
               "classroom50": "result.json"}[to]  # fmt: skip
    path = out or Path(f"{Path(name).name}-{default}")
    _write(path, text.encode())
    terminal.line(console, f"{path}: {result.verdict.value}")


def _canvas(
    name: str, found: Sequence[Grade], fill: Path | None, column: str | None, out: Path | None,
    console: Console,
) -> None:  # fmt: skip
    if fill is None:
        raise UsageError(
            "expected --fill FILE, the gradebook as Canvas exports it",
            "In Canvas: Grades, Export, Export Entire Gradebook.",
        )
    try:
        data = fill.read_bytes()
    except OSError as error:
        raise UsageError(f"{fill}: cannot be read: {error.strerror}") from None
    filled = grade_files.canvas(data, found, name, column)
    path = out or Path(f"{name}-canvas.csv")
    _write(path, filled.data)
    terminal.line(console, f"{path}: {filled.filled} grades in {filled.column}")
    if filled.scale:
        terminal.line(console, f"  {filled.scale}, as Canvas's Points Possible says")
    if filled.no_grade:
        terminal.line(
            console, f"  without a grade, left as they were: {', '.join(filled.no_grade)}"
        )
    if filled.not_in_canvas:
        terminal.line(console, f"  not in Canvas's file: {', '.join(filled.not_in_canvas)}")


def _results(to: str, name: str, graded: Graded, out: Path, console: Console) -> None:
    """What is made of the results themselves: a file of all, or a folder with one for each."""
    with_result = [(g, r) for g, r in graded if r is not None]
    if to in ("junit", "sarif"):
        render: Callable[[Sequence[tuple[str, Result]]], str]
        render = junit.render if to == "junit" else sarif.render
        named = [(g.student.id, r) for g, r in with_result]
        if to == "sarif" and len(named) > sarif.MOST_RUNS:
            terminal.line(
                console, f"GitHub takes {sarif.MOST_RUNS} runs in a file; this one has more"
            )
        path = out.with_suffix(".xml" if to == "junit" else ".sarif")
        _write(path, render(named).encode())
        terminal.line(console, f"{path}: {len(named)} results")
        return
    files: dict[str, bytes] = {}
    if to == "feedback":
        everyone = [(g, feedback.files(g, r)) for g, r in graded]
        for grade, texts in everyone:
            for file, text in texts.items():
                files[f"{feedback.folder(grade)}/{file}"] = text.encode()
        files["moodle-feedback.zip"] = feedback.moodle_archive(everyone)
    else:
        for grade, result in with_result:
            if to == "gradescope":
                text = gradescope.render(result, grade.points)
                files[f"{feedback.folder(grade)}/results.json"] = text.encode()
            else:
                when = grade.submitted.isoformat(timespec="seconds") if grade.submitted else ""
                owner = {"OWNER": grade.student.id}
                text = classroom.classroom50(
                    result, owner, points=grade.points, when=classroom.zulu(when)
                )
                files[f"{feedback.folder(grade)}/result.json"] = text.encode()
    for file, data in files.items():
        _write(out / file, data)
    terminal.line(console, f"{out}: {len(graded if to == 'feedback' else with_result)} students")


def _without_names(result: Result) -> Result:
    """A result without the names of files that a student chose, and without what they printed."""
    return result.model_copy(
        update={
            "mentions": (),
            "cases": tuple(case.model_copy(update={"printed": ""}) for case in result.cases),
        }
    )


def _read(path: Path) -> Result:
    try:
        return result_json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValidationError, UnicodeDecodeError) as error:
        first = str(error).splitlines()[0]
        raise UsageError(f"{path}: expected a result.json of `grade submit`: {first}") from None


def _write(path: Path, data: bytes) -> None:
    """Write beside the target, then move: a reader never sees half a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, data)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}",
                         "--out PATH selects another place.") from None  # fmt: skip
