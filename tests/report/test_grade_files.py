"""Grades for spreadsheets and learning systems."""

from __future__ import annotations

import csv
import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.batch.grades import Grade
from grader.batch.roster import Student
from grader.errors import UsageError
from grader.report import feedback
from grader.report import grades as files
from grader.report.cells import neutral, table
from grader.result import Verdict
from tests.report import results

JANE = Grade(
    student=Student(id="jdoe", name="Doe, Jane", email="jane@x.edu", others=("100001", "9000001")),
    points=65, out_of=100, verdict=Verdict.RACE, attempts=1, late_days=1,
)  # fmt: skip
EVE = Grade(
    student=Student(id="eve", name="=HYPERLINK(1)", email="+eve@x.edu"), points=None, out_of=100
)
CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Assignment 3 (4333716),"
    "Assignment 31 (9),Final (read only)\r\n"
    "    Points Possible,,,,,30,10,(read only)\r\n"
    '"Doe, Jane",100001,9000001,jdoe,"A ""1""", 12 ,7,\r\n'
    "Stranger,5,6,stranger,,,,\r\n"
    "=cmd|x,100009,,eve,A,4,,\r\n"
    '"Student, Test",1,,x1,,,,\r\n'
).encode()


def test_canvas_changes_one_cell_and_no_other_byte() -> None:
    filled = files.canvas(CANVAS, [JANE, EVE], "assignment3")
    assert filled.data == CANVAS.replace(b" 12 ,7", b"19.5,7")
    assert filled.column == "Assignment 3 (4333716)"
    assert (filled.filled, filled.no_grade, filled.not_in_canvas) == (1, ("eve",), ())
    assert "0.3" in filled.scale


def test_canvas_with_semicolons() -> None:
    """An option of Canvas's, and what a spreadsheet of many countries saves."""
    other = CANVAS.replace(b"Doe, Jane", b"Doe| Jane").replace(b"Student, Test", b"Student| Test")
    other = other.replace(b",", b";").replace(b"|", b",")
    filled = files.canvas(other, [JANE, EVE], "assignment3")
    assert filled.data == other.replace(b" 12 ;7", b"19.5;7") and filled.filled == 1


def test_canvas_column_by_number_and_when_in_doubt() -> None:
    assert files.canvas(CANVAS, [JANE], "assignment3", "9").column == "Assignment 31 (9)"
    with pytest.raises(UsageError, match=r"expected one column for assignment2.*4333716"):
        files.canvas(CANVAS, [JANE], "assignment2")


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)


@given(
    st.lists(st.lists(CELL, min_size=2, max_size=4), min_size=1, max_size=5), st.sampled_from(",;")
)
def test_spans_read_what_csv_writes(rows: list[list[str]], between: str) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=between, lineterminator="\r\n").writerows(rows)
    text = out.getvalue()
    assert [[cell for cell, _, _ in row] for row in files.spans(text, between)] == rows


@pytest.mark.parametrize("cell", ["=1+1", "+x", "-x", "@SUM(A1)", "\tx", "\r=1", "-1+2"])
def test_formulas_are_text(cell: str) -> None:
    assert neutral(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "-12.5", "+3", "plain", 0, -4, None])
def test_numbers_and_text_stay(cell: object) -> None:
    assert neutral(cell) == ("" if cell is None else str(cell))


@given(st.lists(st.lists(CELL, min_size=1, max_size=3), min_size=1, max_size=3))
def test_no_cell_of_a_table_starts_a_formula(rows: list[list[str]]) -> None:
    text = table(["a"], rows)
    for row in list(csv.reader(io.StringIO(text, newline="")))[1:]:
        assert not any(c[:1] in "=@\t\r" and c for c in row)


def test_plain_and_moodle() -> None:
    plain = list(csv.DictReader(io.StringIO(files.plain([JANE, EVE]))))
    assert [(r["id"], r["points"], r["remark"]) for r in plain] == [
        ("jdoe", "65", "1 day late"), ("eve", "", ""),
    ]  # fmt: skip
    assert plain[1]["name"] == "'=HYPERLINK(1)"
    moodle = list(csv.DictReader(io.StringIO(files.moodle([JANE, EVE]))))
    assert moodle[0]["Grade"] == "65" and "race" in moodle[0]["Feedback comments"]
    # Feedback without a grade would delete the grades of everyone.
    assert all(bool(row["Grade"]) == bool(row["Feedback comments"]) for row in moodle)


def test_feedback_and_moodles_archive_of_it() -> None:
    mine = feedback.files(JANE, results.out_of_bounds())
    assert set(mine) == {"grade.md", "report.html", "report.md", "result.json"}
    assert mine["grade.md"].startswith("# 65 of 100 points (1 day late)")
    archive = feedback.moodle_archive([(JANE, mine), (EVE, feedback.files(EVE, None))])
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        assert "Doe, Jane_jdoe_assignsubmission_file_/report.html" in packed.namelist()
        assert packed.testzip() is None
    assert feedback.folder(JANE.model_copy(update={"student": Student(id="../../x/y")})) == (
        "_.._x_y"
    )
