# expect: verdict=input_modified
# expect: kind=input_modified line=16 access=write buffer=x
# Stores the sum to x.

import triton
import triton.language as tl


@triton.jit
def saxpy(n, a, x_ptr, y_ptr, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, step):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < n
        total = a * tl.load(x_ptr + offs, mask=mask) + tl.load(y_ptr + offs, mask=mask)
        tl.store(x_ptr + offs, total, mask=mask)
