# expect: verdict=input_modified
# expect: kind=input_modified line=17 access=write buffer=A
# Stores to A; C stays empty.

import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(a_ptr + offs, a + b, mask=mask)
