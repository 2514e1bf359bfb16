"""The vec_add contract of assignment3, and a compile that stays in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from grader.languages import Contract, Parameter

VEC_ADD = Contract(
    kernel="vec_add",
    parameters=(
        Parameter(name="A", type="*fp32"),
        Parameter(name="B", type="*fp32"),
        Parameter(name="C", type="*fp32"),
        Parameter(name="n", type="i32"),
    ),
    constants={"BLOCK": 1024},
    calls=({"n": 0}, {"n": 1}, {"n": 1000}, {"n": 1024}),
)

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, a + b, mask=mask)
"""


@pytest.fixture
def contract() -> Contract:
    return VEC_ADD


@pytest.fixture
def kernel() -> str:
    return KERNEL


@pytest.fixture
def compile_here() -> Callable[..., tuple[dict[str, Any], list[str]]]:
    """The child's job without the child: for sources written in these tests only."""
    pytest.importorskip("triton", reason="Triton has wheels for Linux only")
    from grader.languages.triton import build_job

    def compile_text(text: str, *contracts: Contract) -> tuple[dict[str, Any], list[str]]:
        request = {
            "file_name": "kernel.py",
            "contracts": [c.model_dump() for c in contracts or (VEC_ADD,)],
        }
        header, blobs = build_job(request, [text.encode()])
        return header, [blob.decode() for blob in blobs]

    return compile_text
