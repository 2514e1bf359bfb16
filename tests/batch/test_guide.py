"""`docs/instructor-guide.md`, From a roster to Canvas: its commands as they stand, for a class."""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.batch import made_class
from tests.conftest import ROOT

CLASS = 40
DUE = "2023-11-14T22:13:20Z"  # made_class.HANDED_IN


def commands() -> list[str]:
    """Every line of the section's shell blocks."""
    text = (ROOT / "docs" / "instructor-guide.md").read_text()
    section = text.partition("## From a roster to Canvas\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


def exported(count: int) -> str:
    """Canvas's export of a class: quotes, an empty column, its own fake student."""
    rows = [
        "Student,ID,SIS User ID,SIS Login ID,Section,Assignment 3 (4333716),Quiz (9),"
        "Final (read only)",
        "    Points Possible,,,,,50,10,(read only)",
    ]
    rows += [
        f'"Doe, ""J"" {n}",{1000 + n},90{n:04},student{n:03},"ECE408, 1",,{n % 10},'
        for n in range(count)
    ]
    return "\ufeff" + "\r\n".join([*rows, '"Student, Test",1,,x1,,,,']) + "\r\n"


def made(folder: Path, count: int) -> dict[str, set[str]]:
    """What an instructor has: submissions, Canvas's export, class.toml; the last one is missing."""
    expected = made_class.make(folder / "handed-in", count)
    for short in ("student05", "student06", "student07"):
        (folder / "handed-in" / short.replace("student", "student0")).rename(
            folder / "handed-in" / short
        )
        expected[short] = expected.pop(short.replace("student", "student0"))
    text = exported(count)
    for n in (5, 6, 7):
        text = text.replace(f"student00{n}", f"student0{n}")
    last = f"student{count - 1:03}"
    shutil.rmtree(folder / "handed-in" / last)
    del expected[last]
    late = folder / "handed-in" / "student05" / "kernel.cu"
    os.utime(late, (made_class.HANDED_IN + 3 * 86400 - 60,) * 2)
    (folder / "exported.csv").write_bytes(text.encode())
    (folder / "class.toml").write_text(
        f"[assignment.assignment3]\ndue = {DUE}\npenalty_percent_per_day = 10\n"
    )
    return expected


def run(folder: Path) -> list[str]:
    """The guide's commands in a folder, by a shell; what each printed."""
    shim = folder / "bin" / "grade"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m grader "$@"\n')
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    environment = {
        **os.environ, "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT), "GRADE_ASSIGNMENTS": str(ROOT / "assignments"),
    }  # fmt: skip
    said = []
    for command in commands():
        # Only that the machine of a test need not have Landlock.
        extra = " --weak-sandbox" if command.startswith("grade batch") else ""
        done = subprocess.run(
            ["bash", "-ec", command + extra], cwd=folder, env=environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        said.append(done.stdout)
    return said


def check(folder: Path, expected: dict[str, set[str]], said: list[str]) -> None:
    count = len(expected) + 1
    first, extended, *_, compared = said
    assert f"found {count - 1} submissions" in first and "no submission from 1 of" in first
    assert "1 day late" in extended
    assert "0 grades would change" in compared
    before, after = ((folder / f"{n}.csv").read_bytes() for n in ("exported", "filled"))
    old = list(csv.reader(io.StringIO(before.decode(), newline="")))
    new = list(csv.reader(io.StringIO(after.decode(), newline="")))
    assert [r[:5] + r[6:] for r in old] == [r[:5] + r[6:] for r in new]
    points = {row[3]: row[5] for row in new[2:]}
    assert points["student06"] == "40"  # 80 of 100 in a column of 50
    assert points[f"student{count - 1:03}"] == "" and points["x1"] == ""
    assert all(points[student] for student in expected)
    # Without the cells that were filled not a byte has changed.
    emptied = after
    for row in new[2:]:
        cell = f',"ECE408, 1",{row[5]},'.encode()
        emptied = emptied.replace(cell, b',"ECE408, 1",,') if row[5] else emptied
    assert emptied == before
    grades = {p.parent.name for p in (folder / "feedback").glob("*/grade.md")}
    assert set(expected) <= grades
    assert (folder / "assignment3-class" / "class.html").is_file()


def test_a_class_of_ten(tmp_path: Path) -> None:
    expected = made(tmp_path, 10)
    check(tmp_path, expected, run(tmp_path))


@pytest.mark.slow
def test_a_class_of_forty(tmp_path: Path) -> None:
    expected = made(tmp_path, CLASS)
    check(tmp_path, expected, run(tmp_path))
