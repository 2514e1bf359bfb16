# expect: verdict=out_of_bounds
# expect: kind=out_of_bounds line=16 access=read buffer=input
# expect: kind=out_of_bounds line=17 access=write buffer=output
# Whole tiles, whatever the size of the matrix.

import triton
import triton.language as tl

TILE = 32


@triton.jit
def transpose(input_ptr, output_ptr, rows, cols, TILE: tl.constexpr):
    c = tl.program_id(0) * TILE + tl.arange(0, TILE)
    r = tl.program_id(1) * TILE + tl.arange(0, TILE)
    tile = tl.load(input_ptr + r[:, None] * cols + c[None, :])
    tl.store(output_ptr + c[:, None] * rows + r[None, :], tl.trans(tile))
