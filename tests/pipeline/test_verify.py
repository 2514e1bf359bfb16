"""Every known submission gets the verdict of its folder, and verify notices where one does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader import verify
from tests.conftest import ROOT

ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("assignments/*/assignment.toml"))


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_known_submissions(name: str) -> None:
    found = verify.verify([str(ROOT / "assignments" / name)], jobs=2)
    assert len(found.checks) > 1
    wrong = [f"{c.name}: {c.expected}, not {c.found}: {c.detail}" for c in found.checks if not c.ok]
    assert not wrong, "\n".join(wrong)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of assignment3 with its reference and two known submissions."""
    folder = tmp_path / "assignments" / "assignment3"
    source = ROOT / "assignments" / "assignment3"
    (folder / "submissions").mkdir(parents=True)
    for name in ("assignment.toml", "inputs.py"):
        shutil.copy(source / name, folder)
    for verdict, name in (("accepted", "plain.cu"), ("out_of_bounds", "no_guard.cu")):
        (folder / "submissions" / verdict).mkdir()
        shutil.copy(source / "submissions" / verdict / name, folder / "submissions" / verdict)
    shutil.copytree(ROOT / "reference" / "assignment3", tmp_path / "reference" / "assignment3")
    return folder


def test_the_copy_verifies(copy: Path) -> None:
    assert verify.verify([str(copy)], jobs=2).ok


def test_a_submission_in_another_folder_is_named(copy: Path) -> None:
    known = copy / "submissions" / "out_of_bounds" / "no_guard.cu"
    (copy / "submissions" / "wrong_answer").mkdir()
    known.rename(copy / "submissions" / "wrong_answer" / "no_guard.cu")
    bad = [check for check in verify.verify([str(copy)], jobs=2).checks if not check.ok]
    assert [(c.name, c.expected, c.found) for c in bad] == [
        ("wrong_answer/no_guard.cu", "wrong_answer", "out_of_bounds")
    ]


def test_a_broken_reference_is_named(copy: Path) -> None:
    kernel = copy.parent.parent / "reference" / "assignment3" / "kernel.cu"
    kernel.write_text(kernel.read_text().replace("A[i] + B[i]", "A[i] - B[i]"))
    bad = [check for check in verify.verify([str(copy)], jobs=2).checks if not check.ok]
    assert "reference (cuda-c)" in [check.name for check in bad]


def test_a_finding_that_the_header_names_must_be_there(copy: Path) -> None:
    known = copy / "submissions" / "out_of_bounds" / "no_guard.cu"
    known.write_text("// expect: kind=race\n" + known.read_text())
    [bad] = [check for check in verify.verify([str(copy)], jobs=2).checks if not check.ok]
    assert "kind=race" in bad.detail


def test_a_folder_that_is_no_verdict_is_an_error(copy: Path) -> None:
    (copy / "submissions" / "wrong").mkdir()
    [bad] = verify.verify([str(copy)], jobs=1).checks
    assert not bad.ok
    assert "expected the name of a verdict" in bad.detail
