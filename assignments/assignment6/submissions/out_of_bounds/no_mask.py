# expect: verdict=out_of_bounds
# expect: kind=out_of_bounds line=17 access=read buffer=x
# Every block is taken to be full.

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def reduce_sum(x_ptr, total_ptr, partial_ptr, arrived_ptr, n, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    shares = tl.zeros((BLOCK,), tl.float32)
    for first in range(tl.program_id(0) * BLOCK, n, step):
        offs = first + tl.arange(0, BLOCK)
        shares += tl.load(x_ptr + offs)
    tl.atomic_add(total_ptr, tl.sum(shares))
