"""Casts, bool vectors and the components of packed vectors: values, not only that they compile."""

from __future__ import annotations

import numpy as np
import pytest

from grader import vgpu
from tests.languages.metal.library import evaluate
from tests.languages.metal.sources import accepted, body

V = np.array([[-3.5, 2.25, 0, 7], [1, -1, 8.5, -0.25]], np.float32)
W = np.array([[1, 2, -1, 7], [1, 0, 9, -1]], np.float32)


def values(text: str, *, before: str = "", locals_: str = "") -> np.ndarray:
    """The four components of a float4 expression of v and w, for both rows."""
    found = evaluate(
        [f"({text}).{c}" for c in "xyzw"],
        "float",
        {"v": ("float4", V), "w": ("float4", W)},
        before=before,
        locals_=locals_,
    )
    return np.stack(found, 1)


LESS = (V < W).astype(np.float32)
MIXED = np.stack([V[:, 0], W[:, 1], V[:, 2], W[:, 3]], 1)
TEMPLATES = """
template <typename T, typename U> T cast_to(U x) { return (T)x; }
template <typename T, typename U> T made_from(U x) { return T(x); }
template <typename T, typename U> T static_to(U x) { return static_cast<T>(x); }
template <typename T, typename U> T negated(U x) { return (T) -x; }
template <typename T> T eased(T x) { return fmin(1, x * 0.25 + 5.e-1); }
template <typename T> int bytes(T x) { return sizeof(x * 0.5) + sizeof(x + 1.) + sizeof(x - 2e0); }
template <int N> float count(vec<bool, N> m) {
  float s = 0;
  for (int i = 0; i < N; i++) s += m[i] ? 1 : 0;
  return s;
}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("float4((int4)v)", np.trunc(V)),
        ("(float4)(half4)v", V),
        ("float4(-(int4)v)", -np.trunc(V)),
        ("(float4)(1.5f) * v", 1.5 * V),
        ("((float4)int4(v)).wzyx", np.trunc(V)[:, ::-1]),
        ("(float4)as_type<int4>(v)", V.view(np.int32).astype(np.float32)),
        ("float4(static_cast<int4>(v))", np.trunc(V)),
        ("float4(cast_to<int4>(v))", np.trunc(V)),
        ("float4(made_from<int4>(v))", np.trunc(V)),
        ("float4(static_to<half4>(v))", V),
        ("float4(negated<int4>(v))", -np.trunc(V)),
        ("eased(v)", np.minimum(1, V * 0.25 + 0.5)),
        ("float4(eased(1.5f), bytes(1.0f), bytes(1.0h), negated<half>(2))",
         np.tile([0.875, 12, 12, -2], (2, 1))),
        ("cast_to<float4>(2.0f)", np.full((2, 4), 2)),
        ("float4(cast_to<half>(bfloat(v.x)), 1.5bf, 0.5H, cast_to<bfloat>(2.0h))",
         np.stack([V[:, 0], *(np.full(2, x) for x in (1.5, 0.5, 2))], 1)),
    ],
)  # fmt: skip
def test_a_cast_converts(text: str, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(values(text, before=TEMPLATES), expected.astype(np.float32))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("float4(v < w)", LESS),
        ("float4(int4(v < w))", LESS),
        ("float4((v < w).x, (v < w).y, (v < w).z, (v < w).w)", LESS),
        ("3.0f * float4(m)", 3 * LESS),
        ("float4(!(v < w))", 1 - LESS),
        ("float4(v < w && w > 0)", LESS * (W > 0)),
        ("float4(m || bool4(false, true, false, false))", np.maximum(LESS, [0, 1, 0, 0])),
        ("(v < w) ? v : w", np.minimum(V, W)),
        ("select(w, v, v < w)", np.minimum(V, W)),
        ("select(w, v, vec<bool, 4>(true, false, true, false))", MIXED),
        ("float4(m.wzyx)", LESS[:, ::-1]),
        ("float4(n)", np.stack([LESS[:, 1], LESS[:, 0], np.ones(2), np.zeros(2)], 1)),
        ("float4(bool4(m.xy, true, false))", np.concatenate([LESS[:, :2], [[1, 0]] * 2], 1)),
        ("float4(bool4(true, m.zw, m.r))",
         np.stack([np.ones(2), LESS[:, 2], LESS[:, 3], LESS[:, 0]], 1)),
        ("float4(any(m.xy), all(m.xy), all(bool3(int3(1, 0, 1))), any(v < w))",
         np.stack([LESS[:, :2].max(1), LESS[:, :2].min(1), np.zeros(2), LESS.max(1)], 1)),
        ("float4(count(m), count(bool2(true)), sizeof(bool3), "
         "sizeof(bool2))", np.stack([LESS.sum(1), *(np.full(2, x) for x in (2, 4, 2))], 1)),
    ],
)  # fmt: skip
def test_a_comparison_of_vectors_is_true_or_false(text: str, expected: np.ndarray) -> None:
    locals_ = "bool4 m = v < w; bool4 n = m; n.xy = m.yx; n.zw = bool2(true, false);"
    found = values(text, before=TEMPLATES, locals_=locals_)
    np.testing.assert_array_equal(found, expected.astype(np.float32))


PACKED = "packed_float4 p = v; packed_float3 q = w.xyz;"


@pytest.mark.parametrize(
    ("statement", "text", "expected"),
    [
        ("", "float4(p.xy, q.zx)", np.concatenate([V[:, :2], W[:, [2, 0]]], 1)),
        ("", "p.wzyx + 1.0f", V[:, ::-1] + 1),
        ("", "-p.bgra", -V[:, [2, 1, 0, 3]]),
        ("p.zw = q.xy;", "float4(p)", np.concatenate([V[:, :2], W[:, :2]], 1)),
        ("p.xy *= 2;", "float4(p)", V * [2, 2, 1, 1]),
        ("p.xy = p.yx;", "float4(p)", V[:, [1, 0, 2, 3]]),
        ("p = p.wzyx;", "float4(p)", V[:, ::-1]),
        ("const packed_float4 r = w; p.yzw = r.yzw;", "float4(p)",
         np.concatenate([V[:, :1], W[:, 1:]], 1)),
        ("", "float4(dot(p.xyz, q), length_squared(q.xy), p.a, packed_int3(7, 8, 9).y % 3)",
         np.stack([(V[:, :3] * W[:, :3]).sum(1), (W[:, :2] ** 2).sum(1), V[:, 3],
                   np.full(2, 2)], 1)),
        ("", "float4(p < packed_float4(w))", LESS),
        ("packed_uint4 u = as_type<packed_uint4>(p);", "float4(as_type<float4>(uint4(u)))", V),
    ],
)  # fmt: skip
def test_components_of_packed_vectors_by_name(
    statement: str, text: str, expected: np.ndarray
) -> None:
    found = values(text, locals_=PACKED + statement)
    np.testing.assert_array_equal(found, expected.astype(np.float32))


def test_components_by_name_are_written_alone() -> None:
    """What a swizzle does not name keeps its value, in device memory too, and is not touched."""
    text = (
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void k(device packed_float3* p, uint i [[thread_position_in_grid]]) {\n"
        "  if (i % 3 == 0) p[i / 3].xz = float2(1, 2);\n"
        "  if (i % 3 == 1) p[i / 3].y += 5;\n"
        "}\n"
    )
    p = np.full((4, 3), 10, np.float32)
    for variant in accepted(text).variants:
        one = p.copy()
        run = vgpu.launch(vgpu.Module.from_ptx(variant.ptx).kernel("k"), 1, 12, [one])
        assert run.faults == ()
        np.testing.assert_array_equal(one, [[1, 15, 2]] * 4)


def test_constants_of_packed_and_bool_vectors() -> None:
    text = (
        "constant packed_float3 axis = packed_float3(1, 2, 3);\n"
        "constant bool4 flags = bool4(true, false, true, true);\n"
    )
    found = values("float4(axis, flags.y)", before=text)
    np.testing.assert_array_equal(found, [[1, 2, 3, 0]] * 2)


@pytest.mark.parametrize(
    "statements",
    [
        "  float2 p(1, 2), q(p), r(3);\n  a[i] = p.x + q.y + r.x;",
        "  vec<half, 4> h(half3(1), 2), g(h);\n  a[i] = h.w + g.x;",
        "  float2 f(float2 x);\n  a[i] = 1;",  # a declaration of a function
        "  struct S { float f; };\n  device const S* x = (device const S*)b;\n"
        "  S y = i ? x[0] : S{1};\n  { float2 x(y.f);\n  a[i] = i ? x[0] : x[1]; }",
        "#define TENTH 0.1##f\n  uint T = 3;\n  a[i] = (T) - i + TENTH;",
        "  device const float* __restrict p = b;\n  a[i] = p[0];",
        "  assert(i < 3);\n  a[i] = (half)(b[i]) + (float)sizeof(float4) + (i)*2;",
        "  auto f = [](float4) { return 1.0f; };\n  a[i] = f(float4(1));",
        "  float4x4 m = {float4(1), float4(2), float4(3), float4(4)};\n  a[i] = m[0].x;",
    ],
)
def test_forms_that_are_left_or_made_right(statements: str) -> None:
    accepted(body(statements))


def test_a_file_s_own_type_has_limits_and_a_place_among_simd_types() -> None:
    text = """
struct Pair { uint i; float value; };
template <> struct metal::_numeric_limits_impl<Pair> {
  static constexpr METAL_FUNC Pair lowest() { return Pair{7, numeric_limits<float>::lowest()}; }
};
static_assert(!__is_valid_simdgroup_type<Pair>::value && __is_valid_simdgroup_type<half2>::value);
"""
    found = values("float4(numeric_limits<Pair>::lowest().i, vec_elements<float3>::value, "
                   "numeric_limits<float>::digits10, numeric_limits<short>::digits10)",
                   before=text)  # fmt: skip
    np.testing.assert_array_equal(found, [[7, 3, 6, 4]] * 2)


STEPS = """
float4 up(float4 v) { v++; return v; }
float4 back(float4 v) { float4 old = v--; return old - v; }
float4 item(float4 v) { float4 p[2] = {v, v}; p[1]++; --p[1]; ++p[1]; return p[1] - p[0]; }
float4 ints(float4 v) { int4 n = (int4)v; ++n; return (float4)n--; }
float4 rest(float4 v) { for (int i = 0, j = 4; i < 2; i++, --j) v.x++;
  return v - float4(2, 0, 0, 0); }
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("up(v)", V + 1),
        ("back(v)", np.ones_like(V)),
        ("item(v)", np.ones_like(V)),
        ("ints(v)", np.trunc(V) + 1),
        ("rest(v)", V),
    ],
)
def test_a_vector_steps_as_a_number_does(text: str, expected: np.ndarray) -> None:
    np.testing.assert_allclose(values(text, before=STEPS), expected, atol=1e-6)


def test_a_choice_reads_a_structure_from_any_address_space() -> None:
    text = """struct C { float re, im; };
C made(float x) { return {x, -x}; }
kernel void k(device float* o, device const C* p, constant C& r, constant C* t,
              uint i [[thread_position_in_grid]]) {
  threadgroup C s[4];
  s[i] = made(10 * i);
  C a = i < 1 ? p[i] : made(5);
  C b = i < 1 ? made(6) : *p;
  C c = i == 0 ? made(7) : i == 1 ? r : t[1];
  C d = i < 1 ? s[i] : p[0];
  o[4 * i] = a.im; o[4 * i + 1] = b.re; o[4 * i + 2] = c.re; o[4 * i + 3] = d.re;
}
"""
    for variant in accepted(text).variants:
        out = np.zeros(12, np.float32)
        p, r = np.float32([[1, 2], [3, 4]]), np.float32([8, 9])
        kernel = vgpu.Module.from_ptx(variant.ptx).kernel("k")
        run = vgpu.launch(kernel, 1, 3, [out, p, r.view(np.uint64)[0], p])
        assert (run.ended, run.faults) == ("finished", ())
        assert out.reshape(3, 4).tolist() == [[2, 6, 7, 0], [-5, 1, 8, 1], [-5, 1, 3, 1]]
