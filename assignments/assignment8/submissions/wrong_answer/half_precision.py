# expect: verdict=wrong_answer
# expect: kind=mismatch buffer=y
# The weights go through half precision.

import triton
import triton.language as tl

BLOCK = 4096


@triton.jit
def softmax(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = (c < cols) & (row < rows)
    x = tl.load(x_ptr + row * cols + c, mask=inside, other=float("-inf"))
    power = tl.exp(x - tl.max(x))
    tl.store(y_ptr + row * cols + c, (power / tl.sum(power)).to(tl.float16), mask=inside)
