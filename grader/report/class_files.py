"""Writes the class report of an assignment into a folder.

::

    class.html        the page; its names open the reports
    class.csv         the same rows for a spreadsheet
    leaderboard.html  where class.toml asks for it; it names nobody
    reports/          a student's own report each
    .written          what each report was made of, so that only what changed is written again
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from grader.batch import keys
from grader.batch.grades import Grade
from grader.report import class_page, feedback, html, replace
from grader.report.class_rows import summarise
from grader.result import Result

REPORTS = "reports"
WRITTEN = ".written"
INSTRUCTORS = (
    "The instructor's copy: it has everything, hidden cases too. "
    "What the student may see is written by grade export … --to feedback."
)

Written = dict[str, tuple[str, int, int]]
"""Of each report by its name: what it was made of, its size in bytes and time of change (ns)."""


def write(
    folder: Path,
    assignment: str,
    grades: Sequence[Grade],
    result_of: Callable[[int], Result],
    *,
    remark: str = INSTRUCTORS,
    pseudonym: Callable[[str], str] | None = None,
    step: Callable[[int], None] = lambda done: None,
) -> Path:
    """Write everything and return the page's path.

    `result_of` reads the result of a row of the gradebook; `remark` stands on every report; with
    `pseudonym` there is a leaderboard; `step` is told how many reports are done. A report of
    which nothing changed is left as it is; one that nothing leads to any more is removed. Raises
    OSError.
    """
    places = addresses(grades)
    (folder / REPORTS).mkdir(parents=True, exist_ok=True)
    before, after = _read(folder), Written()
    made_by = keys.writers()

    def read(row: int) -> Result:
        result = result_of(row)
        name = places[row].removeprefix(f"{REPORTS}/")
        of = hashlib.sha256(f"{made_by}{remark}{result.model_dump_json()}".encode()).hexdigest()
        path = folder / places[row]
        if before.get(name) != (of, *_state(path)):
            replace(path, html.render(result, remark=remark).encode())
        after[name] = (of, *_state(path))
        step(len(after))
        return result

    report = summarise(
        assignment, grades, read, lambda grade: places[grade.result] if grade.result else None
    )
    for name in before.keys() - after.keys():
        (folder / REPORTS / name).unlink(missing_ok=True)
    replace(folder / WRITTEN, json.dumps(after, indent=0).encode())
    replace(folder / "class.csv", class_page.csv(report, pseudonym).encode("utf-8-sig"))
    if pseudonym:
        replace(folder / "leaderboard.html", class_page.render_board(report, pseudonym).encode())
    page = folder / "class.html"
    replace(page, class_page.render(report, leaderboard=pseudonym is not None).encode())
    return page


def _read(folder: Path) -> Written:
    """What was written here before; nothing where that is not known."""
    try:
        found = json.loads((folder / WRITTEN).read_text(encoding="utf-8"))
        return {
            name: (str(of), int(size), int(when))
            for name, (of, size, when) in found.items()
            if Path(name).name == name and name.endswith(".html")
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _state(path: Path) -> tuple[int, int]:
    """Size and time of change of a report; nobody's where there is none."""
    try:
        status = path.lstat()
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns


def addresses(grades: Sequence[Grade]) -> dict[int, str]:
    """Where the report of each row of the gradebook stands in the folder.

    Students whose names are the same once they are safe for every system get numbers.
    """
    taken: set[str] = set()
    found: dict[int, str] = {}
    for grade in grades:
        if grade.result is None:
            continue
        name, number = feedback.folder(grade), 1
        while (unique := name if number == 1 else f"{name}-{number}").casefold() in taken:
            number += 1
        taken.add(unique.casefold())
        found[grade.result] = f"{REPORTS}/{unique}.html"
    return found
