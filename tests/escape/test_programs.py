"""Hostile whole programs: host code of a student's that runs, and wants more than it may have.

Each file of `programs/` says its attack and why it must fail. It prints `GOT …` for whatever got
through. The assertion is always the same: nothing did, it ended as its header allows, the grader is
no error richer, and nothing is left.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from grader import grade
from grader.programs import build, grading, run, toolchain
from grader.result import Verdict

pytestmark = pytest.mark.skipif(
    toolchain.missing() is not None, reason=f"no host programs here: {toolchain.missing()}"
)
HERE = Path(__file__).parent / "programs"
FILES = sorted(HERE.iterdir())
LIMITS = replace(run.LIMITS, wall_seconds=20, cpu_seconds=20, memory_bytes=2 << 30)
ESCAPED = [Path(folder) / "grade-escaped" for folder in ("/tmp", "/dev/shm", "/var/tmp")]


def header(path):
    """What the file says of itself: attack, reason, and the ends that it may come to."""
    text = re.sub(r"^// ?", "", path.read_text(), flags=re.MULTILINE)
    found = re.match(
        r"Attack: (.+?)\s+Why it must fail: (.+?)\s+Expect: ([a-z_ ]+)\n", text, re.DOTALL
    )
    assert found, f"{path} has no header"
    return found[3].split()


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path, monkeypatch):
    """A canary, a secret, and a look round afterwards."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setenv("GRADE_SECRET", "hunter2")
    (tmp_path / "canary").write_bytes(b"expected output")
    before = children()
    yield
    assert (tmp_path / "canary").read_bytes() == b"expected output"
    for _ in range(60):
        if children() <= before:
            break
        time.sleep(0.05)
    assert children() <= before
    assert list(scratch.iterdir()) == []
    assert not [path for path in ESCAPED if path.exists()]


def children():
    with contextlib.suppress(OSError):
        tasks = Path(f"/proc/{os.getpid()}/task").iterdir()
        return {pid for task in tasks for pid in (task / "children").read_text().split()}
    return set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_hostile_program(path, tmp_path):
    allowed = header(path)
    builds, built = build.build(path.read_text(), "program.cu", {})
    if "build_failed" in allowed:
        assert built is None
        said = str([d.message for b in builds for d in b.diagnostics])
        assert "root:" not in said
        return
    assert built is not None, [d.message for b in builds for d in b.diagnostics]
    program = Path(built.executable)
    before = program.read_bytes()
    started = time.monotonic()
    words = [str(tmp_path / "canary"), str(os.getpid()), str(program)]
    found = run.run(built, arguments=words, outputs=["c.bin", "pipe.bin"], limits=LIMITS)
    assert "GOT" not in found.stdout, found.stdout
    assert found.answer.ended in allowed, (found.answer, found.stdout[:2000])
    assert program.read_bytes() == before
    assert len(found.stdout) <= 1 << 20
    assert time.monotonic() - started < LIMITS.wall_seconds + 15
    assert "root:" not in str(found.answer)


GRADED = sorted((HERE.parent / "programs_graded").glob("*/*.cu"))


@pytest.mark.parametrize("path", GRADED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_hostile_program_is_graded(path, tmp_path, monkeypatch):
    monkeypatch.setattr(grading, "LIMITS", LIMITS)
    result = grade.submit(path.parent.name, path, language="cuda-c", small=True)
    assert result.verdict in [Verdict(word) for word in header(path)], result.reason
    assert result.score.points <= result.score.out_of // 2
