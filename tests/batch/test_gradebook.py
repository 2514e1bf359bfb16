"""The gradebook: what it keeps, what counts, and that it has one writer."""

from __future__ import annotations

import datetime
import sqlite3
from pathlib import Path

import pytest

from grader.batch.book_schema import ADDED
from grader.batch.gradebook import Gradebook
from grader.batch.grades import anonymous, grades
from grader.batch.roster import Student
from grader.batch.settings import Settings, load
from grader.errors import UsageError
from grader.result import Result, Score, Verdict

WHEN = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.UTC)


def result(points: int | None, verdict: Verdict = Verdict.ACCEPTED) -> Result:
    return Result(
        assignment="assignment3",
        language="cuda-c",
        device="virtual",
        verdict=verdict,
        reason="",
        score=Score(points=points, out_of=100),
        submission_sha256="00",
    )


def record(
    book: Gradebook,
    points: int | None,
    verdict: Verdict = Verdict.ACCEPTED,
    *,
    content: str = "a",
    key: str = "k",
    hours: int = 0,
    published: bool = True,
) -> None:
    book.record(
        result(points, verdict),
        students=["jdoe"],
        submission_sha256=content,
        submitted=WHEN + datetime.timedelta(hours=hours),
        key=key,
        published=published,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gradebook.db"


def points(book: Gradebook, **settings: object) -> int | None:
    return grades(book, "assignment3", Settings.model_validate(settings))[0].points


def test_one_writer_and_many_readers(path: Path) -> None:
    with Gradebook(path, writing=True) as book:
        record(book, 80)
        with pytest.raises(UsageError, match="another command"):
            Gradebook(path, writing=True)
        with Gradebook(path) as reader:
            assert points(reader) == 80
    with Gradebook(path, writing=True):
        pass


def test_what_is_no_gradebook(path: Path) -> None:
    with pytest.raises(UsageError, match="there is no gradebook"):
        Gradebook(path)
    path.write_text("students and their grades\n" * 100)
    with pytest.raises(UsageError, match="is no gradebook"):
        Gradebook(path)


def test_our_own_failure_keeps_the_earlier_grade_and_the_history_stays(path: Path) -> None:
    with Gradebook(path, writing=True) as book:
        record(book, 80)
        record(book, None, Verdict.GRADER_ERROR, key="k2")
        assert points(book) == 80
        record(book, 70, Verdict.WRONG_ANSWER, key="k3")
        assert points(book) == 70
        told = [(h["before"], h["after"]) for h in book.history("assignment3", "jdoe")]
        assert told == [
            ("", "accepted, 80 points"),
            ("accepted, 80 points", "wrong_answer, 70 points"),
        ]


def test_time_is_fixed_at_first_grading(path: Path) -> None:
    with Gradebook(path, writing=True) as book:
        record(book, 80)
        record(book, 80, key="k2", hours=99)
        assert [row.submitted for row in book.rows("assignment3")] == [WHEN]


def test_best_and_latest(path: Path) -> None:
    with Gradebook(path, writing=True) as book:
        record(book, 80)
        record(book, 60, content="b", hours=1)
        assert points(book) == 80
        assert points(book, attempts="latest") == 60


def test_compare_publishes_nothing_until_told(path: Path) -> None:
    with Gradebook(path, writing=True) as book:
        record(book, 80)
        record(book, 20, Verdict.RACE, key="k2", published=False)
        assert points(book) == 80
        assert book.keys("assignment3") == {("jdoe", "k")}
        assert not book.publish("assignment3", "k3", ["jdoe"])
        assert book.publish("assignment3", "k2", ["jdoe"])
        assert points(book) == 20
        assert not book.publish("assignment3", "k2", ["jdoe"])


def test_overrides_and_extensions_say_who_and_why(path: Path) -> None:
    late = {"assignment": {"assignment3": {"due": WHEN - datetime.timedelta(days=2)}}}
    with Gradebook(path, writing=True) as book:
        record(book, 80)
        assert points(book, **late) == 64
        book.extend("assignment3", "jdoe", 1, who="prof", why="ill")
        assert points(book, **late) == 72
        book.override("assignment3", "jdoe", plus=5, who="ta", why="style")
        assert points(book, **late) == 77
        book.override("assignment3", "jdoe", points=50, who="ta", why="copied")
        assert points(book, **late) == 55
        book.override("assignment3", "jdoe", who="prof", why="was not")
        assert points(book, **late) == 72
        assert [h["why"] for h in book.history("assignment3")][1:] == [
            "ill", "style", "copied", "was not",
        ]  # fmt: skip


def test_free_late_days_are_used_up_by_earlier_assignments(path: Path) -> None:
    due = {
        "assignment1": {"due": WHEN - datetime.timedelta(days=2)},
        "assignment3": {"due": WHEN - datetime.timedelta(days=1)},
    }
    with Gradebook(path, writing=True) as book:
        record(book, 80)
        assert points(book, late_days=2, assignment=due) == 80
        book.record(
            result(90).model_copy(update={"assignment": "assignment1"}),
            students=["jdoe"], submission_sha256="c", submitted=WHEN, key="k",
        )  # fmt: skip
        assert points(book, late_days=2, assignment=due) == 72


def test_pseudonyms_are_stable_and_say_nothing(path: Path) -> None:
    with Gradebook(path, writing=True) as book:
        book.add_students([Student(id="jdoe", name="Jane Doe", email="jane@x.edu")])
        record(book, 80)
        found = grades(book, "assignment3", Settings())
        (one,) = anonymous(found, book.secret())
        (two,) = anonymous(found, book.secret())
        assert one == two
        assert "jdoe" not in one.model_dump_json() and "Jane" not in one.model_dump_json()


def test_class_toml_names_the_bad_key(tmp_path: Path) -> None:
    file = tmp_path / "class.toml"
    file.write_text("[assignment.a]\ndue = 2026-11-30T23:59:00\n")
    with pytest.raises(UsageError, match=r"assignment\.a\.due.*zone"):
        load(file)


def test_nobody_is_late_by_a_time_that_is_not_known(path: Path) -> None:
    late = {"assignment": {"assignment3": {"due": WHEN - datetime.timedelta(days=2)}}}
    with Gradebook(path, writing=True) as book:
        for student, time_from in (("ann", "unknown"), ("bob", "late"), ("jdoe", "name")):
            book.record(
                result(80), students=[student], submission_sha256=student, submitted=WHEN, key="k",
                time_from=time_from, owner="www",
            )  # fmt: skip
        found = {
            g.student.id: g for g in grades(book, "assignment3", Settings.model_validate(late))
        }
        assert {s: (g.points, g.late_days) for s, g in found.items()} == {
            "ann": (80, 0), "bob": (80, 0), "jdoe": (64, 2),
        }  # fmt: skip
        assert found["ann"].remark == "hand-in time unknown, counted as in time"
        assert found["bob"].remark.startswith("late as Canvas says")
        assert found["ann"].submitted is None and found["jdoe"].submitted == WHEN
        assert {g.owner for g in found.values()} == {"www"}
        assert all(not g.remark for g in grades(book, "assignment3", Settings()))  # nothing is due


def test_a_gradebook_of_version_2_is_read_and_written_on(path: Path) -> None:
    with Gradebook(path, writing=True) as book:
        record(book, 80)
    with sqlite3.connect(path) as old:
        for column in ADDED:
            old.execute(f"ALTER TABLE attempts DROP COLUMN {column.split()[0]}")
        old.execute("PRAGMA user_version = 2")
    with Gradebook(path) as book:  # a reader changes nothing
        assert [(r.time_from, r.owner) for r in book.rows("assignment3")] == [("file", "")]
        assert book._version() == 2
    with Gradebook(path, writing=True) as book:
        record(book, 90, content="b", hours=1)
        assert points(book) == 90 and book._version() == 3
        assert [r.time_from for r in book.rows("assignment3")] == ["file", "file"]
