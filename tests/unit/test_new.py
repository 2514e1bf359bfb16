"""`grade new`: what it writes, which names it takes, and that the result verifies."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from grader import assignment as assignments
from grader import new, statement, verify
from grader.assignment_schema import LANGUAGES
from grader.errors import UsageError
from grader.submission import SUFFIXES
from tests.conftest import ROOT

SHIPPED = sorted(path.parent.name for path in ROOT.glob("assignments/*/assignment.toml"))
COMBINATIONS = [
    languages
    for number in range(1, len(LANGUAGES) + 1)
    for languages in itertools.combinations(LANGUAGES, number)
]


@pytest.fixture(autouse=True)
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which a course begins."""
    monkeypatch.delenv("GRADE_ASSIGNMENTS", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "languages",
    [pytest.param(c, marks=[pytest.mark.slow] * (c != ("cuda-c",))) for c in COMBINATIONS],
    ids=",".join,
)
def test_a_new_assignment_verifies(languages: tuple[str, ...]) -> None:
    made = new.create("clip", languages=languages)
    found = verify.verify(["clip"], jobs=2)
    assert [f"{c.name}: {c.found}: {c.detail}" for c in found.checks if not c.ok] == []
    assert {c.name for c in found.checks} >= {f"reference ({own})" for own in languages}
    assert made.languages == languages
    suffixes = {SUFFIXES[own] for own in languages}
    others = set(SUFFIXES.values()) - suffixes
    kernels = [path for path in made.files if path.name not in ("inputs.py", "frameworks.py")]
    assert suffixes <= {path.suffix for path in kernels}
    assert not others & {path.suffix for path in kernels}


@pytest.mark.parametrize("like", SHIPPED)
def test_every_assignment_can_be_copied_in_any_of_its_languages(like: str, course: Path) -> None:
    own = assignments.load(str(ROOT / "assignments" / like)).languages
    for languages in COMBINATIONS:
        if set(languages) <= set(own):
            name = "-".join(("copy", *languages))
            new.create(name, like=str(ROOT / "assignments" / like), languages=languages)
            copy = assignments.load(name)
            assert copy.languages == languages
            assert copy.folder == course / "assignments" / name
            assert list(statement.disagreements(copy)) == []
            assert all(copy.reference(language) for language in languages)
            assert all(copy.starter(language) for language in languages)
            text = (copy.folder / "assignment.toml").read_text()
            gone = set(own) - set(languages)
            assert not [language for language in gone if f"[kernel.{language}]" in text]


def test_a_copy_keeps_every_file_and_no_name(course: Path) -> None:
    new.create("again", like="assignment3")
    for tree in ("assignments", "reference", "student_template"):
        original, copy = ROOT / tree / "assignment3", course / tree / "again"
        files = sorted(p.relative_to(original) for p in original.rglob("*.*") if p.is_file())
        assert sorted(p.relative_to(copy) for p in copy.rglob("*.*") if p.is_file()) == [
            file for file in files if "__pycache__" not in file.parts
        ]
        assert not [p for p in copy.rglob("*") if p.is_file() and "assignment3" in p.read_text()]


def test_it_goes_to_the_course_around(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (course / "labs").mkdir()
    new.create("one", languages=["cuda-c"])
    monkeypatch.chdir(course / "labs")
    assert new.create("two", languages=["cuda-c"]).folder == course / "assignments" / "two"
    assert {"one", "two"} <= set(assignments.available())
    monkeypatch.setenv("GRADE_ASSIGNMENTS", str(course / "elsewhere" / "tasks"))
    (course / "elsewhere" / "tasks").mkdir(parents=True)
    assert new.create("three").folder == course / "elsewhere" / "tasks" / "three"
    assert assignments.load("three").reference("metal") is not None


@pytest.mark.parametrize("name", ["", "3x", "-x", "a b", "a/b", "..", "é", "x" * 61, "_x", "a.b"])
def test_names_that_cannot_be_typed_everywhere(name: str, course: Path) -> None:
    with pytest.raises(UsageError, match="expected a name"):
        new.create(name)
    assert list(course.iterdir()) == []


@pytest.mark.parametrize("tree", ["assignments", "reference", "student_template"])
def test_nothing_is_overwritten(tree: str, course: Path) -> None:
    (course / tree / "clip").mkdir(parents=True)
    (course / tree / "clip" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        new.create("clip")
    assert [p.name for p in course.rglob("*") if p.is_file()] == ["mine.txt"]


def test_a_name_of_the_grader_s_own_is_said_to_hide_it() -> None:
    made = new.create("assignment3", like="assignment3", languages=["metal"])
    assert made.hides == ROOT / "assignments" / "assignment3"
    assert assignments.load("assignment3").folder == made.folder
    assert new.create("clip").hides is None


def test_languages_that_the_original_does_not_have() -> None:
    with pytest.raises(UsageError, match="no language 'rust'"):
        new.create("clip", languages=["rust"])
    with pytest.raises(UsageError, match="assignment9 has no metal"):
        new.create("clip", like="assignment9", languages=["metal"])


def test_every_table_and_key_of_the_example_is_explained() -> None:
    text = (new.EXAMPLE / "assignment.toml").read_text()
    explained: set[str] = set()
    above = ""
    for line in text.splitlines():
        header = re.match(r"\[+([\w.-]+)\]+", line)
        key = re.match(r"(\w+) = ", line)
        said = "#" in line or above.startswith("#")
        if header and said:
            explained.add(header[1].partition(".")[0])
        elif key and said:
            explained.add(key[1])
        above = line
    tables = {name.partition(".")[0] for name in re.findall(r"(?m)^\[+([\w.-]+)\]+", text)}
    assert tables <= explained
    assert {"name", "languages", "role", "shape", "args", "grid", "block", "values", "hidden",
            "large", "weight", "tie_margin", "formula", "bands"} <= explained  # fmt: skip
