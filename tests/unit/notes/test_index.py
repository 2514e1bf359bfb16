"""`python -m grader.notes.index`: what it writes for a release, and what it says it cannot find."""

from __future__ import annotations

import base64
import json
import lzma
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from grader.notes import facts, index

LOOP = "numpy/_core/src/umath/loops_arithm_fp.dispatch.c.src"
OLD = "\n".join(["// loops", "", "for (; len > 0; --len) {", "  *dst = a @OP@ b;", "}"]) + "\n"
NEW = "// one line more\n" + OLD
CHANGED = OLD.replace("*dst", "*out")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(folder)]
    done = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Three releases of a numpy with one loop: as known, moved by a line, changed."""
    folder = tmp_path / "numpy"
    git(tmp_path, "init", "-q", str(folder))
    for tag, text in (("v1.0.0", OLD), ("v1.1.0", NEW), ("v1.2.0", CHANGED)):
        file = folder / LOOP
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        (folder / f"only-{tag}.txt").write_text(tag)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", tag)
        git(folder, "tag", tag)
    return folder


@pytest.fixture
def data(tmp_path: Path, repository: Path) -> index.Data:
    """The facts of v1.0.0 only: one record, no hash and no path yet."""
    folder = tmp_path / "facts"
    folder.mkdir()
    record: dict[str, Any] = {
        "framework": "numpy", "backend": "cpu", "repo": "numpy/numpy", "ref": "v1.0.0",
        "commit": git(repository, "rev-parse", "v1.0.0"), "path": LOOP, "role": "kernel",
        "symbols": [], "lines": {"bounds_check": [3, 3], "global_id": None, "op": [4, 4]},
        "accepted": "full", "why": "the loop", "blob": facts.blob_id(OLD.encode()), "line_count": 5,
        "evidence": "tag", "absent": {"global_id": "never: a loop"},
    }  # fmt: skip
    release = {"framework": "numpy", "tag": "v1.0.0", "commit": record["commit"], "complete": False}
    step = {
        "framework": "numpy", "backend": "cpu", "ops": ["add"], "step": "launch", "path": [LOOP],
        "after": None, "pattern": "len > 0", "text": "a call", "lines": {},
    }  # fmt: skip
    paths = {"numpy": {"repo": "numpy/numpy", "tags": ["v1.0.0"], "complete": [False],
                       "not_indexed": [], "submodules": {}, "paths": {}}}  # fmt: skip
    for name, value in (("facts", [record]), ("releases", [release]), ("steps", [step])):
        (folder / f"{name}.json").write_text(json.dumps(value))
    for name, packed in (("paths", paths), ("lines", {})):
        (folder / f"{name}.json.xz").write_bytes(lzma.compress(json.dumps(packed).encode()))
    return index.Data(folder)


def test_a_known_release_gets_its_paths_hashes_and_lines(
    data: index.Data, repository: Path
) -> None:
    said: list[str] = []
    index.rebuild(data, repository, [], said.append)
    assert said == []
    assert data.paths["numpy"]["paths"] == {LOOP: 1, "only-v1.0.0.txt": 1}
    assert data.paths["numpy"]["complete"] == [True]
    hashes = base64.b64decode(data.lines[facts.blob_id(OLD.encode())])
    assert hashes == facts.hashes_of(OLD)
    assert data.steps[0]["lines"] == {"v1.0.0": 3}


def test_a_new_release_carries_the_records_to_their_new_lines(
    data: index.Data, repository: Path
) -> None:
    said: list[str] = []
    index.rebuild(data, repository, ["v1.1.0"], said.append)
    assert said == []
    fresh = data.records[-1]
    assert (fresh["ref"], fresh["line_count"]) == ("v1.1.0", 6)
    assert fresh["commit"] == git(repository, "rev-parse", "v1.1.0")
    assert fresh["lines"] == {"bounds_check": [4, 4], "global_id": None, "op": [5, 5]}
    assert data.paths["numpy"]["paths"] == {LOOP: 3, "only-v1.0.0.txt": 3, "only-v1.1.0.txt": 2}
    assert data.steps[0]["lines"] == {"v1.0.0": 3, "v1.1.0": 4}


def test_a_line_that_changed_is_left_to_a_person(data: index.Data, repository: Path) -> None:
    said: list[str] = []
    index.rebuild(data, repository, ["v1.2.0"], said.append)
    assert data.records[-1]["lines"] == {"bounds_check": [3, 3], "global_id": None}
    assert len(said) == 1
    assert "op, lines [4, 4] of the release before, is not found: look it up" in said[0]


def test_a_record_that_is_not_the_tree_is_said(data: index.Data, repository: Path) -> None:
    data.records[0]["blob"] = "0" * 40
    said: list[str] = []
    index.rebuild(data, repository, [], said.append)
    assert len(said) == 1 and "known as 0000" in said[0]


def test_some_other_repository_is_refused(data: index.Data, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    (other / "README").write_text("x")
    git(other, "add", "-A")
    git(other, "commit", "-qm", "x")
    said: list[str] = []
    index.rebuild(data, other, [], said.append)
    assert said == [f"{other}: none of numpy, MLX, CuPy, PyTorch"]


def test_writing_what_was_read_changes_nothing(tmp_path: Path) -> None:
    shutil.copytree(facts.FOLDER, tmp_path / "again")
    index.Data(facts.FOLDER).write(tmp_path / "again")
    for file in facts.FOLDER.glob("*.json"):
        assert (tmp_path / "again" / file.name).read_text() == file.read_text()
    for file in facts.FOLDER.glob("*.xz"):
        again = lzma.decompress((tmp_path / "again" / file.name).read_bytes())
        assert json.loads(again) == json.loads(lzma.decompress(file.read_bytes()))
