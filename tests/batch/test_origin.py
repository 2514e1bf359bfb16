"""When something was handed in and by whom: names and metadata say it, an archive's times never."""

from __future__ import annotations

import datetime
import os
import pwd
from pathlib import Path
from typing import Any

import pytest

from grader.batch import layouts, origin, roster
from grader.batch.layouts import Found, Times

PEOPLE = roster.parse("id,name,sis user id\nann,Ann A,100001\nbob,Bob B,100002\neve,Eve E,100003\n")
EAST = datetime.timezone(datetime.timedelta(hours=-5))
DROPPED = "{}_assignment3_20261128T120000Z_0123456789a{}.zip"


def write(path: Path, text: str = "//\n", when: float | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if when is not None:
        os.utime(path, (when, when))
    return path


def discover(folder: Path, **times: Any) -> dict[str, Found]:
    finding = layouts.discover(folder, "assignment3", PEOPLE, Times(**times))
    return {student: found for found in finding.found for student in found.students}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (DROPPED.format("ann", 1), "2026-11-28T12:00:00+00:00"),
        ("Add_ann_attempt_2026-11-28-14-32-05_kernel.cu", "2026-11-28T19:32:05+00:00"),
        ("Add_ann_attempt_2026-11-28-14-32-05.txt", "2026-11-28T19:32:05+00:00"),
        ("Add_ann_attempt_2026-13-28-14-32-05_kernel.cu", None),
        ("Add_ann_attempt_2126-11-28-14-32-05_kernel.cu", None),  # still to come
        ("ann_100001_11_kernel.cu", None),
        ("kernel.cu", None),
    ],
)
def test_times_in_names(name: str, expected: str | None) -> None:
    found = origin.in_name(name, EAST)
    assert (found and found.isoformat()) == expected


def test_where_times_are_from(tmp_path: Path) -> None:
    """The times of a download's files are those of the download: nobody is late by them."""
    write(tmp_path / "ann_LATE_100001_11_kernel.cu")
    write(tmp_path / "bob_100002_12_kernel.cu")
    write(tmp_path / "Add_eve_attempt_2026-11-28-14-32-05_kernel.cu")
    for unpacked in (False, True):
        found = discover(tmp_path, unpacked=unpacked, zone=EAST)
        assert {s: f.time_from for s, f in found.items()} == {
            "ann": "late", "bob": "unknown", "eve": "name"
        }  # fmt: skip
        assert found["eve"].submitted.isoformat() == "2026-11-28T19:32:05+00:00"


def test_an_archives_own_times_are_none(tmp_path: Path) -> None:
    write(tmp_path / "ann" / "kernel.cu")
    write(tmp_path / DROPPED.format("bob", 1))
    assert discover(tmp_path)["ann"].time_from == "file"
    found = discover(tmp_path, unpacked=True)
    assert (found["ann"].time_from, found["bob"].time_from) == ("unknown", "name")
    assert found["ann"].owner == "" and found["bob"].changed is None


def test_gradescope_without_a_time(tmp_path: Path) -> None:
    text = "submission_1:\n  :submitters:\n  - :name: Ann A\n"
    created = "  :created_at: 2026-11-28 09:15:30 -05:00\n"
    write(tmp_path / "submission_1" / "kernel.cu")
    for more, expected in (("", "unknown"), (created, "metadata")):
        write(tmp_path / "submission_metadata.yml", text + more)
        assert discover(tmp_path)["ann"].time_from == expected


def test_files_of_two_attempts_are_not_mixed(tmp_path: Path) -> None:
    """Blackboard can give every attempt: the headers of an earlier one are not the later one's."""
    first = "Add_ann_attempt_2026-11-27-10-00-00_"
    write(tmp_path / f"{first}kernel.cu", "// old\n")
    write(tmp_path / f"{first}tile.cuh")
    write(tmp_path / "Add_ann_attempt_2026-11-28-10-00-00_kernel.cu", "// new\n", when=1)
    finding = layouts.discover(tmp_path, "assignment3", PEOPLE)
    (found,) = finding.found
    assert found.path.read_text() == "// new\n" and len(finding.skipped) == 2


def owned(monkeypatch: pytest.MonkeyPatch, owners: dict[str, str]) -> None:
    """Files whose names begin so belong to these users, all others to whoever runs the tests."""
    me = origin._ours()[1]

    def owner(path: Path) -> str:
        return next((user for start, user in owners.items() if path.name.startswith(start)), me)

    monkeypatch.setattr(origin, "owner", owner)


def test_a_file_under_anothers_name_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owned(monkeypatch, {"bob": "eve", "ann+eve": "eve"})
    write(tmp_path / DROPPED.format("bob", 1))
    write(tmp_path / DROPPED.format("ann+eve", 2))  # one of a group hands in for all
    finding = layouts.discover(tmp_path, "assignment3", PEOPLE)
    (said,) = finding.remarks
    assert said.endswith("of bob: eve put it there") and "ann" not in said
    assert {f.owner for f in finding.found} == {"eve"}


@pytest.mark.parametrize("with_roster", [True, False])
def test_ones_own_file_counts_before_a_later_one_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_roster: bool
) -> None:
    """Else anybody could put a worse one over another's."""
    people = PEOPLE if with_roster else None
    later = DROPPED.replace("T12", "T13")
    owned(monkeypatch, {"bob_assignment3_20261128T12": "bob", "bob": "eve", "eve": "eve"})
    own = write(tmp_path / DROPPED.format("bob", 1))
    write(tmp_path / later.format("bob", 2))
    write(tmp_path / DROPPED.format("eve", 3))
    finding = layouts.discover(tmp_path, "assignment3", people)
    assert own in {f.path for f in finding.found}
    (skipped,) = finding.skipped
    assert skipped.reason == "eve put it there, and bob handed in as well"
    # The same under a group's name: another entry, and another rule.
    (tmp_path / later.format("bob", 2)).unlink()
    owned(monkeypatch, {"bob_": "bob", "ann+bob": "eve", "eve": "eve"})
    write(tmp_path / later.format("ann+bob", 2))
    finding = layouts.discover(tmp_path, "assignment3", people)
    assert {s: f.path for f in finding.found for s in f.students}["bob"] == own


def test_one_user_who_hands_in_for_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owned(monkeypatch, {"ann": "www", "bob": "www"})
    for student in ("ann", "bob", "eve"):
        write(tmp_path / DROPPED.format(student, 1))
    (said,) = layouts.discover(tmp_path, "assignment3", PEOPLE).remarks
    assert said.startswith("www put there what is of 2 students or groups: ann, bob")
    owned(monkeypatch, {})  # the instructor's own copies say nothing
    assert not layouts.discover(tmp_path, "assignment3", PEOPLE).remarks


def test_the_owner_is_the_systems(tmp_path: Path) -> None:
    """A link's own owner, not that of what it names."""
    (tmp_path / "link").symlink_to("/proc/1")
    assert origin.owner(tmp_path / "link") == pwd.getpwuid(os.getuid()).pw_name
    assert origin.owner(tmp_path / "nothing") == ""


def test_a_file_that_is_newer_than_its_name(tmp_path: Path) -> None:
    name = datetime.datetime(2026, 11, 28, 12, tzinfo=datetime.UTC).timestamp()
    write(tmp_path / DROPPED.format("ann", 1), when=name + 2)
    write(tmp_path / DROPPED.format("bob", 2), when=name + 86400)
    found = layouts.discover(tmp_path, "assignment3", PEOPLE).found
    (said,) = origin.odd_times(found)
    assert said.startswith("1 were") and "bob (2026-11-29 12:00 UTC)" in said


def test_what_is_said_of_times_that_are_not_known(tmp_path: Path) -> None:
    for number, student in enumerate(("ann_LATE_100001", "bob_100002", "eve_100003")):
        write(tmp_path / f"{student}_{number}_kernel.cu")
    late, unknown = origin.odd_times(layouts.discover(tmp_path, "assignment3", PEOPLE).found)
    assert "Canvas marked 1 as late" in late and "ann" in late
    assert unknown.startswith("2 have no hand-in time") and "bob, eve" in unknown
