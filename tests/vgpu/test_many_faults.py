"""Millions of faulty accesses are counted one by one and still take seconds at most."""

from __future__ import annotations

import time

import numpy as np
import pytest

from grader.vgpu import Launch, Memory, Module, launch

HEAD = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.s32 %r4, %r3, 256, %r2;
"""
BEYOND = """
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r5, [%rd3];
  st.global.u32 [%rd3], %r5;
  ret;
}
"""
LOOK_AND_ADD = """
  ld.global.u32 %r5, [%rd1];
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 ret;
  atom.global.add.u32 %r6, [%rd1], 1;
  ret;
}
"""
SECONDS = 20
"""Of CPU; a tenth of that is usual. What it guards against took minutes."""


def run(body: str, threads: int, checks: str = "all", n: int = 0) -> Launch:
    memory = Memory()
    a = memory.allocate(np.zeros(64, np.uint32), name="a")
    kernel = Module.from_ptx(HEAD + body).kernel("k")
    kernel.translate(checks == "all")
    started = time.process_time()
    done = launch(kernel, threads // 256, 256, [a, n], memory=memory, checks=checks)
    assert time.process_time() - started < SECONDS
    assert done.ended == "finished"
    return done


@pytest.mark.parametrize("checks", ["bounds", "all"])
def test_a_million_threads_beyond_the_end(checks: str) -> None:
    threads = 1 << 20
    counts = [f.count for f in run(BEYOND, threads, checks).faults if f.kind == "out_of_bounds"]
    assert counts == [threads - 64] * 2


def test_many_readers_and_many_atomics() -> None:
    """Each atomic meets the plain reads of all warps before it: not each of them again."""
    threads = 1 << 18
    faults = run(LOOK_AND_ADD, threads, n=threads).faults
    assert {(f.kind, f.access) for f in faults if f.severity == "error"} >= {("race", "read")}
