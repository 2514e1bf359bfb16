"""Integer arithmetic and bit fields (PTX ISA 9.7.1, 9.7.2) against exact integers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vgpu.isa.harness import BITS, Op, check, edge_rows, rows_of

INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")


def binary(name, kind, function, out=None):
    return Op(f"{name}.{kind} {{d}}, {{a}}, {{b}};", out or kind, (kind, kind), function)


def unary(name, kind, function, out=None):
    return Op(f"{name}.{kind} {{d}}, {{a}};", out or kind, (kind,), function)


def quotient(a, b):
    """Truncating division; by zero it is unspecified."""
    if b == 0:
        return None
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    """The sign follows the dividend."""
    return None if b == 0 else a - b * quotient(a, b)


def clamp32(x):
    return max(-(2**31), min(2**31 - 1, x))


def signed24(x):
    """The low 24 bits, sign extended."""
    return ((x & 0xFFFFFF) ^ 0x800000) - 0x800000


def bfind(a, width, is_signed, shift):
    word = a & ((1 << width) - 1)
    if is_signed and word >> (width - 1):
        word = ~word & ((1 << width) - 1)
    if word == 0:
        return 0xFFFFFFFF
    position = word.bit_length() - 1
    return width - 1 - position if shift else position


def bfe(a, b, c, width, is_signed):
    word, position, length = a & ((1 << width) - 1), b & 0xFF, c & 0xFF
    last = min(position + length - 1, width - 1)
    sign = is_signed and length > 0 and word >> last & 1
    value = 0
    for i in range(width):
        inside = i < length and position + i < width
        value |= (word >> (position + i) & 1 if inside else int(sign)) << i
    return value


def bfi(a, b, c, d, width):
    position, length = c & 0xFF, d & 0xFF
    value = b
    for i in range(length):
        if position + i >= width:
            break
        value = value & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
    return value


def bmsk(a, b, clamp):
    first, length = a & 31, b & 31
    low = (0xFFFFFFFF << first) & 0xFFFFFFFF
    high = (0xFFFFFFFF << (first + length)) & 0xFFFFFFFF
    if clamp and a >= 32:
        low = 0
    if first + length >= 32 or (clamp and (a >= 32 or b >= 32)):
        high = 0
    return low & ~high


def fns(mask, base, offset):
    if offset == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    position, left = base, abs(offset) - 1
    while 0 <= position < 32:
        if mask >> position & 1:
            if left == 0:
                return position
            left -= 1
        position += 1 if offset > 0 else -1
    return 0xFFFFFFFF


def lanes(word, width, is_signed):
    """The parts of a 32-bit word, lowest first."""
    parts = [word >> at & ((1 << width) - 1) for at in range(0, 32, width)]
    return [p - (1 << width) if is_signed and p >> (width - 1) else p for p in parts]


OPS = []
for kind in INTEGERS:
    width = BITS[kind]
    OPS += [
        binary("add", kind, lambda a, b: a + b),
        binary("sub", kind, lambda a, b: a - b),
        binary("mul.lo", kind, lambda a, b: a * b),
        binary("mul.hi", kind, lambda a, b, w=width: a * b >> w),
        binary("div", kind, quotient),
        binary("rem", kind, remainder),
        binary("min", kind, min),
        binary("max", kind, max),
        Op(
            f"mad.lo.{kind} {{d}}, {{a}}, {{b}}, {{c}};", kind, (kind,) * 3,
            lambda a, b, c: a * b + c,
        ),
        Op(
            f"mad.hi.{kind} {{d}}, {{a}}, {{b}}, {{c}};", kind, (kind,) * 3,
            lambda a, b, c, w=width: (a * b >> w) + c,
        ),
        Op(
            f"sad.{kind} {{d}}, {{a}}, {{b}}, {{c}};", kind, (kind,) * 3,
            lambda a, b, c: abs(a - b) + c,
        ),
    ]  # fmt: skip
    if width < 64:
        wide = f"{kind[0]}{2 * width}"
        OPS += [
            binary("mul.wide", kind, lambda a, b: a * b, wide),
            Op(
                f"mad.wide.{kind} {{d}}, {{a}}, {{b}}, {{c}};", wide, (kind, kind, wide),
                lambda a, b, c: a * b + c,
            ),
        ]  # fmt: skip
    if kind.startswith("s"):
        OPS += [unary("abs", kind, abs), unary("neg", kind, lambda a: -a)]
for kind in ("u32", "s32"):
    cut = signed24 if kind == "s32" else lambda x: x & 0xFFFFFF
    OPS += [
        binary("mul24.lo", kind, lambda a, b, f=cut: f(a) * f(b)),
        binary("mul24.hi", kind, lambda a, b, f=cut: f(a) * f(b) >> 16),
        Op(
            f"mad24.lo.{kind} {{d}}, {{a}}, {{b}}, {{c}};", kind, (kind,) * 3,
            lambda a, b, c, f=cut: f(a) * f(b) + c,
        ),
        Op(
            f"mad24.hi.{kind} {{d}}, {{a}}, {{b}}, {{c}};", kind, (kind,) * 3,
            lambda a, b, c, f=cut: (f(a) * f(b) >> 16) + c,
        ),
    ]  # fmt: skip
OPS += [
    binary("add.sat", "s32", lambda a, b: clamp32(a + b)),
    binary("sub.sat", "s32", lambda a, b: clamp32(a - b)),
    Op(
        "mad.hi.sat.s32 {d}, {a}, {b}, {c};", "s32", ("s32",) * 3,
        lambda a, b, c: clamp32((a * b >> 32) + c),
    ),
]  # fmt: skip
for width in (32, 64):
    kind = f"b{width}"
    OPS += [
        unary("popc", kind, lambda a: a.bit_count(), "u32"),
        unary("clz", kind, lambda a, w=width: w - a.bit_length(), "u32"),
        unary("brev", kind, lambda a, w=width: int(f"{a:0{w}b}"[::-1], 2)),
        Op(  # the length comes from bits 8 to 15 of the position, so that three operands do
            f"shr.u32 %s, {{c}}, 8;\nbfi.{kind} {{d}}, {{a}}, {{b}}, {{c}}, %s;", kind,
            (kind, kind, "u32"), lambda a, b, c, w=width: bfi(a, b, c, c >> 8, w),
            declare=".reg .b32 %s;",
        ),
    ]  # fmt: skip
    for sign in "us":
        OPS += [
            Op(
                f"bfind{shift}.{sign}{width} {{d}}, {{a}};", "u32", (f"{sign}{width}",),
                lambda a, w=width, s=sign == "s", t=bool(shift): bfind(a, w, s, t),
            )
            for shift in ("", ".shiftamt")
        ]  # fmt: skip
        OPS.append(
            Op(
                f"bfe.{sign}{width} {{d}}, {{a}}, {{b}}, {{c}};",
                f"{sign}{width}",
                (f"{sign}{width}", "u32", "u32"),
                lambda a, b, c, w=width, s=sign == "s": bfe(a, b, c, w, s),
            )
        )
for mode in ("clamp", "wrap"):
    OPS.append(
        Op(
            f"bmsk.{mode}.b32 {{d}}, {{a}}, {{b}};", "b32", ("u32", "u32"),
            lambda a, b, m=mode: bmsk(a, b, m == "clamp"),
        )
    )  # fmt: skip
OPS.append(
    Op(
        "fns.b32 {d}, {a}, {b}, {c};", "b32", ("b32", "u32", "s32"), fns,
        operands=(
            st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2**31, 2**32 - 1])),
            st.integers(0, 31),
            st.integers(-40, 40).map(lambda x: x & 0xFFFFFFFF),
        ),
    )
)  # fmt: skip
for a_kind in ("u32", "s32"):
    for b_kind in ("u32", "s32"):
        signs = (a_kind == "s32", b_kind == "s32")
        OPS.append(
            Op(
                f"dp4a.{a_kind}.{b_kind} {{d}}, {{a}}, {{b}}, {{c}};", "b32", ("b32",) * 3,
                lambda a, b, c, s=signs: c + sum(
                    x * y for x, y in zip(lanes(a, 8, s[0]), lanes(b, 8, s[1]), strict=True)
                ),
            )
        )  # fmt: skip
        for half in ("lo", "hi"):
            OPS.append(
                Op(
                    f"dp2a.{half}.{a_kind}.{b_kind} {{d}}, {{a}}, {{b}}, {{c}};", "b32",
                    ("b32",) * 3,
                    lambda a, b, c, s=signs, h=half: c + sum(
                        x * y
                        for x, y in zip(
                            lanes(a, 16, s[0]),
                            lanes(b, 8, s[1])[:2] if h == "lo" else lanes(b, 8, s[1])[2:],
                            strict=True,
                        )
                    ),
                )
            )  # fmt: skip

# Carry chains: what flows from one instruction to the next shows in the upper word.
CHAINS = [
    Op(
        f"add.cc.{t}{w} %s, {{a}}, {{b}};\naddc.{t}{w} {{d}}, {{a}}, {{c}};",
        f"u{w}", (f"u{w}",) * 3,
        lambda a, b, c, w=w: a + c + (a + b >> w), declare=f".reg .b{w} %s;",
    )
    for t in "us" for w in (32, 64)
] + [
    Op(
        f"sub.cc.{t}{w} %s, {{a}}, {{b}};\nsubc.{t}{w} {{d}}, {{a}}, {{c}};",
        f"u{w}", (f"u{w}",) * 3,
        lambda a, b, c: a - c - (a < b), declare=f".reg .b{w} %s;",
    )
    for t in "us" for w in (32, 64)
] + [
    Op(
        "add.cc.u32 %s, {a}, {b};\naddc.cc.u32 %s, {b}, {c};\naddc.u32 {d}, 0, 0;", "u32",
        ("u32",) * 3, lambda a, b, c: b + c + (a + b >> 32) >> 32, declare=".reg .b32 %s;",
    ),
    Op(
        "sub.cc.u32 %s, {a}, {b};\nsubc.cc.u32 %s, {b}, {c};\nsubc.u32 {d}, 0, 0;", "u32",
        ("u32",) * 3, lambda a, b, c: -(b - c - (a < b) < 0), declare=".reg .b32 %s;",
    ),
    Op(
        "mad.lo.cc.u32 %s, {a}, {b}, {c};\nmadc.hi.u32 {d}, {a}, {b}, {c};", "u32", ("u32",) * 3,
        lambda a, b, c: (a * b >> 32) + c + ((a * b & 0xFFFFFFFF) + c >> 32),
        declare=".reg .b32 %s;",
    ),
    Op(
        "mad.lo.cc.u32 %s, {a}, {b}, {c};\nmadc.hi.cc.u32 %s, {a}, {b}, {c};\naddc.u32 {d}, 0, 0;",
        "u32", ("u32",) * 3,
        lambda a, b, c: (a * b >> 32) + c + ((a * b & 0xFFFFFFFF) + c >> 32) >> 32,
        declare=".reg .b32 %s;",
    ),
    Op(
        "mad.lo.cc.u64 %s, {a}, {b}, {c};\nmadc.hi.u64 {d}, {a}, {b}, {c};", "u64", ("u64",) * 3,
        lambda a, b, c: (a * b >> 64) + c + ((a * b & (2**64 - 1)) + c >> 64),
        declare=".reg .b64 %s;",
    ),
    Op(
        "mad.lo.cc.s32 %s, {a}, {b}, {c};\nmadc.hi.s32 {d}, {a}, {b}, {c};", "s32", ("s32",) * 3,
        lambda a, b, c: (a * b >> 32) + c + ((a * b & 0xFFFFFFFF) + (c & 0xFFFFFFFF) >> 32),
        declare=".reg .b32 %s;",
    ),
]  # fmt: skip


@pytest.mark.parametrize("op", [*OPS, *CHAINS], ids=str)
def test_edges(op):
    if rows := edge_rows(op):
        check(op, rows)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_operands(data):
    op = data.draw(st.sampled_from([*OPS, *CHAINS]))
    check(op, data.draw(rows_of(op)))


@pytest.mark.slow
@pytest.mark.parametrize("op", [*OPS, *CHAINS], ids=str)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_any_operands_of_each(op, data):
    check(op, data.draw(rows_of(op)))
