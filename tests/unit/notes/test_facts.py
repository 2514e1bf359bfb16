"""The facts are sound, and the self-check notices when they are not."""

from __future__ import annotations

import json
import lzma
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.notes import facts, facts_check


def test_the_data_is_sound() -> None:
    assert facts_check.problems() == []


def test_every_line_of_a_fact_is_inside_its_file() -> None:
    outside = [
        (record.path, record.ref, name)
        for record in facts.records()
        for name, span in record.lines.items()
        if span is not None and record.line_count is not None and span[1] > record.line_count
    ]
    assert outside == []


def _edit(folder: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    file = folder / "facts.json"
    rows = json.loads(file.read_text("utf-8"))
    change(rows)
    file.write_text(json.dumps(rows), "utf-8")


def _numpy_add(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return next(row for row in rows if row["path"].endswith("loops_arithm_fp.dispatch.c.src"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row["lines"].update(bounds_check=[1, 10**5]), "past the end"),
        (lambda row: row["lines"].update(bounds_check=[9, 3]), "is not a range"),
        (lambda row: row["absent"].clear(), "absent does not say why"),
        (lambda row: row.update(path="numpy/nowhere.c"), "not in the index of its tag"),
        (lambda row: row.update(commit="0" * 40), "commit differs"),
        (lambda row: row.update(accepted="maybe"), "is not one of"),
        (lambda row: row.update(calls="numpy/nowhere.c"), "which has no record"),
        (lambda row: row.update(why="see /home/someone/numpy"), "path of some machine"),
        (lambda row: row.update(line_count=3, lines={}), "bytes for 3 lines"),
    ],
)
def test_a_wrong_fact_is_noticed(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    folder = tmp_path / "facts"
    shutil.copytree(facts.FOLDER, folder)
    _edit(folder, lambda rows: change(_numpy_add(rows)))
    assert any(said in problem for problem in facts_check.problems(folder))


def test_a_missing_hash_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "facts"
    shutil.copytree(facts.FOLDER, folder)
    file = folder / "lines.json.xz"
    lines = json.loads(lzma.decompress(file.read_bytes()))
    lines.popitem()
    file.write_bytes(lzma.compress(json.dumps(lines).encode()))
    assert any("is missing" in problem for problem in facts_check.problems(folder))


def test_line_hashes_ignore_the_length_of_whitespace_only() -> None:
    assert facts.line_hash("  if (i <  n)\t{ ") == facts.line_hash("if (i < n) {")
    assert facts.line_hash("if (i < n) {") != facts.line_hash("if (i <= n) {")


def test_versions_sort_as_numbers_and_branches_last() -> None:
    refs = ["main", "v2.10.0", "v2.9.1", "v1.26.4"]
    assert sorted(refs, key=facts.version_key) == ["v1.26.4", "v2.9.1", "v2.10.0", "main"]


def test_absent_is_said_only_where_the_index_is_complete() -> None:
    numpy, torch = facts.index("numpy"), facts.index("pytorch")
    assert numpy is not None and torch is not None
    assert numpy.says_absent("numpy/core/src/umath/loops.c.src", "v2.0.2")
    assert not numpy.says_absent("numpy/_core/src/highway/hwy/ops.h", "v2.3.5")
    assert not torch.says_absent("aten/src/ATen/native/cuda/Nowhere.cu", "v2.8.0")
    assert torch.says_absent("aten/src/ATen/native/cuda/Nowhere.cu", "v2.6.0")
    assert not torch.says_absent(".github/workflows/nowhere.yml", "v2.6.0")
