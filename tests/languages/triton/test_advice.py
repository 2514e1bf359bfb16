"""Findings worded for Triton: the fault's facts are given, the words are checked."""

from __future__ import annotations

import pytest

from grader.languages import Contract, Parameter, Variant
from grader.languages.triton_advice import Launch, _launch_of, advise, advise_mismatch
from grader.languages.triton_ptx import UNDEFINED
from grader.result import Fault, Mismatch, Place, Severity

GRID = (10,)
ARGUMENTS = ("A", "B", "C", "N")
READS_PID = "mov.u32 %r1, %ctaid.x;"


def variant(ptx: str = READS_PID) -> Variant:
    return Variant(name="optimised", optimised=True, ptx=ptx, entries={}, constants={"BLOCK": 1024})


def fault(**facts) -> Fault:
    known = {
        "kind": "out_of_bounds",
        "severity": Severity.ERROR,
        "message": "raw",
        "access": "read",
    }
    return Fault(**{**known, **facts})


def advise_(raw, source, contract, compiled, grid) -> Fault:
    return advise(raw, Launch(source, contract, compiled, grid, ARGUMENTS))


def advise_mismatch_(wrong, source, contract, compiled, grid) -> Mismatch:
    return advise_mismatch(wrong, Launch(source, contract, compiled, grid, ARGUMENTS))


def past_the_end(line: int, **facts) -> Fault:
    found = {"buffer": "A", "index": 10000, "extent": 10000, "size_bytes": 4, "count": 240}
    return fault(line=line, **{"block": (9, 0, 0), **found, **facts})


def test_a_missing_mask(contract, kernel):
    text = kernel.replace("tl.load(a_ptr + offs, mask=mask)", "tl.load(a_ptr + offs)")
    said = advise_(past_the_end(9), text, contract, variant(), GRID)
    assert said.message == (
        "load of `a_ptr` (A) past its end: 240 elements "
        "(program 9, offsets 10000 to 10239; it has 10000)"
    )
    assert said.advice == "Add `mask=offs < n`."
    assert (said.line, said.index, said.count) == (9, 10000, 240)


def test_vector_accesses_count_elements(contract, kernel):
    text = kernel.replace("mask=mask)\n    b", ")\n    b")
    said = advise_(past_the_end(9, size_bytes=16, count=60), text, contract, variant(), GRID)
    assert "240 elements" in said.message


def test_the_offsets_outside_are_those_of_the_block_not_of_the_first_lane(contract, kernel):
    text = kernel.replace("mask=mask)\n    b", ")\n    b")
    raw = past_the_end(
        9, index=512, extent=255, size_bytes=16, count=193, block=(0, 0, 0)
    )  # the lane at offset 252 starts inside; warp 0 meets offset 512 first
    said = advise_(raw, text, contract, variant(), (1,))
    assert "769 elements (program 0, offsets 255 to 1023; it has 255)" in said.message
    several = raw.model_copy(update={"count": 400, "index": 252})
    said = advise_(several, text, contract, variant(), (1,))
    assert said.message == "load of `a_ptr` (A) past its end: offset 255 (program 0; it has 255)"


def test_a_number_is_given_only_where_one_block_explains_the_count(contract, kernel):
    text = kernel.replace("tl.load(a_ptr + offs, mask=mask)", "tl.load(a_ptr + offs)")
    copies = past_the_end(9, count=240 * 4)  # four warps that load the same block
    said = advise_(copies, text, contract, variant(), GRID)
    assert (
        said.message == "load of `a_ptr` (A) past its end: offset 10000 (program 9; it has 10000)"
    )


def test_a_scalar_access_is_told_to_check_its_number(contract, kernel):
    text = kernel.replace("a_ptr + offs, mask=mask", "a_ptr + tl.program_id(0) + 1")
    raw = past_the_end(9, index=10, extent=10, count=128)
    said = advise_(raw, text, contract, variant(), GRID)
    assert said.message == "load of `a_ptr` (A) past its end: offset 10 (program 9; it has 10)"
    assert said.advice.startswith("`tl.program_id(0) + 1` is one number for the whole program")
    assert "less than 10" in said.advice
    said = advise_(raw.model_copy(update={"index": -1}), text, contract, variant(), GRID)
    assert "at least 0" in said.advice


def test_a_mask_of_one_axis_names_what_else_moves(contract, kernel):
    text = kernel.replace("a_ptr + offs, mask=mask", "a_ptr + row * n + offs, mask=mask").replace(
        "    mask =", "    row = tl.program_id(1)\n    mask ="
    )
    said = advise_(past_the_end(10), text, contract, variant(), (10, 2))
    assert "`offs < n` is true there: the offset also moves with `row`" in said.advice


def test_a_stride_is_no_bound(contract, kernel):
    text = kernel.replace("n,", "stride,").replace("< n", "< stride").replace(", mask=mask", "")
    assert (
        "(rows < M) & (cols < N)"
        in advise_(past_the_end(9), text, contract, variant(), GRID).advice
    )


def test_a_mask_that_lets_the_length_through(contract, kernel):
    text = kernel.replace("offs < n", "offs <= n")
    said = advise_(
        past_the_end(11, buffer="C", access="write", count=1), text, contract, variant(), GRID
    )
    assert said.message.startswith("store of `c_ptr` (C) past its end: 1 element (program 9")
    assert said.advice == "The mask `offs <= n` lets the length itself through: write `<` for `<=`."


def test_a_mask_about_something_else(contract, kernel):
    text = kernel.replace("offs < n", "offs < BLOCK * 10")
    said = advise_(past_the_end(9), text, contract, variant(), GRID)
    assert "`offs < BLOCK * 10` is true at offset 10000" in said.advice


def test_before_the_start_and_wrapped_offsets(contract, kernel):
    text = kernel.replace("a_ptr + offs", "a_ptr + offs - 1")
    said = advise_(
        past_the_end(9, index=-1, block=(0, 0, 0), count=1), text, contract, variant(), GRID
    )
    assert "before its start" in said.message
    assert ">= 0" in said.advice
    said = advise_(past_the_end(9, index=-(1 << 31)), text, contract, variant(), GRID)
    assert "tl.int64" in said.advice


def test_undefined_lanes_name_the_load(contract, kernel):
    raw = fault(kind="uninitialised", buffer=UNDEFINED, space="local", line=9, block=(0, 0, 0))
    said = advise_(raw, kernel, contract, variant(), GRID)
    assert said.buffer == "A"
    assert "`a_ptr` has no `other`" in said.message
    assert "other=0.0" in said.advice


def test_undefined_lanes_are_named_where_the_compilers_memory_carried_them(contract, kernel):
    defined = kernel.replace("mask=mask)\n", "mask=mask, other=0.0)\n")
    for buffer in ("global_smem", None):
        raw = fault(kind="uninitialised", access="read", buffer=buffer, line=11, block=(0, 0, 0))
        said = advise_(raw, kernel, contract, variant(), GRID)
        assert "reach the result: the load of `a_ptr` has no `other`" in said.message
        assert advise_(raw, defined, contract, variant(), GRID) == raw
    raw = fault(kind="uninitialised", access="read", buffer="C", line=11)
    assert advise_(raw, kernel, contract, variant(), GRID) == raw


def test_a_mask_of_one_axis_of_a_block_of_two(contract, kernel):
    text = kernel.replace("a_ptr + offs, mask=mask", "a_ptr + r[:, None] * n + c[None, :], mask=k")
    axes = "    r = tl.arange(0, 4)\n    c = tl.arange(0, 4)\n    k = (c < n)[None, :]\n"
    text = text.replace("    a = tl.load", axes + "    a = tl.load")
    said = advise_(past_the_end(12), text, contract, variant(), GRID)
    assert "compares one axis, the offsets have two" in said.advice
    both = text.replace("(c < n)[None, :]", "(r < n)[:, None] & (c < n)[None, :]")
    said = advise_(past_the_end(12), both, contract, variant(), GRID)
    assert "one axis" not in said.advice


def test_a_program_id_never_read(contract, kernel):
    text = kernel.replace("tl.program_id(0) * BLOCK + ", "")
    raw = fault(
        kind="race",
        access="write",
        buffer="C",
        index=3,
        line=11,
        block=(1, 0, 0),
        other=Place(access="write", block=(0, 0, 0)),
    )
    said = advise_(raw, text, contract, variant(ptx=""), GRID)
    assert "program 1 and program 0 both touch element 3 of `c_ptr` (C)" in said.message
    assert "never reads `tl.program_id(0)`, though 10 programs run it" in said.advice
    said = advise_(raw, kernel, contract, variant(), GRID)
    assert "tl.atomic_add" in said.advice
    within = raw.model_copy(update={"other": Place(access="read", block=(1, 0, 0))})
    assert "tl.debug_barrier()" in advise_(within, kernel, contract, variant(), GRID).advice
    again = raw.model_copy(update={"other": Place(access="read", block=(1, 0, 0), line=11)})
    assert "steps by whole blocks" in advise_(again, kernel, contract, variant(), GRID).advice


def test_a_race_within_a_program_speaks_of_lanes_and_offsets(contract, kernel):
    facts = {"kind": "race", "buffer": "C", "index": 3, "line": 11, "block": (1, 0, 0)}
    read = Place(access="read", line=9, block=(1, 0, 0), thread=(5, 0, 0))
    raw = fault(access="write", other=read, **facts)
    said = advise_(raw, kernel, contract, variant(), GRID)
    assert said.message == (
        "a write here and a read on line 9 touch element 3 of `c_ptr` (C) in no fixed order "
        "(program 1)"
    )
    both = raw.model_copy(update={"other": Place(access="write", line=11, block=(1, 0, 0))})
    said = advise_(both, kernel, contract, variant(), GRID)
    assert "lanes of one store have the same offset: element 3 of `c_ptr` (C)" in said.message
    assert "tl.atomic_add" in said.advice
    same = both.model_copy(update={"message": "raw; both write the same value"})
    assert said.message + "; all store the same value" == (
        advise_(same, kernel, contract, variant(), GRID).message
    )


def test_a_mismatch_of_one_program(contract, kernel):
    wrong = Mismatch(
        output="C", index=(1024,), expected=1.0, actual=0.0, wrong=8976, total=10000, message="m"
    )
    text = kernel.replace("tl.program_id(0) * BLOCK + ", "")
    said = advise_mismatch_(wrong, text, contract, variant(ptx=""), GRID)
    assert "never reads" in said.advice
    assert advise_mismatch_(wrong, text, contract, variant(ptx=""), (1,)).advice is None
    assert advise_mismatch_(wrong, kernel, contract, variant(), GRID).advice is None


DOT = """\
@triton.jit
def matmul(a, b, c, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))
"""


@pytest.fixture
def matmul() -> Contract:
    types = {"A": "*fp32", "B": "*fp32", "C": "*fp32", "lda": "i32"}
    return Contract(
        kernel="matmul", parameters=tuple(Parameter(name=n, type=t) for n, t in types.items())
    )


def test_tf32_and_unused_strides(matmul):
    near = Mismatch(
        output="C", index=(0, 0), expected=8.0, actual=8.003, wrong=9, total=64, message="m"
    )
    assert 'input_precision="ieee"' in advise_mismatch_(near, DOT, matmul, variant(), (1,)).advice
    far = near.model_copy(update={"actual": 3.0})
    assert "`stride` is never used" in advise_mismatch_(far, DOT, matmul, variant(), (1,)).advice
    spare = Launch(DOT, matmul, variant(), (1,), ("A", "B", "C", "lda"), optional=("lda",))
    assert advise_mismatch(far, spare).advice is None
    exact = DOT.replace("tl.load(b + at))", 'tl.load(b + at), input_precision="ieee")')
    assert "stride" in advise_mismatch_(near, exact, matmul, variant(), (1,)).advice


def test_a_finding_belongs_to_the_launch_whose_kernel_holds_its_line(contract, kernel):
    text = kernel + "\n\n@triton.jit\ndef other(x, BLOCK: tl.constexpr):\n    tl.store(x, 1.0)\n"
    second = Contract(kernel="other", parameters=(Parameter(name="x", type="*fp32"),))
    launches = [
        Launch(text, contract, variant(), (10,), ARGUMENTS),
        Launch(text, second, variant(), (1,), ("D",)),
    ]
    of_line = {line: _launch_of(past_the_end(line), launches) for line in (9, 16)}
    assert of_line[9].contract.kernel == "vec_add"
    assert of_line[16].contract.kernel == "other"
