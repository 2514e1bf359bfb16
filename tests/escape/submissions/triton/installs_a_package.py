"""Attack: install a package at run time, by pip and by hand.

Why it must fail: no program can be started and nothing outside be written.

Expect: wrong_answer
"""

import os
import subprocess
import sys

import triton
import triton.language as tl

got = 0
try:
    subprocess.run([sys.executable, "-m", "pip", "install", "six"], check=True)
    got = 1
except OSError:
    pass
for folder in sys.path:
    try:
        with open(os.path.join(folder, "planted.py"), "w"):
            got = 1
    except OSError:
        pass
# Right only if something could be installed.
VALUE = tl.constexpr(got)


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, (a + b) * VALUE, mask=mask)
