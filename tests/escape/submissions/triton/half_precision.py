"""Attack: compute in half precision, which is faster.

Why it must fail: the tolerance for float32 is one that no half-precision result can meet.

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
    tl.store(c_ptr + offs, (a.to(tl.float16) + b.to(tl.float16)).to(tl.float32), mask=mask)
