# expect: verdict=out_of_bounds
# expect: kind=out_of_bounds line=16 access=read buffer=x
# With no rows there is still one program.

import triton
import triton.language as tl

BLOCK = 4096


@triton.jit
def softmax(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    x = tl.load(x_ptr + row * cols + c, mask=inside, other=float("-inf"))
    power = tl.exp(x - tl.max(x))
    tl.store(y_ptr + row * cols + c, power / tl.sum(power), mask=inside)
