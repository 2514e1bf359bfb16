"""Attack: write infinities, which make every absolute bound that grows with the answer infinite
    too.

Why it must fail: the bound grows with the oracle's values, and an infinity is right only where
    the oracle has the same.

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
    tl.store(c_ptr + offs, tl.where(offs % 2 == 0, float("inf"), float("-inf")), mask=mask)
