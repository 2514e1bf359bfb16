"""Conversions (PTX ISA 9.7.9.21, cvt): every pair, rounding and saturation, against rationals."""

from __future__ import annotations

import bisect
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vgpu.isa import exact
from tests.vgpu.isa.harness import BITS, Op, check, edge_rows, rows_of

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = ("f16", "f32", "f64")
INTEGRAL = ("rni", "rzi", "rmi", "rpi")
MODES = ("rn", "rz", "rm", "rp")


def bounds(kind):
    """The least and the largest integer of a type."""
    width = BITS[kind]
    if kind.startswith("s"):
        return -(1 << (width - 1)), (1 << (width - 1)) - 1
    return 0, (1 << width) - 1


def clamp(value, kind):
    low, high = bounds(kind)
    return max(low, min(high, value))


def to_integer(source, target, mode):
    """Clamped; NaN is 0, but the top bit alone where either side has 64 bits."""

    def reference(a):
        if math.isnan(a):
            wide = source == "f64" or target in ("u64", "s64")
            return 1 << (BITS[target] - 1) if wide else 0
        if math.isinf(a):
            return bounds(target)[a > 0]
        return clamp(int(exact.integral(a, mode)), target)

    return reference


def from_integer(target, mode):
    return lambda a: exact.rounded(Fraction(a), target, mode) if a else 0.0


OPS: list[Op] = []
for source in INTEGERS:
    for target in INTEGERS:
        OPS.append(Op(f"cvt.{target}.{source} {{d}}, {{a}};", target, (source,), lambda a: a))
        OPS.append(
            Op(
                f"cvt.sat.{target}.{source} {{d}}, {{a}};", target, (source,),
                lambda a, t=target: clamp(a, t),
            )
        )  # fmt: skip
    for target in FLOATS:
        for mode in MODES:
            OPS.append(
                Op(f"cvt.{mode}.{target}.{source} {{d}}, {{a}};", target, (source,),
                   from_integer(target, mode))
            )  # fmt: skip
for source in FLOATS:
    for target in INTEGERS:
        for mode in INTEGRAL:
            OPS.append(
                Op(f"cvt.{mode}.{target}.{source} {{d}}, {{a}};", target, (source,),
                   to_integer(source, target, mode))
            )  # fmt: skip
    for mode in INTEGRAL:
        OPS.append(
            Op(f"cvt.{mode}.{source}.{source} {{d}}, {{a}};", source, (source,),
               lambda a, m=mode: exact.integral(a, m))
        )  # fmt: skip
    OPS.append(Op(f"cvt.sat.{source}.{source} {{d}}, {{a}};", source, (source,), exact.saturate))
for source, target in (("f16", "f32"), ("f16", "f64"), ("f32", "f64"), ("bf16", "f32")):
    OPS.append(Op(f"cvt.{target}.{source} {{d}}, {{a}};", target, (source,), lambda a: a))
for mode in MODES:
    OPS.append(
        Op(f"cvt.{mode}.f32.f64 {{d}}, {{a}};", "f32", ("f64",),
           lambda a, m=mode: exact.convert(a, "f32", m))
    )  # fmt: skip
    OPS.append(
        Op(f"cvt.{mode}.f16.f64 {{d}}, {{a}};", "f16", ("f64",),
           lambda a, m=mode: exact.convert(a, "f16", m))
    )  # fmt: skip
    OPS.append(
        Op(f"cvt.{mode}.f16.f32 {{d}}, {{a}};", "f16", ("f32",),
           lambda a, m=mode: exact.convert(a, "f16", m))
    )  # fmt: skip
for mode in ("rn", "rz"):
    OPS.append(
        Op(f"cvt.{mode}.bf16.f32 {{d}}, {{a}};", "bf16", ("f32",),
           lambda a, m=mode: exact.convert(a, "bf16", m))
    )  # fmt: skip
    for form in ("f16", "bf16"):

        def packed(a, b, form=form, mode=mode):
            """The first operand becomes the upper half."""
            high, low = (exact.encode(exact.convert(x, form, mode), form) for x in (a, b))
            return high << 16 | low

        OPS.append(
            Op(f"cvt.{mode}.{form}x2.f32 {{d}}, {{a}}, {{b}};", f"{form}x2", ("f32", "f32"), packed)
        )
OPS += [
    Op("cvt.ftz.f64.f32 {d}, {a};", "f64", ("f32",), exact.flush),
    Op("cvt.rn.ftz.f32.f64 {d}, {a};", "f32", ("f64",),
       lambda a: exact.flush(exact.convert(a, "f32"))),
    Op("cvt.ftz.sat.f32.f32 {d}, {a};", "f32", ("f32",), lambda a: exact.saturate(exact.flush(a))),
    Op("cvt.rmi.ftz.f32.f32 {d}, {a};", "f32", ("f32",),
       lambda a: exact.integral(exact.flush(a), "rmi")),
    Op("cvt.rzi.ftz.s32.f32 {d}, {a};", "s32", ("f32",), to_integer("f32", "s32", "rzi")),
    Op("cvt.rni.ftz.s64.f32 {d}, {a};", "s64", ("f32",), to_integer("f32", "s64", "rni")),
    Op("cvt.rn.sat.f32.s32 {d}, {a};", "f32", ("s32",),
       lambda a: exact.saturate(float(a))),
    Op("cvt.rn.sat.f16.f32 {d}, {a};", "f16", ("f32",),
       lambda a: exact.saturate(exact.convert(a, "f16"))),
    Op("cvt.rn.satfinite.e4m3x2.f16x2 {d}, {a};", "b16", ("f16x2",),
       lambda a: to_fp8(exact.decode(a >> 16, "f16"), "e4m3") << 8
       | to_fp8(exact.decode(a & 0xFFFF, "f16"), "e4m3")),
    Op("cvt.rn.relu.f16.f32 {d}, {a};", "f16", ("f32",),
       lambda a: a if math.isnan(a) else max(exact.convert(a, "f16"), 0.0) + 0.0),
]  # fmt: skip


def tf32(a):
    """Nearest with ties away from zero, 10 bits of fraction kept."""
    bits = exact.encode(a, "f32")
    if math.isnan(a) or math.isinf(a):
        return bits
    return (bits + 0x1000) & 0xFFFFE000


OPS.append(Op("cvt.rna.tf32.f32 {d}, {a};", "b32", ("f32",), tf32))


def clamped(value, kind):
    """The bits of an integer saturated to `u8`, `s4`, …"""
    width = int(kind[1:])
    least, most = (-(1 << width - 1), (1 << width - 1) - 1) if kind[0] == "s" else (0, 2**width - 1)
    return min(max(value, least), most) & (1 << width) - 1


for form in ("u16", "s16"):
    OPS.append(
        Op(f"cvt.pack.sat.{form}.s32 {{d}}, {{a}}, {{b}};", "b32", ("s32", "s32"),
           lambda a, b, f=form: clamped(a, f) << 16 | clamped(b, f))
    )  # fmt: skip
for form in ("u8", "s8", "u4", "s4", "u2", "s2"):
    OPS.append(
        Op(f"cvt.pack.sat.{form}.s32.b32 {{d}}, {{a}}, {{b}}, {{c}};", "b32", ("s32", "s32", "b32"),
           lambda a, b, c, f=form, w=int(form[1:]):
           (clamped(a, f) << w | clamped(b, f) | c << 2 * w) & 0xFFFFFFFF)
    )  # fmt: skip

# -- fp8 ----------------------------------------------------------------------------------------

FP8 = {"e4m3": (3, 7, 0x7E), "e5m2": (2, 15, 0x7B)}


def fp8_value(code, form):
    """The value of a positive fp8 code."""
    bits, bias, _ = FP8[form]
    exponent, mantissa = code >> bits, code & ((1 << bits) - 1)
    if exponent == 0:
        return Fraction(mantissa, 1 << bits) * Fraction(2) ** (1 - bias)
    return (1 + Fraction(mantissa, 1 << bits)) * Fraction(2) ** (exponent - bias)


CODES = {form: [fp8_value(code, form) for code in range(largest + 1)]
         for form, (_, _, largest) in FP8.items()}  # fmt: skip


def to_fp8(a, form):
    """The nearest code, ties to the even one; what is too large saturates."""
    if math.isnan(a):
        return 0x7F
    values = CODES[form]
    sign = 0x80 if math.copysign(1, a) < 0 else 0
    if abs(a) >= values[-1]:
        return sign | len(values) - 1
    size = abs(Fraction(a))
    below = bisect.bisect_right(values, size) - 1
    twice = 2 * size - values[below] - values[below + 1]
    return sign | below + (twice > 0 or (twice == 0 and below & 1))


for form in FP8:
    OPS.append(
        Op(f"cvt.rn.satfinite.{form}x2.f32 {{d}}, {{a}}, {{b}};", "b16", ("f32", "f32"),
           lambda a, b, f=form: to_fp8(a, f) << 8 | to_fp8(b, f))
    )  # fmt: skip

    def from_fp8(word, form=form):
        """Two codes to two halves, exactly."""
        halves = []
        for code in (word & 0xFF, word >> 8):
            size = code & 0x7F
            if form == "e4m3":
                value = math.nan if size == 0x7F else float(fp8_value(size, form))
            else:
                value = exact.decode(size << 8, "f16")
            halves.append(exact.encode(math.copysign(value, -1) if code & 0x80 else value, "f16"))
        return halves[1] << 16 | halves[0]

    OPS.append(Op(f"cvt.rn.f16x2.{form}x2 {{d}}, {{a}};", "f16x2", ("b16",), from_fp8))


@pytest.mark.parametrize("op", OPS, ids=str)
def test_edges(op):
    check(op, edge_rows(op, 600))


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
