"""Assignment 7, Triton: C = A x B. A is m by k, B is k by n, C is m by n, all row by row.

TILE_M, TILE_N and TILE_K are yours to choose: powers of two from 16. Program 0 counts tiles along
the columns of C, program 1 along its rows.

    grade submit assignment7
"""

import triton
import triton.language as tl

TILE_M = 32
TILE_N = 32
TILE_K = 32


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    # For each pair of tiles along k: load them, multiply, add.
    pass
