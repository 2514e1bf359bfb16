"""Takes the screenshots of docs/pictures from the gallery: `make pictures`.

Needs what the tests beside this file need. The class is made of the gallery: every known submission
of an assignment is one student.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from grader.batch.grades import Grade
from grader.batch.roster import Student
from grader.report import class_page
from grader.report import json as result_json
from grader.report.class_rows import summarise
from tests.browser.conftest import CHROMIUM, QUIET

WIDTH = 1100
REPORTS = {
    "report-out-of-bounds": ("assignment3/out_of_bounds/guard_on_thread_index.cu", None, 640),
    "report-race": ("assignment5/race/no_barrier.cu", None, 720),
    "report-wrong-answer": ("assignment5/wrong_answer/block_not_swapped.cu", "#maps", 420),
    "report-cost": ("assignment7/accepted/naive.cu", "#cost", 400),
    "report-source": ("assignment5/accepted/naive.cu", "#source-1", 500),
}
"""Name: the report, where the picture starts (None: at the top), and its height in pixels."""


def take(gallery: Path, target: Path) -> None:
    """Write every picture into `target`."""
    from playwright import sync_api

    target.mkdir(parents=True, exist_ok=True)
    with sync_api.sync_playwright() as play, tempfile.TemporaryDirectory() as folder:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        for name, (report, start, height) in REPORTS.items():
            page.goto((gallery / report / "report.html").resolve().as_uri())
            _clip(page, target / f"{name}.png", start, height)
        made = Path(folder, "class.html")
        made.write_text(_class(gallery, "assignment3"), encoding="utf-8")
        page.goto(made.as_uri())
        _clip(page, target / "class.png", None, 900)
        _clip(page, target / "class-matrix.png", "#matrix", 620)
        browser.close()


def _clip(page: Any, file: Path, start: str | None, height: int) -> None:
    page.set_viewport_size({"width": WIDTH, "height": height})
    if start is None:
        page.evaluate("window.scrollTo(0, 0)")
    else:
        page.locator(start).evaluate("element => element.scrollIntoView()")
    page.wait_for_timeout(200)
    page.screenshot(path=file)


def _class(gallery: Path, assignment: str) -> str:
    """The class page of known submissions, a student for each."""
    results = [
        result_json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((gallery / assignment).glob("*/*/result.json"))
    ]
    grades = [
        Grade(student=Student(id=f"student{number:03}"), points=result.score.points,
              out_of=result.score.out_of, verdict=result.verdict, attempts=1, result=number)
        for number, result in enumerate(results, start=1)
    ]  # fmt: skip
    grades.append(Grade(student=Student(id="student999"), points=None, out_of=100))
    report = summarise(assignment, grades, lambda row: results[row - 1], lambda grade: "reports/x")
    return class_page.render(report)


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
