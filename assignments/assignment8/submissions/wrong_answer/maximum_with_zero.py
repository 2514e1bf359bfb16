# expect: verdict=wrong_answer
# expect: kind=mismatch buffer=y
# What lies beyond the mask counts as 0, also in the maximum and in the sum.

import triton
import triton.language as tl

BLOCK = 4096


@triton.jit
def softmax(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = (c < cols) & (row < rows)
    x = tl.load(x_ptr + row * cols + c, mask=inside, other=0.0)
    power = tl.exp(x - tl.max(x))
    tl.store(y_ptr + row * cols + c, power / tl.sum(power), mask=inside)
