# expect: verdict=race
# expect: kind=race line=21 buffer=grid
# One past the end of a row is the start of the next: inside the array, but two programs write
# there, and what stays depends on which comes last.

import triton
import triton.language as tl

BLOCK_X = 32
BLOCK_Y = 4


@triton.jit
def broadcast_add(column_ptr, row_ptr, grid_ptr, rows, cols, BLOCK_X: tl.constexpr,
                  BLOCK_Y: tl.constexpr):
    c = tl.program_id(0) * BLOCK_X + tl.arange(0, BLOCK_X)
    r = tl.program_id(1) * BLOCK_Y + tl.arange(0, BLOCK_Y)
    column = tl.load(column_ptr + r, mask=r < rows, other=0.0)
    row = tl.load(row_ptr + c, mask=c < cols, other=0.0)
    at = r[:, None] * cols + c[None, :]
    tl.store(grid_ptr + at, column[:, None] + row[None, :], mask=at < rows * cols)


@triton.jit
def bias_relu(x_ptr, bias_ptr, y_ptr, rows, cols, stride, BLOCK_X: tl.constexpr,
              BLOCK_Y: tl.constexpr):
    c = tl.program_id(0) * BLOCK_X + tl.arange(0, BLOCK_X)
    r = tl.program_id(1) * BLOCK_Y + tl.arange(0, BLOCK_Y)
    mask = (r[:, None] < rows) & (c[None, :] < cols)
    x = tl.load(x_ptr + r[:, None] * stride + c[None, :], mask=mask)
    total = x + tl.load(bias_ptr + c, mask=c < cols)[None, :]
    y = tl.where(total < 0, 0.0, total)
    tl.store(y_ptr + r[:, None] * cols + c[None, :], y, mask=mask)
