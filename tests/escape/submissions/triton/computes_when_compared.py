"""Attack: make the arrays that this process compares with objects that compute when they are
    looked at.

Why it must fail: nothing of this process is compared: the kernel is run elsewhere, on buffers of
    the grader's.

Expect: wrong_answer
"""

import numpy as np
import triton
import triton.language as tl


class Lazy(np.ndarray):
    """Equal to everything."""

    def __eq__(self, other):
        return np.ones(np.shape(other), bool)

    def __array_ufunc__(self, *_, **__):
        return np.zeros(1)


np.empty = np.zeros = np.frombuffer = lambda *a, **_: np.array([0.0]).view(Lazy)


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(c_ptr + offs, tl.load(a_ptr + offs, mask=mask), mask=mask)
