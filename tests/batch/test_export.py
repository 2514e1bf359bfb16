"""`grade export` from the shell's side, from a gradebook and from one result."""

from __future__ import annotations

import csv
import datetime
import io
import json
import zipfile
from pathlib import Path

import pytest

from grader import cli
from grader.batch.gradebook import Gradebook
from grader.batch.roster import Student
from grader.report import json as result_json
from tests.report import results

WHEN = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.UTC)


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gradebook of three: one accepted, one with a race, one who handed in nothing."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "gradebook.db"
    with Gradebook(path, writing=True) as made:
        made.add_students([
            Student(id="ann", name="Ann A", email="ann@x.edu"),
            Student(id="bob", name="Bob B", email="bob@x.edu"),
            Student(id="cem", name="Cem C", email="cem@x.edu"),
        ])  # fmt: skip
        for student, result in (("ann", results.accepted()), ("bob", results.out_of_bounds())):
            made.record(
                result.model_copy(update={"assignment": "assignment3"}),
                students=[student], submission_sha256=student, submitted=WHEN, key=student,
            )  # fmt: skip
    return path


def export(*arguments: str) -> int:
    return cli._run(["export", "assignment3", *arguments])


def test_csv_and_canvas(book: Path) -> None:
    assert export("--to", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(Path("assignment3-grades.csv").read_text("utf-8-sig"))))
    assert [row["id"] for row in rows] == ["ann", "bob", "cem"]
    Path("canvas.csv").write_bytes(
        b"Student,ID,SIS User ID,SIS Login ID,Section,Assignment 3 (7)\n"
        b'    Points Possible,,,,,100\n"A, Ann",1,2,ann,x,\n'
    )
    assert export("--to", "canvas", "--fill", "canvas.csv") == 0
    last = Path("assignment3-canvas.csv").read_text().splitlines()[-1]
    assert last == f'"A, Ann",1,2,ann,x,{rows[0]["points"]}'


def test_one_file_or_folder_for_each_student(book: Path) -> None:
    assert export("--to", "gradescope", "--out", "g") == 0
    assert sorted(p.parent.name for p in Path("g").glob("*/results.json")) == ["ann", "bob"]
    assert export("--to", "classroom50", "--out", "c") == 0
    data = json.loads(Path("c/bob/result.json").read_text())
    assert (data["owner"], data["datetime"]) == ("bob", "2026-11-30T12:00:00Z")
    assert export("--to", "feedback", "--out", "f") == 0
    assert Path("f/cem/grade.md").read_text().endswith("There is no submission.\n")
    assert zipfile.is_zipfile("f/moodle-feedback.zip")
    assert export("--to", "junit", "--out", "j") == 0
    assert "<testsuites" in Path("j.xml").read_text()


def test_anonymous_names_nobody(book: Path) -> None:
    for to in ("csv", "feedback", "sarif"):
        assert export("--to", to, "--anonymous", "--out", f"out-{to}") == 0
    for path in Path().glob("out-*/**/*"):
        assert not any(word in str(path) for word in ("ann", "bob", "cem"))
    text = Path("out-csv").read_text("utf-8-sig")
    assert "ann@x.edu" not in text and "Ann" not in text and text.count("student-") == 3


def test_one_result_without_a_gradebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.json").write_text(result_json.dumps(results.wrong_answer()))
    assert export("--to", "sarif", "--result", "r.json", "--out", "r.sarif") == 0
    assert json.loads(Path("r.sarif").read_text())["version"] == "2.1.0"
    assert export("--to", "canvas", "--result", "r.json") == 2


def test_nothing_is_written_where_there_is_nothing(book: Path) -> None:
    assert cli._run(["export", "assignment9", "--to", "csv"]) == 2
    assert export("--to", "excel") == 2
    assert export("--to", "canvas") == 2
    assert export("--to", "csv", "--gradebook", "none.db") == 2
    assert not list(Path().glob("*.csv")) and not Path("none.db").exists()


def test_gradescope_bundle_can_grade(tmp_path: Path) -> None:
    target = tmp_path / "bundle.zip"
    assert export("--to", "gradescope-bundle", "--out", str(target)) == 0
    with zipfile.ZipFile(target) as packed:
        names = set(packed.namelist())
        assert {"setup.sh", "run_autograder", "pyproject.toml", "grader/cli.py",
                "assignments/assignment3/assignment.toml",
                "reference/assignment3/kernel.cu"} <= names  # fmt: skip
        assert packed.getinfo("run_autograder").external_attr >> 16 == 0o100755
        known = [name for name in names if "/submissions/" in name]
        assert all(name.startswith("grader/worked_example/") for name in known)
        assert not any("__pycache__" in name for name in names)
        fallback = packed.read("run_autograder").decode()
    # What the script writes where nothing was graded is JSON that Gradescope takes.
    text = fallback.partition("echo '")[2].partition("' |")[0].replace("\n", " ")
    assert json.loads(text)["score"] == 0
