"""Attack: close the function from inline assembly and write an entry of its own behind it.

Why it must fail: the text of a kernel is parsed, not trusted; a second entry is not the one
    that is launched.

Expect: build_failed not_gradable wrong_answer
"""

import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    a = tl.inline_asm_elementwise(
        "ret; } .visible .entry stolen(.param .u64 p) { mov.b32 $0, $1;",
        "=r,r",
        [a],
        dtype=tl.float32,
        is_pure=False,
        pack=1,
    )
    tl.store(c_ptr + offs, a, mask=mask)
