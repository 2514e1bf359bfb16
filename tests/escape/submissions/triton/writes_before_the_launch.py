"""Attack: write the answer in a hook that Triton calls before each launch.

Why it must fail: hooks are called with no arrays: there is no launch in the process that imported
    the module.

Expect: wrong_answer build_failed not_gradable
"""

import triton
import triton.language as tl


def fill(arguments):
    """Do the work on the host."""
    c = arguments["c_ptr"]
    c.copy_(arguments["a_ptr"] + arguments["b_ptr"])


@triton.autotune(configs=[triton.Config({}, pre_hook=fill)], key=["n"])
@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(c_ptr + offs, tl.load(a_ptr + offs, mask=mask), mask=mask)
