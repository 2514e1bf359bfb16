"""Arithmetic in every rounding mode against exact rationals rounded by definition."""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vgpu.isa.exact import encode, rounded, sqrt

MODES = {"rn": 0, "rz": 1, "rm": 2, "rp": 3}


def bits64(x: float) -> bytes:
    """A float's bits, so that zeros and infinities compare by sign too."""
    return struct.pack("<d", x)


def any_f32() -> st.SearchStrategy[float]:
    """All floats by bit pattern, weighted to neighbours of powers of two and subnormals."""
    uniform = st.integers(0, 2**32 - 1)
    edges = st.builds(
        lambda e, d, s: ((e << 23) + d) % 2**31 | s << 31,
        st.integers(0, 254),
        st.integers(-3, 3),
        st.integers(0, 1),
    )
    word = st.one_of(uniform, edges)
    return word.map(lambda b: float(np.uint32(b).view(np.float32)))


def any_f64() -> st.SearchStrategy[float]:
    """All doubles by bit pattern, weighted to neighbours of powers of two and subnormals."""
    edges = st.builds(
        lambda e, d, s: ((e << 52) + d) % 2**63 | s << 63,
        st.integers(0, 2046),
        st.integers(-3, 3),
        st.integers(0, 1),
    )
    word = st.one_of(st.integers(0, 2**64 - 1), edges)
    return word.map(lambda b: float(np.uint64(b).view(np.float64)))


def finite(*values: float) -> bool:
    return bool(np.isfinite(values).all())


def check(actual: float, exact: Fraction, form: str, mode: str, what: object) -> None:
    if exact:
        assert bits64(actual) == bits64(rounded(exact, form, mode)), what
    else:
        assert actual == 0, what


STRATEGY = {"f32": any_f32(), "f64": any_f64()}


@pytest.mark.parametrize("form", ["f32", "f64"])
@settings(max_examples=500, deadline=None)
@given(data=st.data(), mode=st.sampled_from(list(MODES)))
def test_fma_add_mul(device, form, data, mode):
    a, b, c = (data.draw(STRATEGY[form]) for _ in range(3))
    if data.draw(st.booleans()) and finite(a * b):
        with np.errstate(over="ignore"):
            c = float(np.float32(-a * b)) if form == "f32" else -a * b  # deep cancellation
    fma = device.function(f"vg_fma_{form}", form, form, form, form, "int")
    add = device.function(f"vg_add_{form}", form, form, form, "int")
    mul = device.function(f"vg_mul_{form}", form, form, form, "int")
    if not finite(a, b, c):
        with np.errstate(all="ignore"):
            expected = np.float64(a) * np.float64(b)
            expected = expected if np.isnan(expected) or finite(a, b) is False else np.float64(0)
            expected = expected + np.float64(c)
        actual = fma(a, b, c, MODES[mode])
        assert np.isnan(actual) if np.isnan(expected) else actual == expected, (a, b, c)
        return
    check(fma(a, b, c, MODES[mode]), Fraction(a) * Fraction(b) + Fraction(c), form, mode, (a, b, c))
    check(add(a, c, MODES[mode]), Fraction(a) + Fraction(c), form, mode, (a, c))
    check(mul(a, b, MODES[mode]), Fraction(a) * Fraction(b), form, mode, (a, b))


@pytest.mark.parametrize("form", ["f32", "f64"])
@settings(max_examples=500, deadline=None)
@given(data=st.data(), mode=st.sampled_from(list(MODES)))
def test_div_sqrt(device, form, data, mode):
    a, b = (data.draw(STRATEGY[form]) for _ in range(2))
    div = device.function(f"vg_div_{form}", form, form, form, "int")
    root = device.function(f"vg_sqrt_{form}", form, form, "int")
    quotient = div(a, b, MODES[mode])
    if finite(a, b) and b != 0:
        check(quotient, Fraction(a) / Fraction(b), form, mode, (a, b))
    else:
        with np.errstate(all="ignore"):
            expected = np.float64(a) / np.float64(b)
        assert bits64(quotient) == bits64(float(expected)) or (
            np.isnan(quotient) and np.isnan(expected)
        )
    actual = root(a, MODES[mode])
    if np.isnan(a) or (a < 0):
        assert np.isnan(actual)
    elif a == 0 or np.isinf(a):
        assert bits64(actual) == bits64(a)
    else:
        assert bits64(actual) == bits64(sqrt(a, form, mode)), a


@pytest.mark.parametrize("mode", list(MODES))
def test_signs_of_zero(device, mode):
    """IEEE 754, 6.3: x - x is +0, but -0 when rounding down; equal signs keep theirs."""
    fma = device.function("vg_fma_f32", "f32", "f32", "f32", "f32", "int")
    mul = device.function("vg_mul_f32", "f32", "f32", "f32", "int")
    m = MODES[mode]
    cancelled = -0.0 if mode == "rm" else 0.0
    assert bits64(fma(2.0, 3.0, -6.0, m)) == bits64(cancelled)
    assert bits64(fma(0.0, 1.0, -0.0, m)) == bits64(cancelled)
    assert bits64(fma(-0.0, 1.0, -0.0, m)) == bits64(-0.0)
    assert bits64(fma(0.0, 1.0, 0.0, m)) == bits64(0.0)
    assert bits64(mul(0.0, 5.0, m)) == bits64(0.0)
    assert bits64(mul(-0.0, 5.0, m)) == bits64(-0.0)


@settings(max_examples=400, deadline=None)
@given(
    x=st.one_of(st.integers(-(2**63), 2**64 - 1), st.integers(-70000, 70000)),
    form=st.sampled_from(["f32", "f64"]),
    mode=st.sampled_from(list(MODES)),
)
def test_integers_round_once(device, x, form, mode):
    kind = "s64" if x < 2**63 else "u64"
    actual = device.function(f"vg_{kind}_to_{form}", form, kind, "int")(x, MODES[mode])
    expected = rounded(Fraction(x), form, mode) if x else 0.0
    assert bits64(actual) == bits64(expected)


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
@pytest.mark.parametrize("form", ["f32", "f64"])
def test_warp_forms_are_the_scalar_ones(device, form, mode):
    dtype = np.float32 if form == "f32" else np.float64
    rng = np.random.default_rng(13)
    a, b, c = (rng.normal(size=32).astype(dtype) for _ in range(3))
    for op, operands in (("add", 2), ("mul", 2), ("fma", 3), ("div", 2), ("sqrt", 1)):
        sources = (a, b, c)[:operands]
        warp = device.warps(f"rt_{op}_{mode}_{form}", *sources, out=dtype)
        scalar = device.function(f"vg_{op}_{form}", form, *(form,) * operands, "int")
        expected = [scalar(*map(float, v), MODES[mode]) for v in zip(*sources, strict=True)]
        np.testing.assert_array_equal(warp, np.array(expected, dtype))
    for kind, low, high in (("s64", -(2**63), 2**63), ("u64", 0, 2**64)):
        integers = np.dtype("int64" if kind == "s64" else "uint64")
        x = rng.integers(low, high, 32, dtype=integers)
        warp = device.warps(f"rt_cvt_{mode}_{form}_{kind}", x, out=dtype)
        for value, actual in zip(x, warp, strict=True):
            assert float(actual) == rounded(Fraction(int(value)), form, mode)


@settings(max_examples=300, deadline=None)
@given(x=st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-140000, 140000)))
def test_rounding_to_odd_leaves_one_rounding(device, x):
    odd = device.warps("rt_cvt_odd_f32_s64", np.full(32, x, np.int64))[0]
    once = encode(rounded(Fraction(x), "f16"), "f16") if x else 0
    twice = device.function("vg_f32_to_f16_rn", "u16", "f32")(float(odd))
    assert once == twice
