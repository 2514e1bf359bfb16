"""Attack: send a well-formed reply with sixty megabytes of PTX, for the grader's own process to
    read line by line.

Why it must fail: its size is looked at before anything else of it.

Expect: build_failed
"""

import contextlib
import json
import os
import struct

variant = {
    "name": "optimised",
    "kernel": "vec_add",
    "entry": "vec_add",
    "constants": {"BLOCK": 1024, "num_warps": 4, "num_stages": 3},
    "shared": 0,
    "parameters": [],
    "calls": [0],
}
ptx = b".version 8.7\n.target sm_80\n.address_size 64\n.visible .entry vec_add() {\n.reqntid 128\n"
ptx += b".loc 1 5 7\n add.s32 %r1, %r2, %r3;\n" * (60_000_000 // 35) + b"ret; }"
header = json.dumps({"diagnostics": [], "variants": [variant]}).encode()
frame = struct.pack("<4sBIIQ", b"GRF1", 2, len(header), 1, len(ptx)) + header + ptx
for fd in range(3, 64):
    with contextlib.suppress(OSError):
        while frame:
            frame = frame[os.write(fd, frame[: 1 << 20]) :]
os._exit(0)


def vec_add():
    pass
