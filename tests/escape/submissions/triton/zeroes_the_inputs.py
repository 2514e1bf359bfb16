"""Attack: zero the inputs, so that a reference that reads them afterwards computes zeros as well.

Why it must fail: writing an input is a fault, and the oracle has its own copy.

Expect: input_modified
"""

import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    zeros = tl.zeros([BLOCK], tl.float32)
    tl.store(a_ptr + offs, zeros, mask=mask)
    tl.store(b_ptr + offs, zeros, mask=mask)
    tl.store(c_ptr + offs, zeros, mask=mask)
