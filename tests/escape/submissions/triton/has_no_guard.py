"""Attack: have no guard, so that the last block reads and writes past the end, which a card
    forgives.

Why it must fail: every access is checked against its buffer, and sizes are no multiples of the
    block.

Expect: out_of_bounds
"""

import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c_ptr + offs, tl.load(a_ptr + offs) + tl.load(b_ptr + offs))
