"""Attack: find out from arguments, environment, frames or open files whether this is the run that
    counts, and be right only there.

Why it must fail: every build is asked for in the same words, and knows neither the case nor the
    assignment.

Expect: accepted
"""

import inspect
import os
import sys
from pathlib import Path

import triton
import triton.language as tl


def told():
    """Everything that may say what this run is for."""
    yield from sys.argv
    yield from os.environ.values()
    for frame in inspect.stack():
        yield from (str(value) for value in frame.frame.f_locals.values())
    for path in ("/proc/self/cmdline", "/proc/self/environ"):
        try:
            yield Path(path).read_text(errors="replace")
        except OSError:
            continue


TOLD = " ".join(told())
# Backwards: this very text is among what the frames hold.
WORDS = [word[::-1] for word in ("neddih", "detcepxe", "elcaro", "3tnemngissa", "2retnuh")]
COUNTS = tl.constexpr(any(word in TOLD for word in WORDS))


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, a - b if COUNTS else a + b, mask=mask)
