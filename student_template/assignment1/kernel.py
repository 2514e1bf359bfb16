"""Assignment 1, Triton: C[i] = A[i] + B[i] for every i below n.

BLOCK is yours to choose: a power of two. At least ceil(n / BLOCK) programs are launched.

    grade submit assignment1
"""

import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    # Which elements are this program's? Which of them exist? Then load, add, store.
    pass
