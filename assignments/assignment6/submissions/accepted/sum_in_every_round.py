# expect: verdict=accepted
# Adds each block to a scalar at once.

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def reduce_sum(x_ptr, total_ptr, partial_ptr, arrived_ptr, n, BLOCK: tl.constexpr):
    total = 0.0
    start = tl.program_id(0) * BLOCK
    for first in range(start, n, tl.num_programs(0) * BLOCK):
        offs = first + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x_ptr + offs, mask=offs < n, other=0.0))
    tl.atomic_add(total_ptr, total, sem="relaxed")
