"""f16, bf16, e4m3, e5m2: every code, every rounding boundary, against exact rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

WORDS = np.arange(65536, dtype=np.uint16)


def widened(device, name: str, words: np.ndarray) -> np.ndarray:
    """A widening function over an array, as bits."""
    call = device.function(name, "f32", "u16")
    return np.array([call(int(word)) for word in words], np.float32).view(np.uint32)


def narrowed(device, name: str, x: np.ndarray) -> np.ndarray:
    """A narrowing function over an array."""
    call = device.function(name, "u16", "f32")
    return np.array([call(float(value)) for value in x], np.uint16)


def test_every_f16_widens_exactly(device):
    actual = widened(device, "vg_f16_to_f32", WORDS)
    expected = WORDS.view(np.float16).astype(np.float32)
    nans = np.isnan(expected)
    np.testing.assert_array_equal(actual[~nans], expected.view(np.uint32)[~nans])
    assert set(actual[nans]) == {0x7FFFFFFF}


def test_every_bf16_widens_exactly(device):
    actual = widened(device, "vg_bf16_to_f32", WORDS)
    expected = WORDS.astype(np.uint32) << np.uint32(16)
    nans = np.isnan(expected.view(np.float32))
    np.testing.assert_array_equal(actual[~nans], expected[~nans])
    assert set(actual[nans]) == {0x7FFFFFFF}


def boundaries(codes: np.ndarray) -> np.ndarray:
    """Every finite value of a format, the midpoints above, and the floats around both."""
    with np.errstate(over="ignore"):
        values = np.unique(codes[np.isfinite(codes)].astype(np.float64))
    middles = ((values[:-1] + values[1:]) / 2).astype(np.float32)
    points = np.concatenate([values.astype(np.float32), middles])
    around = [
        points,
        np.nextafter(points, np.float32(np.inf)),
        np.nextafter(points, np.float32(-np.inf)),
    ]
    extremes = np.float32([65504, 65519.996, 65520, 65536, 3.4e38, 1e-45, 2.0**-25, np.inf, np.nan])
    return np.concatenate([*around, extremes, -extremes])


def test_f16_narrowing_at_every_boundary(device):
    x = boundaries(WORDS.view(np.float16))
    actual = narrowed(device, "vg_f32_to_f16_rn", x)
    with np.errstate(over="ignore"):
        expected = x.astype(np.float16)
    nans = np.isnan(x)
    np.testing.assert_array_equal(actual[~nans], expected.view(np.uint16)[~nans])
    assert set(actual[nans]) == {0x7FFF}


def test_bf16_narrowing_at_every_boundary(device):
    x = boundaries((WORDS.astype(np.uint32) << np.uint32(16)).view(np.float32))
    actual = narrowed(device, "vg_f32_to_bf16_rn", x)
    bits = x.view(np.uint32)
    nans = np.isnan(x)
    rest = bits & np.uint32(0xFFFF)
    odd = bits >> np.uint32(16) & np.uint32(1)
    away = (rest > 0x8000) | ((rest == 0x8000) & (odd == 1))
    np.testing.assert_array_equal(actual[~nans], ((bits >> np.uint32(16)) + away)[~nans])
    assert set(actual[nans]) == {0x7FFF}


def decode_fp8(code: int, mantissa_bits: int, bias: int) -> Fraction:
    """The value of a positive fp8 code from the formula of its format."""
    exponent, mantissa = code >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
    if exponent == 0:
        return Fraction(mantissa, 1 << mantissa_bits) * Fraction(2) ** (1 - bias)
    return (1 + Fraction(mantissa, 1 << mantissa_bits)) * Fraction(2) ** (exponent - bias)


FP8 = {"e4m3": (3, 7, 0x7E, 448.0), "e5m2": (2, 15, 0x7B, 57344.0)}


@pytest.mark.parametrize("name", FP8)
def test_fp8_both_ways(device, name):
    mantissa_bits, bias, largest, maximum = FP8[name]
    widen = device.function(f"vg_{name}_to_f16", "u16", "u8")
    narrow = device.function(f"vg_f32_to_{name}", "u8", "f32")
    values = [decode_fp8(code, mantissa_bits, bias) for code in range(largest + 1)]
    assert values[-1] == maximum
    for code, value in enumerate(values):
        for sign in (0, 0x80):
            half = np.uint16(widen(code | sign)).view(np.float16)
            assert Fraction(float(half)) == (-value if sign else value)
            assert narrow(float(half)) == code | (sign if code or np.signbit(half) else 0)
    for code, (low, high) in enumerate(pairwise(values)):
        middle = np.float32((low + high) / 2)
        assert narrow(float(middle)) == code + (code & 1), "ties to even"
        assert narrow(float(np.nextafter(middle, np.float32(0)))) == code
        assert narrow(float(np.nextafter(middle, np.float32(1e9)))) == code + 1
    for huge in (maximum * 2, 1e38, float("inf")):
        assert narrow(huge) == largest and narrow(-huge) == largest | 0x80
    assert narrow(float("nan")) == 0x7F
    assert widen(0x7F) == 0x7FFF
    if name == "e5m2":
        assert widen(0x7C) == 0x7C00 and widen(0xFC) == 0xFC00
