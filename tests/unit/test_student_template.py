"""What a class starts from: complete, consistent, and told of where a language is missing."""

from __future__ import annotations

import io
import json
import re
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from grader import assignment as assignments
from grader.devices import survey
from grader.languages import LANGUAGES
from grader.report import terminal
from tests.conftest import ROOT

TEMPLATE = ROOT / "student_template"
SHIPPED = sorted(path.parent.name for path in ROOT.glob("assignments/*/assignment.toml"))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_assignment_has_its_folder_and_its_row(name: str) -> None:
    assignment = assignments.load(str(ROOT / "assignments" / name))
    assert all(assignment.starter(language) for language in assignment.languages)
    assert (assignment.notes is None) == (not (TEMPLATE / name / "notes.toml").exists())
    assert f"\n| `{name}` |" in (TEMPLATE / "README.md").read_text()


def test_the_readme_names_files_and_commands_that_are_there() -> None:
    text = (TEMPLATE / "README.md").read_text()
    for name in ("requirements.txt", "grade.toml"):
        assert name in text and (TEMPLATE / name).is_file()
    rows = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert sorted(rows) == SHIPPED


def test_the_dev_container_installs_what_grades_all_languages() -> None:
    folder = TEMPLATE / ".devcontainer"
    text = (folder / "devcontainer.json").read_text()
    settings = json.loads(re.sub(r"(?m)^//.*\n", "", text))
    assert settings["image"].startswith("mcr.microsoft.com/devcontainers/python:3.12")
    script = TEMPLATE / settings["postCreateCommand"].split()[1]
    subprocess.run(["bash", "-n", str(script)], check=True)
    assert "-r requirements.txt" in script.read_text()
    [wanted] = [line for line in (TEMPLATE / "requirements.txt").read_text().splitlines()
                if not line.startswith("#")]  # fmt: skip
    # CUDA C and Metal come with the package itself.
    assert wanted.startswith("grader[triton] @ ")
    for file in (TEMPLATE / ".vscode").iterdir():
        json.loads(file.read_text())


def test_what_tools_write_is_not_handed_in(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text((TEMPLATE / ".gitignore").read_text())
    made = [".clangd", ".grade/x", ".venv/x", ".cache/clangd/x", "a/__pycache__/x", "a/a.out"]
    kept = [
        "grade.toml",
        "assignment1/kernel.cu",
        "assignment3/notes.toml",
        ".vscode/settings.json",
    ]
    done = subprocess.run(
        ["git", "check-ignore", *made, *kept],
        cwd=tmp_path, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split() == made


def test_devices_names_the_dev_container_where_a_language_is_missing() -> None:
    def said(*missing: str) -> str:
        found = survey.Survey(
            found=tuple(
                survey.Availability(
                    kind="language", name=name, missing="no wheel" if name in missing else None
                )
                for name in LANGUAGES
            )
        )
        out = io.StringIO()
        terminal.show_survey(found, Console(file=out, width=80))
        return " ".join(out.getvalue().split())

    assert "container" not in said()
    assert "For triton: the dev container" in said("triton")
    assert "For cuda-c and triton: the dev container" in said("cuda-c", "triton")
