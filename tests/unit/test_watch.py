"""`grade check --watch`: one round per save, and what changed between two rounds."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from pathlib import Path

import pytest

from grader import cli, grade, warm, watch
from grader.errors import AssignmentError
from grader.result import Result
from tests.report import results


def test_a_save_starts_one_round(tmp_path: Path) -> None:
    file = tmp_path / "vec_add.cu"
    file.write_text("one")

    def save() -> None:
        time.sleep(1)
        for text in ("two", "two and", "two and a half"):  # an editor that writes in pieces
            file.write_text(text)

    writer = threading.Thread(target=save)
    writer.start()
    rounds = [file.read_text() for _ in itertools.islice(watch.saves(tmp_path, 0.5), 2)]
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
    assert found.fixed == ()  # it did not get to run
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


def two_reads(first: str, second: str, *lines: int) -> Result:
    """A result with the same fault on some of two lines with these texts."""
    whole = results.out_of_bounds()
    file = whole.files[0].model_copy(update={"text": f"{first}\n{second}\n"})
    faults = tuple(
        results.OUT_OF_BOUNDS.model_copy(update={"line": line, "message": f"read on line {line}"})
        for line in lines
    )
    case = whole.cases[1].model_copy(update={"faults": faults})
    return whole.model_copy(update={"files": (file,), "cases": (case,)})


def test_one_of_two_alike_is_fixed() -> None:
    before = two_reads("x = A[i];", "y = A[i + 1];", 1, 2)
    after = two_reads("if (i < N) x = A[i];", "y = A[i + 1];", 2)
    found = watch.difference(before, after)
    assert found.fixed == ("vec_add.cu:1: read on line 1",)
    assert found.new == ()
    again = watch.difference(after, before)
    assert again.new == ("vec_add.cu:1: read on line 1",)
    assert again.fixed == ()


def test_a_line_that_was_edited_and_is_still_wrong_is_no_news() -> None:
    before = two_reads("x = A[i];", "y = 0;", 1)
    after = two_reads("y = 0;", "x = A[i] + 1;", 2)
    assert watch.difference(before, after) == watch.Difference(fixed=(), new=())


def test_what_could_not_run_fixed_nothing() -> None:
    wrong, broken = results.out_of_bounds(), results.build_failed()
    found = watch.difference(wrong, broken)
    assert found.fixed == ()
    kept = watch.remembered(wrong, broken)
    assert watch.difference(kept, wrong).new == ()
    assert watch.difference(kept, wrong).fixed == found.new
    assert len(watch.difference(kept, results.accepted()).fixed) == 3


def test_a_refusal_is_new_and_then_fixed() -> None:
    fine, refused = results.accepted(), results.refused()
    assert watch.difference(fine, refused).new == (refused.reason,)
    assert watch.difference(watch.remembered(fine, refused), fine).fixed == (refused.reason,)


def test_the_loop_goes_on_after_any_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = iter([
        results.out_of_bounds(),
        RuntimeError("a bug of ours"),
        AssignmentError("assignment.toml:3: not TOML", "mend it"),
        results.build_failed(),
        results.accepted(),
        KeyboardInterrupt(),
    ])  # fmt: skip

    def submit(*_: object, **__: object) -> Result:
        outcome = next(outcomes)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    monkeypatch.setattr(grade, "submit", submit)
    monkeypatch.setattr(warm, "children", contextlib.nullcontext)
    monkeypatch.setattr(watch, "saves", lambda place: itertools.repeat(None))
    (tmp_path / "kernel.cu").write_text("")
    with pytest.raises(SystemExit) as ended:
        cli.main(["check", "assignment3", str(tmp_path), "--watch"])
    assert ended.value.code == 130
    said = capsys.readouterr()
    assert "RuntimeError: a bug of ours" in said.err
    assert "assignment.toml:3: not TOML" in said.err
    assert said.out.index("OUT OF BOUNDS") < said.out.index("BUILD FAILED")
    assert said.out.index("BUILD FAILED") < said.out.index("ACCEPTED")
    assert said.out.count("fixed: ") == 3
