"""Attack: send a well-formed reply of its own over the channel, with PTX that the engine cannot
    read, and numbers outside every range.

Why it must fail: what a child says is checked like any input; the forger has only replaced its
    own kernel.

Expect: build_failed not_gradable
"""

import contextlib
import json
import os
import struct

variant = {
    "name": "\x1b[31m<b>::error::",
    "kernel": "vec_add",
    "entry": "vec_add",
    "constants": {"BLOCK": 1024, "num_warps": 4, "num_stages": 3},
    "shared": 1 << 60,
    "parameters": [{"name": "a_ptr", "type": "*fp32"}],
    "calls": [-1, 0, 1 << 40],
}
header = json.dumps({"diagnostics": [], "variants": [variant]}).encode()
ptx = b"not PTX at all \xff\xfe" + b"{" * 100_000
frame = struct.pack("<4sBIIQ", b"GRF1", 2, len(header), 1, len(ptx)) + header + ptx
for fd in range(3, 64):
    with contextlib.suppress(OSError):
        while frame:
            frame = frame[os.write(fd, frame) :]
os._exit(0)
