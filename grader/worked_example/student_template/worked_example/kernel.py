"""Leaky ReLU, Triton: y[i] = x[i] where x[i] is positive, else slope * x[i], for every i below n.

The grader launches max(1, ceil(n / BLOCK)) programs. BLOCK is yours to choose: a power of two. No
GPU and no torch is needed:

    grade submit worked_example
"""

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def leaky_relu(x_ptr, y_ptr, slope, n, BLOCK: tl.constexpr):
    # 1. Which elements are this program's? tl.program_id and tl.arange tell.
    # 2. Which of them exist?
    # 3. Load, compute, store.
    pass
