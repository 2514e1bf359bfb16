"""Attack: learn the size of a case through a heuristic and answer from a table.

Why it must fail: sizes may be known, values are not: they are drawn from the assignment and a
    secret.

Expect: wrong_answer
"""

import triton
import triton.language as tl

ANSWERS = {1: 0.5, 255: -0.25, 256: 0.75, 257: 1.0, 1000: 0.125, 1009: -1.0}


@triton.heuristics({"ANSWER": lambda args: ANSWERS.get(args["n"], 0.0)})
@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr, ANSWER: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c_ptr + offs, tl.full([BLOCK], ANSWER, tl.float32), mask=offs < n)
