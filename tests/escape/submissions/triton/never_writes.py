"""Attack: leave the output alone, so that a right answer left in reused memory counts.

Why it must fail: the reference runs elsewhere, and elements that were never written are known
    as such.

Expect: wrong_answer
"""

import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + offs, mask=offs < n)
    tl.store(c_ptr + offs, a, mask=offs < 0)
