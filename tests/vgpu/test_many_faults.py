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


SAME_VALUE = "  st.shared.u32 [s], 1;\n"
"""A note where several warps do it."""
COMPARE_AND_SWAP = """
  ld.global.u32 %r5, [%rd1];
  atom.global.cas.b32 %r6, [%rd1], %r5, %r1;
"""
"""Found as a race of a load with atomics, and then let pass: the atomic compares."""


def small(before: str, times: int) -> Launch:
    """64 threads that do `before` so often and then go beyond the end of `a`, which has one."""
    beyond = BEYOND.replace("[%rd3]", "[%rd3+4]")
    head = HEAD.replace("{\n", "{\n  .shared .u32 s;\n", 1)
    text = head + before * times + "  bar.sync 0;\n" + beyond
    memory = Memory()
    a = memory.allocate(np.zeros(1, np.uint32), name="a")
    return launch(Module.from_ptx(text).kernel("k"), 1, 64, [a, 1], memory=memory)


@pytest.mark.parametrize("times", [1, 600])
def test_notes_make_room_for_errors(times: int) -> None:
    """Attack: more notes than findings are kept, so that the error behind them is not seen."""
    faults = small(SAME_VALUE, times).faults
    assert {f.kind for f in faults if f.severity == "note"} == {"race"}
    beyond = [(f.access, f.count) for f in faults if f.kind == "out_of_bounds"]
    assert sorted(beyond) == [("read", 64), ("write", 64)]


def test_a_launch_that_lost_errors_is_not_clean() -> None:
    """Attack: the same with what only looks like an error, and is let pass afterwards."""
    few = small(COMPARE_AND_SWAP, 1)
    assert few.ended == "finished"
    assert {f.kind for f in few.faults if f.severity == "error"} == {"out_of_bounds"}
    many = small(COMPARE_AND_SWAP, 600)
    assert many.ended == "unsupported"
    assert "512 findings" in many.reason
