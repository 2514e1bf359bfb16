"""The command line: exit codes, messages without tracebacks, and a help text that is instant."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from grader import __version__, cli


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "grader", *arguments], capture_output=True, text=True, check=False
    )


def test_version() -> None:
    assert run("--version").stdout == f"grade {__version__}\n"


def test_help_imports_nothing_heavy() -> None:
    """numpy, pydantic, rich and llvmlite together cost more than the 0.3 s that help may take."""
    code = (
        "import sys\nfrom grader import cli\n"
        "cli._run(['--help'])\n"
        "heavy = {'numpy', 'pydantic', 'rich', 'llvmlite', 'jinja2'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_help_is_quick() -> None:
    """In CPU seconds, which a busy machine does not stretch."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.3


@pytest.mark.parametrize(
    "arguments", [["submit"], ["nonsense"], ["submit", "a", "--jobs", "0"], ["submit", "--color"]]
)
def test_a_bad_command_line_is_exit_2_without_a_traceback(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr


def test_a_fault_of_the_grader_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(cli, "app", fail)
    assert cli._run(["devices"]) == 4
    said = capsys.readouterr().err
    assert said.startswith("grade: The grader failed; this is not about your kernel.")
    assert "Traceback" not in said
    assert cli._run(["devices", "--debug"]) == 4
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "app", stop)
    assert cli._run(["devices"]) == 130


def test_an_error_fits_a_terminal_and_is_one_line_in_a_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    wrong = ["submit", "assignment99"]
    assert cli._run(wrong) == 2
    log = capsys.readouterr().err
    assert len(log.splitlines()) == 2
    monkeypatch.setattr(cli.sys.stderr, "isatty", lambda: True)
    assert cli._run(wrong) == 2
    screen = capsys.readouterr().err
    assert max(map(len, screen.splitlines())) <= 80
    assert screen.split() == log.split()


def test_a_pipe_is_not_run(tmp_path: Path) -> None:
    for name in ("kernel.cu", "script.py"):
        os.mkfifo(tmp_path / name)
        assert cli._run(["run", str(tmp_path / name)]) == 2
