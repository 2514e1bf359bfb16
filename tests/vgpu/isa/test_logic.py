"""Logic, shifts and permutation of bytes (PTX ISA 9.7.7, 9.7.8, 9.7.9.7) against exact integers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vgpu.isa.harness import Op, check, edge_rows, rows_of


def lop3(a, b, c, table):
    value = 0
    for bit in range(32):
        index = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1)
        value |= (table >> index & 1) << bit
    return value


def shift_right(a, b, width):
    """Python's >> fills with the sign of a, as a signed type wants."""
    return a >> min(b, width)


def funnel(a, b, c, left, clamp):
    n = min(c, 32) if clamp else c & 31
    pair = b << 32 | a
    return (pair << n) >> 32 if left else pair >> n


PERMUTATIONS = {
    "f4e": [(0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)],
    "b4e": [(0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)],
    "rc8": [(0,) * 4, (1,) * 4, (2,) * 4, (3,) * 4],
    "ecl": [(0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)],
    "ecr": [(0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)],
    "rc16": [(0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)],
}


def prmt(a, b, c, mode):
    """Bytes of {b, a}; tables list the byte for d's bytes 0 to 3."""
    source = [(b << 32 | a) >> 8 * k & 0xFF for k in range(8)]
    if mode:
        picked = [source[k] for k in PERMUTATIONS[mode][c & 3]]
    else:
        picked = []
        for k in range(4):
            selector = c >> 4 * k & 15
            byte = source[selector & 7]
            picked.append(0xFF * (byte >> 7) if selector & 8 else byte)
    return sum(byte << 8 * k for k, byte in enumerate(picked))


OPS = []
for width in (16, 32, 64):
    kind = f"b{width}"
    full = (1 << width) - 1
    OPS += [
        Op(f"and.{kind} {{d}}, {{a}}, {{b}};", kind, (kind, kind), lambda a, b: a & b),
        Op(f"or.{kind} {{d}}, {{a}}, {{b}};", kind, (kind, kind), lambda a, b: a | b),
        Op(f"xor.{kind} {{d}}, {{a}}, {{b}};", kind, (kind, kind), lambda a, b: a ^ b),
        Op(f"not.{kind} {{d}}, {{a}};", kind, (kind,), lambda a: ~a),
        Op(f"cnot.{kind} {{d}}, {{a}};", kind, (kind,), lambda a: int(a == 0)),
        Op(
            f"shl.{kind} {{d}}, {{a}}, {{b}};", kind, (kind, "u32"),
            lambda a, b, w=width: a << min(b, w),
        ),
    ]  # fmt: skip
    for sign in "usb":
        OPS.append(
            Op(
                f"shr.{sign}{width} {{d}}, {{a}}, {{b}};", f"{sign}{width}",
                (f"{sign}{width}", "u32"), lambda a, b, w=width: shift_right(a, b, w),
            )
        )  # fmt: skip
OPS += [
    Op("and.pred {d}, {a}, {b};", "pred", ("pred", "pred"), lambda a, b: a and b),
    Op("or.pred {d}, {a}, {b};", "pred", ("pred", "pred"), lambda a, b: a or b),
    Op("xor.pred {d}, {a}, {b};", "pred", ("pred", "pred"), lambda a, b: a != b),
    Op("not.pred {d}, {a};", "pred", ("pred",), lambda a: not a),
]
for direction in "lr":
    for mode in ("wrap", "clamp"):
        OPS.append(
            Op(
                f"shf.{direction}.{mode}.b32 {{d}}, {{a}}, {{b}}, {{c}};", "b32",
                ("b32", "b32", "u32"),
                lambda a, b, c, d=direction, m=mode: funnel(a, b, c, d == "l", m == "clamp"),
            )
        )  # fmt: skip
for mode in ("", *PERMUTATIONS):
    OPS.append(
        Op(
            f"prmt.b32{'.' * bool(mode)}{mode} {{d}}, {{a}}, {{b}}, {{c}};", "b32", ("b32",) * 3,
            lambda a, b, c, m=mode: prmt(a, b, c, m),
        )
    )  # fmt: skip
for table in (0x00, 0x01, 0x80, 0x96, 0xE8, 0xCA, 0xF8, 0x3C, 0xFE, 0xFF, 0x6A):
    OPS.append(
        Op(
            f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table};", "b32", ("b32",) * 3,
            lambda a, b, c, t=table: lop3(a, b, c, t),
        )
    )  # fmt: skip


@pytest.mark.parametrize("op", OPS, ids=str)
def test_edges(op):
    check(op, edge_rows(op))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_operands(data):
    op = data.draw(st.sampled_from(OPS))
    check(op, data.draw(rows_of(op)))


@pytest.mark.slow
@pytest.mark.parametrize("op", OPS, ids=str)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_any_operands_of_each(op, data):
    check(op, data.draw(rows_of(op)))


def test_every_table_of_lop3():
    rows = [(0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA)]
    for table in range(256):
        op = Op(
            f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table};", "b32", ("b32",) * 3,
            lambda a, b, c, t=table: lop3(a, b, c, t),
        )  # fmt: skip
        if table % 16 == 5:  # sixteen of them as kernels; the others are covered bit by bit above
            check(op, rows)
