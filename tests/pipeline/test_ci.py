"""`grade submit` in CI: what the runner is told, and what a student cannot tell it."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
from pathlib import Path

import pytest

from grader import ci, cli
from grader.errors import UsageError
from tests.conftest import ROOT
from tests.report import results

KNOWN = ROOT / "assignments" / "assignment3" / "submissions"


def test_the_system_we_run_under(tmp_path: Path) -> None:
    assert ci.mode("auto", {}, tmp_path) == "none"
    assert ci.mode("auto", {"GITHUB_ACTIONS": "true"}, tmp_path) == "github"
    both = {"GITHUB_ACTIONS": "true", "CLASSROOM50_BUNDLE_DIR": "/b"}
    assert ci.mode("auto", both, tmp_path) == "classroom50"
    assert ci.mode("none", both, tmp_path) == "none"
    (tmp_path / "submission_metadata.json").write_text("{}")
    assert ci.mode("auto", {}, tmp_path) == "gradescope"
    with pytest.raises(UsageError, match="expected --ci auto, github"):
        ci.mode("jenkins", {})


def obeyed(log: str) -> list[str]:
    """The workflow commands that GitHub's runner would obey in this log."""
    found, token = [], ""
    for line in log.splitlines():
        if token:
            token = "" if line == f"::{token}::" else token
        elif match := re.match(r"::stop-commands::(.+)", line):
            token = match[1]
        elif line.startswith("::"):
            found.append(line)
    return found


def test_nothing_quoted_is_obeyed_and_the_token_is_new_each_time() -> None:
    out = io.StringIO()
    for _ in range(2):
        with ci.quoted("github", out):
            out.write("::error::forged\n::stop-commands::x\n::x::\n::set-output name=a::b\n")
    assert obeyed(out.getvalue()) == []
    assert len(set(re.findall(r"stop-commands::(\w{32})", out.getvalue()))) == 2


def test_quoting_ends_when_the_grader_fails() -> None:
    out = io.StringIO()
    with pytest.raises(ZeroDivisionError), ci.quoted("github", out):
        raise ZeroDivisionError
    out.write("::error::seen\n")
    assert obeyed(out.getvalue()) == ["::error::seen"]


def test_a_summary_is_below_the_limit() -> None:
    assert len(ci.summary(results.accepted()).encode()) < ci.SUMMARY_BYTES
    assert "accepted" in ci.summary(results.accepted())


def test_a_workflow_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The runner's environment around a real submission with a hole in its bounds check."""
    folder = tmp_path / "repo" / "assignment3"
    folder.mkdir(parents=True)
    shutil.copy(KNOWN / "out_of_bounds/no_guard.cu", folder / "kernel.cu")
    files = {name: tmp_path / name for name in ("summary.md", "output")}
    monkeypatch.chdir(tmp_path / "repo")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "repo"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(files["summary.md"]))
    monkeypatch.setenv("GITHUB_OUTPUT", str(files["output"]))
    assert cli._run(["submit", "assignment3", "--ci", "classroom", "--exit-zero"]) == 0
    commands = obeyed(capsys.readouterr().out)
    assert 1 <= len(commands) <= 10
    assert commands[0].startswith("::error file=assignment3/kernel.cu,line=")
    assert "out of bounds" in files["summary.md"].read_text()
    name, _, value = files["output"].read_text().strip().partition("=")
    data = json.loads(base64.b64decode(value))
    assert (name, data["status"], data["max_score"]) == ("result", "fail", 100)
    assert sum(test["max_score"] for test in data["tests"]) == 100


def test_gradescope_and_classroom50_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result, out = results.wrong_answer(), io.StringIO()
    ci.report(result, "gradescope", out, folder=tmp_path, environment={}, autograder=tmp_path)
    assert json.loads((tmp_path / "results/results.json").read_text())["score"] == 40
    assert out.getvalue() == ""
    environment = {"GITHUB_OUTPUT": str(tmp_path / "output"), "ASSIGNMENT": "a3", "OWNER": "ann"}
    ci.report(result, "classroom50", out, folder=tmp_path, environment=environment)
    data = json.loads((tmp_path / "result.json").read_text())
    assert (data["assignment"], data["owner"], data["score"]) == ("a3", "ann", 40)
    assert (tmp_path / "output").read_text() == "status=fail\nsummary=wrong_answer, 40/100\n"
    assert (tmp_path / "release-body.md").is_file()
