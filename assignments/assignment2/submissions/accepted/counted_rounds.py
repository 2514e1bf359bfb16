# expect: verdict=accepted
# Counts the rounds beforehand; the mask takes care of the last one.

import triton
import triton.language as tl

BLOCK = 128


@triton.jit
def saxpy(n, a, x_ptr, y_ptr, BLOCK: tl.constexpr):
    programs = tl.num_programs(0)
    for turn in range(tl.cdiv(n, programs * BLOCK)):
        offs = (turn * programs + tl.program_id(0)) * BLOCK + tl.arange(0, BLOCK)
        inside = offs < n
        y = tl.load(y_ptr + offs, inside)
        tl.store(y_ptr + offs, tl.fma(tl.load(x_ptr + offs, inside), a, y), inside)
