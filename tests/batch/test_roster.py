"""Rosters as the systems write them, with what people do to CSV files."""

from __future__ import annotations

import contextlib
import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.batch import roster
from grader.errors import UsageError

CLASSROOM = (
    '"identifier","github_username","github_id","name"\n"jdoe@x.edu","octojane","17","Jane Doe"\n'
)
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Assignment 3 (4333716)\n"
    "    Points Possible,,,,,30\n"
    '"Doe, Jane",100001,9000001,jdoe,ECE408-01,\n'
    '"Student, Test",7,,,ECE408-01,\n'
)


def test_classroom() -> None:
    found = roster.parse(CLASSROOM)
    assert [s.id for s in found.students] == ["jdoe@x.edu"]
    for word in ("octojane", "OctoJane", "jdoe@x.edu", "Doe Jane", "jane doe"):
        assert found.find(word) == found.students[0], word
    assert found.find("jane") is None


def test_canvas_leaves_out_its_own_rows_and_goes_by_the_login() -> None:
    found = roster.parse(CANVAS)
    (student,) = found.students
    assert (student.id, student.section) == ("jdoe", "ECE408-01")
    assert found.find("100001") == found.find("9000001") == found.find("janedoe") == student


def test_mark_semicolons_and_column_order(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes('\ufeffE-Mail;Last Name;First Name\r\nä@x.edu;"O""Neill";Zoë\r\n'.encode())
    (student,) = roster.read(path).students
    assert (student.id, student.name) == ("ä@x.edu", 'Zoë O"Neill')


def test_duplicates_are_said_and_the_first_counts() -> None:
    found = roster.parse("id,name\na,Ann\nb,Bob\nA,Ann\na,Ann\nb,Rob\n,Nobody\n")
    assert [s.name for s in found.students] == ["Ann", "Bob"]
    said = "\n".join(found.remarks)
    assert "roster:5: a is there twice" in said
    assert "roster:6: b is there twice, with other details" in said
    assert "roster:7: no identifier" in said


def test_a_name_two_students_share_finds_nobody() -> None:
    found = roster.parse("id,name\na,Jo Kim\nb,Jo Kim\n")
    assert found.find("jo kim") is None
    assert found.find("a") == found.students[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id\n" + "x" * 200_000, "cannot be read"),
        ("", "is empty"),
        ("colour,size\nred,1\n", "expected a column"),
        ("id\n", "no students"),
    ],
)
def test_what_is_no_roster_says_so(text: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        roster.parse(text)


_CELL = st.text(max_size=12)
_HEADS = st.lists(
    st.sampled_from(["id", "ID", "Email address", "SIS Login ID", "Student", "name", "Identifier",
                     "github_username", "Vorname", "First name", "Section", "", "Ω"]),
    min_size=1, max_size=6,
)  # fmt: skip


@given(
    _HEADS,
    st.lists(st.lists(_CELL, max_size=7), max_size=6),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_any_csv_is_a_roster_or_says_why_not(
    head: list[str], rows: list[list[str]], delimiter: str, end: str, coding: str
) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows([head, *rows])
    try:
        data = text.getvalue().encode(coding)
    except UnicodeEncodeError:  # half of a surrogate pair
        return
    try:
        found = roster.parse(roster.decoded(data, "r.csv"), "r.csv")
    except UsageError:
        return
    ids = [roster.folded(s.id) for s in found.students]
    assert all(ids) and len(ids) == len(set(ids))
    for student in found.students:
        assert found.find(student.id) in (student, None)


@given(st.binary(max_size=200))
def test_any_bytes_end_in_a_roster_or_a_message(data: bytes) -> None:
    with contextlib.suppress(UsageError):
        roster.parse(roster.decoded(data, "r.csv"), "r.csv")
