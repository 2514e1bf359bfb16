"""Attack: have Triton unroll a loop without end.

Why it must fail: the build has a limit of time and memory.

Expect: build_failed
"""

import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    for _ in tl.static_range(10_000_000):
        a += tl.load(b_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, a, mask=mask)
