"""Comparison and selection (PTX ISA 9.7.5, 9.7.6) against Python's comparisons."""

from __future__ import annotations

import math
import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vgpu.isa import exact
from tests.vgpu.isa.harness import BITS, Op, check, edge_rows, rows_of

ORDERED = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
UNSIGNED = {"lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}
COMBINE = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}


def of_floats(name):
    """A floating-point comparison: `ltu` is true for NaN, `lt` (and `ne`) is not."""

    def compare(a, b):
        unordered = math.isnan(a) or math.isnan(b)
        if name == "num":
            return not unordered
        if name == "nan":
            return unordered
        if unordered:
            return name.endswith("u")
        return ORDERED[name.removesuffix("u")](a, b)

    return compare


FLOAT_COMPARISONS = [*ORDERED, *(f"{name}u" for name in ORDERED), "num", "nan"]


def flushed(function):
    return lambda a, b: function(exact.flush(a), exact.flush(b))


OPS = []
for kind in ("u16", "s16", "b16", "u32", "s32", "b32", "u64", "s64", "b64"):
    names = ["eq", "ne"] if kind.startswith("b") else list(ORDERED)
    for name in names:
        OPS.append(
            Op(f"setp.{name}.{kind} {{d}}, {{a}}, {{b}};", "pred", (kind, kind), ORDERED[name])
        )
    if kind.startswith("u"):
        for name, function in UNSIGNED.items():
            OPS.append(
                Op(f"setp.{name}.{kind} {{d}}, {{a}}, {{b}};", "pred", (kind, kind), function)
            )
for kind in ("f16", "f32", "f64"):
    for name in FLOAT_COMPARISONS:
        function = of_floats(name)
        OPS.append(Op(f"setp.{name}.{kind} {{d}}, {{a}}, {{b}};", "pred", (kind, kind), function))
        if kind == "f32":
            OPS.append(
                Op(
                    f"setp.{name}.ftz.f32 {{d}}, {{a}}, {{b}};", "pred", ("f32", "f32"),
                    flushed(function),
                )
            )  # fmt: skip
for name, combine in COMBINE.items():
    OPS += [
        Op(
            f"setp.lt.{name}.s32 {{d}}, {{a}}, {{b}}, {{c}};", "pred", ("s32", "s32", "pred"),
            lambda a, b, c, f=combine: f(a < b, c),
        ),
        Op(
            f"setp.lt.{name}.s32 %q|{{d}}, {{a}}, {{b}}, {{c}};", "pred", ("s32", "s32", "pred"),
            lambda a, b, c, f=combine: f(not a < b, c), declare=".reg .pred %q;",
        ),
        Op(
            f"setp.ge.{name}.f32 {{d}}, {{a}}, {{b}}, !{{c}};", "pred", ("f32", "f32", "pred"),
            lambda a, b, c, f=combine: f(a >= b, not c),
        ),
        Op(
            f"set.gt.{name}.u32.s32 {{d}}, {{a}}, {{b}}, {{c}};", "u32", ("s32", "s32", "pred"),
            lambda a, b, c, f=combine: 0xFFFFFFFF * f(a > b, c),
        ),
    ]  # fmt: skip
OPS += [
    Op("setp.gt.s32 {d}|%q, {a}, {b};", "pred", ("s32", "s32"), operator.gt,
       declare=".reg .pred %q;"),
    Op("set.lt.u32.u32 {d}, {a}, {b};", "u32", ("u32", "u32"), lambda a, b: 0xFFFFFFFF * (a < b)),
    Op("set.le.s32.s32 {d}, {a}, {b};", "s32", ("s32", "s32"), lambda a, b: -(a <= b)),
    Op("set.gt.f32.s32 {d}, {a}, {b};", "f32", ("s32", "s32"), lambda a, b: float(a > b)),
    Op("set.eq.f32.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), lambda a, b: float(a == b)),
    Op("set.gtu.u32.f32 {d}, {a}, {b};", "u32", ("f32", "f32"),
       lambda a, b: 0xFFFFFFFF * of_floats("gtu")(a, b)),
    Op("set.lt.s32.f64 {d}, {a}, {b};", "s32", ("f64", "f64"), lambda a, b: -(a < b)),
    Op("set.ge.f16.f16 {d}, {a}, {b};", "f16", ("f16", "f16"), lambda a, b: float(a >= b)),
    Op("set.ne.u16.f16 {d}, {a}, {b};", "u16", ("f16", "f16"),
       lambda a, b: 0xFFFF * of_floats("ne")(a, b)),
]  # fmt: skip


def halves(word):
    return [exact.decode(word >> 16 * k & 0xFFFF, "f16") for k in (0, 1)]


def set_halves(name, one):
    """set.CMP.dtype.f16x2: both halves compared on their own."""

    def function(a, b):
        truths = [of_floats(name)(x, y) for x, y in zip(halves(a), halves(b), strict=True)]
        return sum(one * truth << 16 * k for k, truth in enumerate(truths))

    return function


OPS += [
    Op("set.eq.f16x2.f16x2 {d}, {a}, {b};", "f16x2", ("f16x2", "f16x2"), set_halves("eq", 0x3C00)),
    Op(
        "set.nan.f16x2.f16x2 {d}, {a}, {b};", "f16x2", ("f16x2", "f16x2"), set_halves("nan", 0x3C00)
    ),
    Op("set.gt.u32.f16x2 {d}, {a}, {b};", "b32", ("f16x2", "f16x2"), set_halves("gt", 0xFFFF)),
]

for kind in ("b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"):
    held = kind if kind.startswith("f") else f"b{BITS[kind]}"
    OPS.append(
        Op(
            f"selp.{kind} {{d}}, {{a}}, {{b}}, {{c}};", held, (held, held, "pred"),
            lambda a, b, c: a if c else b, any_nan=True,
        )
    )  # fmt: skip
for kind in ("b16", "b32", "b64"):
    OPS += [
        Op(
            f"slct.{kind}.s32 {{d}}, {{a}}, {{b}}, {{c}};", kind, (kind, kind, "s32"),
            lambda a, b, c: a if c >= 0 else b,
        ),
        Op(
            f"slct.{kind}.f32 {{d}}, {{a}}, {{b}}, {{c}};", kind, (kind, kind, "f32"),
            lambda a, b, c: a if c >= 0 else b,
        ),
    ]  # fmt: skip

SMALLEST = {"f32": 2.0**-126, "f64": 2.0**-1022}
for kind, least in SMALLEST.items():
    tests = {
        "finite": math.isfinite,
        "infinite": math.isinf,
        "number": lambda a: not math.isnan(a),
        "notanumber": math.isnan,
        "normal": lambda a, m=least: math.isfinite(a) and abs(a) >= m,
        "subnormal": lambda a, m=least: 0 < abs(a) < m,
    }
    OPS += [
        Op(f"testp.{name}.{kind} {{d}}, {{a}};", "pred", (kind,), function)
        for name, function in tests.items()
    ]
    OPS.append(
        Op(
            f"copysign.{kind} {{d}}, {{a}}, {{b}};", kind, (kind, kind),
            lambda a, b: math.copysign(b, a), any_nan=True,
        )
    )  # fmt: skip

# A guard: only lanes whose predicate holds execute.
OPS += [
    Op("mov.b32 {d}, {a};\n@{c} mov.b32 {d}, {b};", "b32", ("b32", "b32", "pred"),
       lambda a, b, c: b if c else a),
    Op("mov.b32 {d}, {a};\n@!{c} add.s32 {d}, {d}, {b};", "s32", ("s32", "s32", "pred"),
       lambda a, b, c: a if c else a + b),
]  # fmt: skip


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
