"""Mistakes people make in Triton scripts, each in a kernel of its own, and what is said of them.

One script holds them all: starting torch takes longer than running it.
"""

from __future__ import annotations

import pytest

from grader.languages import inductor, triton_program
from grader.languages.triton_program import KernelRun

pytestmark = pytest.mark.skipif(inductor.missing() is not None, reason=f"{inductor.missing()}")

SCRIPT = """\
import torch
import triton
import triton.language as tl


@triton.jit
def far_rows(x_ptr, o_ptr, stride, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols)
    tl.store(o_ptr + row * BLOCK + cols, x)


@triton.jit
def wide_rows(x_ptr, o_ptr, stride, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row.to(tl.int64) * stride % 64 + cols)
    tl.store(o_ptr + row * BLOCK + cols, x)


@triton.jit
def other_length(a_ptr, b_ptr, o_ptr, n_a, n_b, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + offs, mask=offs < n_a, other=0.0)
    b = tl.load(b_ptr + offs, mask=offs < n_a, other=0.0)
    tl.store(o_ptr + offs, a + b, mask=offs < n_a)


@triton.jit
def own_length(a_ptr, b_ptr, o_ptr, n_a, n_b, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + offs, mask=offs < n_a, other=0.0)
    b = tl.load(b_ptr + offs, mask=offs < n_b, other=0.0)
    tl.store(o_ptr + offs, a + b, mask=offs < n_a)


@triton.jit
def as_it_lies(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + offs, 2 * tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


@triton.jit
def as_both_lie(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + offs, 2 * tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


@triton.jit
def by_strides(x_ptr, o_ptr, n, sr, sc, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at // 3 * sr + at % 3 * sc, mask=at < n)
    tl.store(o_ptr + at, 2 * x, mask=at < n)


@triton.jit
def scatter(i_ptr, w_ptr, h_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    at = tl.load(i_ptr + offs)
    tl.store(h_ptr + at, tl.load(h_ptr + at) + tl.load(w_ptr + offs))


@triton.jit
def scatter_atomic(i_ptr, w_ptr, h_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.atomic_add(h_ptr + tl.load(i_ptr + offs), tl.load(w_ptr + offs))


@triton.jit
def in_place(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(x_ptr + offs, x + 1, mask=offs < n)


far_rows[(5,)](torch.ones(64), torch.empty(5, 64), 2**30 - 16, BLOCK=64)
wide_rows[(5,)](torch.ones(128), torch.empty(5, 64), 2**30 - 16, BLOCK=64)
long, short = torch.ones(100), torch.ones(60)
other_length[(2,)](long, short, torch.empty(100), 100, 60, BLOCK=64)
own_length[(2,)](long, short, torch.empty(100), 100, 60, BLOCK=64)
turned, out = torch.arange(12.0).reshape(3, 4).t(), torch.empty(4, 3)
as_it_lies[(1,)](turned, out, 12, BLOCK=16)
assert not torch.equal(out, 2 * turned)
by_strides[(1,)](turned, out, 12, *turned.stride(), BLOCK=16)
assert torch.equal(out, 2 * turned)
as_both_lie[(1,)](turned, torch.empty_like(turned), 12, BLOCK=16)
index = torch.tensor([0, 1, 1, 3, 5, 5, 5, 7] * 32)
weights = torch.rand(256)
scatter[(1,)](index, weights, torch.zeros(8), BLOCK=256)
sums = torch.zeros(8)
scatter_atomic[(1,)](index, weights, sums, BLOCK=256)
assert torch.allclose(sums, torch.zeros(8).index_add(0, index, weights))
for size in (1, 3, 8, 50, 256):
    in_place[(1,)](torch.zeros(size), size, BLOCK=triton.next_power_of_2(size))
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, list[KernelRun]]:
    path = tmp_path_factory.mktemp("script") / "mistakes.py"
    path.write_text(SCRIPT)
    found = triton_program.run(path)
    assert found.error == ""
    by_name: dict[str, list[KernelRun]] = {}
    for kernel in found.kernels:
        by_name.setdefault(kernel.kernel, []).append(kernel)
    return by_name


def line(text: str) -> int:
    return next(i for i, row in enumerate(SCRIPT.splitlines(), 1) if text in row)


@pytest.mark.parametrize(
    "name", ["as_both_lie", "wide_rows", "own_length", "by_strides", "scatter_atomic", "in_place"]
)
def test_nothing_is_said_of_what_is_right(runs, name):
    assert [f for kernel in runs[name] for f in kernel.faults] == []
    assert [kernel.views for kernel in runs[name]] == [()] * len(runs[name])


def test_an_offset_beyond_int32(runs):
    (fault,) = runs["far_rows"][0].faults
    assert (fault.kind, fault.line) == ("out_of_bounds", line("row * stride + cols"))
    assert "row.to(tl.int64) * stride" in fault.advice


def test_a_mask_made_from_the_length_of_another_tensor(runs):
    (fault,) = runs["other_length"][0].faults
    assert (fault.kind, fault.buffer, fault.index) == ("out_of_bounds", "b_ptr", 60)
    assert "compare `offs` with the length of `b_ptr`, which is 60 here" in fault.advice


def test_a_view_taken_for_contiguous(runs):
    assert runs["as_it_lies"][0].views == (
        "`x_ptr` is not contiguous (shape (4, 3), strides (1, 4)), and the kernel is not told its "
        "strides",
    )


def test_indices_that_meet(runs):
    faults = runs["scatter"][0].faults
    stores = [f for f in faults if f.line == line("tl.load(h_ptr + at) +")]
    assert "race" in {f.kind for f in stores if f.severity == "error"}
    assert any("tl.atomic_add" in f.advice for f in stores)
