# expect: verdict=misaligned
# tl.multiple_of promises what is not so: vector accesses then start in the middle.

import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.multiple_of(tl.program_id(0) * BLOCK + 1, 16) + tl.arange(0, BLOCK)
    mask = offs < n - 4
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, a + b, mask=mask)
