"""Feedback for each student: a folder with the report, and Moodle's archive of all of them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

from grader.batch.grades import Grade
from grader.batch.roster import letters
from grader.report import html, json, markdown
from grader.report.words import clean
from grader.result import Result

# A fixed date makes two archives of the same grades the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)


def files(grade: Grade, result: Result | None) -> dict[str, str]:
    """Name and text of what a student gets; without a submission only the grade."""
    points = "no grade" if grade.points is None else f"{grade.points} of {grade.out_of} points"
    remark = f" ({grade.remark})" if grade.remark else ""
    if result is None:
        return {"grade.md": f"# {points}{remark}\n\nThere is no submission.\n"}
    reason = f"{clean(result.reason)}\n\n{clean(result.next_step)}".strip()
    return {
        "grade.md": f"# {points}{remark}\n\n{reason}\n",
        "report.html": html.render(result),
        "report.md": markdown.render(result),
        "result.json": json.dumps(result),
    }


def folder(grade: Grade) -> str:
    """A folder's name for a student that is safe on every system."""
    safe = "".join(c if c.isalnum() or c in "-_@." else "_" for c in grade.student.id).strip(".")
    return safe[:100] or "student"


def moodle_archive(everyone: Sequence[tuple[Grade, dict[str, str]]]) -> bytes:
    """The archive that `Upload multiple feedback files in a zip` takes.

    Moodle finds a student by the full name and its participant number at the start of a folder's
    name; the number is the one of its worksheet where the roster has it.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for grade, texts in everyone:
            words = [w for w in grade.student.identifiers if w.startswith("Participant ")]
            number = words[0].split()[-1] if words else letters(grade.student.id)
            name = clean(grade.student.name or grade.student.id).replace("/", " ").strip(". ")
            for file, text in texts.items():
                if file == "result.json":
                    continue  # a machine's; Moodle shows every file to the student
                place = zipfile.ZipInfo(f"{name}_{number}_assignsubmission_file_/{file}", _DATE)
                place.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(place, text)
    return out.getvalue()
