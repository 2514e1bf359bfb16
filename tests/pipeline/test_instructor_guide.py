"""Whoever follows docs/instructor-guide.md word for word ends with a verified assignment.

The guide's own text is carried out: its shell blocks are run, the files it says to write are
written, the lines it says to replace are replaced, and what it says is printed must be printed. The
grader is the one that pip installs: a wheel made from this tree and unpacked elsewhere.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT

GUIDE = ROOT / "docs" / "instructor-guide.md"
INSTALL = ("python3 -m venv .venv && . .venv/bin/activate\n"
           "pip install 'grader[triton] @ git+REPOSITORY'\n")  # fmt: skip
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
WRITE = re.compile(r"Write `([^`]+)`:\s*$")
REPLACE = re.compile(r"In `([^`]+)` replace\s*$")


class Block(NamedTuple):
    """A fenced block without its indentation, and the text between it and the one before."""

    before: str
    kind: str
    text: str


def blocks() -> Iterator[Block]:
    """The blocks of the first half, which is about an assignment; the second is about a class."""
    text, end = GUIDE.read_text(encoding="utf-8").split("## From a roster", 1)[0], 0
    for match in FENCE.finditer(text):
        yield Block(text[end : match.start()], match[2], textwrap.dedent(match[3]))
        end = match.end()


def script(all_blocks: list[Block]) -> str:
    """What a reader does, as one shell script that stops at the first command that fails."""
    lines = ["set -e"]
    for at, block in enumerate(all_blocks):
        if write := WRITE.search(block.before):
            path = shlex.quote(write[1])
            lines.append(f"mkdir -p $(dirname {path})\ncat > {path} <<'END OF FILE'")
            lines.append(f"{block.text}END OF FILE")
        elif replace := REPLACE.search(block.before):
            lines.append(shlex.join([sys.executable, "-c", REPLACING, replace[1], block.text,
                                     all_blocks[at + 1].text]))  # fmt: skip
        elif block.kind == "sh" and block.text != INSTALL:
            lines.append(block.text)
    return "\n".join(lines) + "\n"


REPLACING = """
import pathlib, sys
path, old, new = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
text = path.read_text()
assert text.count(old) == 1, f"{path} does not hold once: {old}"
path.write_text(text.replace(old, new))
"""


def test_every_block_of_the_walk_is_carried_out() -> None:
    """No step is skipped: a block is run, written, replaced, compared, or the one to install."""
    found = list(blocks())
    kinds = [block.kind for block in found]
    assert kinds.count("sh") >= 4 and kinds.count("output") == 3
    assert found[0].text == INSTALL
    writes = [block for block in found if WRITE.search(block.before)]
    replaced = [at for at, block in enumerate(found) if REPLACE.search(block.before)]
    assert len(writes) >= 7 and len(replaced) == 3
    handled = {*(at + 1 for at in replaced), *replaced}
    for at, block in enumerate(found):
        known = block.kind in ("sh", "output") or block in writes or at in handled
        assert known or block.text.startswith("assignments/hard_sigmoid/   "), block.text


@pytest.mark.slow
def test_the_guide_word_for_word(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="77", reason="a wheel is built without network")
    tree = tmp_path / "tree"
    tree.mkdir()
    for part in ("grader", "assignments", "reference", "student_template"):
        shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md"):
        shutil.copy(ROOT / file, tree)
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*wheel, "--wheel-dir", str(tmp_path), str(tree)], check=True, cwd=tmp_path)
    [built] = tmp_path.glob("grader-*.whl")
    installed = tmp_path / "site-packages"
    zipfile.ZipFile(built).extractall(installed)
    shutil.rmtree(tree)
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "grade").write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m grader "$@"\n'
    )
    (commands / "grade").chmod(0o755)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GRADE_A")},
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(installed),
    }
    start = tmp_path / "start"
    start.mkdir()

    done = subprocess.run(
        ["bash", "-c", script(list(blocks()))],
        cwd=start, env=environment, check=False, capture_output=True, text=True, timeout=900,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    for block in blocks():
        for line in block.text.splitlines() if block.kind == "output" else ():
            assert line in done.stdout
    assert done.stdout.count("hard_sigmoid  ok") == 2
    assert (start / "my-course" / "assignments" / "hard_sigmoid" / "assignment.toml").is_file()
    students = start / "students"
    for name in ("hard_sigmoid/kernel.cu", "hard_sigmoid/README.md", "grade.toml",
                 ".github/workflows/grade.yml", ".devcontainer/devcontainer.json"):  # fmt: skip
        assert (students / name).is_file(), name
    # What pip installed has the assignments of the repository as well.
    asked = subprocess.run(
        ["grade", "submit", "assignment1", str(ROOT / "reference" / "assignment1" / "kernel.cu"),
         "--no-hand-in", "--quiet"],
        cwd=start, env=environment, check=False, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert asked.returncode == 0, asked.stdout + asked.stderr
