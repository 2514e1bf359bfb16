"""`grade batch` from the shell's side, on real submissions."""

from __future__ import annotations

import json
import os
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
from tests.conftest import ROOT

KNOWN = ROOT / "assignments" / "assignment3" / "submissions"


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
    whole = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    shutil.rmtree(folder)
    assert cli._run(["export", "assignment3", "--to", "class"]) == 0
    again = {p: p.read_bytes() for p in Path("assignment3-class").resolve().rglob("*.*")}
    assert {p: data for p, data in again.items() if p.is_file()} == whole
    assert cli._run(["export", "assignment3", "--to", "class", "--anonymous", "--out", "x"]) == 0
    assert not any("ann" in path.name for path in Path("x/reports").iterdir())
    assert ">ann<" not in Path("x/class.html").read_text()


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_and_grades_nothing_twice(tmp_path: Path) -> None:
    names = [
        "accepted/plain.cu", "accepted/grid_stride.cu", "out_of_bounds/no_guard.cu",
        "build_failed/wrong_name.cu",
    ]  # fmt: skip
    for number in range(30):
        file = hand_in(tmp_path / "class", f"student{number:02}", names[number % len(names)])
        file.write_text(file.read_text() + f"// {number}\n")
        os.utime(file, (1_700_000_000, 1_700_000_000))

    def start(gradebook: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "grader", "batch", "assignment3", "--submissions",
             str(tmp_path / "class"), "--gradebook", str(gradebook), "--weak-sandbox", "--quiet"],
            cwd=ROOT,
        )  # fmt: skip

    killed, whole = tmp_path / "killed.db", tmp_path / "whole.db"
    for wanted in (4, 11, 20):  # however fast the machine is, each kill falls into the work
        process = start(killed)
        deadline = time.monotonic() + 300
        while process.poll() is None and _count(killed) < wanted:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert wanted <= _count(killed) < 30
    assert start(killed).wait() == 0
    assert start(whole).wait() == 0
    with Gradebook(killed) as one, Gradebook(whole) as other:
        assert dumped(one, "assignment3") == dumped(other, "assignment3")
        assert len(one.history("assignment3")) == 30  # one grading each, however often killed
    assert _count(killed) == 30


def _count(path: Path) -> int:
    if not path.is_file():
        return 0
    with Gradebook(path) as book:
        return len(book.keys("assignment3"))
