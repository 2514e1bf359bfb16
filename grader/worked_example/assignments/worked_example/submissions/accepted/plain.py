# expect: verdict=accepted
# One program per block, and a factor in place of the choice.

import triton
import triton.language as tl

BLOCK = 512


@triton.jit
def leaky_relu(x_ptr, y_ptr, slope, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(y_ptr + offs, x * tl.where(x > 0, 1.0, slope), mask=offs < n)
