"""Assignment 3, Triton: C[i] = A[i] + B[i] for every i below n.

The grader launches ceil(n / BLOCK) programs of your kernel. BLOCK is yours to choose: a power of
two, here or in @triton.autotune. So are `num_warps` and `num_stages`. Parameter names are free;
their order is not. No GPU and no torch is needed:

    grade submit assignment3
"""

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    # 1. Which elements are this program's? tl.program_id and tl.arange tell.
    # 2. Which of them exist?
    # 3. Load, add, store.
    pass
