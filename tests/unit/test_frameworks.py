"""Frameworks against the oracle: agreement, disagreement, and what is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import assignment, frameworks
from grader.assignment_schema import Assignment
from grader.errors import AssignmentError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", sorted(path.parent.name for path in ROOT.glob("reference/*/frameworks.py"))
)
def test_installed_frameworks_agree(name: str) -> None:
    read = assignment.read(ROOT / "assignments" / name / "assignment.toml")
    found = frameworks.agreements(read)
    assert [one.problem for one in found] == [None] * len(frameworks.MODULES)
    assert (found[0].framework, found[0].missing) == ("numpy", None)
    assert found[0].cases == len(read.cases) > 3


def course(folder: Path, text: str | None) -> Assignment:
    found = assignment.read(ROOT / "assignments" / "assignment1" / "assignment.toml")
    if text is not None:
        path = folder / "reference" / "assignment1" / "frameworks.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    home = folder / "assignments" / "assignment1"
    home.mkdir(parents=True)
    (home / "inputs.py").write_bytes((found.folder / "inputs.py").read_bytes())
    return found.model_copy(update={"folder": home})


def test_no_file_is_no_disagreement(tmp_path: Path) -> None:
    assert frameworks.agreements(course(tmp_path, None)) == ()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return {'C': inputs['A'] - inputs['B']}", "one element: C[0] should be"),
        ("return {'C': (inputs['A'] + inputs['B']).astype('float64')}", "found float64"),
        ("return {'C': (inputs['A'] + inputs['B'])[1:]}", "found float32 of shape"),
    ],
)
def test_a_disagreement_names_the_case(tmp_path: Path, body: str, words: str) -> None:
    found = frameworks.agreements(course(tmp_path, f"def with_numpy(inputs, sizes):\n    {body}\n"))
    assert found[0].problem is not None and words in found[0].problem
    assert [one.missing for one in found[1:]] == [
        f"frameworks.py has no with_{name}()" for name in ("torch", "mlx", "cupy")
    ]


@pytest.mark.parametrize("body", ["return {}", "return 1 / 0"])
def test_a_mistake_in_the_file_is_the_authors(tmp_path: Path, body: str) -> None:
    with pytest.raises(AssignmentError, match=r"frameworks\.py"):
        frameworks.agreements(course(tmp_path, f"def with_numpy(inputs, sizes):\n    {body}\n"))


def test_what_is_not_installed_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frameworks, "MODULES", {"numpy": "no_such_module_here"})
    text = "def with_numpy(inputs, sizes):\n    return {'C': inputs['A'] + inputs['B']}\n"
    (found,) = frameworks.agreements(course(tmp_path, text))
    assert (found.missing, found.cases) == ("not installed", 0)
