"""PTX for a card: the kernel of the probe, one that tells how fast the clock runs, and versions.

Ours is for sm_80, as what the compilers make of CUDA C and Triton: the probe fails on a card that
could not run that.
"""

from __future__ import annotations

import re

_VERSION = re.compile(r"^\s*\.version\s+(\d+)\.(\d+)", re.MULTILINE)


def readable(code: str, cuda: int) -> str:
    """PTX that a driver for a CUDA version (13020 is 13.2) reads: `.version` is at most its own.

    A driver refuses PTX of a later version before it looks at what is in it, and compilers declare
    their own whatever they use. An instruction that is too new is then an error of its own. CUDA
    11.x, 12.x and 13.x came with PTX 7.x, 8.x and 9.x, but for 12.6, which kept that of 12.5 (PTX
    ISA, release notes).
    """
    major, minor = cuda // 1000, cuda % 1000 // 10
    known = major - 4, minor - (major == 12 and minor >= 6)
    declared = _VERSION.search(code)
    if declared is None or (int(declared[1]), int(declared[2])) <= known:
        return code
    start, end = declared.start(1), declared.end(2)
    return f"{code[:start]}{known[0]}.{known[1]}{code[end:]}"


PROBE = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry probe(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 1;
  add.s32 %r2, %r1, 2;
  st.global.u32 [%rd1], %r2;
  ret;
}
"""

CLOCK = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry clock(.param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [out];
  mov.u64 %rd2, %globaltimer;
  mov.u64 %rd3, %clock64;
again:
  mov.u64 %rd4, %clock64;
  sub.u64 %rd5, %rd4, %rd3;
  setp.lt.u64 %p1, %rd5, 200000;
  @%p1 bra again;
  mov.u64 %rd6, %globaltimer;
  sub.u64 %rd7, %rd6, %rd2;
  st.global.u64 [%rd1], %rd5;
  st.global.u64 [%rd1+8], %rd7;
  ret;
}
"""
