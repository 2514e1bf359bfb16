"""Softmax of a row by a program: maximum and sum in one pass, the weights in a second one."""

import triton
import triton.language as tl

BLOCK = 512


@triton.jit
def softmax(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest = -3.0e38
    total = 0.0
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        inside = (c < cols) & (row < rows)
        x = tl.load(x_ptr + row * cols + c, mask=inside, other=float("-inf"))
        larger = tl.maximum(largest, tl.max(x))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(x - larger))
        largest = larger
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        inside = (c < cols) & (row < rows)
        x = tl.load(x_ptr + row * cols + c, mask=inside, other=0.0)
        tl.store(y_ptr + row * cols + c, tl.exp(x - largest) / total, mask=inside)
