# expect: verdict=race
# expect: kind=race line=20 buffer=y
# Steps by one block, so every program does all that follows its first one, on top of the others.

import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def saxpy(n, a, x_ptr, y_ptr, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    step = BLOCK
    for first in range(start, n, step):
        offs = first + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask)
        y = tl.load(y_ptr + offs, mask=mask)
        tl.store(y_ptr + offs, a * x + y, mask=mask)
