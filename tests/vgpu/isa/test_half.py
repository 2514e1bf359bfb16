"""f16, f16x2, bf16 and bf16x2 arithmetic (PTX ISA 9.7.4) against exact rationals."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vgpu.isa import exact
from tests.vgpu.isa.exact import NAN
from tests.vgpu.isa.harness import Op, check, edge_rows, rows_of


def relu(a):
    """.relu: negative results become +0, NaN canonical."""
    return a if math.isnan(a) else max(a, 0.0) + 0.0


def flush16(a):
    """.ftz of f16: subnormals become zeros of their sign."""
    return math.copysign(0.0, a) if abs(a) < 2.0**-14 else a


def both(function, form):
    """A function of halves on the two halves of packed words."""

    def reference(*words):
        parts = [
            exact.encode(function(*(exact.decode(w >> at & 0xFFFF, form) for w in words)), form)
            for at in (0, 16)
        ]
        return parts[0] | parts[1] << 16

    return reference


def nan_wins(function):
    return lambda a, b: NAN if math.isnan(a) or math.isnan(b) else function(a, b)


def table(form):
    """Instruction names with their number of operands and meaning, for f16 or bf16."""
    rows = [
        ("fma.rn", 3, lambda a, b, c: exact.fma(a, b, c, form)),
        ("fma.rn.relu", 3, lambda a, b, c: relu(exact.fma(a, b, c, form))),
        ("min", 2, exact.minimum),
        ("max", 2, exact.maximum),
        ("min.NaN", 2, nan_wins(exact.minimum)),
        ("max.NaN", 2, nan_wins(exact.maximum)),
        ("neg", 1, lambda a: -a),
        ("abs", 1, abs),
        ("add.rn", 2, lambda a, b: exact.add(a, b, form)),
        ("sub.rn", 2, lambda a, b: exact.sub(a, b, form)),
        ("mul.rn", 2, lambda a, b: exact.mul(a, b, form)),
    ]
    if form == "f16":
        rows += [
            ("add", 2, lambda a, b: exact.add(a, b, form)),
            ("sub", 2, lambda a, b: exact.sub(a, b, form)),
            ("mul", 2, lambda a, b: exact.mul(a, b, form)),
            ("add.sat", 2, lambda a, b: exact.saturate(exact.add(a, b, form))),
            ("mul.sat", 2, lambda a, b: exact.saturate(exact.mul(a, b, form))),
            ("fma.rn.sat", 3, lambda a, b, c: exact.saturate(exact.fma(a, b, c, form))),
            ("add.ftz", 2, lambda a, b: flush16(exact.add(flush16(a), flush16(b), form))),
            (
                "fma.rn.ftz", 3,
                lambda a, b, c: flush16(exact.fma(flush16(a), flush16(b), flush16(c), form)),
            ),
        ]  # fmt: skip
    return rows


OPS = []
for form in ("f16", "bf16"):
    for name, count, function in table(form):
        letters = ", ".join(f"{{{letter}}}" for letter in "abc"[:count])
        sign_of_nan = name in ("neg", "abs")
        OPS.append(
            Op(
                f"{name}.{form} {{d}}, {letters};",
                form,
                (form,) * count,
                function,
                any_nan=sign_of_nan,
            )
        )
        if sign_of_nan:
            continue
        OPS.append(
            Op(
                f"{name}.{form}x2 {{d}}, {letters};", f"{form}x2", (f"{form}x2",) * count,
                both(function, form),
            )
        )  # fmt: skip


def close_half(bound):
    def near(actual, wanted):
        if wanted == 0 or math.isinf(wanted):
            return actual == wanted
        return (math.isinf(actual) and abs(wanted) > 65504) or abs(actual - wanted) <= max(
            bound * abs(wanted), 2.0**-24
        )

    return near


def ex2(a):
    if math.isnan(a):
        return a
    return 2.0 ** max(-200.0, min(200.0, a))


def limited(function, form):
    """Results beyond the format's largest are infinite."""

    def reference(a):
        value = function(a)
        return value if math.isnan(value) else exact.convert(value, form)

    return reference


APPROXIMATE = [
    Op("ex2.approx.f16 {d}, {a};", "f16", ("f16",), limited(ex2, "f16"),
       near=close_half(2.0**-9.9)),
    Op("tanh.approx.f16 {d}, {a};", "f16", ("f16",), math.tanh, near=close_half(2.0**-10.9)),
    Op("ex2.approx.ftz.bf16 {d}, {a};", "bf16", ("bf16",),
       lambda a: exact.flush(limited(ex2, "bf16")(a)), near=close_half(2.0**-7)),
    Op("tanh.approx.bf16 {d}, {a};", "bf16", ("bf16",), math.tanh, near=close_half(2.0**-8)),
]  # fmt: skip


@pytest.mark.parametrize("op", [*OPS, *APPROXIMATE], ids=str)
def test_edges(op):
    check(op, edge_rows(op, 1500))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_operands(data):
    op = data.draw(st.sampled_from([*OPS, *APPROXIMATE]))
    check(op, data.draw(rows_of(op)))


@pytest.mark.slow
@pytest.mark.parametrize("op", [*OPS, *APPROXIMATE], ids=str)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_any_operands_of_each(op, data):
    check(op, data.draw(rows_of(op)))


def test_bf16_fma_rounds_once():
    """1.00390625 is a tie of bf16; a tiny addend decides it, and is lost in a float."""
    a = exact.encode(1 + 2.0**-7, "bf16")
    b = exact.encode(1.5, "bf16")
    for tiny in (2.0**-100, -(2.0**-100)):
        rows = [(a, b, exact.encode(tiny, "bf16"))]
        op = Op("fma.rn.bf16 {d}, {a}, {b}, {c};", "bf16", ("bf16",) * 3,
                lambda a, b, c: exact.fma(a, b, c, "bf16"))  # fmt: skip
        check(op, rows)
