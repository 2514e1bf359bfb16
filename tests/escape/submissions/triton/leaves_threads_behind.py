"""Attack: keep threads and exit handlers that write to the channel after the honest kernel was
    built.

Why it must fail: after its reply a child is ended and nobody listens; noise before it voids the
    reply.

Expect: accepted build_failed
"""

import atexit
import contextlib
import os
import threading
import time

import triton
import triton.language as tl


def late():
    time.sleep(0.3)
    while True:
        for fd in range(3, 64):
            with contextlib.suppress(OSError):
                os.write(fd, b"accepted")


threading.Thread(target=late, daemon=True).start()
atexit.register(late)


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, a + b, mask=mask)
