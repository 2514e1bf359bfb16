# expect: verdict=accepted
# The sum is a function of its own.

import triton
import triton.language as tl


@triton.jit
def add(x, y):
    return x + y



@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, add(a, b), mask=mask)
