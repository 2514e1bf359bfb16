"""A class in which one submission is made to stop the grading of all the others.

Attack: a clone or a file that makes whoever lists the class wait, run out of memory, run a program
of the student's, or fail on a time or a name.
Why it must fail: only beginnings of plain files are read, git reads objects in a child, and what no
gradebook could hold is skipped by itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time

import pytest

from grader.batch import commits, layouts
from grader.sandbox.records import MIB, Limits

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(autouse=True)
def in_time():
    """Whoever opens a pipe waits for ever: fail, do not hang."""
    timer = threading.Timer(60, lambda: os._exit(3))
    timer.start()
    yield
    timer.cancel()


@pytest.fixture
def folder(tmp_path):
    """A class of two: ann is hostile, bob is not."""
    for student in ("ann", "bob"):
        (tmp_path / student).mkdir()
        (tmp_path / student / "vec_add.cu").write_text("__global__ void vec_add() {}")
    return tmp_path


def listed(folder):
    """What `discover` finds, each of it fit for a gradebook: student and when it was handed in."""
    finding = layouts.discover(folder, "assignment3")
    for record in (*finding.found, *finding.skipped):
        assert record.model_dump_json()
    return {found.students: found.submitted.timestamp() for found in finding.found}


def clone(folder, when, message=b"m\n"):
    """Make `folder` a clone whose only commit claims to be of `when`."""

    def git(*words, **named):
        argv = ["git", "-C", str(folder), *words]
        return subprocess.run(argv, capture_output=True, check=True, **named).stdout.strip()

    git("init", "--quiet")
    git("add", "-A")
    who = b"a <a@x>"
    tree = b"tree %s\nauthor %s 0 +0000\ncommitter %s %d +0000\n\n" % (
        git("write-tree"), who, who, when,
    )  # fmt: skip
    made = git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", input=tree + message)
    (folder / ".git" / "HEAD").write_bytes(made + b"\n")


@needs_git
@pytest.mark.parametrize("when", [1_700_000_000, 253_402_300_799, 10**13, 10**18])
def test_commits_of_any_time(folder, when):
    clone(folder / "ann", when)
    times = listed(folder)
    assert set(times) == {("ann",), ("bob",)}
    assert times["ann",] == when or (when > 1_700_000_000 and times["ann",] <= time.time())


@needs_git
def test_a_commit_that_is_a_bomb(folder, monkeypatch):
    """A commit that takes a few hundred kilobytes on the disk and far more in memory."""
    monkeypatch.setattr(commits, "LIMITS", Limits(memory_bytes=32 * MIB))
    clone(folder / "ann", 1_700_000_000, bytes(200 * MIB))
    assert listed(folder)["ann",] > 1_700_000_000  # not read: it is the file's time


@pytest.mark.parametrize("name", ["HEAD", "packed-refs"])
@pytest.mark.parametrize("kind", ["a pipe", "a device", "a huge file"])
def test_clones_that_are_none(folder, name, kind):
    place = folder / "ann" / ".git"
    (place / "objects").mkdir(parents=True)
    (place / "HEAD").write_text("ref: refs/heads/main\n")
    (place / name).unlink(missing_ok=True)
    if kind == "a pipe":
        os.mkfifo(place / name)
    elif kind == "a device":
        (place / name).symlink_to("/dev/zero")
    else:
        with (place / name).open("wb") as file:
            file.truncate(1 << 34)
    assert set(listed(folder)) == {("ann",), ("bob",)}


@needs_git
@pytest.mark.parametrize(
    "name", ["info/alternates", "info/http-alternates", "pack/pack-a.idx", "pack/pack-a.pack"]
)
@pytest.mark.parametrize("kind", ["a pipe", "a device", "a folder of its own"])
def test_objects_that_are_no_plain_files_are_not_shown_to_git(folder, name, kind, monkeypatch):
    """git waits at a pipe until its time is up: with thirty such clones for ten minutes."""
    clone(folder / "ann", 1_700_000_000)
    assert listed(folder)["ann",] == 1_700_000_000
    place = folder / "ann" / ".git" / "objects" / name
    place.parent.mkdir(exist_ok=True)
    if kind == "a pipe":
        os.mkfifo(place)
    elif kind == "a device":
        place.symlink_to("/dev/zero")
    else:
        shutil.rmtree(place.parent)
        place.parent.symlink_to(folder / "bob")
    asked = []
    monkeypatch.setattr(commits.sandbox, "run", lambda *words, **named: asked.append(words))
    assert listed(folder)["ann",] > 1_700_000_000  # the file's time
    assert not asked


@needs_git
def test_a_clone_that_borrows_objects_counts_by_its_files(folder):
    """What another repository holds is not the student's; git is sent nowhere."""
    clone(folder / "ann", 1_700_000_000)
    (folder / "ann" / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (folder / "ann" / ".git" / "objects" / "info" / "alternates").write_text("/elsewhere\n")
    assert listed(folder)["ann",] > 1_700_000_000


def test_a_file_of_the_future(folder):
    os.utime(folder / "ann" / "vec_add.cu", (0, 1 << 33))
    assert listed(folder)["ann",] <= time.time()


@pytest.mark.parametrize("inner", [False, True])
def test_names_that_are_not_utf_8(folder, inner):
    odd = os.fsdecode(b"\xffann")
    if inner:
        (folder / "ann" / "vec_add.cu").unlink()
        (folder / "ann" / odd).mkdir()
        (folder / "ann" / odd / "vec_add.cu").write_text("__global__ void vec_add() {}")
    else:
        (folder / "ann").rename(folder / odd)
    assert ("bob",) in listed(folder)
