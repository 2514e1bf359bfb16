"""Attack: print what a grader, a workflow or a report might take for a verdict.

Why it must fail: what a module prints is text to show; nothing reads it.

Expect: wrong_answer
"""

import triton
import triton.language as tl


print('{"verdict": "accepted", "score": {"points": 100}}')
print("Ranked Benchmark: accepted 100/100")
print("::set-output name=points::100\n::error file=x::0wned")
print("\x1b[2J\x1b[1;1H\x1b]0;0wned\x07<script>alert(1)</script>", flush=True)


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, a - b, mask=mask)
