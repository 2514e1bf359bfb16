"""metal_integer, metal_relational, metal_pack and as_type against numpy and Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.languages.metal.library import DTYPES, evaluate

RNG = np.random.default_rng(7)
BITS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64,
        "ulong": 64}  # fmt: skip


def numbers(kind: str, count: int = 60) -> np.ndarray:
    """Integers of all magnitudes with the extremes among them."""
    info = np.iinfo(DTYPES[kind])
    wide = RNG.integers(info.min, info.max, count, dtype=DTYPES[kind], endpoint=True)
    shift = RNG.integers(0, BITS[kind], count).astype(DTYPES[kind])
    extremes = np.array([info.min, info.max, 0, 1], DTYPES[kind])
    return np.concatenate([wide >> shift, extremes])


def wrap(value: int, kind: str) -> int:
    """`value` in the width of `kind`."""
    value &= (1 << BITS[kind]) - 1
    signed = np.issubdtype(DTYPES[kind], np.signedinteger)
    return value - (1 << BITS[kind]) if signed and value >> (BITS[kind] - 1) else value


def saturated(value: int, kind: str) -> int:
    info = np.iinfo(DTYPES[kind])
    return min(max(value, int(info.min)), int(info.max))


def unsigned(value: int, kind: str) -> int:
    return value & ((1 << BITS[kind]) - 1)


def rotated(x: int, n: int, kind: str) -> int:
    bits = BITS[kind]
    k, u = unsigned(n, kind) % bits, unsigned(x, kind)
    return wrap(u << k | u >> (bits - k), kind)


def extracted(field: int, kind: str) -> int:
    """A field of four bits, sign-extended for a signed type."""
    return field - 16 if np.issubdtype(DTYPES[kind], np.signedinteger) and field & 8 else field


Exact = Callable[[int, int, str], int]
TWO: dict[str, Exact] = {
    "max(x, y)": lambda x, y, k: max(x, y),
    "min(x, y)": lambda x, y, k: min(x, y),
    "addsat(x, y)": lambda x, y, k: saturated(x + y, k),
    "subsat(x, y)": lambda x, y, k: saturated(x - y, k),
    "hadd(x, y)": lambda x, y, k: (x + y) >> 1,
    "rhadd(x, y)": lambda x, y, k: (x + y + 1) >> 1,
    "mulhi(x, y)": lambda x, y, k: (x * y) >> BITS[k],
    "rotate(x, y)": rotated,
    "absdiff(x, y)": lambda x, y, k: wrap(abs(x - y), k),
    "clz(x)": lambda x, y, k: BITS[k] - unsigned(x, k).bit_length(),
    "ctz(x)": lambda x, y, k: (unsigned(x, k) & -unsigned(x, k)).bit_length() - 1 if x else BITS[k],
    "popcount(x)": lambda x, y, k: unsigned(x, k).bit_count(),
    "reverse_bits(x)": lambda x, y, k: wrap(int(f"{unsigned(x, k):0{BITS[k]}b}"[::-1], 2), k),
    "abs(x)": lambda x, y, k: wrap(abs(x), k),
    "median3(x, y, T(3))": lambda x, y, k: sorted([x, y, 3])[1],
    "clamp(x, T(2), T(9))": lambda x, y, k: min(max(x, 2), 9),
    "extract_bits(x, 1u, 4u)": lambda x, y, k: extracted(unsigned(x, k) >> 1 & 15, k),
    "insert_bits(x, y, 2u, 3u)": lambda x, y, k: wrap(x & ~28 | (y & 7) << 2, k),
}


@pytest.mark.parametrize("kind", BITS)
def test_integer_functions_are_exact_in_every_width(kind: str) -> None:
    x, y = numbers(kind), RNG.permutation(numbers(kind))
    inputs = {"x": (kind, x), "y": (kind, y)}
    found = evaluate(list(TWO), kind, inputs, locals_=f"using T = {kind};")
    for (text, exact), result in zip(TWO.items(), found, strict=True):
        expected = [exact(int(a), int(b), kind) for a, b in zip(x, y, strict=True)]
        assert [int(v) for v in result] == expected, text


@pytest.mark.parametrize("kind", ["int", "uchar"])
def test_integer_functions_of_vectors_are_those_of_their_components(kind: str) -> None:
    x = numbers(kind, 16).reshape(-1, 4)
    y = x[::-1].copy()
    calls = [text for text in TWO if "T(" not in text]
    inputs = {"x": (f"{kind}4", x), "y": (f"{kind}4", y)}
    whole = evaluate([f"{text}.{c}" for text in calls for c in "xw"], kind, inputs)
    parts = [
        text.replace("x", f"x.{c}", 1 if text.endswith("(x)") else -1).replace(", y", f", y.{c}")
        for text in (t.replace("max", "MA_").replace("extract", "E_") for t in calls)
        for c in "xw"
    ]
    parts = [text.replace("MA_", "max").replace("E_", "extract") for text in parts]
    single = evaluate(parts, kind, inputs)
    for text, a, b in zip(parts, whole, single, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=text)


def test_24_bit_products_and_high_halves() -> None:
    x = RNG.integers(-(1 << 23), 1 << 23, 50).astype(np.int32)
    y = RNG.integers(-100, 100, 50).astype(np.int32)
    found = evaluate(
        ["mul24(x, y)", "mad24(x, y, 7)", "madhi(x, y, 5)", "madsat(x, y, y)"],
        "int",
        {"x": ("int", x), "y": ("int", y)},
    )
    wide = x.astype(np.int64) * y
    np.testing.assert_array_equal(found[0], wide.astype(np.int32))
    np.testing.assert_array_equal(found[1], (wide + 7).astype(np.int32))
    np.testing.assert_array_equal(found[2], (wide >> 32) + 5)
    np.testing.assert_array_equal(found[3], np.clip(wide + y, -(1 << 31), (1 << 31) - 1))


def test_relational_functions() -> None:
    x = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, 1e-42], np.float32)
    names = ["isnan", "isinf", "isfinite", "signbit", "isnormal"]
    found = evaluate([f"uint({n}(x))" for n in names], "uint", {"x": ("float", x)})
    tiny = np.abs(x) >= np.finfo(np.float32).tiny
    expected = [np.isnan(x), np.isinf(x), np.isfinite(x), np.signbit(x), np.isfinite(x) & tiny]
    for name, result, wanted in zip(names, found, expected, strict=True):
        np.testing.assert_array_equal(result.astype(bool), wanted, err_msg=name)


def test_masks_and_selection() -> None:
    v = RNG.normal(size=(40, 4)).astype(np.float32)
    found = evaluate(
        ["float(any(v > 1.0f))", "float(all(v > -1.0f))", "select(v, float4(9), v < 0.0f).y",
         "select(1.0f, 2.0f, v.x > 0)", "float(bool4(v > 0.0f).z)", "float(any(isnan(v)))",
         "float4(bool4(v > 0.0f)).w", "float(all(bool2(true, v.x > 0)))",
         "float((!bool4(v > 0.0f))[1])",
         "select(v, v + 1, bool4(true, false, true, false)).x",
         "float(any(bool4(v > 0.0f) && bool4(v < 0.5f)))"],
        "float",
        {"v": ("float4", v)},
    )  # fmt: skip
    expected = [
        (v > 1).any(1), (v > -1).all(1), np.where(v < 0, 9, v)[:, 1], np.where(v[:, 0] > 0, 2, 1),
        v[:, 2] > 0, np.zeros(40), v[:, 3] > 0, v[:, 0] > 0, ~(v[:, 1] > 0), v[:, 0] + 1,
        ((v > 0) & (v < 0.5)).any(1),
    ]  # fmt: skip
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(result, wanted.astype(np.float32))


def test_as_type_keeps_the_bits() -> None:
    x = RNG.normal(size=50).astype(np.float32)
    found = evaluate(
        ["as_type<uint>(x)", "uint(as_type<ushort2>(x).x)", "uint(as_type<uchar4>(x).w)",
         "as_type<uint>(as_type<half2>(x))", "as_type<uint>(as_type<float>(as_type<int>(x)))"],
        "uint",
        {"x": ("float", x)},
    )  # fmt: skip
    bits = x.view(np.uint32)
    expected = [bits, bits & 0xFFFF, bits >> 24, bits, bits]
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)


def test_packing() -> None:
    v = RNG.uniform(-1.2, 1.2, (50, 4)).astype(np.float32)
    found = evaluate(
        ["pack_float_to_unorm4x8(v)", "pack_float_to_snorm4x8(v)", "pack_float_to_unorm2x16(v.xy)",
         "pack_float_to_snorm2x16(v.zw)"],
        "uint",
        {"v": ("float4", v)},
    )  # fmt: skip

    def packed(values: np.ndarray, bits: int, signed: bool) -> np.ndarray:
        top = (1 << (bits - signed)) - 1
        codes = np.rint(np.clip(values, -1 if signed else 0, 1) * np.float32(top)).astype(np.int64)
        shifts = bits * np.arange(values.shape[1])
        return ((codes & ((1 << bits) - 1)) << shifts).sum(1).astype(np.uint32)

    expected = [packed(v, 8, False), packed(v, 8, True), packed(v[:, :2], 16, False),
                packed(v[:, 2:], 16, True)]  # fmt: skip
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)
    words = expected[1]
    back = evaluate(
        [f"unpack_snorm4x8_to_float(x).{c}" for c in "xyzw"], "float", {"x": ("uint", words)}
    )
    np.testing.assert_allclose(np.stack(back, 1), np.clip(v, -1, 1), atol=1 / 127)
