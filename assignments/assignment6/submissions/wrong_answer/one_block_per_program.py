# expect: verdict=wrong_answer
# expect: kind=mismatch buffer=total
# No loop: what lies beyond the first blocks is left out.

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def reduce_sum(x_ptr, total_ptr, partial_ptr, arrived_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total_ptr, tl.sum(tl.load(x_ptr + offs, mask=offs < n, other=0.0)))
