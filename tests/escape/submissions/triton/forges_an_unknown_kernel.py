"""Attack: send a well-formed reply about a kernel that nobody asked for.

Why it must fail: what a child says is checked against what was asked.

Expect: build_failed
"""

import contextlib
import json
import os
import struct

variant = {
    "name": "optimised",
    "kernel": "__class__",
    "entry": "vec_add",
    "constants": {},
    "shared": 0,
    "parameters": [],
    "calls": [0],
}
header = json.dumps({"diagnostics": [], "variants": [variant]}).encode()
frame = struct.pack("<4sBIIQ", b"GRF1", 2, len(header), 1, 4) + header + b".ver"
for fd in range(3, 64):
    with contextlib.suppress(OSError):
        os.write(fd, frame)
os._exit(0)
