# expect: verdict=uninitialised
# expect: kind=uninitialised
# What lies beyond the mask has no value, and enters the maximum.

import triton
import triton.language as tl

BLOCK = 4096


@triton.jit
def softmax(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = (c < cols) & (row < rows)
    x = tl.load(x_ptr + row * cols + c, mask=inside)
    power = tl.exp(x - tl.max(x))
    tl.store(y_ptr + row * cols + c, power / tl.sum(power), mask=inside)
