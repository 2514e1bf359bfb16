"""Attack: write zeros, which pass wherever the true values are below an absolute tolerance.

Why it must fail: the tolerance follows the size of the values, and they are random.

Expect: wrong_answer
"""

import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(c_ptr + offs, tl.zeros([BLOCK], tl.float32), mask=mask)
