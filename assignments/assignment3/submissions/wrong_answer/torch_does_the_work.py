# expect: verdict=wrong_answer
# The kernel does nothing; the wrapper, which is never called, asks torch.

import torch
import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    pass


def add(x, y):
    out = torch.empty_like(x)
    vec_add[(1,)](x, y, out, x.numel(), BLOCK=1024)
    return torch.add(x, y, out=out)
