"""Leaky ReLU: one program per BLOCK elements."""

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def leaky_relu(x_ptr, y_ptr, slope, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(y_ptr + offs, tl.where(x > 0, x, slope * x), mask=mask)
