"""`grade submit` from the shell's side: exit codes, what is written, and that it is repeatable."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from grader import cli
from grader import grade as in_process
from tests.conftest import ROOT

KNOWN = ROOT / "assignments" / "assignment3" / "submissions"
TIMES = {"seconds", "created"}


class Done(NamedTuple):
    """What a command left: its exit code and what it printed."""

    returncode: int
    stdout: str
    stderr: str


Grade = Callable[..., Done]


@pytest.fixture
def grade(capsys: pytest.CaptureFixture[str]) -> Grade:
    """The command line in this process."""

    def run(*arguments: str | Path) -> Done:
        code = cli._run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


def without_times(value: Any) -> Any:
    """A result without what may differ between two gradings: `created` and keys of seconds."""
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if key not in TIMES}
    if isinstance(value, list):
        return [without_times(inner) for inner in value]
    return value


@pytest.mark.parametrize(
    ("file", "exit_code"),
    [
        ("accepted/plain.cu", 0),
        ("out_of_bounds/no_guard.cu", 1),
        ("build_failed/wrong_name.cu", 1),
    ],
)
def test_exit_code_and_reports(grade: Grade, tmp_path: Path, file: str, exit_code: int) -> None:
    done = grade("submit", "assignment3", KNOWN / file, "--out", tmp_path / "out")
    assert done.returncode == exit_code, done.stderr
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["report.html", "report.md", "result.json", "submission.zip"]
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["verdict"] == file.split("/", maxsplit=1)[0]
    assert "Traceback" not in done.stdout + done.stderr


def test_an_access_outside_is_said_with_everything_a_student_needs(
    grade: Grade, tmp_path: Path
) -> None:
    done = grade(
        "submit", "assignment3", KNOWN / "out_of_bounds" / "no_guard.cu", "--out", tmp_path
    )
    result = json.loads((tmp_path / "result.json").read_text())
    case = next(case for case in result["cases"] if case["name"] == "a thousand")
    fault = next(f for f in case["faults"] if f["buffer"] == "A" and f["access"] == "read")
    assert fault["index"] == fault["extent"] == 1000
    assert fault["block"] == [3, 0, 0]
    assert fault["thread"] == [232, 0, 0]
    assert fault["count"] == 24
    line = (KNOWN / "out_of_bounds" / "no_guard.cu").read_text().splitlines()[fault["line"] - 1]
    assert "A[i]" in line
    assert f"no_guard.cu:{fault['line']}:" in done.stdout
    assert "^" in done.stdout
    assert "Next:" in done.stdout


def test_exit_zero_is_for_the_student_s_mistakes_only(grade: Grade, tmp_path: Path) -> None:
    arguments = ("submit", "assignment3", "--out", tmp_path, "--exit-zero")
    wrong = grade(*arguments, KNOWN / "build_failed" / "wrong_name.cu")
    assert wrong.returncode == 0
    assert grade(*arguments, "/no/such/file.cu").returncode == 2


def test_two_gradings_differ_in_times_only(grade: Grade, tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        grade("submit", "assignment3", KNOWN / "accepted" / "plain.cu", "--out", tmp_path / name)
        texts.append((tmp_path / name / "result.json").read_text())
    one, two = (without_times(json.loads(text)) for text in texts)
    assert json.dumps(one) == json.dumps(two)


def test_json_on_standard_output_is_nothing_but_json(grade: Grade, tmp_path: Path) -> None:
    done = grade(
        "submit", "assignment3", KNOWN / "build_failed" / "syntax.cu", "--json", "-", "--out",
        tmp_path,
    )  # fmt: skip
    assert json.loads(done.stdout)["verdict"] == "build_failed"
    assert "BUILD FAILED" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("submit", "assignmnt3"),
        ("submit", "assignment3", "/no/such/path"),
        ("submit", "assignment3", KNOWN / "accepted" / "plain.cu", "--language", "fortran"),
        ("submit", "assignment3", KNOWN / "accepted" / "plain.cu", "--device", "tpu"),
    ],
)
def test_a_bad_command_writes_nothing(
    grade: Grade, tmp_path: Path, arguments: tuple[str | Path, ...]
) -> None:
    done = grade(*arguments, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert not (tmp_path / "out").exists()
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("grade: ")


def test_a_misspelt_assignment_is_guessed(grade: Grade) -> None:
    assert "Did you mean assignment3" in grade("submit", "assignmnt3").stderr


def _link(folder: Path) -> None:
    outside = folder.parent / "outside.cu"
    outside.write_text("__global__ void vec_add() {}")
    (folder / "kernel.cu").symlink_to(outside)


REFUSED: dict[str, Any] = {
    "no kernel": lambda folder: (folder / "README.md").write_text("hello"),
    "two candidates": lambda folder: [
        (folder / name).write_text("int x;") for name in ("a.cu", "b.cu")
    ],
    "binary": lambda folder: (folder / "kernel.cu").write_bytes(b"\x7fELF\0\0"),
    "empty": lambda folder: (folder / "kernel.cu").write_text("\n"),
    "not UTF-8": lambda folder: (folder / "kernel.cu").write_bytes(b"// caf\xe9\n"),
    "a link out of the folder": _link,
    "50 MB": lambda folder: (folder / "kernel.cu").write_bytes(b"/" * 50_000_000),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_is_a_result_with_one_clear_paragraph(
    grade: Grade, tmp_path: Path, what: str
) -> None:
    folder = tmp_path / "submission"
    folder.mkdir()
    REFUSED[what](folder)
    done = grade("submit", "assignment3", folder, "--out", tmp_path / "out")
    assert done.returncode == 1, done.stderr
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["verdict"] == "refused"
    assert result["score"]["points"] == 0
    assert result["reason"]
    # A path longer than a line is broken: compare without white space.
    assert "".join(result["reason"].split()) in "".join(done.stdout.split())
    assert "Next:" in done.stdout


def test_a_malformed_assignment_names_key_and_line(grade: Grade, tmp_path: Path) -> None:
    folder = tmp_path / "assignments" / "broken"
    folder.mkdir(parents=True)
    text = (ROOT / "assignments" / "assignment3" / "assignment.toml").read_text()
    (folder / "assignment.toml").write_text(text.replace("[rubric]", "[rubrik]"))
    done = grade("submit", folder)
    assert done.returncode == 2
    line = text.splitlines().index("[rubric]") + 1
    assert f"assignment.toml:{line}" in done.stderr
    assert "rubrik" in done.stderr


HEADERS = {
    "cuda-c": ("kernel.cu", "float plus(float a, float b) { return a + b; }\n", "__device__ "),
    "metal": ("kernel.metal", "float plus(float a, float b) { return a + b; }\n", ""),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_submissions_own_header_is_built_checked_and_handed_in(name, tmp_path, monkeypatch):
    from grader.languages import language

    if (why := language(name).missing()) is not None:
        pytest.skip(why)
    file, text, words = HEADERS[name]
    known = ROOT / "assignments/assignment3/submissions/accepted" / f"plain{Path(file).suffix}"
    source = known.read_text()
    work = tmp_path / "work"
    (work / "inner").mkdir(parents=True)
    (work / file).write_text(
        '#include "inner/plus.h"\n' + source.replace("A[i] + B[i]", "plus(A[i], B[i])")
    )
    (work / "inner" / "plus.h").write_text(f"#pragma once\n{words}inline {text}")
    out = tmp_path / "out"
    code = cli._run(["submit", "assignment3", str(work), "--out", str(out), "--quiet"])
    found = json.loads((out / "result.json").read_text())
    assert (code, found["verdict"]) == (0, "accepted"), found["reason"]
    assert [f["name"] for f in found["files"]] == [file, "inner/plus.h"]
    with zipfile.ZipFile(out / "submission.zip") as packed:
        assert "inner/plus.h" in packed.namelist()
    assert cli._run(["check", "assignment3", str(work), "--quiet"]) == 0
    (work / "inner" / "plus.h").write_text(f"#pragma once\n{words}inline {text.replace('+', '-')}")
    assert cli._run(["check", "assignment3", str(work), "--quiet"]) == 1


def test_a_kernel_built_for_smaller_blocks_is_named_as_it_is_written(
    grade: Grade, tmp_path: Path
) -> None:
    limited = tmp_path / "kernel.cu"
    plain = (KNOWN / "accepted" / "plain.cu").read_text()
    limited.write_text(plain.replace("__global__ void", "__global__ void __launch_bounds__(128)"))
    done = grade("submit", "assignment3", limited, "--out", tmp_path / "out")
    assert done.returncode == 1
    said = " ".join(done.stdout.split())
    assert "a block of 256 threads, more than the 128 that vec_add was compiled for" in said


def test_a_kernel_in_another_language_that_does_not_count_is_mentioned(tmp_path):
    known = ROOT / "assignments/assignment3/submissions"
    work = tmp_path / "work"
    work.mkdir()
    (work / "kernel.cu").write_text((known / "accepted/plain.cu").read_text())
    (work / "kernel.metal").write_text("kernel void vec_add( {}\n")
    result = in_process.submit("assignment3", work, small=True)
    assert (result.language, result.verdict.value) == ("cuda-c", "accepted")
    assert result.mentions == (
        "kernel.metal was graded too: build failed; --language metal shows it",
    )
    result = in_process.submit("assignment3", work, small=True, language="metal")
    assert result.verdict.value == "build_failed" and not result.mentions


@pytest.mark.parametrize("name", ["assignment5", "assignment9"])
def test_a_starter_nobody_wrote_in_earns_nothing(grade: Grade, tmp_path: Path, name: str) -> None:
    done = grade("submit", name, ROOT / "student_template" / name, "--language", "cuda-c",
                 "--out", tmp_path)  # fmt: skip
    assert done.returncode == 1, done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["score"]["points"] == 0
    assert all("still the starter" in line["why"] for line in result["score"]["lines"])
    assert "is still the starter: write" in result["next_step"]
