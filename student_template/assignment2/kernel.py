"""Assignment 2, Triton: y[i] = a * x[i] + y[i] for every i below n, by any number of programs.

grade submit assignment2
"""

import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def saxpy(n, a, x_ptr, y_ptr, BLOCK: tl.constexpr):
    # This does one block per program. What if there are more elements than that?
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(y_ptr + offs, a * x + y, mask=mask)
