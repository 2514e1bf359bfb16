"""Assignment 6, Triton: total = the sum of x[0] to x[n-1].

`total` and `arrived` are zero when the kernel starts. A few programs are launched, whatever n is.
BLOCK is yours to choose: a power of two.

    grade submit assignment6
"""

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def reduce_sum(x_ptr, total_ptr, partial_ptr, arrived_ptr, n, BLOCK: tl.constexpr):
    # 1. Add this program's share of x, lane by lane.
    # 2. Add the lanes.
    # 3. Add the programs.
    pass
