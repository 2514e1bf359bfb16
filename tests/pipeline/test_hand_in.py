"""Handing in: the archive, a drop folder, git; and that repeating it does nothing twice."""

from __future__ import annotations

import datetime
import subprocess
import zipfile
from pathlib import Path

import pytest
from rich.console import Console

from grader import hand_in
from grader.errors import UsageError
from grader.result import Result
from tests.conftest import ROOT
from tests.report import results

SOURCE = results.SOURCE


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder with the file that the made results are about."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for word in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{word}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{word}_EMAIL", "ann@x.edu")
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "vec_add.cu").write_text(SOURCE)
    (folder / "a.out").write_bytes(b"\x7fELF")
    monkeypatch.chdir(folder)
    return folder


def graded(result: Result, folder: Path) -> Result:
    """The result as if the file in the folder had been graded."""
    import hashlib

    data = (folder / "vec_add.cu").read_bytes()
    file = results.FILE.model_copy(update={"sha256": hashlib.sha256(data).hexdigest()})
    return result.model_copy(update={"files": (file,), "notes": None})


def pack(result: Result, folder: Path) -> hand_in.Packed:
    out = folder.parent / "out"
    out.mkdir(exist_ok=True)
    return hand_in.pack(result, folder, out)


def finish(
    result: Result, packed: hand_in.Packed, asked: bool | None = None, width: int = 200
) -> str:
    console = Console(width=width, record=True, quiet=False, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    hand_in.finish(result, packed, console, asked=asked, in_ci=False, quiet=False)
    return console.export_text()


def test_the_archive_says_what_is_in_it_and_what_is_not(work: Path) -> None:
    packed = pack(graded(results.accepted(), work), work)
    assert packed.archive is not None
    with zipfile.ZipFile(packed.archive) as archive:
        assert tuple(sorted(archive.namelist())) == packed.inside
        assert archive.read("vec_add.cu").decode() == SOURCE
        sums = archive.read("SHA256SUMS").decode()
    assert {line.split("  ")[1] for line in sums.splitlines()} == {"vec_add.cu", "result.json"}
    assert packed.left_out == ("a.out (not what is graded)",)


def test_what_is_said_fits_80_columns(work: Path) -> None:
    for n in range(9):
        (work / f"a_file_of_a_long_name_that_is_not_graded_{n}.txt").write_text("")
    (work / "grade.toml").write_text(
        'grader = "0.0.1"\n[hand_in]\nto = "folder"\nfolder = "no/such/folder"\n'
    )
    result = graded(results.accepted(), work)
    cases = tuple(c.model_copy(update={"hidden": True}) for c in result.cases)
    packed = pack(result, work).model_copy(update={"archive": Path(".grade/a/submission.zip")})
    said = finish(result.model_copy(update={"cases": cases}), packed, asked=True, width=80)
    for part in ("not in it", "hidden", "grade.toml asks for", "not handed in"):
        assert part in said
    for line in said.splitlines():
        assert len(line) <= 80 or " " not in line.strip(), line  # a path is never broken


def test_a_file_that_changed_meanwhile_is_not_packed(work: Path) -> None:
    result = graded(results.accepted(), work)
    (work / "vec_add.cu").write_text(SOURCE + "//\n")
    with pytest.raises(UsageError, match="changed while"):
        pack(result, work)


def test_nothing_is_packed_where_nothing_was_graded(work: Path) -> None:
    assert pack(results.refused(), work).archive is None


def test_drop_folder_is_safe_to_repeat_and_overwrites_nothing(work: Path) -> None:
    drop = work.parent / "drop"
    drop.mkdir()
    (work / "grade.toml").write_text(
        'students = ["ann", "bob"]\n[hand_in]\nto = "folder"\nfolder = "../drop"\n'
    )
    result = graded(results.accepted(), work)
    assert "handed in: " in finish(result, pack(result, work))
    assert "handed in already" in finish(result, pack(result, work))
    (first,) = drop.iterdir()
    assert first.name.startswith("ann+bob_")
    (work / "vec_add.cu").write_text(SOURCE + "// better\n")
    result = graded(results.accepted(), work)
    finish(result, pack(result, work))
    assert len(list(drop.iterdir())) == 2


def test_what_is_not_accepted_needs_a_word(work: Path) -> None:
    drop = work.parent / "drop"
    drop.mkdir()
    (work / "grade.toml").write_text('[hand_in]\nto = "folder"\nfolder = "../drop"\n')
    result = graded(results.wrong_answer(), work)
    assert "--hand-in hands it in all the same" in finish(result, pack(result, work))
    assert not list(drop.iterdir())
    assert "not handed in: --no-hand-in" in finish(result, pack(result, work), asked=False)
    assert "handed in: " in finish(result, pack(result, work), asked=True)


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    ).stdout


def test_git_commits_tags_and_pushes_once(work: Path) -> None:
    remote = work.parent / "remote.git"
    git(work.parent, "init", "--quiet", "--bare", str(remote))
    git(work, "init", "--quiet", "--initial-branch", "main")
    (work / "grade.toml").write_text('[hand_in]\nto = "git"\n')
    git(work, "remote", "add", "origin", str(work.parent / "nowhere.git"))
    result = graded(results.accepted(), work)
    said = finish(result, pack(result, work))
    assert "was not sent" in said and "git push origin HEAD submit/" in said
    git(work, "remote", "set-url", "origin", str(remote))
    for _ in range(2):
        assert "handed in: commit " in finish(result, pack(result, work))
    tags = git(remote, "tag").split()
    assert len(tags) == 1 and tags[0].startswith(f"submit/{result.assignment}/")
    assert git(remote, "ls-tree", "--name-only", "main").split() == ["vec_add.cu"]


def test_nothing_is_handed_in_from_a_folder_of_somebody_elses(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An instructor who grades a student's clone must not run the hooks in it."""
    result = graded(results.accepted(), work)
    git(work, "init", "--quiet", "-b", "main")
    hook = work / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {work / 'ran'}\n")
    hook.chmod(0o755)
    (work / "grade.toml").write_text('[hand_in]\nto = "git"\n')
    packed = pack(result, work)
    monkeypatch.chdir(work.parent)
    assert "a folder you are not in" in finish(result, packed)
    assert not (work / "ran").exists()
    finish(result, packed, asked=True)
    assert (work / "ran").exists()


def test_address_of_a_commit_on_a_web_host() -> None:
    for remote in ("git@github.com:ece/a3-ann.git", "https://token@github.com/ece/a3-ann"):
        assert hand_in._address(remote, "c0ffee") == ("https://github.com/ece/a3-ann/commit/c0ffee")


def test_another_version_and_a_late_day_are_said(work: Path) -> None:
    (work / "grade.toml").write_text('grader = "0.0.9"\n[due]\na = 2026-11-30T12:00:00Z\n')
    config, _ = hand_in.load(work)
    assert "asks for grader 0.0.9" in hand_in.version_remark(config)
    when = datetime.datetime(2026, 12, 1, 12, 0, 1, tzinfo=datetime.UTC)
    assert hand_in.late(config, "a", when) == "2 days late"
    (work / "grade.toml").write_text("colour = 1\n")
    with pytest.raises(UsageError, match=r"grade\.toml: colour"):
        hand_in.load(work)


def test_the_students_template_sends_nothing_anywhere(work: Path) -> None:
    template = ROOT / "student_template" / "grade.toml"
    (work / "grade.toml").write_text(template.read_text())
    git(work, "init", "--quiet", "--initial-branch", "main")
    result = graded(results.accepted(), work)
    said = finish(result, pack(result, work))
    assert "submission.zip" in said and "handed in" not in said
    assert git(work, "status", "--short", "--untracked-files=all").startswith("?? ")
    assert "hand in submission.zip yourself" in finish(result, pack(result, work), asked=True)
    # Its commented examples are keys that there are.
    text = template.read_text().replace("# students", "students").replace("# remote", "remote")
    text = (
        text.replace("# folder", "folder").replace("# [due]", "[due]").replace("# assig", "assig")
    )
    (work / "grade.toml").write_text(text)
    config, _ = hand_in.load(work)
    assert config.students == ("ann", "bob") and config.hand_in.folder == "/courses/drop"


def test_what_hidden_cases_hold_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    result = results.accepted()
    shown = result.cases[0]
    hidden = shown.model_copy(update={"hidden": True, "weight": 1, "name": "hidden"})
    cases = (shown.model_copy(update={"weight": 1}), hidden)
    result = result.model_copy(update={"cases": cases})
    by_case = sum(x.out_of for x in result.score.lines if x.item in ("correct", "bounds", "sync"))
    remark = hand_in.hidden_remark(result)
    assert remark.startswith(f"{round(by_case / 2)} of {result.score.out_of} points rest on hidden")
    monkeypatch.setenv("GRADE_SECRET", "the real one")
    assert hand_in.hidden_remark(result) == ""


@pytest.mark.parametrize(("answer", "agreed"), [("y", True), ("", False), ("no", False)])
def test_on_a_terminal_it_asks_after_saying_the_score(
    answer: str, agreed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or answer)
    config = hand_in.Config(hand_in=hand_in.Target(to="folder", folder="x"))
    told = "wrong answer, 40 points, 2 days late: hand in? [y/N] "
    said = hand_in.wanted(results.wrong_answer(), config, asked=None, ask=True, question=told)
    assert (said[0], asked) == (agreed, [told])
    hand_in.wanted(results.wrong_answer(), config, asked=None, ask=False, question=told)
    assert len(asked) == 1  # never without a terminal
