"""`--compiler clang`: the same verdicts from another compiler, and the option's way through."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import grade
from grader.assignment import load
from grader.cli import main
from grader.errors import UsageError
from grader.languages import language
from grader.verdict import VERDICT_OF_FAULT
from grader.verify import subjects

FOLDER = load("assignment3").folder / "submissions"


@pytest.mark.parametrize(
    "name",
    [
        "accepted/float4_with_tail.cu",
        "accepted/whole_program.cu",
        "build_failed/unsigned_size.cu",
        "crashed/assertion.cu",
        "timed_out/loop_never_steps.cu",
    ],
)
def test_clang_gives_the_verdict_of_the_folder(name: str) -> None:
    result = grade.submit("assignment3", FOLDER / name, compiler="clang", jobs=1, small=True)
    assert result.verdict.value == Path(name).parent.name
    assert {build.compiler for build in result.builds} == {"clang"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [s.path for s in subjects(load("assignment3")) if s.path.suffix == ".cu"],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_both_compilers_give_one_verdict_and_the_same_faults_for_it(path: Path) -> None:
    """What follows from the fault that decides is the compiler's: a misaligned value used later."""
    found = {
        compiler: grade.submit("assignment3", path, compiler=compiler, jobs=1, small=True)
        for compiler in ("nvrtc", "clang")
    }
    assert found["nvrtc"].verdict is found["clang"].verdict
    deciding = [
        {
            (case.name, fault.kind, fault.severity, fault.buffer, fault.line)
            for case in result.cases
            for fault in case.faults
            if VERDICT_OF_FAULT[fault.kind] is result.verdict
        }
        for result in found.values()
    ]
    assert deciding[0] == deciding[1]


def test_a_language_is_bound_to_its_compiler() -> None:
    bound = language("cuda-c", "clang")
    assert (bound.NAME, bound.SUFFIXES, bound.missing()) == ("cuda-c", (".cu",), None)
    assert language("triton", "clang").NAME == "triton"
    with pytest.raises(UsageError) as caught:
        language("cuda-c", "nvcc")
    assert caught.value.message == "expected a compiler of nvrtc, clang; found 'nvcc'"


def test_the_command_names_the_compilers_it_knows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["submit", "assignment3", str(FOLDER / "accepted/plain.cu"), "--compiler", "nvcc",
              "--out", str(tmp_path / "out")])  # fmt: skip
    assert caught.value.code == 2
    assert "expected a compiler of nvrtc, clang; found 'nvcc'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
