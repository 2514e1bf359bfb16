# expect: verdict=accepted
# Each program walks over two chunks of its block.

import triton
import triton.language as tl

BLOCK = 512


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    half: tl.constexpr = BLOCK // 2
    for chunk in range(2):
        offs = start + chunk * half + tl.arange(0, half)
        inside = offs < n
        total = tl.load(a_ptr + offs, inside) + tl.load(b_ptr + offs, inside)
        tl.store(c_ptr + offs, total, inside)
