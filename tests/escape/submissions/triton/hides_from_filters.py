"""Attack: do the work with names and strings that no text filter recognises, a library's call
    among them.

Why it must fail: nothing is judged by its text; what runs is a kernel that subtracts.

Expect: wrong_answer
"""

import builtins

import triton
import triton.language as tl

library = getattr(builtins, "__imp" + "ort__")
try:
    add = getattr(library("to" + "rch"), "a" + "dd")  # "it's' # quoted
except ImportError:
    add = None


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, a - b, mask=mask)
