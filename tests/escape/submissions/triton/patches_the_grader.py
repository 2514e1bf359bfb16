"""Attack: replace the grader's own functions, the comparison, the timers and the JSON writer.

Why it must fail: all of that is in another process; here it only breaks the submission's own
    build.

Expect: wrong_answer
"""

import gc
import json
import sys
import time

import numpy as np
import triton
import triton.language as tl

np.allclose = np.array_equal = np.isclose = lambda *_, **__: True
time.perf_counter = time.perf_counter_ns = time.monotonic = lambda: 0
for name, module in list(sys.modules.items()):
    if name.startswith("grader") and name != "grader.languages.triton":
        for key in ("judge", "score", "verdict", "compare", "check"):
            if hasattr(module, key):
                setattr(module, key, lambda *_, **__: "accepted")
for thing in gc.get_objects():
    if isinstance(thing, np.ndarray) and thing.flags.writeable:
        thing[...] = 0


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(c_ptr + offs, tl.zeros([BLOCK], tl.float32), mask=mask)
