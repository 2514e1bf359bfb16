"""Every known submission gets the verdict of its folder, and verify notices where one does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader import verify
from tests.conftest import ROOT

ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("assignments/*/assignment.toml"))


@pytest.mark.parametrize(
    "name",
    # CI runs `grade verify` over all of them beside the tests.
    [pytest.param(n, marks=[pytest.mark.slow] * (n != "assignment3")) for n in ASSIGNMENTS],
)
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
    for name in ("assignment.toml", "inputs.py", "README.md"):
        shutil.copy(source / name, folder)
    for verdict, name in (("accepted", "plain.cu"), ("out_of_bounds", "no_guard.cu")):
        (folder / "submissions" / verdict).mkdir()
        shutil.copy(source / "submissions" / verdict / name, folder / "submissions" / verdict)
    for beside in ("reference", "student_template"):
        shutil.copytree(ROOT / beside / "assignment3", tmp_path / beside / "assignment3")
    return folder


def test_the_copy_verifies(copy: Path) -> None:
    assert verify.verify([str(copy)], jobs=2).ok


def test_a_submission_in_another_folder_is_named(copy: Path) -> None:
    known = copy / "submissions" / "out_of_bounds" / "no_guard.cu"
    (copy / "submissions" / "wrong_answer").mkdir()
    known.rename(copy / "submissions" / "wrong_answer" / "no_guard.cu")
    wrong = [check for check in verify.verify([str(copy)], jobs=2).checks if not check.ok]
    assert [(c.name, c.expected, c.found) for c in wrong] == [
        ("wrong_answer/no_guard.cu", "wrong_answer", "out_of_bounds")
    ]


@pytest.mark.parametrize(
    ("language", "file", "sum_", "difference"),
    [
        ("cuda-c", "kernel.cu", "A[i] + B[i]", "A[i] - B[i]"),
        pytest.param("metal", "kernel.metal", "A[i] + B[i]", "A[i] - B[i]", marks=pytest.mark.slow),
        pytest.param("triton", "kernel.py", "a + b", "a - b", marks=pytest.mark.slow),
    ],
)
def test_a_broken_reference_is_named(
    copy: Path, language: str, file: str, sum_: str, difference: str
) -> None:
    change(copy.parent.parent / "reference" / "assignment3" / file, (sum_, difference))
    assert f"reference ({language})" in [name for name, _ in bad(copy)]


def bad(copy: Path) -> list[tuple[str, str]]:
    """What verify finds wrong with the copy: name and detail of each failed check."""
    return [(c.name, c.detail) for c in verify.verify([str(copy)], jobs=2).checks if not c.ok]


def change(path: Path, *pairs: tuple[str, str]) -> None:
    text = path.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


def test_a_tolerance_loosened_a_thousandfold_is_named(copy: Path) -> None:
    change(copy / "assignment.toml", ("rtol = 1e-6", "rtol = 1e-3"))
    [(name, detail)] = bad(copy)
    assert name.startswith("lint") and "half precision" in detail


def test_sizes_that_hide_a_missing_guard_are_named(copy: Path) -> None:
    sizes = [("{ N = 1 }", "{ N = 32 }"), ("N = 255", "N = 256"), ("N = 257", "N = 512"),
             ("N = 1000 }", "N = 1024 }"), ("N = 1009", "N = 1024"), ("N = 777", "N = 768"),
             ("N = 333", "N = 320"), ("N = [1000, 3000]", "N = 2048")]  # fmt: skip
    change(copy / "assignment.toml", *sizes)
    found = dict(bad(copy))
    assert "multiple of 32" in found["lint (no wrong answer passes)"]


def test_a_starter_that_is_already_right_is_named(copy: Path) -> None:
    starter = copy.parent.parent / "student_template" / "assignment3" / "kernel.cu"
    shutil.copy(copy / "submissions" / "accepted" / "plain.cu", starter)
    assert [name for name, _ in bad(copy)] == ["starter (cuda-c)"]
    starter.write_text("__global__ void vec_add(int n) {}\n")
    [(name, detail)] = bad(copy)
    assert name == "starter (cuda-c)" and detail


def test_a_readme_that_says_something_else_is_named(copy: Path) -> None:
    change(copy / "README.md", ("| bounds | 25 |", "| bounds | 20 |"))
    [(name, detail)] = bad(copy)
    assert name == "readme (README.md)" and "| bounds | 25 |" in detail


def test_a_wrong_oracle_is_contradicted_by_the_frameworks(copy: Path) -> None:
    change(copy / "inputs.py", ('"B"].astype(np.float64)}', '"B"].astype(np.float64) * 1.001}'))
    assert "framework (numpy)" in [name for name, _ in bad(copy)]


def test_a_finding_that_the_header_names_must_be_there(copy: Path) -> None:
    known = copy / "submissions" / "out_of_bounds" / "no_guard.cu"
    known.write_text("// expect: kind=race\n" + known.read_text())
    [(_, detail)] = bad(copy)
    assert "kind=race" in detail


def test_a_folder_that_is_no_verdict_is_an_error(copy: Path) -> None:
    (copy / "submissions" / "wrong").mkdir()
    [(_, detail)] = bad(copy)
    assert "expected the name of a verdict" in detail


def test_a_bug_of_ours_is_named_with_what_showed_it(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = verify.grade.submit

    def fails_on_no_guard(name: str, path: Path, **options: object) -> object:
        if path.name == "no_guard.cu":
            raise OverflowError("cannot convert float infinity to integer")
        return submit(name, path, **options)

    monkeypatch.setattr(verify.grade, "submit", fails_on_no_guard)
    [(name, detail)] = bad(copy)
    assert name == "out_of_bounds/no_guard.cu"
    assert detail.startswith("The grader failed") and "OverflowError" in detail
