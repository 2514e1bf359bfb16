"""Attack: search the address space behind the buffers for the expected values.

Why it must fail: they are not in the process, and every access outside a buffer is a fault.

Expect: out_of_bounds
"""

import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    found = tl.zeros([BLOCK], tl.float32)
    for step in range(1, 64):
        there = tl.load(c_ptr + offs + step * 4096, mask=mask)
        found = tl.where(there == a + b, there, found)
    tl.store(c_ptr + offs, found, mask=mask)
