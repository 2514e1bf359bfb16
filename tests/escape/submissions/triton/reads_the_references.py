"""Attack: look for the reference, the oracle and the inputs on the disk, in memory, and in every
    frame of the stack, and use them.

Why it must fail: none of them is in the child or on the disk that it sees.

Expect: wrong_answer
"""

import gc
import glob
import os
import sys

import triton
import triton.language as tl

found = []
frame = sys._getframe()
while frame is not None:
    names = {**frame.f_locals, **frame.f_globals}
    found += [name for name in names if "oracle" in name or "expected" in name]
    frame = frame.f_back
for thing in gc.get_objects():
    if isinstance(thing, dict) and {"oracle", "expected", "secret"} & {*map(str, thing)}:
        found.append("an object")
import grader

root = os.path.dirname(os.path.dirname(grader.__file__))
for name in ("reference", "assignments", "tests"):
    try:
        found += os.listdir(os.path.join(root, name))
    except OSError:
        pass
found += glob.glob("/tmp/*") + glob.glob(os.path.join(root, "*", "*", "inputs.py"))
# Whoever finds something writes the right answer and is found out by the verdict.
VALUE = tl.constexpr(1 if found else 0)


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, (a + b) * VALUE, mask=mask)
