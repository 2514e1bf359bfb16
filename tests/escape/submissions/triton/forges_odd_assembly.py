"""Attack: send a well-formed reply with PTX that no compiler writes: numbers of thousands of
    digits, blocks that never close, loads without a body.

Why it must fail: what reads the text expects anything; the forger has only broken its own
    build.

Expect: build_failed not_gradable
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
ptx = (
    ".version 8.7\n.target sm_80\n.address_size 64\n"
    + ".loc " + "9" * 5000 + " " + "9" * 5000 + " 1\n"
    + ".reqntid " + "1" * 5000 + "\n"
    + "// begin inline asm\n mov.u32 %r1, 0x0;\n @%p1 ld.global.b32 %r1, [%rd1];\n"
    + "// end inline asm\n"
    + '.file 1 "' + "/" * 100_000 + '"\n'
    + ".visible .entry vec_add(" + ".param .u64 x," * 10_000
).encode()
header = json.dumps({"diagnostics": [], "variants": [variant]}).encode()
frame = struct.pack("<4sBIIQ", b"GRF1", 2, len(header), 1, len(ptx)) + header + ptx
for fd in range(3, 64):
    with contextlib.suppress(OSError):
        while frame:
            frame = frame[os.write(fd, frame) :]
os._exit(0)


def vec_add():
    """For whoever reads the text: a load with a mask and nothing beyond it."""
    tl.load(a, mask=m)  # noqa: F821
