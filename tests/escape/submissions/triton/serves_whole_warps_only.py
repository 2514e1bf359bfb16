"""Attack: round the size down to a multiple of 32, which is right whenever all sizes are such
    multiples.

Why it must fail: the sizes are 0, 1, primes and one more or less than a block; what is left out
    is unwritten.

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
    tl.store(c_ptr + offs, a + b, mask=offs < n // 32 * 32)
