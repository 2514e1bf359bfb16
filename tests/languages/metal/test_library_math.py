"""metal_math, metal_common, metal_geometric against numpy in double precision.

Bounds are those of the Metal specification's accuracy tables (precise and fast), or tighter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.languages.metal.library import evaluate, ulp_error

RNG = np.random.default_rng(20240601)
COUNT = 512
SIGN = np.where(RNG.random(COUNT) < 0.5, -1.0, 1.0)

Array = np.ndarray
Function = Callable[[Array], Array]


def spread(low: float, high: float) -> Array:
    """Numbers over orders of magnitude."""
    return np.exp(RNG.uniform(np.log(low), np.log(high), COUNT)).astype(np.float32)


DOMAINS: dict[str, Array] = {
    "unit": RNG.uniform(-1, 1, COUNT).astype(np.float32),
    "positive": spread(1e-44, 3e38),
    "above_one": 1 + spread(1e-6, 1e30),
    "any": (SIGN * spread(1e-6, 1e6)).astype(np.float32),
    "huge": (SIGN * spread(1, 3e38)).astype(np.float32),
    "small": RNG.uniform(-10, 10, COUNT).astype(np.float32),
    "exponent": RNG.uniform(-87, 88, COUNT).astype(np.float32),
}

# Function, numpy's, where, and the specification's largest error of precise maths in ulp.
PRECISE: list[tuple[str, Function, str, float]] = [
    ("exp", np.exp, "exponent", 4),
    ("exp2", np.exp2, "exponent", 4),
    ("exp10", lambda x: np.power(10.0, x), "small", 4),
    ("log", np.log, "positive", 4),
    ("log2", np.log2, "positive", 4),
    ("log10", np.log10, "positive", 4),
    ("sin", np.sin, "huge", 4),
    ("cos", np.cos, "huge", 4),
    ("tan", np.tan, "huge", 6),
    ("sinpi", lambda x: np.sin(np.pi * x), "small", 4),
    ("cospi", lambda x: np.cos(np.pi * x), "small", 4),
    ("asin", np.arcsin, "unit", 5),
    ("acos", np.arccos, "unit", 5),
    ("atan", np.arctan, "any", 5),
    ("sinh", np.sinh, "exponent", 4),
    ("cosh", np.cosh, "exponent", 4),
    ("tanh", np.tanh, "small", 5),
    ("asinh", np.arcsinh, "any", 4),
    ("acosh", np.arccosh, "above_one", 4),
    ("atanh", np.arctanh, "unit", 5),
    ("sqrt", np.sqrt, "positive", 0.51),
    ("rsqrt", lambda x: 1 / np.sqrt(x), "positive", 2),
]
# Fast maths: relative errors that a kernel meets in ordinary ranges.
FAST: list[tuple[str, Function, str, float]] = [
    ("exp", np.exp, "small", 24),
    ("exp2", np.exp2, "exponent", 4),
    ("log", np.log, "positive", 4),
    ("log2", np.log2, "positive", 4),
    ("sin", np.sin, "small", 4),
    ("cos", np.cos, "small", 4),
    ("tan", np.tan, "small", 6),
    ("rsqrt", lambda x: 1 / np.sqrt(x), "positive", 2),
]


@pytest.mark.parametrize(("mode", "table"), [("precise", PRECISE), ("fast", FAST)])
def test_float_functions_are_as_accurate_as_the_specification_says(
    mode: str, table: list[tuple[str, Function, str, float]]
) -> None:
    inputs = {name: ("float", DOMAINS[name]) for name in {row[2] for row in table}}
    results = evaluate([f"{mode}::{name}({where})" for name, _, where, _ in table], "float", inputs)
    worst = {}
    for (name, function, where, bound), found in zip(table, results, strict=True):
        with np.errstate(all="ignore"):
            error = ulp_error(found, function(DOMAINS[where].astype(np.float64)))
        if not error <= bound:
            worst[name] = error
    assert worst == {}


SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 1e-42, 3.4e38, -3.4e38], np.float32
)


@pytest.mark.parametrize(
    "names",
    [
        ["exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan"],
        ["sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sqrt"],
        ["floor", "ceil", "trunc", "rint", "fabs"],
    ],
)
def test_special_values_give_ieee_results(names: list[str]) -> None:
    results = evaluate([f"precise::{n}(x)" for n in names], "float", {"x": ("float", SPECIAL)})
    numpys = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh",
              "acosh": "arccosh", "atanh": "arctanh", "log10": "log10"}  # fmt: skip
    for name, found in zip(names, results, strict=True):
        with np.errstate(all="ignore"):
            expected = getattr(np, numpys.get(name, name))(SPECIAL.astype(np.float64))
            expected = expected.astype(np.float32)
        # sin and its kin of a denormal, or near an overflow, need no more than the bounds above.
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-44, err_msg=name)


def test_functions_of_two_arguments() -> None:
    x, y = spread(1e-3, 1e3), RNG.uniform(-12, 12, COUNT).astype(np.float32)
    z = (SIGN * x).astype(np.float32)
    wide, narrow = x.astype(np.float64), y.astype(np.float64)
    found = evaluate(
        ["pow(x, y)", "powr(x, y)", "atan2(z, y)", "fmod(z, y)", "fdim(x, y)", "copysign(x, y)",
         "fmax(z, y)", "fmin(z, y)", "nextafter(z, y)", "x / y", "fma(x, y, z)", "max3(x, y, z)",
         "median3(x, y, z)", "pow(z, 3.0f)", "pow(z, -2.0f)"],
        "float",
        {"x": ("float", x), "y": ("float", y), "z": ("float", z)},
    )  # fmt: skip
    assert ulp_error(found[0], np.power(wide, narrow)) <= 16
    assert ulp_error(found[1], np.power(wide, narrow)) <= 16
    assert ulp_error(found[2], np.arctan2(z.astype(np.float64), narrow)) <= 6
    three = np.sort(np.stack([x, y, z]), axis=0)
    exact = [np.fmod(z, y), np.maximum(x - y, 0), np.copysign(x, y), np.maximum(z, y),
             np.minimum(z, y), np.nextafter(z, y), x / y]  # fmt: skip
    for result, expected in zip(found[3:10], exact, strict=True):
        np.testing.assert_array_equal(result, expected)
    assert ulp_error(found[10], wide * narrow + z) <= 1
    np.testing.assert_array_equal(found[11], three[2])
    np.testing.assert_array_equal(found[12], three[1])
    assert ulp_error(found[13], np.power(z.astype(np.float64), 3)) <= 16
    assert ulp_error(found[14], np.power(z.astype(np.float64), -2)) <= 16


def test_parts_of_a_number() -> None:
    x = np.concatenate([spread(1e-44, 3e38), [0, -1.5, 7.25, -0.0, 1e-45]]).astype(np.float32)
    n = RNG.integers(-160, 160, x.size).astype(np.int32)
    mantissa, exponent = np.frexp(x)
    whole = np.trunc(x)
    found = evaluate(
        ["frexp(x, e)", "float(e)", "modf(x, w)", "w", "ldexp(x, n)", "float(ilogb(x))", "fract(x)",
         "sign(x)", "round(x)"],
        "float",
        {"x": ("float", x), "n": ("int", n)},
        locals_="int e; float w;",
    )  # fmt: skip
    np.testing.assert_array_equal(found[0], mantissa)
    np.testing.assert_array_equal(found[1], exponent.astype(np.float32))
    np.testing.assert_array_equal(found[2], x - whole)
    np.testing.assert_array_equal(found[3], whole)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found[4], np.ldexp(x, n))
    nonzero = x != 0
    np.testing.assert_array_equal(found[5][nonzero], (exponent - 1)[nonzero].astype(np.float32))
    np.testing.assert_array_equal(found[6], x - np.floor(x))
    np.testing.assert_array_equal(found[7], np.sign(x))
    np.testing.assert_array_equal(found[8], np.trunc(x + np.copysign(np.float32(0.5), x)))


def test_half_functions_round_a_float_result() -> None:
    x = RNG.uniform(0.01, 8, 200).astype(np.float16)
    names = {"exp": np.exp, "log": np.log, "sin": np.sin, "sqrt": np.sqrt, "tanh": np.tanh}
    found = evaluate([f"{n}(x)" for n in names], "half", {"x": ("half", x)})
    for (name, function), result in zip(names.items(), found, strict=True):
        expected = function(x.astype(np.float64)).astype(np.float16)
        np.testing.assert_allclose(result, expected, rtol=1e-3, err_msg=name)


def test_common_functions() -> None:
    x, y, t = (RNG.uniform(-2, 2, COUNT).astype(np.float32) for _ in range(3))
    found = evaluate(
        ["clamp(x, -0.5f, 0.75f)", "mix(x, y, t)", "saturate(x)", "step(x, y)",
         "smoothstep(-1.0f, 1.0f, x)", "sign(x)"],
        "float",
        {"x": ("float", x), "y": ("float", y), "t": ("float", t)},
    )  # fmt: skip
    s = np.clip((x.astype(np.float64) + 1) / 2, 0, 1)
    expected = [np.clip(x, np.float32(-0.5), np.float32(0.75)), x + (y - x) * t, np.clip(x, 0, 1),
                (y >= x).astype(np.float32), s * s * (3 - 2 * s), np.sign(x)]  # fmt: skip
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=2e-6, atol=1e-6)


def test_functions_of_vectors_are_those_of_their_components() -> None:
    x = RNG.uniform(0.1, 3, (64, 4)).astype(np.float32)
    names = ["sin", "exp", "floor", "sqrt", "fract", "sign", "log2"]
    calls = [f"{n}(v).{c}" for n in names for c in "xyzw"]
    found = evaluate(calls, "float", {"v": ("float4", x)})
    single = evaluate([f"{n}(v.{c})" for n in names for c in "xyzw"], "float", {"v": ("float4", x)})
    for result, expected in zip(found, single, strict=True):
        np.testing.assert_array_equal(result, expected)


def test_geometric_functions() -> None:
    a, b = (RNG.normal(size=(COUNT, 4)).astype(np.float32) for _ in range(2))
    found = evaluate(
        ["dot(a.xyz, b.xyz)", "dot(a, b)", "length(a)", "distance(a, b)", "length_squared(a.xy)",
         "normalize(a.xyz).y", "cross(a.xyz, b.xyz).x", "cross(a.xyz, b.xyz).y",
         "cross(a.xyz, b.xyz).z", "reflect(a, normalize(b)).z", "faceforward(a, b, a).x",
         "refract(normalize(a.xyz), normalize(b.xyz), 0.7f).x"],
        "float",
        {"a": ("float4", a), "b": ("float4", b)},
    )  # fmt: skip
    p, q = a.astype(np.float64), b.astype(np.float64)
    cross = np.cross(p[:, :3], q[:, :3])
    unit = q / np.linalg.norm(q, axis=1)[:, None]
    i, n = (v[:, :3] / np.linalg.norm(v[:, :3], axis=1)[:, None] for v in (p, q))
    c = (i * n).sum(1)
    k = 1 - 0.49 * (1 - c * c)
    refracted = np.where(k < 0, 0, 0.7 * i[:, 0] - (0.7 * c + np.sqrt(np.abs(k))) * n[:, 0])
    expected = [
        (p[:, :3] * q[:, :3]).sum(1), (p * q).sum(1), np.linalg.norm(p, axis=1),
        np.linalg.norm(p - q, axis=1), (p[:, :2] ** 2).sum(1),
        p[:, 1] / np.linalg.norm(p[:, :3], axis=1), cross[:, 0], cross[:, 1], cross[:, 2],
        p[:, 2] - 2 * (unit * p).sum(1) * unit[:, 2],
        np.where((p * q).sum(1) < 0, p[:, 0], -p[:, 0]), refracted,
    ]  # fmt: skip
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=2e-5, atol=2e-5)
