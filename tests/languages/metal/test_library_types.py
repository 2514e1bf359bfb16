"""Vectors, packed vectors, matrices, address spaces and templates: what the types of Metal do."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.languages.metal.library import evaluate
from tests.languages.metal.sources import accepted, body

RNG = np.random.default_rng(11)
V = RNG.integers(-9, 9, (8, 4)).astype(np.float32)
WEIGHTS = np.array([1, 10, 100, 1000], np.float32)


@pytest.mark.parametrize("names", ["xyzw", "rgba"])
def test_every_swizzle_reads_its_components(names: str) -> None:
    lengths = (2, 3, 4) if names == "xyzw" else (2,)
    swizzles = [s for n in lengths for s in itertools.product(range(4), repeat=n)]
    if names == "xyzw":  # all of two, every seventh of the longer ones
        swizzles = [s for i, s in enumerate(swizzles) if len(s) == 2 or i % 7 == 0]
    calls = [
        f"dot(v.{''.join(names[c] for c in s)}, float{len(s)}({', '.join(map(str, w))}))"
        for s in swizzles
        for w in [[int(x) for x in WEIGHTS[: len(s)]]]
    ]
    found = evaluate(calls, "float", {"v": ("float4", V)})
    for swizzle, result in zip(swizzles, found, strict=True):
        expected = (V[:, list(swizzle)] * WEIGHTS[: len(swizzle)]).sum(1)
        np.testing.assert_array_equal(result, expected, err_msg=str(swizzle))


def test_every_swizzle_compiles_in_every_place() -> None:
    """All 340 of a four-vector as values, and those without repetition as targets."""
    every = [s for n in (1, 2, 3, 4) for s in itertools.product("xyzw", repeat=n)]
    reads = "".join(f"  acc += float4(v.{''.join(s)}{', 0' * (4 - len(s))});\n" for s in every)
    targets = [s for s in every if len(set(s)) == len(s)]
    writes = "".join(
        f"  v.{''.join(s)} = {f'w.{letters}' if len(s) > 1 else 'w.y'};\n"
        for s in targets
        for letters in ["zyxw"[: len(s)]]
    )
    accepted(
        body(
            f"  float4 v = float4(a[i]), w = v + 1, acc = 0;\n{reads}{writes}  a[i] = acc.x + v.x;"
        )
    )


def test_swizzles_are_targets() -> None:
    cases = {"v.xy = v.yx": [1, 0, 2, 3], "v.wz = v.xy": [0, 1, 1, 0],
             "v.xyz = v.zxy": [2, 0, 1, 3], "v.bgra = v": [2, 1, 0, 3],
             "v.x = v.w": [3, 1, 2, 3], "v[2] = v[0]": [0, 1, 0, 3]}  # fmt: skip
    for statement, order in cases.items():
        found = evaluate([f"v.{c}" for c in "xyzw"], "float", {"v": ("float4", V)},
                         locals_=statement + ";")  # fmt: skip
        np.testing.assert_array_equal(np.stack(found, 1), V[:, order], err_msg=statement)


CONSTRUCTORS: dict[str, list[float]] = {
    "float4(5)": [5, 5, 5, 5],
    "float4(1, 2, 3, 4)": [1, 2, 3, 4],
    "float4(float2(1, 2), 3, 4)": [1, 2, 3, 4],
    "float4(1, float2(2, 3), 4)": [1, 2, 3, 4],
    "float4(1, 2, float2(3, 4))": [1, 2, 3, 4],
    "float4(float2(1, 2), float2(3, 4))": [1, 2, 3, 4],
    "float4(float3(1, 2, 3), 4)": [1, 2, 3, 4],
    "float4(1, float3(2, 3, 4))": [1, 2, 3, 4],
    "float4(float4(1, 2, 3, 4))": [1, 2, 3, 4],
    "float4(int4(1, -2, 3, 4))": [1, -2, 3, 4],
    "float4(half4(1, 2, 3, 0.5h))": [1, 2, 3, 0.5],
    "float4(float3(1, 2, 3).zyx, 4)": [3, 2, 1, 4],
    "float4(float2(1), float2(2))": [1, 1, 2, 2],
    "float4(int3(1, 2, 3).x, 2, 3, 4)": [1, 2, 3, 4],
    "metal::float4(1, 2, 3, 4)": [1, 2, 3, 4],
    "float4{1, 2, 3, 4}": [1, 2, 3, 4],
    "vec<float, 4>(1, 2, 3, 4)": [1, 2, 3, 4],
    "vec<float, 4>(float3(1, 2, 3), 4)": [1, 2, 3, 4],
    "vec<float, 4>(int4(1, 2, 3, 4))": [1, 2, 3, 4],
    "made<float4>(1, 2, 3, 4)": [1, 2, 3, 4],
    "declared(1)": [1, 2, 3, 4],
    "braced({1, 2, 3, 4})": [1, 2, 3, 4],
    "float4(packed_float3(1, 2, 3), 4)": [1, 2, 3, 4],
    "float4(packed_float4(1, 2, 3, 4))": [1, 2, 3, 4],
    "float4(bool4(true, false, true, true))": [1, 0, 1, 1],
}
HELPERS = """
template <typename T> T made(float a, float b, float c, float d) { return T(a, b, c, d); }
float4 declared(float a) { float4 v(a, 2, 3, 4); return v; }
float4 braced(float4 v) { return v; }
"""


def test_every_form_of_constructor() -> None:
    found = evaluate(
        [f"({c}).{k}" for c in CONSTRUCTORS for k in "xyzw"],
        "float",
        {"v": ("float4", V[:1])},
        before=HELPERS,
    )
    values = np.array([f[0] for f in found]).reshape(-1, 4)
    for (text, expected), value in zip(CONSTRUCTORS.items(), values, strict=True):
        assert list(value) == expected, text


@pytest.mark.parametrize(
    "text", ["float4(1, 2)", "float4(float3(1, 2, 3))", "float2(1, 2, 3)", "float3(float4(1))",
             "float4(int2(1, 2), 3, 4)"],
)  # fmt: skip
def test_components_that_do_not_fill_a_vector_are_refused(text: str) -> None:
    from tests.languages.metal.sources import errors

    (error,) = errors(body(f"  float4 v = 0;\n  v.x = ({text}).x;\n  a[i] = v.x;"))
    assert error.line == 5
    assert error.message.startswith("no matching constructor")


def test_packed_vectors_have_no_gaps_and_convert() -> None:
    out = evaluate(
        ["p.x", "p[2]", "(p * 2.0f).y", "(p + q).z", "float3(p).y", "dot(float3(p), float3(q))",
         "(-p).x", "r.z", "s.y", "float(sizeof(packed_float3))", "float(sizeof(float3))",
         "float(sizeof(packed_half3))"],
        "float",
        {"p": ("packed_float3", V[:, :3].copy()), "q": ("packed_float3", V[:, 1:].copy())},
        locals_="packed_float3 r = float3(q); r.z += 1; r *= 2.0f; float3 s = p;",
    )  # fmt: skip
    p, q = V[:, :3], V[:, 1:]
    expected = [p[:, 0], p[:, 2], 2 * p[:, 1], p[:, 2] + q[:, 2], p[:, 1], (p * q).sum(1), -p[:, 0],
                2 * (q[:, 2] + 1), p[:, 1], *(np.full(8, n) for n in (12, 16, 6))]  # fmt: skip
    for result, wanted in zip(out, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)


def test_matrices() -> None:
    m = RNG.normal(size=(20, 16)).astype(np.float32)
    v = RNG.normal(size=(20, 4)).astype(np.float32)
    columns = "float4x4 a = float4x4(m[0], m[1], m[2], m[3]);"
    found = evaluate(
        ["(a * v).y", "(v * a).y", "(a * a)[2][1]", "transpose(a)[1][3]", "determinant(a)",
         "(a + a)[0][0]", "(a - float4x4(1.0f))[3][3]", "(2.0f * a)[1].z", "(-a)[0].w",
         "float(all((a * float4x4(1)).columns[2] == a.columns[2]))",
         "float3x2(1, 2, 3, 4, 5, 6)[2].y", "(float2x3(float3(1, 2, 3), float3(4, 5, 6)) * v.xy).z",
         "determinant(float3x3(a[0].xyz, a[1].xyz, a[2].xyz))", "determinant(float2x2(1, 2, 3, 4))",
         "float(half4x4(a)[0][1])", "(float4x4(half4x4(a)) * v).x"],
        "float",
        {"m": ("float4x4", m), "v": ("float4", v)},
        locals_=columns,
    )  # fmt: skip
    a = m.reshape(20, 4, 4).transpose(0, 2, 1).astype(np.float64)  # stored by column
    w = v.astype(np.float64)
    rounded = a.astype(np.float16).astype(np.float64)
    expected = [
        (a @ w[:, :, None])[:, 1, 0], (w[:, None, :] @ a)[:, 0, 1], (a @ a)[:, 1, 2], a[:, 1, 3],
        np.linalg.det(a), 2 * a[:, 0, 0], a[:, 3, 3] - 1, 2 * a[:, 2, 1], -a[:, 3, 0], np.ones(20),
        np.full(20, 6), 3 * w[:, 0] + 6 * w[:, 1], np.linalg.det(a[:, :3, :3]), np.full(20, -2),
        rounded[:, 1, 0], (rounded @ w[:, :, None])[:, 0, 0],
    ]  # fmt: skip
    for i, (result, wanted) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-4, err_msg=str(i))


LANGUAGE = """
struct Pair { float first; float second; float sum() const { return first + second; } };
struct Scaled {
  float k;
  float of(float x) const thread { return k * x; }
  float of(float x) const device { return k * x; }
  float of(float x) const constant { return k * x; }
};
constant float table[4] = {1, 2, 4, 8};
constant Scaled by_three = {3};
constant float3 axes[2] = {float3(1, 0, 0), float3(0, 1, 0)};
template <typename T, int N> T total(thread const T (&values)[N]) {
  T s = 0;
  for (int i = 0; i < N; i++) s += values[i];
  return s;
}
template <typename T> T largest(T a, T b) { return a > b ? a : b; }
void bump(thread float& x) { x += 1; }
float first_of(constant const float values[4]) { return values[0]; }
namespace mine { float twice(float x) { return 2 * x; } }
enum Mode : uint { off, on };
constexpr constant int COUNT = 3;
#define SQUARE(x) ((x) * (x))
float recurse(int n) { return n == 0 ? 0.0f : 1.0f + recurse(n - 1); }
"""


def test_the_language_around_the_types() -> None:
    x = np.arange(8, dtype=np.float32)
    found = evaluate(
        ["pair.sum()", "table[uint(x) % 4]", "by_three.of(x)", "scaled.of(x)", "total(local)",
         "largest(x, 3.0f)", "bumped", "first_of(table)", "mine::twice(x)", "float(COUNT)",
         "SQUARE(x)", "axes[1].y", "twice(x)", "float(uint(on))", "recurse(3)", "x * 0.1",
         "float(1.5h * 2)", "numeric_limits<float>::max()", "M_PI_F", "float(elements.size())",
         "elements[1]", "float(sizeof(half3))"],
        "float",
        {"x": ("float", x)},
        before=LANGUAGE,
        locals_="Pair pair = {x, 2}; Scaled scaled{4}; float local[3] = {x, 1, 2}; "
        "float bumped = x; bump(bumped); auto twice = [](float y) { return 2 * y; }; "
        "array<float, 2> elements = {1, 5};",
    )  # fmt: skip
    one = np.ones(8)
    expected = [
        x + 2, np.array([1, 2, 4, 8] * 2), 3 * x, 4 * x, x + 3, np.maximum(x, 3), x + 1, one, 2 * x,
        3 * one, x * x, one, 2 * x, one, 3 * one, x * np.float32(0.1), 3 * one,
        np.finfo(np.float32).max * one, np.pi * one, 2 * one, 5 * one, 8 * one,
    ]  # fmt: skip
    for i, (result, wanted) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_array_equal(result, wanted.astype(np.float32), err_msg=str(i))


def test_function_constants_take_the_assignment_s_values() -> None:
    from tests.languages.metal.sources import contract

    text = (
        "#include <metal_stdlib>\n#define FIRST 40\n"
        "constant short WIDTH [[function_constant(FIRST + 2)]];\n"
        "constant bool GIVEN = is_function_constant_defined(WIDTH);\n"
        "constant bool OTHER [[function_constant(1)]];\n"
        "kernel void k(device float* a [[buffer(0)]]) {\n"
        "  a[0] = GIVEN ? WIDTH : -1;\n"
        "  if (OTHER) a[1] = 1;\n}\n"
    )
    one = contract("k", "a: device float* [[buffer(0)]]", WIDTH=12)
    ptx = accepted(text, one).variants[0].ptx
    assert "1094713344" in ptx  # 12.0f
    assert ptx.count("st.global") == 1
    without = accepted(text).variants[0].ptx
    assert "-1082130432" in without or "3212836864" in without  # -1.0f


def test_bfloat_rounds_to_eight_bits() -> None:
    x = RNG.normal(size=64).astype(np.float32)
    (found,) = evaluate(["float(bfloat(x))"], "float", {"x": ("float", x)})
    bits = x.view(np.uint32)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)
    np.testing.assert_array_equal(found, rounded)
