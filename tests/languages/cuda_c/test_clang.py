"""The second compiler: clang judges the same contract and makes PTX for the same engine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader import cache
from grader.errors import NotGradableError, UsageError
from grader.languages import cuda_c
from grader.languages.cuda_messages import UnsupportedError
from tests.languages.cuda_c import test_contract, test_host_code
from tests.languages.cuda_c.sources import KERNEL, VEC_ADD, accepted, compiled, errors


def cases(test: object) -> list[object]:
    """The parameter sets of a test for NVRTC: they hold for clang too."""
    (mark,) = [m for m in test.pytestmark if m.name == "parametrize"]  # type: ignore[attr-defined]
    return list(mark.args[1])


def test_a_kernel_of_ours_compiles_here() -> None:
    assert cuda_c.missing("clang") is None


@pytest.mark.parametrize("text", cases(test_contract.test_what_has_the_right_type_is_accepted))
def test_what_has_the_right_type_is_accepted(text: str) -> None:
    artefact = accepted(text, compiler="clang")
    assert [variant.name for variant in artefact.variants] == ["optimised", "unoptimised"]
    for variant in artefact.variants:
        assert f".entry {variant.entries['vec_add']}(" in variant.ptx
        assert '.file\t1 "vec_add.cu"' in variant.ptx


@pytest.mark.parametrize(
    ("text", "expected"), cases(test_contract.test_what_has_another_type_is_named)
)
def test_what_has_another_type_is_named_in_the_same_words(text: str, expected: str) -> None:
    assert errors(text, compiler="clang") == [expected]


@pytest.mark.parametrize(
    ("declaration", "value"), cases(test_contract.test_constants_are_evaluated_by_the_compiler)
)
def test_constants_are_evaluated_by_the_compiler(declaration: str, value: int | None) -> None:
    artefact = accepted(f"{declaration}\n{KERNEL}", compiler="clang")
    declared = {} if value is None else {"BLOCK": value}
    assert [variant.constants for variant in artefact.variants] == [declared] * 2
    assert all("grade_" not in variant.ptx for variant in artefact.variants)


@pytest.mark.parametrize("declaration", cases(test_contract.test_a_constant_that_is_none_is_named))
def test_a_constant_that_is_none_is_named(declaration: str) -> None:
    (message,) = errors(f"\n{declaration}\n{KERNEL}", compiler="clang")
    assert message.startswith("2:: expected BLOCK to be an integer constant")


def test_a_constant_inside_a_function_leaves_the_default_and_a_warning() -> None:
    text = KERNEL.replace("int i", "const int BLOCK = 64; int i")
    builds, artefact = compiled(text, compiler="clang")
    assert artefact is not None
    assert artefact.variants[0].constants == {}
    assert "the launch takes BLOCK = 256" in builds[0].diagnostics[0].message


def test_a_whole_program_compiles_and_its_kernel_keeps_its_lines() -> None:
    text = test_host_code.PROGRAM.replace("KERNEL", KERNEL)
    first = text[: text.index("__global__")].count("\n") + 1
    artefact = accepted(text, compiler="clang")
    for variant in artefact.variants:
        lines = {int(line) for line in re.findall(r"\.loc\s+1 (\d+)", variant.ptx)}
        assert {first, first + 1, first + 2} <= lines
        assert max(lines) == first + 3


@pytest.mark.parametrize("before", cases(test_host_code.test_device_code_is_kept_beside_host_code))
def test_device_code_is_kept_beside_host_code(before: str) -> None:
    text = f"{before}\n{KERNEL.replace('A[i]', 'twice(A[i])')}\nint main() {{ return 0; }}\n"
    accepted(text, compiler="clang")


@pytest.mark.parametrize(
    ("before", "use", "message"),
    cases(test_host_code.test_a_kernel_that_uses_host_code_is_told_so),
)
def test_a_kernel_that_uses_host_code_is_told_so(before: str, use: str, message: str) -> None:
    (found,) = errors(f"{before}\n{KERNEL.replace('A[i]', use)}", compiler="clang")
    assert found.endswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (KERNEL.replace("A[i]", "A[j]"), "3:23: use of undeclared identifier 'j'"),
        (KERNEL.replace("+ B[i];", "+ B[i]"), "3:32: expected ';' after expression"),
        (KERNEL[: KERNEL.rindex("}")], "4:1: expected '}'"),
        (KERNEL + "/*", "5:1: unterminated /* comment"),
        ("#if 0\n" + KERNEL, "1:2: unterminated conditional directive"),
        (KERNEL.replace("A[i]", "sqrtff(A[i])"), "3:21: use of undeclared identifier 'sqrtff'"),
    ],
)
def test_errors_have_line_and_column(text: str, message: str) -> None:
    found = errors(text, compiler="clang")
    assert [words.split("; did you mean")[0] for words in found] == [message]


@pytest.mark.parametrize(
    "directive", ['#include "/etc/passwd"', '#include "../x.h"', '#embed "/etc/passwd"']
)
def test_other_files_are_refused(directive: str) -> None:
    builds, artefact = compiled(f"{directive}\n{KERNEL}", compiler="clang")
    assert artefact is None
    assert "root:" not in builds[0].model_dump_json()


def test_headers_of_the_submission_are_found() -> None:
    files = {
        "lib/a.cuh": '#pragma once\n#include "../b.cuh"\n__device__ float a() { return b(); }\n',
        "b.cuh": "#pragma once\n__device__ inline float b() { return 1; }\n",
    }
    text = f'#include "lib/a.cuh"\n{KERNEL.replace("A[i]", "a() + b()")}'
    accepted(text, headers=files, compiler="clang")


@pytest.mark.parametrize("header", ["cub/cub.cuh", "cub/block/block_reduce.cuh", "mma.h"])
def test_what_only_nvrtc_has_is_not_the_student_s_fault(header: str) -> None:
    text = f"#include <{header}>\n{KERNEL.replace('A[i]', 'cub::x(A[i]) + nvcuda::x()')}"
    with pytest.raises(UnsupportedError) as caught:
        compiled(text, compiler="clang")
    assert str(caught.value).startswith(f"vec_add.cu:1: {header} belongs to a library")


def test_equal_sources_give_equal_ptx_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = accepted(KERNEL, compiler="clang")
    monkeypatch.chdir(tmp_path)
    assert accepted(KERNEL, compiler="clang") == first


def test_a_sandboxed_build_equals_one_in_this_process() -> None:
    builds, artefact = cuda_c.build(KERNEL, "vec_add.cu", (VEC_ADD,), compiler="clang")
    assert artefact == accepted(KERNEL, compiler="clang")
    assert {build.compiler for build in builds} == {"clang"}


def test_the_compilers_keep_their_builds_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path))
    for compiler in ("nvrtc", "clang"):
        builds, _ = cuda_c.build(KERNEL, "vec_add.cu", (VEC_ADD,), compiler=compiler)
        assert builds[0].compiler == compiler
    assert len(list((cache.root() / "cuda-c").iterdir())) == 2


def test_a_compiler_that_is_none_is_named() -> None:
    with pytest.raises(UsageError) as caught:
        cuda_c.build(KERNEL, "vec_add.cu", (VEC_ADD,), compiler="gcc")
    assert caught.value.message == "expected a compiler of nvrtc, clang; found 'gcc'"


def test_without_nvrtc_clang_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_c.importlib.util, "find_spec", lambda name: None)
    assert cuda_c.default_compiler() == "clang"
    monkeypatch.setattr(cuda_c.metal_clang, "compiler", lambda: None)
    with pytest.raises(NotGradableError) as caught:
        cuda_c.build(KERNEL, "vec_add.cu", (VEC_ADD,), compiler="clang")
    assert caught.value.message == "clang is not installed: pip install ziglang"
