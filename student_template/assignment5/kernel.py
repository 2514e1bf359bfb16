"""Assignment 5, Triton: output[c][r] = input[r][c].

TILE is yours to choose: a power of two. Program 0 counts tiles along the columns of the input,
program 1 tiles along its rows.

    grade submit assignment5
"""

import triton
import triton.language as tl

TILE = 32


@triton.jit
def transpose(input_ptr, output_ptr, rows, cols, TILE: tl.constexpr):
    # Load a tile, turn it, store it where it belongs.
    pass
