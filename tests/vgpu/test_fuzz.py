"""Mutated PTX never crashes the process; random launches never touch memory outside buffers."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.vgpu import Memory, Module, PtxError, launch
from tests.vgpu.fuzz import BASE, attempt

ROOT = Path(__file__).parents[2]
ENDED = {"malformed", "refused", "no kernel", "finished", "unsupported", "fuel", "trap", "deadlock"}


def mutated(seed: int, count: int) -> None:
    command = [sys.executable, "-m", "tests.vgpu.fuzz", str(seed), str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    ends = Counter(line.partition(" ")[2] for line in done.stdout.splitlines())
    assert ends.total() == count
    assert set(ends) <= ENDED
    assert ends["malformed"] and ends["finished"]


@pytest.mark.parametrize("text", ["{" * 1000 + "}" * 1000, f"mov.u32 %r1, {'(' * 10_000}1;"])
def test_depth_is_bounded(text: str) -> None:
    head = ".version 8.7\n.target sm_80\n.address_size 64\n"
    with pytest.raises(PtxError, match=r"nested too deeply|within each other"):
        Module.from_ptx(f"{head}.visible .entry deep() {{ .reg .b32 %r<2>; {text} ret; }}")


def test_mutated_ptx_ends_cleanly() -> None:
    mutated(seed=5, count=60)


@pytest.mark.slow
def test_much_mutated_ptx_ends_cleanly() -> None:
    for seed in range(10):
        mutated(seed, 300)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ld.param.u32 %r1, [n];", "ld.param.u32 %r1, [n+4096];"),
        ("ld.param.u32 %r1, [n];", "ld.param.u32 %r1, [n+-4];"),
        ("ld.param.b32 %r10, [y];", "ld.param.b32 %r10, [y+4];"),
        ("st.param.b32 [x], %r2;", "st.param.b32 [x+4000], %r2;"),
        ("st.param.b32 [x], %r2;", "st.param.v2.b32 [x], {%r2, %r2};"),
        (".param .b32 x;", ".param .b32 x[1000];"),
        (".param .b32 y;", ".param .b32 y[1000];"),
        (".param .b32 y;", ".local .b32 y;"),
        ("ld.global.f32 %f1, [%rd6];", "ld.global.v2.f32 {%f1, %f1, %f1}, [%rd6];"),
        ("st.global.f32 [%rd9], %f6;", f"st.global.v2.f32 [%rd9], {{{', '.join(['%f6'] * 100)}}};"),
        ("ld.global.f32 %f1, [%rd6];", "cp.async.ca.shared.global [%r9], [%rd6], 400;"),
        ("ld.global.f32 %f1, [%rd6];", "cp.async.cg.shared.global [%r9], [%rd6], 4;"),
    ],
)
def test_what_would_leave_the_warp_s_own_state_is_refused(old: str, new: str) -> None:
    """Parameters, vectors and copies are as large as the text says: ptxas refuses these too."""
    assert BASE.count(old) == 1
    assert attempt(BASE.replace(old, new), 100) == "unsupported"


@settings(max_examples=200)
@given(st.text(max_size=400))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        Module.from_ptx(text)
    except PtxError as error:
        assert error.line >= 1


GATHER = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 at, .param .u64 a, .param .u64 c, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [at];
  ld.param.u64 %rd2, [a];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r5, %r3, %r4, %r2;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 ret;
  mul.wide.u32 %rd4, %r5, 8;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.s64 %rd6, [%rd5];
  add.s64 %rd7, %rd2, %rd6;
  ld.global.u32 %r6, [%rd7];
  add.s64 %rd8, %rd3, %rd6;
  st.global.u32 [%rd8], %r6;
  ret;
}
"""
OFFSETS = st.one_of(
    st.integers(-64, 600).map(lambda k: 4 * k),
    # A whole number of slots away another buffer begins: that is an access inside it.
    st.integers(-(2**63), 2**63 - 1).filter(lambda k: 2**12 < k % 2**36 < 2**36 - 2**12),
    st.sampled_from([0, 2**35, -(2**35), 2**35 + 4, 1, 2, 3]),
)


@settings(max_examples=60, deadline=None)
@given(
    offsets=st.lists(OFFSETS, min_size=1, max_size=100),
    size=st.integers(0, 300),
    block=st.integers(1, 70),
    checks=st.sampled_from(["all", "bounds"]),
)
def test_no_address_leaves_its_buffer(
    offsets: list[int], size: int, block: int, checks: str
) -> None:
    """Reads and writes at any offset: what lies inside is done, the rest is counted, and the bytes
    around the buffers' own memory stay as they are."""
    memory = Memory()
    at = memory.allocate(np.array(offsets, np.int64), name="at", access="in")
    a = memory.allocate(np.arange(size, dtype=np.uint32), name="a", access="in")
    c = memory.allocate(np.zeros(size, np.uint32), name="c", access="inout")
    guards = []
    for pointer in (a, c):
        whole = pointer.storage.data.base
        assert whole is not None
        guards.append((whole, pointer.storage.data, whole.copy()))
    module = Module.from_ptx(GATHER)
    grid = -(-len(offsets) // block)
    done = launch(
        module.kernel("k"), grid, block, [at, a, c, len(offsets)], memory=memory, checks=checks
    )
    assert done.ended == "finished"
    good = [o for o in offsets if 0 <= o < 4 * size and o % 4 == 0]
    bad = {"read": 0, "write": 0}
    for fault in done.faults:
        if fault.kind in ("out_of_bounds", "misaligned"):
            assert fault.access in bad
            bad[fault.access] += fault.count
    assert bad == {"read": len(offsets) - len(good), "write": len(offsets) - len(good)}
    expected = np.zeros(size, np.uint32)
    for o in good:
        expected[o // 4] = o // 4
    assert np.array_equal(memory.read(c), expected)
    for whole, inside, before in guards:
        start = inside.ctypes.data - whole.ctypes.data
        assert np.array_equal(whole[:start], before[:start])
        assert np.array_equal(whole[start + inside.size :], before[start + inside.size :])


def test_the_base_runs() -> None:
    memory = Memory()
    a = memory.allocate(np.ones(100, np.float32), name="a", access="in")
    c = memory.allocate(np.zeros(100, np.float32), name="c", access="out", defined=False)
    done = launch(Module.from_ptx(BASE).kernel("k"), 3, 48, [a, c, 100], memory=memory)
    assert done.ended == "finished"
    assert not [f for f in done.faults if f.kind not in ("bad_barrier", "warp_mask")]
