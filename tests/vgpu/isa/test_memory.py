"""Loads, stores, address spaces and atomics (PTX ISA 9.7.9, 9.7.13) against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from grader.vgpu import Memory, launch
from tests.vgpu.isa import exact
from tests.vgpu.isa.harness import BITS, HEADER, compiled, edges, run_text

FULL = 0xFFFFFFFF


def thread_kernel(body: str, parameters: int, declare: str = "", outside: str = "") -> str:
    """A kernel with %t the thread's index in the grid and %p0 … its pointer parameters."""
    names = ", ".join(f".param .u64 a{n}" for n in range(parameters))
    loads = "\n".join(f"ld.param.u64 %p{n}, [a{n}];" for n in range(parameters))
    return (
        HEADER
        + outside
        + f"""
.visible .entry k({names})
{{
.reg .b64 %p<{parameters}>, %q, %u;
.reg .b32 %t, %n, %b, %r, %s, %v;
.reg .pred %yes;
{declare}
mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %b, %ctaid.x;
mad.lo.u32 %t, %b, %n, %t;
{loads}
{body}
ret;
}}
"""
    )


@pytest.mark.parametrize(
    ("kind", "wide", "dtype"),
    [
        ("u8", "u32", np.uint8),
        ("s8", "s32", np.int8),
        ("u16", "u32", np.uint16),
        ("s16", "s32", np.int16),
    ],
)
def test_narrow_loads_extend(kind, wide, dtype):
    """A register wider than the load: zero or sign extension by the type of the load."""
    body = f"""mul.wide.u32 %q, %t, {BITS[kind] // 8}; add.u64 %q, %q, %p0;
ld.global.{kind} %r, [%q];
mul.wide.u32 %q, %t, 4; add.u64 %q, %q, %p1;
st.global.b32 [%q], %r;"""
    values = np.arange(256).astype(np.uint8 if BITS[kind] == 8 else np.uint16)
    values = (values * (1 if BITS[kind] == 8 else 257)).view(dtype)
    out = run_text(thread_kernel(body, 2), [values], np.zeros(256, np.uint32))
    np.testing.assert_array_equal(out, values.astype(np.int64).astype(np.uint32))


@pytest.mark.parametrize(
    ("kind", "count"),
    [(kind, count) for kind in ("b8", "b16", "b32", "b64") for count in (2, 4)][:-1],
)
def test_vector_loads_and_stores(kind, count):
    """Elements in order, at most 16 bytes; here stored reversed."""
    names = [f"%e{k}" for k in range(count)]
    step = BITS[kind] // 8 * count
    register = "b16" if kind == "b8" else kind
    body = f"""mul.wide.u32 %q, %t, {step}; add.u64 %u, %q, %p0;
ld.global.v{count}.{kind} {{{", ".join(names)}}}, [%u];
add.u64 %u, %q, %p1;
st.global.v{count}.{kind} [%u], {{{", ".join(reversed(names))}}};"""
    dtype = {"b8": np.uint8, "b16": np.uint16, "b32": np.uint32, "b64": np.uint64}[kind]
    values = np.random.default_rng(1).integers(0, np.iinfo(dtype).max, 32 * count, dtype, True)
    memory = Memory()
    a = memory.allocate(values, name="a", access="in")
    c = memory.allocate(np.zeros_like(values), name="c", access="out")
    text = thread_kernel(body, 2, f".reg .{register} {', '.join(names)};")
    done = launch(compiled(text), 1, 32, [a, c], memory=memory)
    assert not done.faults and done.ended == "finished"
    expected = values.reshape(32, count)[:, ::-1].ravel()
    np.testing.assert_array_equal(memory.read(c), expected)


@pytest.mark.parametrize("access", ["ld.shared", "ld.volatile.shared", "ld"])
def test_shared_array_through_each_way(access):
    """Stored by its own space, read by it or through a generic address, after a barrier."""
    body = f"""mov.u64 %q, table; mul.wide.u32 %u, %t, 4; add.u64 %q, %q, %u;
mul.lo.u32 %r, %t, %t; st.shared.u32 [%q], %r;
bar.sync 0;
xor.b32 %s, %t, 63; mul.wide.u32 %u, %s, 4; mov.u64 %q, table; add.u64 %q, %q, %u;
{"cvta.shared.u64 %q, %q;" if access == "ld" else ""}
{access}.u32 %r, [%q];
mul.wide.u32 %u, %t, 4; add.u64 %q, %p0, %u; st.global.u32 [%q], %r;"""
    text = thread_kernel(body, 1, ".shared .align 4 .b8 table[256];")
    out = run_text(text, [], np.zeros(64, np.uint32), block=64)
    np.testing.assert_array_equal(out, (np.arange(64) ^ 63) ** 2)


def test_local_array_is_private_to_each_thread():
    body = """mov.u64 %q, own; st.local.u32 [%q+8], %t; st.local.u32 [%q], 7;
cvta.local.u64 %u, %q; ld.u32 %r, [%u+8]; ld.local.u32 %s, [%q]; add.u32 %r, %r, %s;
mul.wide.u32 %u, %t, 4; add.u64 %q, %p0, %u; st.global.u32 [%q], %r;"""
    text = thread_kernel(body, 1, ".local .align 8 .b8 own[16];")
    out = run_text(text, [], np.zeros(96, np.uint32))
    np.testing.assert_array_equal(out, np.arange(96) + 7)


def test_constants_and_module_variables():
    outside = """.const .align 4 .u32 weights[4] = {3, 5, 7, 11};
.global .align 8 .u64 places[2] = {generic(numbers)+8, numbers};
.global .align 4 .u32 numbers[4] = {100, 200, 300};
"""
    body = """rem.u32 %s, %t, 4; mul.wide.u32 %u, %s, 4; mov.u64 %q, weights; add.u64 %q, %q, %u;
ld.const.u32 %r, [%q];
mov.u64 %q, places; ld.global.u64 %q, [%q]; ld.u32 %s, [%q]; add.u32 %r, %r, %s;
ld.global.u32 %s, [numbers+12]; add.u32 %r, %r, %s;
mul.wide.u32 %u, %t, 4; add.u64 %q, %p0, %u; st.global.u32 [%q], %r;"""
    out = run_text(thread_kernel(body, 1, "", outside), [], np.zeros(32, np.uint32))
    np.testing.assert_array_equal(out, np.tile([3, 5, 7, 11], 8) + 300)


def test_isspacep_tells_windows_apart():
    body = """mov.u64 %q, table; cvta.shared.u64 %q, %q; mov.b32 %r, 0;
isspacep.shared %yes, %q; selp.b32 %s, 1, 0, %yes; or.b32 %r, %r, %s;
isspacep.global %yes, %q; selp.b32 %s, 2, 0, %yes; or.b32 %r, %r, %s;
isspacep.global %yes, %p0; selp.b32 %s, 4, 0, %yes; or.b32 %r, %r, %s;
mov.u64 %q, own; cvta.local.u64 %q, %q;
isspacep.local %yes, %q; selp.b32 %s, 8, 0, %yes; or.b32 %r, %r, %s;
isspacep.shared %yes, %q; selp.b32 %s, 16, 0, %yes; or.b32 %r, %r, %s;
mul.wide.u32 %u, %t, 4; add.u64 %q, %p0, %u; st.global.u32 [%q], %r;"""
    declare = ".shared .align 4 .b8 table[16]; .local .align 4 .b8 own[16];"
    out = run_text(thread_kernel(body, 1, declare), [], np.zeros(32, np.uint32))
    assert set(out) == {1 | 4 | 8}


def _signed(x, width):
    return x - (1 << width) if x >> (width - 1) else x


def _inc(old, limit):
    return 0 if old >= limit else old + 1


def _dec(old, limit):
    return limit if old == 0 or old > limit else old - 1


def integer_atomics():
    for width in (32, 64):
        yield f"add.u{width}", f"u{width}", lambda a, b: a + b
        for name, function in (("min", min), ("max", max)):
            yield f"{name}.u{width}", f"u{width}", function
            yield f"{name}.s{width}", f"s{width}", function
        yield f"and.b{width}", f"b{width}", lambda a, b: a & b
        yield f"or.b{width}", f"b{width}", lambda a, b: a | b
        yield f"xor.b{width}", f"b{width}", lambda a, b: a ^ b
        yield f"exch.b{width}", f"b{width}", lambda a, b: b
    yield "add.s32", "s32", lambda a, b: a + b
    yield "inc.u32", "u32", _inc
    yield "dec.u32", "u32", _dec


def float_atomics():
    for form, name in (
        ("f32", "add.f32"), ("f64", "add.f64"),
        ("f16", "add.noftz.f16"), ("bf16", "add.noftz.bf16"),
    ):  # fmt: skip
        yield name, form, lambda a, b, f=form: exact.add(a, b, f)


@pytest.mark.parametrize(
    ("name", "kind", "function"), [*integer_atomics(), *float_atomics()], ids=lambda x: str(x)[:18]
)
@pytest.mark.parametrize("space", ["global", "shared", ""])
def test_atom_on_own_element(name, kind, function, space):
    """Old value returned, new one stored: one element per lane, all pairs of edges."""
    width = BITS[kind]
    register = kind if kind in ("f32", "f64") else f"b{width}"
    dot = f".{space}" * bool(space)
    declare = f".reg .{register} %old, %new, %x, %y; .shared .align 8 .b8 cells[1024];"
    place = f"mul.wide.u32 %u, %t, {width // 8};"
    load = f"ld.global.{register}"
    if space == "global":
        cell = "add.u64 %q, %p2, %u; "
    else:
        cell = f"rem.u32 %s, %t, 32; mul.wide.u32 %q, %s, {width // 8}; mov.u64 %p0, cells; "
        cell += "add.u64 %q, %q, %p0; " + ("cvta.shared.u64 %q, %q; " if not space else "")
    body = f"""{place} add.u64 %q, %p0, %u; {load} %x, [%q]; add.u64 %q, %p1, %u; {load} %y, [%q];
{cell} st{dot}.{register} [%q], %x;
atom{dot}.{name} %old, [%q], %y;
ld{dot}.{register} %new, [%q];
add.u64 %u, %p2, %u; st.global.{register} [%u], %old;"""
    # The second kernel stores what the cell holds afterwards.
    pairs = [(a, b) for a in edges(kind)[::3] for b in edges(kind)[1::3]]
    pairs = pairs[: len(pairs) // 32 * 32]
    dtype = {16: np.uint16, 32: np.uint32, 64: np.uint64}[width]
    a, b = (np.array(column, np.uint64).astype(dtype) for column in zip(*pairs, strict=True))
    decode = (
        (lambda x: exact.decode(x, kind))
        if kind in exact.FORMATS
        else (lambda x: _signed(x, width) if kind[0] == "s" else x)
    )
    encode = (
        (lambda x: exact.encode(x, kind))
        if kind in exact.FORMATS
        else (lambda x: x & ((1 << width) - 1))
    )
    old = run_text(thread_kernel(body, 3, declare), [a, b], np.zeros(len(a), dtype))
    np.testing.assert_array_equal(old, a)
    new_body = body.replace("%old;", "%new;")
    new = run_text(thread_kernel(new_body, 3, declare), [a, b], np.zeros(len(a), dtype))
    if (space, name) == ("global", "add.f32"):  # only there, subnormals become zero
        apply = function
        function = lambda a, b: exact.flush(apply(exact.flush(a), exact.flush(b)))  # noqa: E731
    expected = [encode(function(decode(int(x)), decode(int(y)))) for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(new, np.array(expected, np.uint64).astype(dtype))


@pytest.mark.parametrize("width", [16, 32, 64])
def test_compare_and_swap(width):
    body = f"""mul.wide.u32 %u, %t, {width // 8}; add.u64 %q, %p0, %u; ld.global.b{width} %x, [%q];
add.u64 %q, %p1, %u; st.global.b{width} [%q], %x;
atom.global.cas.b{width} %old, [%q], 5, 9;"""
    text = thread_kernel(body, 2, f".reg .b{width} %x, %old;")
    dtype = {16: np.uint16, 32: np.uint32, 64: np.uint64}[width]
    values = np.arange(32, dtype=dtype) % 8
    out = run_text(text, [values], np.zeros(32, dtype))
    np.testing.assert_array_equal(out, np.where(values == 5, 9, values))


def test_all_lanes_on_one_address():
    """Each lane sees another old value; the sum is complete."""
    body = """atom.global.add.u32 %r, [%p0], 3;
mul.wide.u32 %u, %t, 4; add.u64 %q, %p1, %u; st.global.u32 [%q], %r;
red.global.max.u32 [%p0+4], %t; red.global.add.f32 [%p0+8], 0f3F000000;
red.relaxed.gpu.global.or.b32 [%p0+12], 6;"""
    memory = Memory()
    cells = memory.allocate(np.zeros(4, np.uint32), name="cells", access="inout")
    seen = memory.allocate(np.zeros(96, np.uint32), name="seen", access="out")
    done = launch(compiled(thread_kernel(body, 2)), 2, 48, [cells, seen], memory=memory)
    assert not done.faults
    np.testing.assert_array_equal(np.sort(memory.read(seen)), 3 * np.arange(96))
    total, largest, half, bits = memory.read(cells)
    assert (total, largest, bits) == (288, 95, 6)
    assert np.uint32(half).view(np.float32) == 48.0


def test_vector_atomics():
    """Every element of a vector is added to and returned on its own."""
    body = """setp.ge.u32 %yes, %t, 32; @%yes bra DONE;
mul.wide.u32 %u, %t, 16; add.u64 %q, %p0, %u;
ld.global.v4.f32 {%a, %b, %c, %d}, [%q]; add.u64 %q, %p1, %u;
st.global.v4.f32 [%q], {%a, %b, %c, %d};
atom.global.v4.f32.add {%e, %f, %g, %h}, [%q], {%b, %c, %d, %a};
red.global.add.v2.f32 [%q+8], {%e, %h};
DONE:"""
    text = thread_kernel(body, 2, ".reg .f32 " + ", ".join(f"%{x}" for x in "abcdefgh") + ";")
    values = np.random.default_rng(3).normal(size=(32, 4)).astype(np.float32)
    out = run_text(text, [values.ravel()], np.zeros(128, np.float32)).reshape(32, 4)
    expected = values + np.roll(values, -1, axis=1)
    expected[:, 2:] += values[:, [0, 3]]
    np.testing.assert_array_equal(out, expected)


def test_a_vector_atomic_is_aligned_whole():
    body = "mov.f32 %a, 0f3F800000; red.global.add.v4.f32 [%p0+8], {%a, %a, %a, %a};"
    memory = Memory()
    cells = memory.allocate(np.zeros(8, np.float32), name="cells", access="inout")
    text = thread_kernel(body, 1, ".reg .f32 %a;")
    (fault,) = launch(compiled(text), 1, 1, [cells], memory=memory).faults
    assert (fault.kind, memory.read(cells).any()) == ("misaligned", False)


def test_float_additions_flush_in_global_memory_only():
    """PTX ISA, atom: subnormals of `.add.f32` become zero in global memory, not in shared."""
    body = """atom.global.add.f32 %a, [%p0], 0f00000001; mov.u64 %q, cell;
mov.f32 %b, 0f00000001; st.shared.f32 [%q], %b; atom.shared.add.f32 %a, [%q], 0f00000001;
ld.shared.f32 %b, [%q]; st.global.f32 [%p0+4], %b;"""
    memory = Memory()
    cells = memory.allocate(np.array([3, 0], np.uint32), name="cells", access="inout")
    declare = ".reg .f32 %a, %b; .shared .align 4 .b8 cell[4];"
    launch(compiled(thread_kernel(body, 1, declare)), 1, 1, [cells], memory=memory)
    assert memory.read(cells).tolist() == [0, 2]


def test_packed_half_atomics():
    body = """mul.wide.u32 %u, %t, 4; add.u64 %q, %p0, %u; ld.global.b32 %r, [%q];
add.u64 %q, %p1, %u; st.global.b32 [%q], %r;
red.global.add.noftz.f16x2 [%q], %r;"""
    halves = np.random.default_rng(2).normal(size=64).astype(np.float16)
    out = run_text(thread_kernel(body, 2), [halves.view(np.uint32)], np.zeros(32, np.uint32))
    np.testing.assert_array_equal(out.view(np.float16), halves + halves)


@pytest.mark.parametrize("checks", ["all", "bounds"])
@pytest.mark.parametrize("extent", [125, 126, 128])
def test_of_a_vector_that_leaves_its_array_what_lies_inside_is_moved(checks, extent):
    """Each access past the end is reported, and no right element is lost with it."""
    body = """mul.wide.u32 %u, %t, 16; add.u64 %q, %p0, %u;
ld.global.v4.f32 {%a, %b, %c, %d}, [%q]; add.u64 %q, %p1, %u;
st.global.v4.f32 [%q], {%a, %b, %c, %d};"""
    text = thread_kernel(body, 2, ".reg .f32 %a, %b, %c, %d;")
    memory = Memory()
    values = np.arange(extent, dtype=np.float32)
    a = memory.allocate(values, name="a", access="in")
    c = memory.allocate(np.zeros_like(values), name="c", access="out", defined=False)
    done = launch(compiled(text), 1, 32, [a, c], memory=memory, checks=checks)
    found = [(fault.kind, fault.buffer, fault.count) for fault in done.faults]
    past = [("out_of_bounds", "a", 1), ("out_of_bounds", "c", 1)]
    assert found == (past if extent < 128 else [])
    assert memory.written(c).all()
    np.testing.assert_array_equal(memory.read(c), values)


def test_a_misaligned_vector_moves_nothing():
    body = "mov.f32 %a, 0f3F800000; st.global.v4.f32 [%p0+8], {%a, %a, %a, %a};"
    memory = Memory()
    cells = memory.allocate(np.zeros(8, np.float32), name="cells", access="out")
    done = launch(compiled(thread_kernel(body, 1, ".reg .f32 %a;")), 1, 1, [cells], memory=memory)
    assert [fault.kind for fault in done.faults] == ["misaligned"]
    assert not memory.written(cells).any()


@pytest.mark.parametrize("taken", [3, 5, 6, 7])
def test_cp_async_of_a_part_that_ends_behind_the_buffer(taken):
    """The part of a copy that is read has no alignment of its own, but it has bounds."""
    body = f"""mov.u32 %r, tile;
cp.async.ca.shared.global [%r], [%p0], 8, {taken}; cp.async.wait_all;"""
    text = thread_kernel(body, 1, ".shared .align 16 .b8 tile[16];")
    for extent, kinds in ((taken, []), (taken - 1, ["out_of_bounds"])):
        memory = Memory()
        source = memory.allocate(np.zeros(extent, np.uint8), name="source", access="in")
        done = launch(compiled(text), 1, 1, [source], memory=memory)
        assert [fault.kind for fault in done.faults] == kinds


def test_cp_async_sizes():
    """4, 8 and 16 bytes; the part of a destination beyond the source's size becomes zero."""
    for size, taken in ((4, 4), (8, 8), (16, 16), (16, 4), (8, 0)):
        body = f"""mul.wide.u32 %u, %t, {size}; add.u64 %q, %p0, %u;
mul.lo.u32 %s, %t, {size}; mov.u32 %r, tile; add.u32 %s, %s, %r;
cp.async.ca.shared.global [%s], [%q], {size}, {taken};
cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
mul.lo.u32 %s, %t, {size}; add.u32 %s, %s, %r; mov.b32 %v, 0;
mul.wide.u32 %u, %t, {size}; add.u64 %q, %p1, %u;"""
        for word in range(size // 4):
            body += f"\nld.shared.b32 %v, [%s+{4 * word}]; st.global.b32 [%q+{4 * word}], %v;"
        data = np.random.default_rng(size).integers(1, 2**32, 32 * size // 4, dtype=np.uint32)
        memory = Memory()
        a = memory.allocate(data, name="a", access="in")
        c = memory.allocate(np.zeros_like(data), name="c", access="out")
        text = thread_kernel(body, 2, ".shared .align 16 .b8 tile[512];")
        done = launch(compiled(text), 1, 32, [a, c], memory=memory)
        assert not done.faults, done.faults
        expected = data.reshape(32, -1).copy()
        expected[:, taken // 4 :] = 0
        np.testing.assert_array_equal(memory.read(c), expected.ravel())


def test_symbols_as_addresses():
    """One thread stores at a variable's name plus an offset, all load from there."""
    body = """setp.eq.u32 %yes, %t, 0;
@%yes st.shared.b32 [cell+4], 7;
bar.sync 0;
ld.shared.b32 %r, [cell+4];
mul.wide.u32 %u, %t, 4; add.u64 %q, %p0, %u; st.global.u32 [%q], %r;"""
    text = thread_kernel(body, 1, ".shared .align 4 .b32 cell[2];")
    out = run_text(text, [], np.zeros(64, np.uint32), block=64)
    assert set(out) == {7}


def test_calls_pass_parameters_and_return_values():
    outside = """.func (.param .b32 result) square_plus(.param .b32 x, .param .align 4 .b8 pair[8])
{
.reg .b32 %a, %b, %c;
ld.param.b32 %a, [x]; ld.param.b32 %b, [pair]; ld.param.b32 %c, [pair+4];
mad.lo.u32 %a, %a, %a, %b; sub.u32 %a, %a, %c;
st.param.b32 [result], %a;
ret;
}
.func (.param .b32 result) countdown(.param .b32 x)
{
.reg .b32 %a, %b;
.reg .pred %zero;
ld.param.b32 %a, [x];
setp.eq.u32 %zero, %a, 0;
@%zero bra DONE;
sub.u32 %b, %a, 1;
{
.param .b32 p0; .param .b32 r0;
st.param.b32 [p0], %b;
call.uni (r0), countdown, (p0);
ld.param.b32 %b, [r0];
}
add.u32 %a, %a, %b;
DONE:
st.param.b32 [result], %a;
ret;
}
"""
    body = """{ .param .b32 x0; .param .align 4 .b8 x1[8]; .param .b32 r0;
st.param.b32 [x0], %t; st.param.b32 [x1], 5; st.param.b32 [x1+4], 2;
call.uni (r0), square_plus, (x0, x1);
ld.param.b32 %r, [r0]; }
rem.u32 %s, %t, 7;
{ .param .b32 x0; .param .b32 r0;
st.param.b32 [x0], %s;
call.uni (r0), countdown, (x0);
ld.param.b32 %s, [r0]; }
add.u32 %r, %r, %s;
mul.wide.u32 %u, %t, 4; add.u64 %q, %p0, %u; st.global.u32 [%q], %r;"""
    out = run_text(thread_kernel(body, 1, "", outside), [], np.zeros(64, np.uint32))
    t = np.arange(64)
    rest = t % 7
    np.testing.assert_array_equal(out, t * t + 3 + rest * (rest + 1) // 2)
