"""Warp-wide instructions (PTX ISA 9.7.13): shuffles, votes, matches, reductions, barriers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vgpu.isa.harness import HEADER, run_text

FULL = 0xFFFFFFFF
LANES = range(32)


def warp_kernel(body: str, inputs: int) -> str:
    """A kernel for one warp: %x %y %z are this lane's words of the inputs, %r goes out."""
    parameters = ", ".join(f".param .u64 p{n}" for n in range(inputs + 1))
    loads = "\n".join(
        f"ld.param.u64 %p, [p{n}]; add.u64 %p, %p, %at; ld.global.b32 %{name}, [%p];"
        for n, name in zip(range(inputs), "xyz", strict=False)
    )
    return (
        HEADER
        + f""".visible .entry k({parameters})
{{
.reg .b64 %p, %at;
.reg .b32 %t, %x, %y, %z, %r, %s, %lane;
.reg .pred %q, %v;
mov.u32 %t, %tid.x;
mov.u32 %lane, %laneid;
mul.wide.u32 %at, %t, 4;
{loads}
{body}
ld.param.u64 %p, [p{inputs}]; add.u64 %p, %p, %at;
st.global.b32 [%p], %r;
ret;
}}
"""
    )


def warp(body: str, *columns, block: int = 32) -> list[int]:
    """Results of the lanes for one word of input per lane and column."""
    arrays = [np.array([int(x) & FULL for x in column], np.uint32) for column in columns]
    out = run_text(warp_kernel(body, len(columns)), arrays, np.zeros(block, np.uint32), block=block)
    return [int(x) for x in out]


words = st.lists(st.integers(0, FULL), min_size=32, max_size=32)
few = st.lists(st.integers(0, 3), min_size=32, max_size=32)


def shuffled(values, mode, b, c):
    """The ISA's pseudocode; returns value and predicate per lane."""
    results = []
    segment, clamp = c >> 8 & 31, c & 31
    for lane in LANES:
        highest = (lane & segment) | (clamp & ~segment)
        lowest = lane & segment
        offset = b[lane] & 31
        if mode == "up":
            source, inside = lane - offset, lane - offset >= highest
        elif mode == "down":
            source, inside = lane + offset, lane + offset <= highest
        elif mode == "bfly":
            source, inside = lane ^ offset, (lane ^ offset) <= highest
        else:
            source = lowest | (offset & ~segment)
            inside = source <= highest
        results.append((values[source if inside else lane], int(inside)))
    return results


@pytest.mark.parametrize("width", [32, 16, 8, 4, 2, 1])
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_shfl(mode, width, data):
    """Clamp operands as __shfl_*_sync makes them for a width."""
    c = (32 - width) << 8 | (0 if mode == "up" else 31)
    values = data.draw(words)
    uniform = data.draw(st.integers(0, 40))
    b = [uniform] * 32 if data.draw(st.booleans()) else data.draw(few)
    body = f"""shfl.sync.{mode}.b32 %r|%q, %x, %y, {c}, 0xffffffff;
selp.b32 %s, 0x80000000, 0, %q; and.b32 %r, %r, 0x7fffffff; or.b32 %r, %r, %s;"""
    expected = [v & 0x7FFFFFFF | p << 31 for v, p in shuffled(values, mode, b, c)]
    assert warp(body, values, b) == expected


@settings(max_examples=15, deadline=None)
@given(values=few)
def test_votes(values):
    truth = [v == 0 for v in values]
    ballot = sum(t << lane for lane, t in enumerate(truth))
    body = """setp.eq.u32 %q, %x, 0;
vote.sync.all.pred %v, %q, 0xffffffff; selp.b32 %r, 1, 0, %v;
vote.sync.any.pred %v, %q, 0xffffffff; selp.b32 %s, 2, 0, %v; or.b32 %r, %r, %s;
vote.sync.uni.pred %v, %q, 0xffffffff; selp.b32 %s, 4, 0, %v; or.b32 %r, %r, %s;
vote.sync.all.pred %v, !%q, 0xffffffff; selp.b32 %s, 8, 0, %v; or.b32 %r, %r, %s;"""
    expected = all(truth) | any(truth) << 1 | (len(set(truth)) == 1) << 2 | (not any(truth)) << 3
    assert warp(body, values) == [expected] * 32
    body = "setp.eq.u32 %q, %x, 0; vote.sync.ballot.b32 %r, %q, 0xffffffff;"
    assert warp(body, values) == [ballot] * 32


@settings(max_examples=15, deadline=None)
@given(values=few)
def test_match(values):
    any_mask = [sum((values[k] == v) << k for k in LANES) for v in values]
    assert warp("match.any.sync.b32 %r, %x, 0xffffffff;", values) == any_mask
    body = """match.all.sync.b32 %r|%q, %x, 0xffffffff;
selp.b32 %s, 1, 0, %q; xor.b32 %r, %r, %s;"""
    alike = len(set(values)) == 1
    assert warp(body, values) == [FULL ^ 1 if alike else 0] * 32


def signed(x):
    return x - 2**32 if x >> 31 else x


REDUCTIONS = {
    "add.s32": sum, "add.u32": sum, "min.u32": min, "max.u32": max,
    "min.s32": lambda v: min(map(signed, v)), "max.s32": lambda v: max(map(signed, v)),
    "and.b32": lambda v: int(np.bitwise_and.reduce(v)),
    "or.b32": lambda v: int(np.bitwise_or.reduce(v)),
    "xor.b32": lambda v: int(np.bitwise_xor.reduce(v)),
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
@settings(max_examples=8, deadline=None)
@given(values=words)
def test_redux(name, values):
    expected = REDUCTIONS[name](values) & FULL
    assert warp(f"redux.sync.{name} %r, %x, 0xffffffff;", values) == [expected] * 32


@pytest.mark.parametrize(
    ("form", "values", "expected"),
    [
        ("min", [-0.0, 0.0, 3.0], -0.0),
        ("max", [-0.0, 0.0, -3.0], 0.0),
        ("min", [2.0, np.nan, -1.5], -1.5),
        ("max.NaN", [2.0, np.nan, -1.5], np.nan),
        ("max.abs", [2.0, -7.0, np.nan], 7.0),
        ("max", [np.nan], np.nan),
        ("min", [np.inf, -np.inf, 1.0], -np.inf),
    ],
)
def test_redux_of_floats(form, values, expected):
    bits = np.resize(np.array(values, np.float32), 32).view(np.uint32).tolist()
    want = 0x7FFFFFFF if np.isnan(expected) else int(np.float32(expected).view(np.uint32))
    assert warp(f"redux.sync.{form}.f32 %r, %x, 0xffffffff;", bits) == [want] * 32


def test_halves_of_a_warp_take_turns():
    """Each half reduces under its own mask, in a branch of its own."""
    body = """setp.lt.u32 %q, %lane, 16;
@%q bra LOW;
redux.sync.add.u32 %r, %x, 0xffff0000;
bra DONE;
LOW:
redux.sync.add.u32 %r, %x, 0x0000ffff;
DONE:"""
    assert warp(body, LANES) == [sum(range(16))] * 16 + [sum(range(16, 32))] * 16


@settings(max_examples=8, deadline=None)
@given(values=few)
def test_halves_side_by_side(values):
    """Both halves execute the same instruction, each under its own mask, none in a branch."""
    half = "setp.lt.u32 %q, %lane, 16; selp.b32 %s, 0x0000ffff, 0xffff0000, %q;\n"
    own = [range(lane // 16 * 16, lane // 16 * 16 + 16) for lane in LANES]
    sums = [sum(values[k] for k in part) for part in own]
    assert warp(half + "redux.sync.add.u32 %r, %x, %s;", values) == sums
    ballots = [sum((values[k] > 1) << k for k in part) for part in own]
    body = "setp.gt.u32 %v, %x, 1; vote.sync.ballot.b32 %r, %v, %s;"
    assert warp(half + body, values) == ballots
    alike = [sum((values[k] == values[lane]) << k for k in own[lane]) for lane in LANES]
    assert warp(half + "match.any.sync.b32 %r, %x, %s;", values) == alike
    shifted = [values[min(lane + 1, lane // 16 * 16 + 15)] for lane in LANES]
    assert warp(half + "shfl.sync.down.b32 %r, %x, 1, 0x100f, %s;", values) == shifted


def test_activemask_in_a_branch():
    body = """mov.b32 %r, 0;
setp.lt.u32 %q, %lane, 5;
@!%q bra DONE;
activemask.b32 %r;
DONE:"""
    assert warp(body) == [0b11111] * 5 + [0] * 27


def test_elect_picks_one_lane():
    body = (
        "elect.sync %r|%q, 0xffffffff; selp.b32 %s, 1, 0, %q; shl.b32 %r, %r, 1; or.b32 %r, %r, %s;"
    )
    out = warp(body)
    assert len({x >> 1 for x in out}) == 1, "all lanes learn the same leader"
    assert [x & 1 for x in out] == [int(lane == out[0] >> 1) for lane in LANES]


@pytest.mark.parametrize("block", [32, 64, 96])
def test_barrier_reductions(block):
    rng = np.random.default_rng(block)
    truth = rng.integers(0, 2, block)
    body = """setp.ne.u32 %q, %x, 0;
bar.red.popc.u32 %r, 0, %q;
shl.b32 %r, %r, 2;
bar.red.and.pred %v, 0, %q; selp.b32 %s, 1, 0, %v; or.b32 %r, %r, %s;
bar.red.or.pred %v, 0, %q; selp.b32 %s, 2, 0, %v; or.b32 %r, %r, %s;"""
    for values in (truth, np.zeros(block, int), np.ones(block, int)):
        expected = int(values.sum()) << 2 | int(values.all()) | int(values.any()) << 1
        assert warp(body, values, block=block) == [expected] * block


def test_special_registers():
    assert warp("mov.u32 %r, %laneid;", block=64) == [*LANES, *LANES]
    assert warp("mov.u32 %r, %warpid;", block=96) == [0] * 32 + [1] * 32 + [2] * 32
    for name, mask in (
        ("eq", lambda k: 1 << k), ("lt", lambda k: (1 << k) - 1), ("le", lambda k: (2 << k) - 1),
        ("gt", lambda k: FULL & ~((2 << k) - 1)), ("ge", lambda k: FULL & ~((1 << k) - 1)),
    ):  # fmt: skip
        assert warp(f"mov.u32 %r, %lanemask_{name};") == [mask(k) for k in LANES]


def test_branch_table():
    body = """rem.u32 %s, %lane, 3;
TABLE: .branchtargets ZERO, ONE, TWO;
brx.idx %s, TABLE;
ZERO: mov.b32 %r, 10; bra DONE;
ONE: mov.b32 %r, 20; bra DONE;
TWO: mov.b32 %r, 30;
DONE:"""
    assert warp(body) == [(10, 20, 30)[k % 3] for k in LANES]


def test_packing_and_unpacking():
    body = """.reg .b64 %w; .reg .b16 %l, %h; .reg .b32 %u;
mov.b64 %w, {%x, %y};
mov.b64 {_, %s}, %w;
mov.b64 {%u, _}, %w;
mov.b32 {%l, %h}, %u;
mov.b32 %u, {%h, %l};
xor.b32 %r, %s, %u;"""
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 2**32, (2, 32))
    swapped = [(int(a) >> 16 | int(a) << 16) & FULL for a in x]
    assert warp(body, x, y) == [s ^ int(b) for s, b in zip(swapped, y, strict=True)]


@pytest.mark.parametrize("size", [16, 8, 4])
def test_tiles_with_masks_of_their_own_are_operations_of_their_own(size):
    """The lanes of a warp reach one instruction with the masks of their tiles (9.7.13)."""
    tiles = [((1 << size) - 1) << (lane // size * size) for lane in LANES]
    x = [(7 * lane + 3) % 5 for lane in LANES]

    def tile(lane):
        start = lane // size * size
        return range(start, start + size)

    assert warp("setp.eq.u32 %q, %x, 0; vote.sync.ballot.b32 %r, %q, %y;", x, tiles) == [
        sum((x[k] == 0) << k for k in tile(lane)) for lane in LANES
    ]
    assert warp(
        "setp.eq.u32 %q, %x, 0; vote.sync.any.pred %v, %q, %y; selp.u32 %r, 1, 0, %v;", x, tiles
    ) == [int(any(x[k] == 0 for k in tile(lane))) for lane in LANES]
    assert warp("match.any.sync.b32 %r, %x, %y;", x, tiles) == [
        sum((x[k] == x[lane]) << k for k in tile(lane)) for lane in LANES
    ]
    assert warp("redux.sync.add.u32 %r, %x, %y;", x, tiles) == [
        sum(x[k] for k in tile(lane)) for lane in LANES
    ]
    assert warp("shfl.sync.bfly.b32 %r, %x, 1, 31, %y;", x, tiles) == [
        x[lane ^ 1] for lane in LANES
    ]
