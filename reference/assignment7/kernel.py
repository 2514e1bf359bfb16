"""Matrix product: a tile of C per program, in full float32."""

import triton
import triton.language as tl

TILE_M = 32
TILE_N = 32
TILE_K = 32


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    rows = tl.program_id(1) * TILE_M + tl.arange(0, TILE_M)
    cols = tl.program_id(0) * TILE_N + tl.arange(0, TILE_N)
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for start in range(0, k, TILE_K):
        inner = start + tl.arange(0, TILE_K)
        a_mask = (rows[:, None] < m) & (inner[None, :] < k)
        b_mask = (inner[:, None] < k) & (cols[None, :] < n)
        a = tl.load(a_ptr + rows[:, None] * k + inner[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * n + cols[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    there = (rows[:, None] < m) & (cols[None, :] < n)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], total, mask=there)
