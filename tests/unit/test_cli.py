"""The command line: exit codes, messages without tracebacks, and a help text that is instant."""

from __future__ import annotations

import resource
import subprocess
import sys

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
