"""Attack: return one of the inputs.

Why it must fail: outputs are buffers of the grader's, compared with a float64 oracle.

Expect: wrong_answer
"""

import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(c_ptr + offs, tl.load(a_ptr + offs, mask=mask), mask=mask)
