"""What students get to see, from the hidden folder to every file that reaches them."""

from __future__ import annotations

import base64
import contextlib
import datetime
import html
import json
import re
import shutil
import sqlite3
import zipfile
from pathlib import Path

import pytest

from grader import cli, feedback
from grader.assignment_schema import Feedback
from grader.batch import export as export_module
from grader.batch.book_schema import ADDED, VERSION
from grader.batch.gradebook import Gradebook
from grader.batch.settings import Deadline
from grader.errors import UsageError
from grader.result import Verdict
from tests.conftest import ROOT
from tests.report import results

KNOWN = ROOT / "assignments" / "assignment3" / "submissions"
# Nothing else has these numbers: a size of a hidden case, and the secret of its values.
SIZE, SECRET = 48_611, "the-word-nobody-may-read"


def hidden(folder: Path) -> Path:
    """What an instructor keeps: one more case, and the secret."""
    folder.mkdir()
    (folder / "cases.toml").write_text(
        f'[[case]]\nname = "kept back"\nsizes = {{ N = {SIZE} }}\nweight = 4\n'
    )
    (folder / "secret").write_text(SECRET)
    return folder


def course(folder: Path, level: str) -> Path:
    """assignment3 in a folder of its own with this `feedback`."""
    place = folder / "assignments" / "assignment3"
    shutil.copytree(KNOWN.parent, place, ignore=shutil.ignore_patterns("submissions"))
    shutil.copytree(ROOT / "reference" / "assignment3", folder / "reference" / "assignment3")
    set_level(place, level)
    return place


def set_level(place: Path, level: str) -> None:
    file = place / "assignment.toml"
    text = re.sub(r"(?m)^feedback = .*\n", "", file.read_text())
    file.write_text(f'feedback = "{level}"\n{text}')


def readable(folder: Path) -> dict[str, str]:
    """Every file below a folder that a person or a program can read, archives opened."""
    found = {}
    for path in (p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as packed:
                found |= {f"{name}/{n}": packed.read(n).decode() for n in packed.namelist()}
        else:
            found[name] = path.read_text(encoding="utf-8", errors="replace")
    return found


@pytest.mark.parametrize(
    ("word", "level"),
    [("out_of_bounds", "full"), ("wrong_answer", "first"), ("misaligned", "cases"),
     ("out_of_bounds", "verdict"), ("accepted", "full")],
)  # fmt: skip
def test_the_instructor_sees_all_and_a_student_what_the_level_says(
    word: str, level: Feedback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = sorted((KNOWN / word).glob("*.cu"))[0]
    for variable in ("GRADE_SECRET", "GRADE_SECRET_FILE"):
        monkeypatch.delenv(variable, raising=False)
    place = course(tmp_path / "course", level)
    monkeypatch.setenv("GRADE_ASSIGNMENTS", str(place.parent))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class" / "ann").mkdir(parents=True)
    shutil.copy(source, tmp_path / "class" / "ann" / "kernel.cu")
    (tmp_path / "class.toml").write_text("leaderboard = true\n")
    assert cli._run([
        "batch", "assignment3", "--submissions", "class", "--hidden",
        str(hidden(tmp_path / "hidden")), "--weak-sandbox", "--quiet",
    ]) == 0  # fmt: skip
    with Gradebook(tmp_path / "gradebook.db") as opened:
        (row,) = opened.rows("assignment3")
        whole, told = opened.whole(row.id), opened.result(row.id)
    (case,) = [c for c in whole.cases if c.name == "kept back"]
    assert case.hidden and case.verdict is row.verdict and case.sizes == {"N": SIZE}
    assert told == feedback.told(whole, level)

    page = (tmp_path / "assignment3-class" / "class.html").read_text()
    report = (tmp_path / "assignment3-class" / "reports" / "ann.html").read_text()
    assert f"N={SIZE}" in page and f"N={SIZE}" in report and "instructor" in report
    if word != "accepted":
        assert all(case.name in page for case in whole.cases)

    for to in ("feedback", "gradescope", "classroom50", "junit", "sarif"):
        assert cli._run(["export", "assignment3", "--to", to, "--out", f"given/{to}"]) == 0
    assert cli._run(["export", "assignment3", "--to", "class", "--anonymous",
                     "--out", "given/class"]) == 0  # fmt: skip
    for to in ("csv", "moodle"):
        assert cli._run(["export", "assignment3", "--to", to, "--out", f"given/{to}.csv"]) == 0
    shutil.copy(tmp_path / "assignment3-class" / "leaderboard.html", tmp_path / "given")
    given = readable(tmp_path / "given")
    assert len(given) >= 14
    kept = [str(SIZE), f"{SIZE:,}", SECRET]
    for one in whole.cases:
        texts = [f.message for f in one.faults] + ([one.mismatch.message] if one.mismatch else [])
        texts = [json.dumps(html.escape(text))[1:-1] for text in texts]
        kept += [] if one in told.cases else texts
    assert len(kept) > 3 or word == "accepted"
    for name, text in given.items():
        for leak in kept:
            assert not _holds(text, leak), f"{leak} in {name}"
    report = given["feedback/ann/report.md"]
    assert word.replace("_", " ") in report.lower()
    assert ("kept back" in report) == (level != "verdict")


def test_a_changed_level_grades_nothing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = course(tmp_path / "course", "verdict")
    monkeypatch.setenv("GRADE_ASSIGNMENTS", str(place.parent))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class").mkdir()
    shutil.copy(KNOWN / "build_failed" / "wrong_name.cu", tmp_path / "class" / "ann.cu")
    book = tmp_path / "gradebook.db"
    for level in ("verdict", "cases", "full"):
        set_level(place, level)
        assert cli._run(["batch", "assignment3", "--submissions", "class", "--weak-sandbox",
                         "--quiet", "--json", "said.json"]) == 0  # fmt: skip
        assert json.loads(Path("said.json").read_text())["graded"] == (level == "verdict")
        with Gradebook(book) as opened:
            assert opened.feedback("assignment3") == level

    # What the assignment says now counts at once; without it, what it said last.
    whole = results.wrong_answer().model_copy(update={"assignment": "assignment3"})
    with Gradebook(book, writing=True) as made:
        made.record(whole, students=["bob"], submission_sha256="b", key="b",
                    submitted=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC))  # fmt: skip
    export = ["export", "assignment3", "--to", "feedback", "--out"]
    for level, cases in (("verdict", 0), ("full", len(whole.cases))):
        set_level(place, level)
        assert cli._run([*export, level]) == 0
        assert len(json.loads(Path(level, "bob", "result.json").read_text())["cases"]) == cases
    with Gradebook(book, writing=True) as made:
        made.set_feedback("assignment3", "verdict")
    monkeypatch.setattr(export_module, "_level", lambda name: None)
    assert cli._run([*export, "gone"]) == 0
    assert not json.loads(Path("gone", "bob", "result.json").read_text())["cases"]


def test_what_a_student_grades_and_hands_in_is_reduced_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = course(tmp_path / "course", "cases")
    with (place / "assignment.toml").open("a") as file:
        file.write(f'\n[[case]]\nname = "kept back"\nsizes = {{ N = {SIZE} }}\nhidden = true\n')
    monkeypatch.setenv("GRADE_ASSIGNMENTS", str(place.parent))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "out" / "summary.md"))
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "out" / "outputs"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "grade.toml").write_text(
        f'[hand_in]\nto = "folder"\nfolder = "{tmp_path}/drop"\n'
    )
    (tmp_path / "drop").mkdir()
    shutil.copy(KNOWN / "out_of_bounds" / "no_guard.cu", tmp_path / "mine" / "kernel.cu")
    assert cli._run(["submit", "assignment3", "mine", "--ci", "classroom", "--out", "out",
                     "--hand-in", "--weak-sandbox", "--verbose"]) == 1  # fmt: skip
    given = readable(tmp_path / "out") | readable(tmp_path / "drop")
    given["terminal"] = "".join(capsys.readouterr())
    assert {"report.html", "report.md", "result.json", "summary.md", "outputs",
            "submission.zip/result.json"} <= given.keys()  # fmt: skip
    assert "handed in" in given["terminal"] and any("_assignment3_" in name for name in given)
    (line,) = given["outputs"].splitlines()
    given["outputs"] = base64.b64decode(line.removeprefix("result=")).decode()
    for name, text in given.items():
        assert "out_of_bounds" in text or "out of bounds" in text.lower() or "/" in name, name
        for leak in (str(SIZE), f"{SIZE:,}", "has 1000 elements", "[1000]", "thread 232"):
            assert not _holds(text, leak), f"{leak} in {name}"


def test_an_old_gradebook_is_read_and_never_by_an_older_grader_again(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.db"
    result = feedback.told(results.wrong_answer(), "cases")
    with Gradebook(path, writing=True) as made:
        made.record(result, students=["ann"], submission_sha256="a", key="a",
                    submitted=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC))  # fmt: skip
    with contextlib.closing(sqlite3.connect(path)) as old:
        for column in ADDED:
            old.execute(f"ALTER TABLE attempts DROP COLUMN {column.split()[0]}")
        old.execute("PRAGMA user_version = 1")
    with Gradebook(path) as book:
        (row,) = book.rows(result.assignment)
        assert book.result(row.id) == result == book.whole(row.id)
    version = "PRAGMA user_version"
    with contextlib.closing(sqlite3.connect(path)) as old:
        assert old.execute(version).fetchone() == (1,)  # who only reads changes nothing
    with Gradebook(path, writing=True) as book:
        assert book.result(row.id) == result
    with contextlib.closing(sqlite3.connect(path)) as new:
        assert new.execute(version).fetchone() == (VERSION,)
        new.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(UsageError, match=f"version {VERSION + 1} of the tables"):
        Gradebook(path)


def test_first_shows_one_failure_in_full() -> None:
    (case,) = results.wrong_answer().cases[:1]
    cases = tuple(
        case.model_copy(update={"name": f"{n}", "hidden": n == 0, "verdict": Verdict.WRONG_ANSWER})
        for n in range(4)
    )
    shown = feedback.shown(cases, "first")
    assert [c.mismatch is not None for c in shown] == [False, True, False, False]
    assert [c.verdict for c in shown] == [Verdict.WRONG_ANSWER] * 4


def test_verdict_names_no_case_in_the_points_either() -> None:
    score = feedback.lines(results.out_of_bounds().score, "verdict")
    assert score.points == results.out_of_bounds().score.points
    assert not any(line.why for line in score.lines)


def test_details_wait_for_each_students_own_due_date() -> None:
    due = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)
    deadline = Deadline(due=due, feedback="after_due")
    hour, day = datetime.timedelta(hours=1), datetime.timedelta(days=1)
    assert deadline.withholds(due - hour, 0) and not deadline.withholds(due + hour, 0)
    assert deadline.withholds(due + day, 2) and not deadline.withholds(due + 3 * day, 2)
    assert not Deadline(due=due).withholds(due - hour, 0)
    assert not Deadline(feedback="after_due").withholds(due, 0)


def test_until_then_feedback_is_verdict_and_points(tmp_path: Path) -> None:
    book = tmp_path / "gradebook.db"
    result = results.out_of_bounds().model_copy(update={"assignment": "assignment3"})
    with Gradebook(book, writing=True) as made:
        made.record(result, students=["ann"], submission_sha256="a", key="a",
                    submitted=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC))  # fmt: skip
    for due, told in ((2999, False), (2000, True)):
        (tmp_path / "class.toml").write_text(
            f'[assignment.assignment3]\ndue = {due}-01-01T00:00:00Z\nfeedback = "after_due"\n'
            "penalty_percent_per_day = 0\n"
        )
        out = tmp_path / str(due)
        assert cli._run(["export", "assignment3", "--to", "feedback", "--gradebook", str(book),
                         "--out", str(out)]) == 0  # fmt: skip
        data = json.loads((out / "ann" / "result.json").read_text())
        assert data["verdict"] == "out_of_bounds"
        assert bool(data["cases"]) == told
        for name in ("report.html", "report.md", "grade.md"):
            text = (out / "ann" / name).read_text()
            said = "Guard the access" if name == "grade.md" else "read of"
            assert (said in text) == told, name
            assert ("after the due date" in text) != told, name


def _holds(text: str, leak: str) -> bool:
    """Whether a text holds another; a number within a longer one, as times have them, is none."""
    before, after = (r"(?<![\d.])", r"(?!\d)") if leak[:1].isdigit() else ("", "")
    return re.search(before + re.escape(leak) + after, text) is not None
