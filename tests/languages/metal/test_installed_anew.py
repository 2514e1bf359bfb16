"""The parsed library in the cache serves until the headers are installed anew, and not beyond."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

GRADE = """
import sys
from pathlib import Path
from grader import grade
for number in range(2):
    path = Path(sys.argv[1]) / f"kernel{number}.metal"
    text = Path(sys.argv[2]).read_text()
    path.write_text(f"// {sys.argv[3]} {number}\\n{text}")
    result = grade.submit(sys.argv[4], path, small=True)
    print(result.verdict.value, result.reason)
"""


@pytest.mark.slow
def test_headers_with_another_time_and_the_same_content(tmp_path: Path) -> None:
    package = tmp_path / "installed" / "grader"
    shutil.copytree(ROOT / "grader", package, ignore=shutil.ignore_patterns("__pycache__"))
    kernel = ROOT / "reference" / "assignment1" / "kernel.metal"

    def graded(word: str) -> list[str]:
        words = [str(tmp_path), str(kernel), word, str(ROOT / "assignments" / "assignment1")]
        done = subprocess.run(
            [sys.executable, "-c", GRADE, *words],
            check=False, capture_output=True, text=True, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path / "installed"),
                 "GRADE_CACHE": str(tmp_path / "cache")},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return [line.split()[0] for line in done.stdout.splitlines()]

    assert graded("first") == ["accepted", "accepted"]
    for header in (package / "languages" / "metal_headers").rglob("*"):
        os.utime(header, (1_700_000_000, 1_700_000_000))
    assert graded("again") == ["accepted", "accepted"]
    assert len(list((tmp_path / "cache" / "metal").glob("library-*"))) == 2
