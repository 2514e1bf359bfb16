# expect: verdict=accepted
# A tile per program, turned by tl.trans.

import triton
import triton.language as tl

TILE = 32


@triton.jit
def transpose(input_ptr, output_ptr, rows, cols, TILE: tl.constexpr):
    c = tl.program_id(0) * TILE + tl.arange(0, TILE)
    r = tl.program_id(1) * TILE + tl.arange(0, TILE)
    mask = (r[:, None] < rows) & (c[None, :] < cols)
    tile = tl.load(input_ptr + r[:, None] * cols + c[None, :], mask=mask)
    there = (c[:, None] < cols) & (r[None, :] < rows)
    tl.store(output_ptr + c[:, None] * rows + r[None, :], tl.trans(tile), mask=there)
