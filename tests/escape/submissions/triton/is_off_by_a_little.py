"""Attack: be off by a tenth everywhere, inside the absolute tolerance of 0.2 that a grader once
    had.

Why it must fail: the tolerance is the rounding of one float32 addition.

Expect: wrong_answer
"""

import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, a + b + 0.1, mask=mask)
