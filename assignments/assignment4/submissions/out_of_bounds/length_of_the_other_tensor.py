# expect: verdict=out_of_bounds
# expect: kind=out_of_bounds line=18 access=read buffer=row
# The mask of one tensor is made from the length of another.

import triton
import triton.language as tl

BLOCK_X = 32
BLOCK_Y = 4


@triton.jit
def broadcast_add(column_ptr, row_ptr, grid_ptr, rows, cols, BLOCK_X: tl.constexpr,
                  BLOCK_Y: tl.constexpr):
    c = tl.program_id(0) * BLOCK_X + tl.arange(0, BLOCK_X)
    r = tl.program_id(1) * BLOCK_Y + tl.arange(0, BLOCK_Y)
    column = tl.load(column_ptr + r, mask=r < rows)
    row = tl.load(row_ptr + c, mask=c < rows)
    mask = (r[:, None] < rows) & (c[None, :] < cols)
    tl.store(grid_ptr + r[:, None] * cols + c[None, :], column[:, None] + row[None, :], mask=mask)


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
