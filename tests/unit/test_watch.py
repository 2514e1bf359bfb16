"""`grade check --watch`: one round per save, and what changed between two rounds."""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path

from grader import watch
from tests.report import results


def test_a_save_starts_one_round(tmp_path: Path) -> None:
    file = tmp_path / "vec_add.cu"
    file.write_text("one")

    def save() -> None:
        time.sleep(0.2)
        for text in ("two", "two and", "two and a half"):  # an editor that writes in pieces
            file.write_text(text)

    writer = threading.Thread(target=save)
    writer.start()
    rounds = [file.read_text() for _ in itertools.islice(watch.saves(tmp_path, 0.05), 2)]
    writer.join()
    assert rounds == ["one", "two and a half"]


def test_a_file_that_vanishes_and_comes_back_is_a_save(tmp_path: Path) -> None:
    file = tmp_path / "vec_add.cu"
    file.write_text("one")
    before = watch.state(tmp_path)
    file.unlink()
    assert watch.state(tmp_path) != before


def test_hidden_files_are_no_saves(tmp_path: Path) -> None:
    before = watch.state(tmp_path)
    (tmp_path / ".vec_add.cu.swp").write_text("editor")
    (tmp_path / ".grade").mkdir()
    assert watch.state(tmp_path) == before


def test_says_what_is_fixed_and_what_is_new() -> None:
    found = watch.difference(results.out_of_bounds(), results.build_failed())
    assert len(found.fixed) == 2
    assert found.new == ('vec_add.cu:6: identifier "c" is undefined',)


def test_a_finding_that_only_moved_is_neither() -> None:
    before = results.out_of_bounds()
    moved = tuple(
        case.model_copy(
            update={"faults": tuple(f.model_copy(update={"line": 9}) for f in case.faults)}
        )
        for case in before.cases
    )
    found = watch.difference(before, before.model_copy(update={"cases": moved}))
    assert found.fixed == ()
    assert found.new == ()
