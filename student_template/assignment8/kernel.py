"""Assignment 8, Triton: y[r][c] = exp(x[r][c] - max of row r) / sum of those over row r.

One program for each row. BLOCK is yours to choose: a power of two. Rows may be longer than it.

    grade submit assignment8
"""

import triton
import triton.language as tl

BLOCK = 512


@triton.jit
def softmax(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    # 1. The maximum of the row.
    # 2. The sum of exp(x - maximum).
    # 3. The weights.
    pass
