"""The build as the pipeline sees it: sandboxed, two variants, diagnostics with places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader import sandbox
from grader.errors import InternalError, NotGradableError
from grader.languages import cuda_c
from grader.languages.cuda_compile import compile_submission
from grader.sandbox import Exit, Limits, Reply
from tests.languages.cuda_c.sources import KERNEL, VEC_ADD, accepted, compiled, errors


def test_a_kernel_of_ours_compiles_here() -> None:
    assert cuda_c.missing() is None


def test_a_sandboxed_build_equals_one_in_this_process() -> None:
    builds, artefact = cuda_c.build(KERNEL, "vec_add.cu", (VEC_ADD,))
    assert artefact == accepted(KERNEL)
    assert [(b.ok, b.compiler, b.version) for b in builds] == [(True, "nvrtc", "13.5.37")] * 2
    assert [("-G" in b.options, "-lineinfo" in b.options) for b in builds] == [
        (False, True),
        (True, False),
    ]


def test_a_sandboxed_build_that_fails_returns_its_diagnostics() -> None:
    builds, artefact = cuda_c.build(KERNEL.replace("+ B[i];", "+ B[i]"), "vec_add.cu", (VEC_ADD,))
    assert artefact is None
    assert [(d.line, d.column, d.message) for d in builds[0].diagnostics] == [
        (4, 1, 'expected a ";"')
    ]
    assert 'vec_add.cu(4): error: expected a ";"' in builds[0].log


def test_the_request_and_the_reply_are_plain_json() -> None:
    request = {
        "text": KERNEL,
        "file_name": "a.cu",
        "contracts": [VEC_ADD.model_dump()],
        "headers": {},
        "kernels": [],
        "defines": [],
        "relocatable": False,
        "toolkit": None,
        "compiler": "nvrtc",
    }
    reply, blobs = cuda_c.build_job(json.loads(json.dumps(request)), [])
    assert json.loads(json.dumps(reply)) == reply
    assert [b".visible .entry" in blob for blob in blobs] == [True, True]


def test_registers_and_spills_come_from_the_cubin() -> None:
    plain = accepted(KERNEL).variants[0]
    entry = plain.entries["vec_add"]
    assert 4 <= plain.registers[entry] <= 32
    assert plain.spill_bytes[entry] == 0
    assert plain.shared_bytes[entry] == 0
    many = "float v[64]; for (int k = 0; k < 64; ++k) v[k] = A[k * N + i]; __syncthreads();"
    used = " + ".join(f"v[{k}] * v[{(k * 7) % 64}]" for k in range(64))
    text = KERNEL.replace("if (i < N)", f"__shared__ float s[48]; s[i % 48] = 1; {many}")
    text = text.replace("A[i] + B[i]", f"{used} + s[0]")
    greedy = accepted(text.replace("void vec_add", "void __launch_bounds__(1024, 2) vec_add"))
    assert greedy.variants[0].registers[entry] == 32
    assert greedy.variants[0].spill_bytes[entry] > 0
    assert greedy.variants[0].shared_bytes[entry] == 192


def test_nothing_that_is_not_used_is_in_the_ptx() -> None:
    plain = accepted(KERNEL).variants
    assert all(".global .align" not in variant.ptx for variant in plain)
    named = accepted(KERNEL.replace("A[i]", "std::numeric_limits<float>::max()")).variants
    assert all(".global .align" in variant.ptx for variant in named)


def test_equal_sources_give_equal_ptx_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = accepted(KERNEL)
    monkeypatch.chdir(tmp_path)
    assert accepted(KERNEL) == first
    assert all('.file\t1 "vec_add.cu"' in variant.ptx for variant in first.variants)
    assert all(str(tmp_path) not in variant.ptx for variant in first.variants)


def test_where_the_unoptimised_build_is_impossible_the_optimised_one_stands_alone() -> None:
    builds, artefact = compiled(KERNEL.replace("A[i] +", "__dp4a(1, 2, N) +"))
    assert artefact is not None
    assert [variant.name for variant in artefact.variants] == ["optimised"]
    assert builds[0].diagnostics[-1].severity == "note"
    assert "faults come from the optimised one only" in builds[0].diagnostics[-1].message


def test_bad_inline_ptx_is_placed_in_the_source() -> None:
    text = KERNEL.replace("if (i < N)", 'asm("bogus.u32 %0;" : "=r"(i));\n  if (i < N)')
    assert errors(text) == ["3:: in PTX: Not a name of any known instruction: 'bogus'"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (KERNEL[: KERNEL.rindex("}")], '4:: expected a "}"'),
        (KERNEL + "/*", "5:1: comment unclosed at end of file"),
        ("#if 0\n" + KERNEL, "1:2: the #endif for this directive is missing"),
        (KERNEL.replace("A[i]", "\tA[j]"), '3:24: identifier "j" is undefined'),
        (KERNEL.replace("A[i]", "/* é */ A[j]"), '3:32: identifier "j" is undefined'),
    ],
)
def test_compiler_errors_have_line_and_column(text: str, message: str) -> None:
    assert message in errors(text)


def test_a_long_log_keeps_its_ends() -> None:
    text = KERNEL.replace("C[i] =", "".join(f"x{k}();\n" for k in range(90)) + "C[i] =")
    builds, _ = compiled(text)
    assert "lines left out" in builds[0].log
    assert "x0" in builds[0].log
    assert "x89" in builds[0].log
    assert len(builds[0].log.splitlines()) == 80


def test_without_a_contract_every_kernel_is_an_entry() -> None:
    text = f"{KERNEL}template <class T, int N> __global__ void fill(T* x) {{ x[0] = N; }}\n"
    _, artefact = compile_submission(
        text, "k.cu", (), submission_headers={}, toolkit=None, kernels=("fill<float, 3>",)
    )
    assert artefact is not None
    assert artefact.variants[0].entries == {
        "_Z7vec_addPKfS0_Pfi": "_Z7vec_addPKfS0_Pfi",
        "_Z4fillIfLi3EEvPT_": "_Z4fillIfLi3EEvPT_",
        "fill<float, 3>": "_Z4fillIfLi3EEvPT_",
    }


def test_a_build_is_kept_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path))
    first = cuda_c.build(KERNEL, "vec_add.cu", (VEC_ADD,))
    monkeypatch.setattr(sandbox, "call", None)
    assert cuda_c.build(KERNEL, "vec_add.cu", (VEC_ADD,)) == first
    with pytest.raises(TypeError):
        cuda_c.build(KERNEL, "other.cu", (VEC_ADD,))


def test_a_damaged_entry_of_the_cache_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path))
    _, first = cuda_c.build(KERNEL, "vec_add.cu", (VEC_ADD,))
    (kept,) = (tmp_path / "cuda-c").iterdir()
    kept.write_bytes(kept.read_bytes()[:100])
    assert cuda_c.build(KERNEL, "vec_add.cu", (VEC_ADD,))[1] == first


def test_a_source_that_keeps_the_compiler_busy_fails_to_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path))
    monkeypatch.setattr(cuda_c, "LIMITS", Limits(wall_seconds=60, cpu_seconds=2))
    bomb = "#define X0 1 + 1\n" + "".join(f"#define X{k + 1} X{k} + X{k}\n" for k in range(40))
    builds, artefact = cuda_c.build(f"{bomb}{KERNEL.replace('A[i]', 'X40')}", "a.cu", (VEC_ADD,))
    assert artefact is None
    assert [d.message for d in builds[0].diagnostics] == [
        "compiling took more than 2 s of CPU time"
    ]


def test_where_the_cache_cannot_be_written_a_plain_kernel_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path / "file" / "cache"))
    assert cuda_c.build(KERNEL, "vec_add.cu", (VEC_ADD,))[1] is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            KERNEL.replace("if (i < N)", "vec_add<<<1, 1>>>(A, B, C, N);\n  if (i < N)"),
            "vec_add.cu:3: this kernel launches another (dynamic parallelism), "
            "which the virtual GPU does not run",
        ),
        (
            KERNEL.replace(
                "if (i < N)",
                "cudaStream_t s;\n  cudaStreamCreateWithFlags(&s, 1);\n"
                "  vec_add<<<1, 1, 0, s>>>(A, B, C, N);\n  if (i < N)",
            ),
            "vec_add.cu:5: this kernel launches another (dynamic parallelism), "
            "which the virtual GPU does not run",
        ),
        (
            f"#include <curand_kernel.h>\n{KERNEL.replace('int i', 'curandState s; int i')}",
            "vec_add.cu:1: curand_kernel.h belongs to a library that does not come with the "
            "compiler",
        ),
    ],
)
def test_what_is_cuda_but_not_graded_here_is_not_the_student_s_fault(
    text: str, reason: str
) -> None:
    with pytest.raises(NotGradableError) as caught:
        cuda_c.build(text, "vec_add.cu", (VEC_ADD,))
    assert caught.value.message == reason


def test_a_malformed_reply_is_the_grader_s_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path))
    for header in ({}, {"builds": [], "artefact": {"variants": [{}]}}, {"builds": 3}):
        answer = Reply(Exit("exited"), header)
        monkeypatch.setattr(sandbox, "call", lambda *a, answer=answer, **k: answer)
        with pytest.raises(InternalError):
            cuda_c.build(KERNEL, "vec_add.cu", (VEC_ADD,))
