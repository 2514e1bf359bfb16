"""`grade new FOLDER --student-template`: what is laid out, and that nothing is overwritten."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from grader import assignment, cli, new, student_repository
from grader.errors import UsageError
from grader.report import terminal
from tests.conftest import ROOT

TEMPLATE = ROOT / "student_template"
SHIPPED = sorted(path.parent.name for path in ROOT.glob("assignments/*/assignment.toml"))


@pytest.fixture(autouse=True)
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of an instructor."""
    monkeypatch.delenv("GRADE_ASSIGNMENTS", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_everything_of_the_template_and_every_statement() -> None:
    Path("students/.git").mkdir(parents=True)  # a clone that is still empty
    assert cli._run(["new", "students", "--student-template", "--json", "said.json"]) == 0
    files = {p for p in TEMPLATE.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    for file in files:
        there = Path("students", file.relative_to(TEMPLATE))
        assert there.read_bytes() == file.read_bytes()
        assert bool(there.stat().st_mode & 0o100) == bool(file.stat().st_mode & 0o100)
    assert Path("students/.github/workflows/grade.yml").is_file()
    for name in SHIPPED:
        statement = ROOT / "assignments" / name / "README.md"
        assert Path("students", name, "README.md").read_bytes() == statement.read_bytes()
    said = json.loads(Path("said.json").read_text())
    assert sorted(said["assignments"]) == SHIPPED and said["assignments"][-1] == "assignment10"
    assert len(said["files"]) == len(files) + len(SHIPPED)
    assert not list(Path("students").rglob("assignment.toml"))


def test_one_assignment_of_the_course_in_one_language() -> None:
    new.create("clip", languages=["cuda-c", "metal"])
    Path("student_template/README.md").write_text("our course\n")
    made = student_repository.lay_out(Path("out"), only="clip", languages=["metal"])
    assert made.assignments == ("clip",)
    inside = {p.name for p in Path("out/clip").iterdir()}
    assert {"README.md", "kernel.metal"} <= inside and "kernel.cu" not in inside
    assert Path("out/README.md").read_text() == "our course\n"
    assert Path("out/grade.toml").is_file() and not Path("out/assignment1").exists()
    course = {p.name for p in Path("out/assignments").rglob("*") if p.is_file()}
    assert course == {"assignment.toml", "inputs.py"}  # no reference, no known submission
    inside_of_it = Path("out").resolve()
    assert assignment.load("clip", start=inside_of_it).folder.is_relative_to(inside_of_it)
    made = student_repository.lay_out(Path("triton"), languages=["triton"])
    assert "clip" not in made.assignments and "assignment9" not in made.assignments
    assert not list(Path("triton").rglob("*.cu")) and Path("triton/assignment1/kernel.py").is_file()


def test_nothing_is_overwritten_and_nothing_is_half_there() -> None:
    Path("mine").mkdir()
    Path("mine/grade.toml").write_text("mine")
    with pytest.raises(UsageError, match=r"mine/grade\.toml is there already"):
        student_repository.lay_out(Path("mine"))
    assert [p.name for p in Path("mine").iterdir()] == ["grade.toml"]
    for wrong in ({"only": "no_such"}, {"languages": ["opencl"]}):
        with pytest.raises(UsageError):
            student_repository.lay_out(Path("x"), **wrong)  # type: ignore[arg-type]
    assert not Path("x").exists()
    Path("file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        student_repository.lay_out(Path("file/below"))


def test_what_is_said_fits_the_terminal() -> None:
    out = Console(file=io.StringIO(), width=80)
    terminal.show_laid_out(student_repository.lay_out(Path("students")), out)
    assert isinstance(out.file, io.StringIO)
    said = out.file.getvalue()
    assert "REPOSITORY" in said and max(map(len, said.splitlines())) <= 80
