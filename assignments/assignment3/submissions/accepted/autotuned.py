# expect: verdict=accepted
# Each configuration is graded; the best by the model is scored.

import triton
import triton.language as tl


@triton.autotune(
    [triton.Config({"BLOCK": 256}, num_warps=4), triton.Config({"BLOCK": 2048}, num_warps=8)],
    key=["n"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(c_ptr + offs, tl.load(a_ptr + offs) + tl.load(b_ptr + offs))
    else:
        mask = offs < n
        a = tl.load(a_ptr + offs, mask=mask)
        b = tl.load(b_ptr + offs, mask=mask)
        tl.store(c_ptr + offs, a + b, mask=mask)
