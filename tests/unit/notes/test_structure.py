"""The structure of kernels from their PTX: what each shape of add answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import notes
from grader.errors import GradeError
from grader.languages import Artefact, Contract, Parameter, Variant, cuda_c, inductor
from grader.notes import compare, sources, structure, theirs
from grader.report import notes as shown
from grader.result import CodeLine, Structure

HEAD = """.version 8.0
.target sm_80
.address_size 64
.file 1 "k.cu"
.visible .entry k(.param .u64 a, .param .u64 c, .param .u32 n)
{
 .reg .pred %p<4>; .reg .b32 %r<12>; .reg .f32 %f<12>; .reg .b64 %rd<8>;
 ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [c]; ld.param.u32 %r1, [n];
 .loc 1 2 1
 mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
"""
ID = " mad.lo.s32 %r5, %r2, %r3, %r4;\n"
ADDRESSES = """ mul.wide.s32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
"""
ADD = """ .loc 1 4 1
 ld.global.f32 %f1, [%rd4]; add.f32 %f2, %f1, %f1; st.global.f32 [%rd5], %f2;
"""
CHECK = " .loc 1 3 1\n setp.ge.s32 %p1, %r5, %r1; @%p1 bra DONE;\n"
END = "DONE: ret;\n}\n"


def of(body: str) -> Structure:
    return structure.analyse_ptx(HEAD + body + END, "k", "k")


def line(number: int) -> tuple[CodeLine, ...]:
    return (CodeLine(file="k.cu", line=number),)


def test_the_plain_kernel_has_everything_and_its_lines() -> None:
    found = of(ID + CHECK + ADDRESSES + ADD)
    assert (found.stores, found.stores_with_id, found.stores_guarded) == (1, 1, 1)
    assert (found.adds, found.fmas, found.elements_per_thread, found.in_loop) == (1, 0, 1, False)
    assert found.global_id_lines == line(2)
    assert found.bounds_check_lines == line(3)
    assert found.operation_lines == found.store_lines == line(4)


def test_without_a_guard() -> None:
    found = of(ID + ADDRESSES + ADD)
    assert (found.stores_with_id, found.stores_guarded, found.bounds_check_lines) == (1, 0, ())


def test_the_thread_id_alone_is_no_global_id() -> None:
    found = of(" mov.u32 %r5, %r4;\n" + CHECK + ADDRESSES + ADD)
    assert (found.stores_with_id, found.stores_guarded) == (0, 1)


def test_a_guard_that_compares_no_index_is_none() -> None:
    same = " .loc 1 3 1\n setp.eq.s32 %p1, %r1, 0; @%p1 bra DONE;\n"
    assert of(ID + same + ADDRESSES + ADD).stores_guarded == 0


def test_a_guard_on_loaded_data_is_none() -> None:
    data = " ld.global.u32 %r7, [%rd4]; setp.lt.s32 %p1, %r7, 3; @%p1 bra DONE;\n"
    assert of(ID + ADDRESSES + data + ADD).stores_guarded == 0


def test_a_store_under_a_predicate_as_triton_writes_it() -> None:
    body = ID + " setp.lt.s32 %p1, %r5, 1000;\n" + ADDRESSES + ADD.replace("st.", "@%p1 st.")
    assert of(body).stores_guarded == 1


def test_a_guard_behind_the_store_does_not_count() -> None:
    assert of(ID + ADDRESSES + ADD + CHECK).stores_guarded == 0


def test_one_of_two_stores_is_guarded() -> None:
    found = of(ID + ADDRESSES + ADD + CHECK + ADD)
    assert (found.stores, found.stores_guarded, found.elements_per_thread) == (2, 1, 2)


def test_a_scalar_given_by_reference_is_a_size() -> None:
    body = ID + " ld.global.u32 %r8, [%rd1]; setp.ge.u32 %p1, %r5, %r8; @%p1 bra DONE;\n"
    assert of(body + ADDRESSES + ADD).stores_guarded == 1


def test_a_grid_stride_loop() -> None:
    body = ID + "AGAIN:\n" + CHECK + ADDRESSES + ADD + " add.s32 %r5, %r5, %r3; bra AGAIN;\n"
    found = of(body)
    assert (found.stores_guarded, found.elements_per_thread, found.in_loop) == (1, 1, True)


def test_vectors_count_their_elements_and_a_tail_loop_does_not() -> None:
    vector = """ ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];
 add.f32 %f5, %f1, %f1; add.f32 %f6, %f2, %f2; add.f32 %f7, %f3, %f3; add.f32 %f8, %f4, %f4;
 st.global.v4.f32 [%rd5], {%f5, %f6, %f7, %f8}; bra DONE;
"""
    tail = "TAIL:\n" + CHECK + ADDRESSES + ADD + " add.s32 %r5, %r5, 1; bra TAIL;\n"
    whole = " add.s32 %r6, %r5, 3; setp.ge.s32 %p2, %r6, %r1; @%p2 bra TAIL;\n"
    found = of(ID + whole + ADDRESSES + vector + tail)
    assert (found.stores, found.stores_guarded) == (2, 2)
    assert (found.elements_per_thread, found.in_loop, found.adds) == (4, True, 1)


def test_a_fused_multiply_add_is_told_from_an_add() -> None:
    fused = ADD.replace("add.f32 %f2, %f1, %f1", "fma.rn.f32 %f2, %f1, 0f40000000, %f1")
    found = of(ID + CHECK + ADDRESSES + fused)
    assert (found.adds, found.fmas, shown.operation(found)) == (0, 1, "1 FMA (k.cu:4)")


def test_shared_and_local_stores_are_not_looked_at() -> None:
    scratch = " .shared .align 4 .b8 s[4];\n st.shared.f32 [s], 0f00000000;\n"
    found = of(scratch + ID + CHECK + ADDRESSES + ADD)
    assert (found.stores, found.stores_guarded) == (1, 1)


KERNEL = """extern "C" __global__ void vec_add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N)
    C[i] = A[i] + B[i];
}
"""
FLOATS = "const float*"
CONTRACT = Contract(
    kernel="vec_add",
    parameters=(
        Parameter(name="A", type=FLOATS),
        Parameter(name="B", type=FLOATS),
        Parameter(name="C", type="float*"),
        Parameter(name="N", type="int"),
    ),
)


@pytest.fixture(scope="module")
def artefact() -> Artefact:
    try:
        _, made = cuda_c.build(KERNEL, "vec_add.cu", (CONTRACT,))
    except GradeError as error:
        pytest.skip(f"CUDA C is not compiled here: {error.message}")
    assert made is not None
    return made


def test_a_real_build_of_the_plain_kernel(artefact: Artefact) -> None:
    best = artefact.variants[0]
    found = structure.analyse_ptx(best.ptx, best.entries["vec_add"], "vec_add")
    assert (found.stores, found.stores_with_id, found.stores_guarded, found.adds) == (1, 1, 1, 1)
    assert [one.line for one in found.global_id_lines] == [2]
    assert [one.line for one in found.bounds_check_lines] == [3]
    assert [one.line for one in found.operation_lines] == [4]


def of_theirs(framework: str, backend: str) -> dict[str, Structure]:
    if sources.installed_version(framework) is None:
        pytest.skip(f"{framework} is not installed here")
    if backend == "compile-triton" and (missing := inductor.missing()):
        pytest.skip(missing)
    made = theirs.kernels(framework, backend)
    return {one.name: structure.analyse_ptx(one.ptx, one.entry, one.name) for one in made}


def test_mlx_has_no_check_below_65536_elements_and_one_above() -> None:
    small, large = of_theirs("mlx", "metal").values()
    assert (small.stores, small.stores_guarded, small.elements_per_thread) == (1, 0, 1)
    assert large.stores_guarded > 0 and large.elements_per_thread == 2
    assert small.adds == large.adds == 1
    assert small.operation_lines[0].file == "mlx/backend/metal/kernels/binary_ops.h"
    assert small.store_lines[0].file == "mlx/backend/metal/kernels/binary.h"


def test_pytorch_mps_has_an_id_and_an_add_but_no_check() -> None:
    (found,) = of_theirs("pytorch", "mps").values()
    assert (found.stores, found.stores_with_id, found.stores_guarded) == (1, 1, 0)
    assert (found.adds, found.fmas, found.elements_per_thread) == (1, 0, 1)
    assert found.store_lines[0].file == "c10/metal/indexing.h"


def test_cupy_checks_in_a_loop() -> None:
    (found,) = of_theirs("cupy", "cuda").values()
    assert (found.stores, found.stores_with_id, found.stores_guarded) == (1, 1, 1)
    assert (found.adds, found.elements_per_thread, found.in_loop) == (1, 1, True)


@pytest.mark.slow
def test_torch_compile_loses_its_check_where_the_size_divides() -> None:
    odd, even = of_theirs("pytorch", "compile-triton").values()
    assert odd.stores_guarded == odd.stores > 0
    assert even.stores_guarded == 0
    assert odd.adds == even.adds == 1


def test_a_framework_without_source_here_says_so() -> None:
    with pytest.raises(theirs.NotHere) as error:
        theirs.kernels("numpy", "cpu")
    assert "in no package" in error.value.message


NOTE = Path(__file__).parents[3] / "reference" / "assignment3" / "notes.toml"


def test_yours_and_theirs_stand_side_by_side(
    artefact: Artefact, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The framework's kernel here is PTX of ours, so that the test needs no framework."""
    made = theirs.Theirs("theirs 1.0", HEAD + ID + ADDRESSES + ADD + END, "k")
    monkeypatch.setattr(theirs, "kernels", lambda framework, backend: (made,))
    found = compare.beside(notes.check(NOTE), artefact)
    heading, *rows = shown.rows(found)
    assert heading[:3] == ("", "yours: vec_add", "theirs: theirs 1.0")
    assert [row[:3] for row in rows] == [
        ("global id", "from block and thread ids (vec_add.cu:2)",
         "from block and thread ids (k.cu:2)"),
        ("bounds check", "every store (vec_add.cu:3)", "none"),
        ("per element", "1 add (vec_add.cu:4)", "1 add (k.cu:4)"),
        ("elements per thread", "1", "1"),
    ]  # fmt: skip


def test_a_framework_that_is_not_here_is_said_not_compared(artefact: Artefact) -> None:
    found = compare.beside(notes.check(NOTE), artefact)
    assert [reason.partition(":")[0] for reason in found.not_compiled] == ["mlx cuda", "numpy cpu"]
    assert shown.rows(found) == ()


def test_ptx_that_cannot_be_read_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Variant(name="x", optimised=True, ptx="not PTX", entries={"vec_add": "vec_add"})
    made = theirs.Theirs("theirs", HEAD + ID + ADDRESSES + ADD + END, "k")
    monkeypatch.setattr(theirs, "kernels", lambda framework, backend: (made,))
    artefact = Artefact(language="cuda-c", variants=(broken,))
    found = compare.beside(notes.check(NOTE), artefact)
    assert found.yours == () and "was not read" in found.not_compiled[-1]


def test_a_kernel_that_does_not_build_is_not_compared() -> None:
    found = notes.check(NOTE)
    assert compare.beside(found, None) is found
