"""IEEE arithmetic from exact rationals: the reference that instructions are compared with.

Operands are Python floats, which hold every f16, bf16, f32 and f64 exactly; results are rounded
once by definition. Nothing here shares code with the engine.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from math import isqrt

import numpy as np

#: precision, exponent of the smallest unit in the last place, largest finite value
FORMATS = {
    "f16": (11, -24, Fraction(65504)),
    "bf16": (8, -133, (2 - Fraction(1, 128)) * Fraction(2) ** 127),
    "f32": (24, -149, (2 - Fraction(1, 2**23)) * Fraction(2) ** 127),
    "f64": (53, -1074, (2 - Fraction(1, 2**52)) * Fraction(2) ** 1023),
}
CANONICAL = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0x7FF8000000000000}
NAN, INF = math.nan, math.inf


def decode(bits: int, form: str) -> float:
    """The value of a bit pattern."""
    if form == "f16":
        return float(np.uint16(bits).view(np.float16))
    if form == "bf16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    if form == "f32":
        return struct.unpack("<f", struct.pack("<I", bits))[0]
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def encode(value: float, form: str) -> int:
    """The bit pattern of a value the format holds; NaN gives the canonical one."""
    if math.isnan(value):
        return CANONICAL[form]
    if form == "f16":
        return int(np.float16(value).view(np.uint16))
    if form == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits >> 16 if form == "bf16" else bits


def floor_log2(x: Fraction) -> int:
    """The exponent e with 2^e <= x < 2^(e+1), for x > 0."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= x else e - 1


def rounded(x: Fraction, form: str, mode: str = "rn") -> float:
    """x != 0 rounded once; `rna` is nearest with ties away from zero."""
    precision, lowest, largest = FORMATS[form]
    size, negative = abs(x), x < 0
    unit = Fraction(2) ** max(floor_log2(size) - precision + 1, lowest)
    count, rest = divmod(size, unit)
    away = (mode == "rp" and not negative) or (mode == "rm" and negative)
    if mode == "rn":
        up = rest * 2 > unit or (rest * 2 == unit and count % 2 == 1)
    elif mode == "rna":
        up = rest * 2 >= unit
    else:
        up = away and rest > 0
    value = (count + up) * unit
    if value > largest:
        result = INF if mode in ("rn", "rna") or away else float(largest)
    else:
        result = float(value)
    return -result if negative else result


def fma(a: float, b: float, c: float, form: str, mode: str = "rn") -> float:
    """a * b + c rounded once, with the special cases of IEEE 754."""
    if any(map(math.isnan, (a, b, c))):
        return NAN
    negative = math.copysign(1, a) * math.copysign(1, b) < 0
    if math.isinf(a) or math.isinf(b):
        if a == 0 or b == 0 or (math.isinf(c) and (c < 0) != negative):
            return NAN
        return -INF if negative else INF
    if math.isinf(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact:
        return rounded(exact, form, mode)
    product_is_zero = a == 0 or b == 0
    if c == 0 and product_is_zero and (math.copysign(1, c) < 0) == negative:
        return -0.0 if negative else 0.0
    return -0.0 if mode == "rm" else 0.0


def add(a: float, b: float, form: str, mode: str = "rn") -> float:
    """a + b."""
    return fma(a, 1.0, b, form, mode)


def sub(a: float, b: float, form: str, mode: str = "rn") -> float:
    """a - b."""
    return fma(a, 1.0, -b, form, mode)


def mul(a: float, b: float, form: str, mode: str = "rn") -> float:
    """a * b."""
    if any(map(math.isnan, (a, b))):
        return NAN
    negative = math.copysign(1, a) * math.copysign(1, b) < 0
    return fma(a, b, -0.0 if negative else 0.0, form, mode)


def div(a: float, b: float, form: str, mode: str = "rn") -> float:
    """a / b."""
    if math.isnan(a) or math.isnan(b) or (a == b == 0) or (math.isinf(a) and math.isinf(b)):
        return NAN
    sign = math.copysign(1, a) * math.copysign(1, b)
    if math.isinf(a) or b == 0:
        return math.copysign(INF, sign)
    if a == 0 or math.isinf(b):
        return math.copysign(0.0, sign)
    return rounded(Fraction(a) / Fraction(b), form, mode)


def sqrt(a: float, form: str, mode: str = "rn") -> float:
    """The square root, from an integer root of 200 more bits and a sticky one."""
    if math.isnan(a) or a < 0:
        return NAN
    if a == 0 or math.isinf(a):
        return a
    x = Fraction(a) * Fraction(4) ** 1300
    floor = isqrt(x.numerator * 4**200 // x.denominator)
    exact = Fraction(floor, 2**200)
    if exact * exact != x:
        exact += Fraction(1, 2**201)
    return rounded(exact / Fraction(2) ** 1300, form, mode)


def convert(a: float, form: str, mode: str = "rn") -> float:
    """A value in a narrower format."""
    if a == 0 or not math.isfinite(a):
        return a
    return rounded(Fraction(a), form, mode)


def flush(a: float) -> float:
    """.ftz: a subnormal f32 becomes zero of its sign."""
    return math.copysign(0.0, a) if abs(a) < 2.0**-126 else a


def saturate(a: float) -> float:
    """.sat: into [0, 1]; NaN becomes +0."""
    return 0.0 if math.isnan(a) or a <= 0 else min(a, 1.0)


def integral(a: float, mode: str) -> float:
    """.rni .rzi .rmi .rpi: an integral value, signs of zero kept."""
    if not math.isfinite(a) or a == 0:
        return a
    function = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode]
    return math.copysign(float(function(Fraction(a))), a)


def minimum(a: float, b: float) -> float:
    """min.f32: a number is preferred to NaN; -0 is less than +0."""
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    if a == b == 0:
        return a if math.copysign(1, a) < 0 else b
    return min(a, b)


def maximum(a: float, b: float) -> float:
    """max.f32."""
    return -minimum(-a, -b)
