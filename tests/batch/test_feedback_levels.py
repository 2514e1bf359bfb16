"""What students get to see, from the hidden folder to every file that reaches them."""

from __future__ import annotations

import datetime
import json
import shutil
from pathlib import Path

import pytest

from grader import cli, feedback
from grader.assignment import load
from grader.batch.gradebook import Gradebook
from grader.batch.settings import Deadline
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


@pytest.mark.parametrize("word", ["out_of_bounds", "wrong_answer", "accepted"])
def test_no_data_of_a_hidden_case_reaches_a_student(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = sorted((KNOWN / word).glob("*.cu"))[0]
    for variable in ("GRADE_SECRET", "GRADE_SECRET_FILE"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "class" / "ann").mkdir(parents=True)
    shutil.copy(source, tmp_path / "class" / "ann" / "kernel.cu")
    book = tmp_path / "gradebook.db"
    assert cli._run([
        "batch", "assignment3", "--submissions", str(tmp_path / "class"), "--gradebook", str(book),
        "--hidden", str(hidden(tmp_path / "hidden")), "--weak-sandbox", "--quiet",
    ]) == 0  # fmt: skip
    with Gradebook(book) as opened:
        (row,) = opened.rows("assignment3")
        (case,) = [c for c in opened.result(row.id).cases if c.name == "kept back"]
    assert case.hidden and case.verdict is row.verdict and not case.sizes
    for to in ("feedback", "gradescope", "classroom50", "junit", "sarif"):
        out = tmp_path / to
        assert cli._run(["export", "assignment3", "--to", to, "--gradebook", str(book),
                         "--out", str(out)]) == 0  # fmt: skip
    files = [p for p in tmp_path.rglob("*") if p.is_file() and p.suffix in (
        ".html", ".md", ".json", ".xml", ".sarif", ".csv")]  # fmt: skip
    assert len(files) >= 8
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        for leak in (str(SIZE), f"{SIZE:,}", SECRET):
            assert leak not in text, f"{leak} in {file.name}"
    report = (tmp_path / "feedback" / "ann" / "report.md").read_text()
    assert word.replace("_", " ") in report.lower() and "kept back" in report


def test_first_shows_one_failure_in_full() -> None:
    assignment = load("assignment3").model_copy(update={"feedback": "first"})
    (case,) = results.wrong_answer().cases[:1]
    cases = tuple(
        case.model_copy(update={"name": f"{n}", "hidden": n == 0, "verdict": Verdict.WRONG_ANSWER})
        for n in range(4)
    )
    shown = feedback.shown(cases, assignment)
    assert [c.mismatch is not None for c in shown] == [False, True, False, False]
    assert [c.verdict for c in shown] == [Verdict.WRONG_ANSWER] * 4


def test_verdict_names_no_case_in_the_points_either() -> None:
    assignment = load("assignment3").model_copy(update={"feedback": "verdict"})
    score = feedback.lines(results.out_of_bounds().score, assignment)
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
