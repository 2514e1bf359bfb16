"""Gradescope's bundle: its two scripts executed in a folder of their own, as Gradescope would."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from grader import cli
from tests.conftest import ROOT

KNOWN = ROOT / "assignments" / "assignment3" / "submissions"


@pytest.fixture
def autograder(tmp_path: Path) -> Path:
    """The unpacked bundle with every `/autograder` in its scripts led here."""
    bundle = tmp_path / "bundle.zip"
    assert (
        cli._run(["export", "assignment3", "--to", "gradescope-bundle", "--out", str(bundle)]) == 0
    )
    place = tmp_path / "autograder"
    with zipfile.ZipFile(bundle) as packed:
        packed.extractall(place / "source")
    # Gradescope unpacks into source/ and takes the two scripts from there.
    for name in ("setup.sh", "run_autograder"):
        text = (place / "source" / name).read_text().replace("/autograder", str(place))
        (place / name).write_text(text)
    return place


def run(script: Path, tools: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "HOME": str(script.parent),
        "PYTHONPATH": str(script.parent / "source"),
    }  # fmt: skip
    return subprocess.run(
        ["bash", str(script)], env=environment, capture_output=True, text=True, check=False,
        cwd=script.parent,
    )  # fmt: skip


def test_the_scripts_run_and_write_results(autograder: Path, tmp_path: Path) -> None:
    tools, log = tmp_path / "tools", tmp_path / "log"
    tools.mkdir()
    venv = autograder / "venv" / "bin"
    # What a container has and a test has not: Debian's packages, a venv, what pip installs.
    elsewhere = (
        "import sys, pathlib; from grader import ci, cli; "
        f"ci.report.__kwdefaults__['autograder'] = pathlib.Path({str(autograder)!r}); cli.main()"
    )
    grade = f'exec {shlex.quote(sys.executable)} -c {shlex.quote(elsewhere)} "$@"'
    scripts = {
        tools / "apt-get": f'echo apt-get "$@" >> {log}',
        tools / "python3": f'echo python3 "$@" >> {log}',
        venv / "pip": f'echo pip "$@" >> {log}; for last; do :; done; '
        'test -f "${last%%[*}/pyproject.toml"',
        venv / "grade": grade,
    }
    for path, text in scripts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)
    done = run(autograder / "setup.sh", tools)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pip install --no-cache-dir" in log.read_text()
    for name, score in (("accepted/plain.cu", None), ("refused", 0)):
        shutil.rmtree(autograder / "submission", ignore_errors=True)
        shutil.rmtree(autograder / "results", ignore_errors=True)
        (autograder / "submission").mkdir()
        if score is None:
            shutil.copy(KNOWN / name, autograder / "submission" / "kernel.cu")
        done = run(autograder / "run_autograder", tools)
        data = json.loads((autograder / "results" / "results.json").read_text())
        assert (data["score"] > 60) if score is None else data["score"] == score, done.stdout
    (venv / "grade").write_text("#!/bin/sh\nexit 4\n")
    shutil.rmtree(autograder / "results")
    run(autograder / "run_autograder", tools)
    data = json.loads((autograder / "results" / "results.json").read_text())
    assert "not about your kernel" in data["output"]


@pytest.mark.slow
def test_pip_builds_what_the_bundle_holds(autograder: Path, tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="77", reason="pip builds with setuptools")
    source = autograder / "source"
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w",
         str(tmp_path / "wheels"), str(source)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    assert "grader/vgpu/runtime/engine.c" in names and "grader/cli.py" in names
