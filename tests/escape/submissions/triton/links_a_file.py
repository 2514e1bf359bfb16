"""Attack: have the compiler read a file outside as a library of device code.

Why it must fail: the compiler runs where no such file can be opened.

Expect: build_failed not_gradable
"""

import triton
import triton.language as tl
from triton.language import core


@core.extern
def stolen(x, _semantic=None):
    return core.extern_elementwise(
        "passwd",
        "/etc/passwd",
        [x],
        {(core.dtype("fp32"),): ("root", core.dtype("fp32"))},
        is_pure=True,
        _semantic=_semantic,
    )


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, stolen(a), mask=mask)
