"""`grade batch` from the shell's side, on real submissions."""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from grader import cli
from grader.batch.gradebook import Gradebook, dumped
from tests.batch import made_class
from tests.conftest import ROOT

KNOWN = ROOT / "assignments" / "assignment3" / "submissions"
MOST_ATTEMPTS = 8


def hand_in(folder: Path, student: str, known: str) -> Path:
    """A submission of `student`: a known one under the starter's name."""
    (folder / student).mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(KNOWN / known, folder / student / "kernel.cu"))


def batch(tmp_path: Path, *more: str | Path) -> dict[str, Any]:
    code = cli._run([
        "batch", "assignment3", "--submissions", str(tmp_path / "class"),
        "--gradebook", str(tmp_path / "gradebook.db"), "--json", str(tmp_path / "out.json"),
        "--weak-sandbox", "--quiet", *map(str, more),
    ])  # fmt: skip
    assert code == 0
    summary: dict[str, Any] = json.loads((tmp_path / "out.json").read_text())
    return summary


def test_graded_once_then_only_what_changed(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    hand_in(folder, "ann", "accepted/plain.cu")
    hand_in(folder, "bob", "build_failed/wrong_name.cu")
    with zipfile.ZipFile(folder / "cem.zip", "w") as packed:
        packed.write(KNOWN / "out_of_bounds/no_guard.cu", "assignment3/kernel.cu")
    (folder / "dan.zip").write_bytes(b"PK\x03\x04 is all that is zip here")
    first = batch(tmp_path)
    assert first["graded"] == 4
    assert first["verdicts"] == {
        "refused": 1, "build_failed": 1, "out_of_bounds": 1, "accepted": 1,
    }  # fmt: skip
    assert batch(tmp_path)["graded"] == 0

    hand_in(folder, "bob", "accepted/plain.cu")
    compared = batch(tmp_path, "--compare")
    assert compared["graded"] == 1
    (change,) = compared["changes"]
    assert change.startswith("bob: new: accepted")
    with Gradebook(tmp_path / "gradebook.db") as book:
        assert {r.student: r.verdict.value for r in book.rows("assignment3")}["bob"] == (
            "build_failed"
        )
    assert batch(tmp_path)["graded"] == 0  # what --compare found is published, not graded again
    with Gradebook(tmp_path / "gradebook.db") as book:
        verdicts = [r.verdict.value for r in book.rows("assignment3") if r.student == "bob"]
    assert sorted(verdicts) == ["accepted", "build_failed"]
    assert batch(tmp_path, "--only", "verdict=refused")["graded"] == 1
    assert batch(tmp_path, "--student", "ann", "--student", "dan")["graded"] == 2
    assert batch(tmp_path, "--since", "2999-01-01")["graded"] == 0
    assert batch(tmp_path, "--since", "2001-01-01", "--student", "cem")["graded"] == 1
    for wrong in (("--student", "nobody"), ("--since", "yesterday"), ("--only", "verdict=good")):
        book = str(tmp_path / "gradebook.db")
        assert cli._run(["batch", "assignment3", "--submissions", str(folder),
                         "--gradebook", book, "--weak-sandbox", *wrong]) == 2  # fmt: skip


def test_an_archive_downloaded_after_the_due_date_makes_nobody_late(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its files have the time of the download; what Blackboard says in a name is in the due
    date's zone."""
    (tmp_path / "class.toml").write_text(
        "[assignment.assignment3]\ndue = 2026-11-20T12:00:00+01:00\n"
    )
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as packed:
        for name in (
            "ann_100001_7_kernel.cu", "bob_LATE_100002_8_kernel.cu",
            "Add_cem_attempt_2026-11-20-11-59-00_kernel.cu",
            "Add_dan_attempt_2026-11-20-12-01-00_kernel.cu",
        ):  # fmt: skip
            packed.write(KNOWN / "accepted/plain.cu", name)
    book = str(tmp_path / "gradebook.db")
    assert cli._run(["batch", "assignment3", "--submissions", str(tmp_path / "class.zip"),
                     "--gradebook", book, "--weak-sandbox"]) == 0  # fmt: skip
    said = " ".join(capsys.readouterr().out.split())
    assert "look at this: Canvas marked 1 as late" in said
    assert "1 have no hand-in time that can be relied on, and are not counted as late: ann" in said
    assert cli._run(["export", "assignment3", "--to", "csv", "--gradebook", book,
                     "--out", str(tmp_path / "grades.csv")]) == 0  # fmt: skip
    rows = list(csv.DictReader((tmp_path / "grades.csv").read_text("utf-8-sig").splitlines()))
    assert {r["id"]: (r["late_days"], r["time_from"]) for r in rows} == {
        "ann": ("0", "unknown"), "bob": ("0", "late"), "cem": ("0", "name"), "dan": ("1", "name"),
    }  # fmt: skip
    assert next(r for r in rows if r["id"] == "ann")["submitted"] == ""
    page = (tmp_path / "assignment3-class" / "class.html").read_text()
    assert "2 students have no known hand-in time" in page


def test_it_ends_with_a_class_report_that_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hand_in(tmp_path / "class", "ann", "accepted/plain.cu")
    hand_in(tmp_path / "class", "bob", "out_of_bounds/no_guard.cu")
    (tmp_path / "roster.csv").write_text("id\nann\nbob\ncem\n")
    (tmp_path / "class.toml").write_text("leaderboard = true\n")
    summary = batch(tmp_path, "--roster", str(tmp_path / "roster.csv"))
    folder = tmp_path / "assignment3-class"
    page = folder / "class.html"
    assert summary["class_page"] == str(page)
    assert {path.name for path in (folder / "reports").iterdir()} == {"ann.html", "bob.html"}
    assert "1 student handed in nothing" in page.read_text()
    assert "kernel.cu" in (folder / "reports" / "bob.html").read_text()
    board = (folder / "leaderboard.html").read_text()
    assert "student-" in board and "ann" not in board
    whole = {path: path.read_bytes() for path in folder.rglob("[a-z]*.*") if path.is_file()}
    shutil.rmtree(folder)
    assert cli._run(["export", "assignment3", "--to", "class"]) == 0
    again = {p: p.read_bytes() for p in Path("assignment3-class").resolve().rglob("[a-z]*.*")}
    assert {p: data for p, data in again.items() if p.is_file()} == whole
    assert cli._run(["export", "assignment3", "--to", "class", "--anonymous", "--out", "x"]) == 0
    assert not any("ann" in path.name for path in Path("x/reports").iterdir())
    assert ">ann<" not in Path("x/class.html").read_text()


def start(tmp_path: Path, gradebook: Path, *more: str) -> subprocess.Popen[str]:
    """`grade batch` in a process group of its own, as a terminal starts it."""
    return subprocess.Popen(
        [sys.executable, "-m", "grader", "batch", "assignment3", "--submissions",
         str(tmp_path / "class"), "--gradebook", str(gradebook), "--weak-sandbox", "--quiet",
         *more],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip


def until(gradebook: Path, count: int, process: subprocess.Popen[str]) -> None:
    """Wait until so many are graded; the process must not have ended by then."""
    deadline = time.monotonic() + 300
    while _count(gradebook) < count:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def exported(gradebook: Path) -> bytes:
    """The grades as `grade export --to csv` writes them."""
    out = gradebook.with_suffix(".csv")
    assert cli._run(["export", "assignment3", "--to", "csv", "--gradebook", str(gradebook),
                     "--out", str(out)]) == 0  # fmt: skip
    return out.read_bytes()


def kill_inside(tmp_path: Path, gradebook: Path, count: int, left: int, longest: float) -> bool:
    """Start a batch that has `count` to grade and end it, with `left` - 1 more such ends to come.

    At a random moment, after some are done. False where all were done before the signal came: many
    cores grade several in the moment that passes between looking and acting.
    """
    process = start(tmp_path, gradebook, "--jobs", "2")
    moments = random.Random()  # its seed is no matter: every moment must do
    before = _count(gradebook)
    last = before + (count - before) // (left + 1)
    until(gradebook, moments.randint(before + 1, max(before + 1, last)), process)
    time.sleep(moments.uniform(0, longest))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return before < _count(gradebook) < count


@pytest.mark.parametrize(("count", "kills"), [(6, 1), pytest.param(60, 3, marks=pytest.mark.slow)])
def test_killed_at_any_moment_it_goes_on_and_grades_nothing_twice(
    tmp_path: Path, count: int, kills: int
) -> None:
    expected = made_class.make(tmp_path / "class", count)
    killed, whole = tmp_path / "killed.db", tmp_path / "whole.db"
    for attempt in range(MOST_ATTEMPTS):
        for left in tmp_path.glob("killed.db*"):
            left.unlink()
        if all(
            kill_inside(tmp_path, killed, count, n + 1, 0.2 / 2**attempt)
            for n in reversed(range(kills))
        ):
            break
    assert 0 < _count(killed) < count
    for gradebook in (killed, whole):
        process = start(tmp_path, gradebook)
        said = process.communicate()[0]
        assert process.returncode == 0, said
    with Gradebook(killed) as one, Gradebook(whole) as other:
        assert dumped(one, "assignment3") == dumped(other, "assignment3")
        assert len(one.history("assignment3")) == count  # one grading each, however often killed
        verdicts = {row.student: row.verdict.value for row in one.rows("assignment3")}
    assert exported(killed) == exported(whole)
    assert all(verdicts[student] in allowed for student, allowed in expected.items())


def test_ctrl_c_finishes_what_it_began_and_leaves_nothing_behind(tmp_path: Path) -> None:
    made_class.make(tmp_path / "class", 12, verdicts=["accepted", "build_failed"])
    gradebook = tmp_path / "gradebook.db"
    process = start(tmp_path, gradebook, "--jobs", "1")
    until(gradebook, 2, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    said = process.communicate(timeout=120)[0]
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "are left; the same command goes on with them" in said
    done = _count(gradebook)
    assert 2 <= done < 12
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # no process of its group is left
    process = start(tmp_path, gradebook)
    assert f"graded {12 - done} in" in process.communicate()[0]
    with Gradebook(gradebook) as book:
        assert len(book.history("assignment3")) == 12


def test_what_one_submission_does_costs_that_submission_only(tmp_path: Path) -> None:
    """A crash, a hang, a hog and a bomb between honest ones; each says whose fault it was."""
    folder = tmp_path / "class"
    for student in ("a_honest", "z_honest"):
        hand_in(folder, student, "accepted/plain.cu")
    for student, hostile in (
        ("crash", "wild_pointers"), ("hang", "never_writes"), ("hog", "asks_for_a_terabyte"),
    ):  # fmt: skip
        (folder / student).mkdir()
        shutil.copy(made_class.HOSTILE / f"{hostile}.cu", folder / student / "kernel.cu")
    hand_in(folder, "spins", "timed_out/loop_never_steps.cu")
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("kernel.cu", bytes(64 << 20))
    batch(tmp_path)
    with Gradebook(tmp_path / "gradebook.db") as book:
        rows = {row.student: row for row in book.rows("assignment3")}
        reason = book.result(rows["bomb"].id).reason
    assert {s: r.verdict.value for s, r in rows.items() if "honest" in s} == {
        "a_honest": "accepted", "z_honest": "accepted",
    }  # fmt: skip
    assert rows["bomb"].verdict.value == "refused" and "bomb.zip" in reason
    assert rows["spins"].verdict.value == "timed_out"
    others = {rows[s].verdict.value for s in ("crash", "hang", "hog")}
    assert not others & {"accepted", "grader_error"}


def _count(path: Path) -> int:
    if not path.is_file():
        return 0
    with Gradebook(path) as book:
        return len(book.keys("assignment3"))
