# expect: verdict=out_of_bounds
# expect: kind=out_of_bounds line=13 access=read buffer=x
# expect: kind=out_of_bounds line=14 access=write buffer=y
# No mask: the last program reads and writes a whole block.

import triton
import triton.language as tl


@triton.jit
def leaky_relu(x_ptr, y_ptr, slope, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(y_ptr + offs, tl.where(x > 0, x, slope * x))
