"""Mutated PTX, run in a process of its own: `python -m tests.vgpu.fuzz SEED COUNT`.

Prints one line per mutant: how it ended. Anything but PtxError, LaunchError or a finished Launch
propagates and ends the process, which the test takes for a failure; so does a signal.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator

import numpy as np

from grader.vgpu import LaunchError, Memory, Module, PtxError, launch

BASE = """
.version 7.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter;
.func (.param .b32 out) twice(.param .b32 in)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [in];
  add.s32 %r2, %r1, %r1;
  st.param.b32 [out], %r2;
  ret;
}
.visible .entry k(.param .u64 a, .param .u64 c, .param .u32 n)
{
  .reg .pred %p<6>;
  .reg .b16 %h<4>;
  .reg .b32 %r<20>;
  .reg .f32 %f<8>;
  .reg .b64 %rd<12>;
  .shared .align 4 .b8 tile[256];
  .local .align 8 .b8 depot[32];
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [c];
  ld.param.u32 %r1, [n];
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r5, %r3, %r4, %r2;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.s32 %rd5, %r5, 4;
  add.s64 %rd6, %rd3, %rd5;
  ld.global.f32 %f1, [%rd6];
  mov.u32 %r6, tile;
  and.b32 %r7, %r2, 63;
  shl.b32 %r8, %r7, 2;
  add.s32 %r9, %r6, %r8;
  st.shared.f32 [%r9], %f1;
  bar.sync 0;
  ld.shared.f32 %f2, [%r9];
  fma.rn.f32 %f3, %f1, %f2, %f1;
  mov.u64 %rd7, depot;
  cvta.local.u64 %rd8, %rd7;
  st.f32 [%rd8+4], %f3;
  ld.f32 %f4, [%rd8+4];
  {
  .param .b32 x;
  st.param.b32 [x], %r2;
  .param .b32 y;
  call.uni (y), twice, (x);
  ld.param.b32 %r10, [y];
  }
  mov.u32 %r11, 0;
LOOP:
  add.s32 %r11, %r11, 1;
  setp.lt.s32 %p2, %r11, 4;
  @%p2 bra LOOP;
  shfl.sync.bfly.b32 %r12|%p3, %r10, 1, 31, -1;
  vote.sync.any.pred %p4, %p2, -1;
  selp.b32 %r13, %r12, %r10, %p4;
  atom.global.add.u32 %r14, [counter], 1;
  cvt.rn.f32.s32 %f5, %r13;
  add.f32 %f6, %f4, %f5;
  cvt.rn.f16.f32 %h1, %f6;
  mov.b32 %r15, {%h1, %h1};
  prmt.b32 %r16, %r15, %r13, 0x3210;
  add.s64 %rd9, %rd4, %rd5;
  st.global.f32 [%rd9], %f6;
DONE:
  ret;
}
"""


def mutants(seed: int, count: int) -> Iterator[str]:
    """`count` texts, each the base with a few changes."""
    pick = random.Random(seed)
    words = re.findall(r"[\w.%$:]+|[^\s\w]", BASE)
    for _ in range(count):
        lines = BASE.split("\n")
        for _ in range(pick.randint(1, 4)):
            at = pick.randrange(len(lines))
            what = pick.randrange(8)
            if what == 0:
                del lines[at]
            elif what == 1:
                lines.insert(at, lines[pick.randrange(len(lines))])
            elif what == 2:
                other = pick.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            elif what == 3:
                lines[at] = re.sub(r"%\w+", lambda m: pick.choice(words), lines[at], count=1)
            elif what == 4:
                lines[at] = re.sub(
                    r"\d+",
                    lambda m: str(pick.choice([0, 1, 7, 31, 64, -1, 1 << 31, 1 << 63])),
                    lines[at],
                    count=1,
                )
            elif what == 5:
                lines[at] = re.sub(
                    r"\.\w+",
                    lambda m: (
                        "."
                        + pick.choice(
                            [
                                "u8",
                                "s16",
                                "b32",
                                "f32",
                                "f64",
                                "b64",
                                "pred",
                                "v2",
                                "shared",
                                "sync",
                                "cc",
                            ]
                        )
                    ),
                    lines[at],
                    count=1,
                )
            elif what == 6:
                cut = pick.randrange(len(lines[at]) + 1)
                lines[at] = lines[at][:cut] + pick.choice(words) + lines[at][cut:]
            else:
                cut = pick.randrange(len(lines[at]) + 1)
                lines[at] = lines[at][:cut]
            if not lines:
                lines = [""]
        yield "\n".join(lines)


def attempt(text: str, n: int) -> str:
    """How a mutant ends."""
    try:
        module = Module.from_ptx(text)
        if "k" not in module.kernels:
            return "no kernel"
        kernel = module.kernel("k")
        memory = Memory()
        a = memory.allocate(np.ones(n, np.float32), name="a", access="in")
        c = memory.allocate(np.zeros(n, np.float32), name="c", access="out", defined=False)
        return launch(kernel, 3, 48, [a, c, n], memory=memory, fuel=20_000).ended
    except PtxError:
        return "malformed"
    except LaunchError:
        return "refused"


def main() -> None:
    """Run them all."""
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    for number, text in enumerate(mutants(seed, count)):
        try:
            print(number, attempt(text, 100 + number % 50), flush=True)
        except BaseException:
            print(text)
            raise


if __name__ == "__main__":
    main()
