"""The engine under AddressSanitizer: `python -m tests.vgpu.sanitised WHAT SEED COUNT`.

The C runtime is compiled with `-fsanitize=address,undefined`, translated kernels with
`-fsanitize=address`, and the bytes around every buffer are poisoned to the byte. The process must
have been started with gcc's `libasan` and `libubsan` preloaded (test_sanitised.py does that) and
with a `GRADE_CACHE` of its own. Any access outside a buffer ends it with a report.

WHAT: `launches` (random accesses of every kind over random buffer sizes), `mutants` (fuzz.py),
`kernels` (the files of kernels/, COUNT of them from number SEED on), or `probe` (a launch that does
leave its buffer, because the runtime is told a size too large).
"""

from __future__ import annotations

import ctypes
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from grader.vgpu import Launch, Memory, Module, launch, machine, memory, native
from grader.vgpu.program import Unsupported
from tests.vgpu import fuzz

RUNTIME = (
    "-fsanitize=address,undefined",
    "-fno-sanitize=alignment,function",
    "-mllvm",
    "-asan-globals=0",
)
KERNEL = ("-fsanitize=address", "-mllvm", "-asan-globals=0", "-O1", "-march=native", "-fPIC")
SMALL = 2048  # NumPy keeps smaller blocks for itself instead of freeing them


def poisoned(size: int) -> np.ndarray:
    """`memory.aligned`, with every byte around the array out of bounds for the sanitizer."""
    whole = np.zeros(size + 64 + SMALL, np.uint8)
    start = -whole.ctypes.data % 64
    inside = whole[start : start + size]
    poison = ctypes.CDLL(None).__asan_poison_memory_region
    poison.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    first = whole.ctypes.data
    poison(first, start)
    poison(first + start + size, whole.size - start - size)
    return inside


def assemble(ir: str) -> bytes:
    """`native.assemble` by clang, with the sanitizer in every function."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "kernel.ll"), Path(folder, "kernel.o")
        source.write_text(re.sub(r"^(define .*\)) \{", r"\1 sanitize_address {", ir, flags=re.M))
        command = [str(native.compiler()), "clang", "-c", *KERNEL, str(source), "-o", str(out)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            raise Unsupported("code that does not translate")
        return out.read_bytes()


def install() -> None:
    """From here on this process compiles and allocates for the sanitizer."""
    native.FLAGS = (*native.FLAGS, *RUNTIME)
    native.assemble = assemble
    memory.aligned = machine.aligned = poisoned


REGISTERS = """
  .reg .pred %p<3>;
  .reg .b16 %h<6>;
  .reg .b32 %r<24>;
  .reg .b64 %rd<16>;
"""
# An address in %rd8 (generic), %rd9 (the space's own window) or %r9; values in %r10 and on.
BODIES = {
    "global": (
        "ld.global.u8 %h1, [%rd8];",
        "ld.global.u32 %r10, [%rd8]; st.global.u32 [%rd8+4], %r10;",
        "ld.global.nc.v2.u32 {%r10, %r11}, [%rd8]; st.global.v2.u32 [%rd8+-8], {%r10, %r11};",
        "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd8];",
        "st.global.v4.u32 [%rd8+16], {%r2, %r2, %r2, %r2};",
        "st.global.u8 [%rd8], %h1; st.global.u16 [%rd8+1], %h1;",
        "ld.global.u64 %rd10, [%rd8]; st.global.v2.u64 [%rd8], {%rd10, %rd10};",
        "atom.global.add.u32 %r10, [%rd8], %r2;",
        "atom.global.cas.b64 %rd10, [%rd8], %rd8, %rd9;",
        "atom.global.add.noftz.f16 %h1, [%rd8], %h2;",
        "red.global.max.s32 [%rd8], %r2;",
        "ld.u32 %r10, [%rd8]; st.u32 [%rd8], %r10;",
        "ld.acquire.gpu.u32 %r10, [%rd8]; st.release.gpu.u32 [%rd8], %r10;",
        "ld.volatile.u32 %r10, [%rd8]; fence.acq_rel.gpu;",
        "cp.async.ca.shared.global [%r8], [%rd8], 4; cp.async.wait_all;",
        "cp.async.cg.shared.global [%r8], [%rd8], 16; cp.async.wait_all;",
        "cp.async.ca.shared.global [%r8], [%rd8], 8, %r2; cp.async.wait_all;",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
        "{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%rd8], %r2;",
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd8], {%r10, %r11, %r12, %r13}, %r2;",
        "prefetch.global.L2 [%rd8];",
    ),
    "shared": (
        "st.shared.u32 [%r9], %r2; ld.shared.u32 %r10, [%r9+4];",
        "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r9];",
        "st.shared.v2.u64 [%r9], {%rd8, %rd8};",
        "ld.shared.u8 %h1, [%r9]; st.shared.u16 [%r9+-1], %h1;",
        "atom.shared.add.u32 %r10, [%r9], 1; atom.shared.exch.b64 %rd10, [%r9], %rd8;",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r9];",
        "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r10}, [%r9];",
        "cp.async.ca.shared.global [%r9], [%rd7], 16; cp.async.wait_all;",
        "cvta.shared.u64 %rd10, %rd9; ld.v2.u32 {%r10, %r11}, [%rd10]; st.u8 [%rd10], %h1;",
        "mbarrier.init.shared.b64 [%r9], 4; mbarrier.arrive.shared.b64 %rd10, [%r9];",
    ),
    "local": (
        "st.local.u32 [%rd9], %r2; ld.local.u32 %r10, [%rd9+4];",
        "ld.local.v4.u32 {%r10, %r11, %r12, %r13}, [%rd9]; st.local.v2.u64 [%rd9], {%rd8, %rd8};",
        "ld.local.u8 %h1, [%rd9]; st.local.u16 [%rd9+-1], %h1;",
        "cvta.local.u64 %rd10, %rd9; ld.u64 %rd11, [%rd10]; atom.add.u32 %r10, [%rd10], 1;",
        "cvta.local.u64 %rd10, %rd9; cp.async.ca.shared.global [%r8], [%rd10], 16;",
        "cvta.local.u64 %rd10, %rd9; ldmatrix.sync.aligned.m8n8.x2.b16 {%r10, %r11}, [%rd10];",
        "cvta.local.u64 %rd10, %rd9; wmma.load.a.sync.aligned.row.m16n16k16.f16 "
        "{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%rd10], 16;",
    ),
    "const": (
        "ld.const.u32 %r10, [%rd8]; ld.const.v4.u32 {%r10, %r11, %r12, %r13}, [%rd8+4];",
        "ld.u8 %h1, [%rd8]; st.u32 [%rd8], %r2; atom.add.u32 %r10, [%rd8], 1;",
    ),
    "param": ("cvta.param.u64 %rd10, %rd9; ld.u32 %r10, [%rd10]; st.u64 [%rd10+4], %rd8;",),
}
BASES = {
    "global": "mov.u64 %rd5, %rd2;",
    "shared": "mov.u64 %rd5, tile;",
    "local": "mov.u64 %rd5, depot;",
    "const": "mov.u64 %rd5, table;",
    "param": "mov.u64 %rd5, n;",
}


def kernel(pick: random.Random, sizes: dict[str, int]) -> str:
    """A kernel that does one to three accesses of one space at offsets it reads from `at`."""
    space = pick.choice(list(BODIES))
    body = "\n  ".join(pick.choice(BODIES[space]) for _ in range(pick.randint(1, 3)))
    guard = pick.choice(["", "and.b32 %r5, %r2, 3; setp.eq.u32 %p2, %r5, 1; @%p2 ret;"])
    return f"""
.version 8.0
.target sm_80
.address_size 64
.const .align 16 .b8 table[{sizes["const"]}];
.visible .entry k(.param .u64 at, .param .u64 a, .param .u64 c, .param .u32 n)
{{{REGISTERS}
  .shared .align 16 .b8 tile[{sizes["shared"]}];
  .shared .align 16 .b8 other[64];
  .local .align 16 .b8 depot[{sizes["local"]}];
  ld.param.u64 %rd1, [at];
  ld.param.u64 %rd2, [a];
  ld.param.u64 %rd7, [c];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r5, %r3, %r4, %r2;
  rem.u32 %r5, %r5, %r1;
  {guard}
  mul.wide.u32 %rd4, %r5, 8;
  add.s64 %rd4, %rd1, %rd4;
  ld.global.u64 %rd6, [%rd4];
  {BASES[space]}
  add.s64 %rd8, %rd5, %rd6;
  mov.u64 %rd9, %rd8;
  cvt.u32.u64 %r9, %rd9;
  mov.u32 %r8, other;
  {body}
  bar.sync 0;
  ret;
}}
"""


def random_launch(seed: int) -> Launch:
    """One launch: sizes, offsets near the ends or anywhere, block, grid and checks by `seed`."""
    pick = random.Random(seed)
    sizes = {name: pick.choice([1, 4, 12, 16, 64, 100]) for name in ("const", "shared", "local")}
    size = pick.choice([0, 1, 3, 4, 7, 16, 33, 100, 1000])
    most = max(size, *sizes.values())
    straight = pick.random() < 0.3
    offsets = np.array(
        [
            pick.choice([4, 8, 16]) * k
            if straight
            else pick.choice(
                [
                    pick.randint(-40, most + 40),
                    4 * pick.randint(-8, most // 4 + 8),
                    16 * pick.randint(-2, most // 16 + 2),
                    pick.randint(-(1 << 63), (1 << 63) - 1),
                ]
            )
            for k in range(pick.randint(1, 100))
        ],
        np.int64,
    )
    place = Memory()
    at = place.allocate(offsets, name="at", access="in")
    a = place.allocate(
        np.ones(size, np.uint8),
        name="a",
        access=pick.choice(["in", "inout", "scratch"]),
        defined=pick.random() < 0.7,
    )
    c = place.allocate(np.ones(pick.choice([0, 5, 64]), np.uint8), name="c")
    return launch(
        Module.from_ptx(kernel(pick, sizes)).kernel("k"),
        pick.randint(1, 4),
        pick.choice([1, 31, 32, 33, 64, 70]),
        [at, a, c, len(offsets)],
        memory=place,
        checks=pick.choice(["all", "bounds"]),
        order=pick.choice(["forward", "reversed"]),
        fuel=20_000,
    )


def probe() -> None:
    """Load the word behind a buffer."""
    place = Memory()
    c = place.allocate(np.ones(100, np.float32), name="c")
    a = place.allocate(np.ones(100, np.float32), name="a", access="in")
    a.storage.record.size += 4
    launch(Module.from_ptx(fuzz.BASE).kernel("k"), 4, 32, [a, c, 101], memory=place)


def main() -> None:
    """Print one line for each thing that ran."""
    what, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    install()
    if what == "launches":
        for number in range(seed, seed + count):
            done = random_launch(number)
            print(number, done.ended, sum(f.count for f in done.faults), flush=True)
    elif what == "probe":
        probe()
    elif what == "mutants":
        for number, text in enumerate(fuzz.mutants(seed, count)):
            print(number, fuzz.attempt(text, 100 + number % 50), flush=True)
    else:
        from tests.vgpu.kernels.test_kernels import CASES, problems, runs_of

        for case in CASES[seed : seed + count]:
            print(case.name, *problems(case, runs_of(case)) or ["as expected"], flush=True)


if __name__ == "__main__":
    main()
