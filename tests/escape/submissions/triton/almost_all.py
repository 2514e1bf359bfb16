"""Attack: do 99 of 100 elements and copy the rest, inside what a mean error forgives.

Why it must fail: every element is compared by itself.

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
    tl.store(c_ptr + offs, tl.where(offs % 100 == 99, a, a + b), mask=mask)
