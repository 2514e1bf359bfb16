"""f32 and f64 arithmetic in every rounding mode (PTX ISA 9.7.3) against exact rationals."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vgpu.isa import exact
from tests.vgpu.isa.exact import NAN
from tests.vgpu.isa.harness import Op, check, edge_rows, rows_of

MODES = ("rn", "rz", "rm", "rp")


def flushing(function):
    """.ftz: subnormal operands and results are zeros."""
    return lambda *operands: exact.flush(function(*map(exact.flush, operands)))


def saturating(function):
    return lambda *operands: exact.saturate(function(*operands))


def both_forms(text, kinds, function):
    """An f32 instruction and its .ftz twin; `text` has a ~ where the suffix goes."""
    return [
        Op(text.replace("~", ""), "f32", kinds, function),
        Op(text.replace("~", ".ftz"), "f32", kinds, flushing(function)),
    ]


OPS: list[Op] = []
for kind in ("f32", "f64"):
    two, three = (kind,) * 2, (kind,) * 3
    for name, function in (("add", exact.add), ("sub", exact.sub), ("mul", exact.mul)):
        OPS.append(
            Op(
                f"{name}.{kind} {{d}}, {{a}}, {{b}};",
                kind,
                two,
                lambda a, b, f=function, k=kind: f(a, b, k),
            )
        )
        for mode in MODES:
            reference = lambda a, b, f=function, k=kind, m=mode: f(a, b, k, m)  # noqa: E731
            OPS.append(Op(f"{name}.{mode}.{kind} {{d}}, {{a}}, {{b}};", kind, two, reference))
            if kind == "f32":
                OPS.append(
                    Op(
                        f"{name}.{mode}.ftz.f32 {{d}}, {{a}}, {{b}};",
                        kind,
                        two,
                        flushing(reference),
                    )
                )
                OPS.append(
                    Op(
                        f"{name}.{mode}.sat.f32 {{d}}, {{a}}, {{b}};",
                        kind,
                        two,
                        saturating(reference),
                    )
                )
    for mode in MODES:
        fused = lambda a, b, c, k=kind, m=mode: exact.fma(a, b, c, k, m)  # noqa: E731
        quotient = lambda a, b, k=kind, m=mode: exact.div(a, b, k, m)  # noqa: E731
        root = lambda a, k=kind, m=mode: exact.sqrt(a, k, m)  # noqa: E731
        inverse = lambda a, k=kind, m=mode: exact.div(1.0, a, k, m)  # noqa: E731
        OPS += [
            Op(f"fma.{mode}.{kind} {{d}}, {{a}}, {{b}}, {{c}};", kind, three, fused),
            Op(f"mad.{mode}.{kind} {{d}}, {{a}}, {{b}}, {{c}};", kind, three, fused),
            Op(f"div.{mode}.{kind} {{d}}, {{a}}, {{b}};", kind, two, quotient),
            Op(f"sqrt.{mode}.{kind} {{d}}, {{a}};", kind, (kind,), root),
            Op(f"rcp.{mode}.{kind} {{d}}, {{a}};", kind, (kind,), inverse),
        ]
        if kind == "f32":
            OPS += [
                Op(f"fma.{mode}.ftz.f32 {{d}}, {{a}}, {{b}}, {{c}};", kind, three, flushing(fused)),
                Op(
                    f"fma.{mode}.sat.f32 {{d}}, {{a}}, {{b}}, {{c}};",
                    kind,
                    three,
                    saturating(fused),
                ),
                Op(f"div.{mode}.ftz.f32 {{d}}, {{a}}, {{b}};", kind, two, flushing(quotient)),
                Op(f"sqrt.{mode}.ftz.f32 {{d}}, {{a}};", kind, (kind,), flushing(root)),
                Op(f"rcp.{mode}.ftz.f32 {{d}}, {{a}};", kind, (kind,), flushing(inverse)),
            ]
    OPS += [
        Op(f"min.{kind} {{d}}, {{a}}, {{b}};", kind, two, exact.minimum),
        Op(f"max.{kind} {{d}}, {{a}}, {{b}};", kind, two, exact.maximum),
        Op(f"abs.{kind} {{d}}, {{a}};", kind, (kind,), abs, any_nan=True),
        Op(f"neg.{kind} {{d}}, {{a}};", kind, (kind,), lambda a: -a, any_nan=True),
    ]


def nan_wins(function):
    return lambda a, b: NAN if math.isnan(a) or math.isnan(b) else function(a, b)


def xorsign(function):
    def reference(a, b):
        sign = math.copysign(1, a) * math.copysign(1, b)
        value = function(abs(a), abs(b))
        return value if math.isnan(value) else math.copysign(value, sign)

    return reference


OPS += [
    Op("min.ftz.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), flushing(exact.minimum)),
    Op("max.ftz.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), flushing(exact.maximum)),
    Op("min.NaN.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), nan_wins(exact.minimum)),
    Op("max.NaN.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), nan_wins(exact.maximum)),
    Op("max.xorsign.abs.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), xorsign(exact.maximum)),
    Op(
        "min.NaN.xorsign.abs.f32 {d}, {a}, {b};",
        "f32",
        ("f32", "f32"),
        xorsign(nan_wins(exact.minimum)),
    ),
    Op("abs.ftz.f32 {d}, {a};", "f32", ("f32",), flushing(abs), any_nan=True),
    Op("neg.ftz.f32 {d}, {a};", "f32", ("f32",), flushing(lambda a: -a), any_nan=True),
]


# -- approximate instructions: the error the PTX ISA documents ------------------------------------


def relative(bound):
    """Relative error at most `bound`; zeros, infinities and signs as they are."""

    def near(actual, wanted):
        if wanted == 0 or math.isinf(wanted):
            return actual == wanted and math.copysign(1, actual) == math.copysign(1, wanted)
        return abs(actual - wanted) <= bound * abs(wanted)

    return near


def ulps(count):
    """At most so many units in the last place of an f32, subnormal ones included."""

    def near(actual, wanted):
        if math.isinf(wanted):
            return actual == wanted
        if math.isinf(actual):
            return abs(wanted) > float(exact.FORMATS["f32"][2])
        unit = 2.0 ** (max(math.frexp(wanted)[1] - 1, -126) - 23) if wanted else 2.0**-149
        return abs(actual - wanted) <= count * unit

    return near


def absolute(bound):
    return lambda actual, wanted: abs(actual - wanted) <= bound


def precisely(function, low=-math.inf):
    """mpmath's value as a double; NaN below the domain."""

    def reference(a):
        if math.isnan(a) or a < low:
            return NAN
        with mpmath.workprec(100):
            return float(function(mpmath.mpf(a)))

    return reference


def ex2(a):
    if math.isinf(a):
        return 0.0 if a < 0 else a
    if math.isnan(a):
        return a
    return 2.0**a if -1000 < a < 1000 else (0.0 if a < 0 else math.inf)


def lg2(a):
    if math.isnan(a) or a < 0:
        return NAN
    if a == 0:
        return -math.inf
    return math.log2(a)


def lg2_near(actual, wanted):
    """Absolute 2^-22 for operands in (0.5, 2), relative elsewhere."""
    if math.isinf(wanted):
        return actual == wanted
    return abs(actual - wanted) <= 2.0**-22 * max(1.0, abs(wanted))


def periodic(function):
    def reference(a):
        if math.isnan(a) or math.isinf(a):
            return NAN
        with mpmath.workprec(400):
            return float(function(mpmath.mpf(a)))

    return reference


def rsqrt(a):
    if math.isnan(a) or a < 0:
        return NAN
    return math.copysign(math.inf, a) if a == 0 else 1 / math.sqrt(a)


def huge_divisor(a, b):
    """div.approx with 2^126 < |b| < 2^128: zero, or NaN for an infinite dividend."""
    if 2.0**126 < abs(b) < 2.0**128:
        zero = math.copysign(0.0, math.copysign(1, a) * math.copysign(1, b))
        return NAN if math.isinf(a) or math.isnan(a) else zero
    return real_quotient(a, b)


def real_quotient(a, b):
    value = exact.div(a, b, "f64")
    return value if abs(value) <= float(exact.FORMATS["f32"][2]) or math.isinf(value) else None


APPROXIMATE = [
    *(
        Op(f"ex2.approx{ftz}.f32 {{d}}, {{a}};", "f32", ("f32",), f, near=ulps(2))
        for ftz, f in (("", ex2), (".ftz", flushing(ex2)))
    ),
    *(
        Op(f"lg2.approx{ftz}.f32 {{d}}, {{a}};", "f32", ("f32",), f, near=lg2_near)
        for ftz, f in (("", lg2), (".ftz", lambda a: lg2(exact.flush(a))))
    ),
    Op("sin.approx.f32 {d}, {a};", "f32", ("f32",), periodic(mpmath.sin),
       near=absolute(2.0**-20.5)),
    Op("cos.approx.f32 {d}, {a};", "f32", ("f32",), periodic(mpmath.cos),
       near=absolute(2.0**-20.5)),
    Op("tanh.approx.f32 {d}, {a};", "f32", ("f32",), math.tanh, near=relative(2.0**-11)),
    Op("rsqrt.approx.f32 {d}, {a};", "f32", ("f32",), rsqrt, near=relative(2.0**-22.9)),
    Op("rsqrt.approx.ftz.f32 {d}, {a};", "f32", ("f32",), lambda a: rsqrt(exact.flush(a)),
       near=relative(2.0**-22.9)),
    Op("rcp.approx.f32 {d}, {a};", "f32", ("f32",), lambda a: exact.div(1.0, a, "f32"),
       near=ulps(1)),
    Op("rcp.approx.ftz.f32 {d}, {a};", "f32", ("f32",),
       flushing(lambda a: exact.div(1.0, a, "f32")), near=ulps(1)),
    Op("sqrt.approx.f32 {d}, {a};", "f32", ("f32",), lambda a: exact.sqrt(a, "f64"),
       near=relative(2.0**-23)),
    Op("sqrt.approx.ftz.f32 {d}, {a};", "f32", ("f32",),
       lambda a: exact.sqrt(exact.flush(a), "f64"), near=relative(2.0**-23)),
    Op("div.approx.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), huge_divisor, near=ulps(2)),
    Op("div.full.f32 {d}, {a}, {b};", "f32", ("f32", "f32"), real_quotient, near=ulps(2)),
    Op("rcp.approx.ftz.f64 {d}, {a};", "f64", ("f64",), lambda a: gross(1.0, a),
       near=relative(2.0**-18.9)),
    Op("rsqrt.approx.f64 {d}, {a};", "f64", ("f64",), rsqrt, near=relative(2.0**-18.9)),
    Op("rsqrt.approx.ftz.f64 {d}, {a};", "f64", ("f64",),
       lambda a: rsqrt(math.copysign(0.0, a) if abs(a) < 2.0**-1022 else a),
       near=relative(2.0**-18.9)),
]  # fmt: skip


def gross(one, a):
    """rcp.approx.ftz.f64 flushes subnormal operands and results."""
    least = 2.0**-1022
    a = math.copysign(0.0, a) if abs(a) < least else a
    value = exact.div(one, a, "f64")
    if 0 < abs(value) < least * 1.001:
        return None if abs(value) > least * 0.999 else math.copysign(0.0, value)
    return value


ALL = [*OPS, *APPROXIMATE]


@pytest.mark.parametrize("op", ALL, ids=str)
def test_edges(op):
    check(op, edge_rows(op, 1200))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_operands(data):
    op = data.draw(st.sampled_from(ALL))
    check(op, data.draw(rows_of(op)))


@pytest.mark.slow
@pytest.mark.parametrize("op", ALL, ids=str)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_any_operands_of_each(op, data):
    check(op, data.draw(rows_of(op)))
