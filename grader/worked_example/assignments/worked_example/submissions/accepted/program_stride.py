# expect: verdict=accepted
# Each program strides over all blocks: right for any number of programs.

import triton
import triton.language as tl


@triton.jit
def leaky_relu(x_ptr, y_ptr, slope, n, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, step):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n)
        tl.store(y_ptr + offs, tl.where(x > 0, x, slope * x), mask=offs < n)
