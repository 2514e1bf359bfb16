"""Attack: send what it sees to a server.

Why it must fail: there is no system call that makes a socket; the honest kernel beside it is
    graded.

Expect: wrong_answer
"""

import socket

import triton
import triton.language as tl

reached = 0
for family, address in ((socket.AF_INET, ("127.0.0.1", 9)), (socket.AF_UNIX, "/run/x")):
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.sendto(b"loot", address)
        reached = 1
    except PermissionError:
        pass
    except OSError:
        reached = 1
# Right only if a socket could be made.
VALUE = tl.constexpr(reached)


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, (a + b) * VALUE, mask=mask)
