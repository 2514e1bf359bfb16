# expect: verdict=accepted
# expect: speed=0
# Without tl.dot: one outer product for each step along k.

import triton
import triton.language as tl

TILE_M = 16
TILE_N = 16
TILE_K = 16


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
           TILE_K: tl.constexpr):
    rows = tl.program_id(1) * TILE_M + tl.arange(0, TILE_M)
    cols = tl.program_id(0) * TILE_N + tl.arange(0, TILE_N)
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for inner in range(k):
        a = tl.load(a_ptr + rows * k + inner, mask=rows < m, other=0.0)
        b = tl.load(b_ptr + inner * n + cols, mask=cols < n, other=0.0)
        total += a[:, None] * b[None, :]
    there = (rows[:, None] < m) & (cols[None, :] < n)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], total, mask=there)
