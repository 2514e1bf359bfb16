# expect: verdict=out_of_bounds
# expect: kind=out_of_bounds line=17 access=read buffer=x
# The mask is worked out once, before the loop moves on.

import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def saxpy(n, a, x_ptr, y_ptr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    step = tl.num_programs(0) * BLOCK
    mask = offs < n
    for turn in range(tl.cdiv(n, step)):
        x = tl.load(x_ptr + offs, mask=mask)
        y = tl.load(y_ptr + offs, mask=mask)
        tl.store(y_ptr + offs, a * x + y, mask=mask)
        offs += step
