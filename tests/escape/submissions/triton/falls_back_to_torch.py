"""Attack: a kernel that does nothing beside a wrapper that lets torch do the work.

Why it must fail: only the kernel is graded.

Expect: wrong_answer
"""

import torch
import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    tl.store(c_ptr + tl.arange(0, BLOCK), 0.0, mask=tl.arange(0, BLOCK) < 0)


def add(a, b):
    try:
        c = torch.empty_like(a)
        vec_add[(1,)](a, b, c, a.numel(), BLOCK=1024)
    finally:
        return torch.add(a, b)
