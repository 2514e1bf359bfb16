"""Writes the class report of an assignment into a folder.

::

    class.html        the page; its names open the reports
    class.csv         the same rows for a spreadsheet
    leaderboard.html  where class.toml asks for it; it names nobody
    reports/          a student's own report each
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from grader.batch.grades import Grade
from grader.report import class_page, feedback, html, replace
from grader.report.class_rows import summarise
from grader.result import Result

REPORTS = "reports"


def write(
    folder: Path,
    assignment: str,
    grades: Sequence[Grade],
    result_of: Callable[[int], Result],
    *,
    pseudonym: Callable[[str], str] | None = None,
    step: Callable[[int], None] = lambda done: None,
) -> Path:
    """Write everything and return the page's path.

    `result_of` reads the result of a row of the gradebook; with `pseudonym` there is a
    leaderboard; `step` is told how many reports are written. Raises OSError.
    """
    places = addresses(grades)
    (folder / REPORTS).mkdir(parents=True, exist_ok=True)
    done = 0

    def read(row: int) -> Result:
        nonlocal done
        result = result_of(row)
        replace(folder / places[row], html.render(result).encode())
        done += 1
        step(done)
        return result

    report = summarise(
        assignment, grades, read, lambda grade: places[grade.result] if grade.result else None
    )
    replace(folder / "class.csv", class_page.csv(report, pseudonym).encode("utf-8-sig"))
    if pseudonym:
        replace(folder / "leaderboard.html", class_page.render_board(report, pseudonym).encode())
    page = folder / "class.html"
    replace(page, class_page.render(report, leaderboard=pseudonym is not None).encode())
    return page


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
