"""Elementary functions against mpmath: NVIDIA's documented bounds, special values, determinism."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

CANONICAL = 0x7FFFFFFF
INF, NAN = float("inf"), float("nan")


def floats(low: float, high: float, count: int, seed: int = 1) -> np.ndarray:
    """Floats between two bounds, uniform in value for one half and in bit pattern for the other."""
    rng = np.random.default_rng(seed)
    linear = rng.uniform(low, high, count // 2).astype(np.float32)
    edge = np.float32(max(abs(low), abs(high))).view(np.uint32)
    bits = rng.integers(0, int(edge), count // 2, dtype=np.uint32)
    signs = rng.integers(0, 2, count // 2, dtype=np.uint32) << np.uint32(31)
    logarithmic = (bits | signs).view(np.float32)
    values = np.concatenate([linear, logarithmic])
    return values[(values >= low) & (values <= high)]


def ulp_of(exact: mpmath.mpf) -> mpmath.mpf:
    """The spacing of float32 at a real number; the subnormal spacing below 2^-126."""
    exponent = mpmath.frexp(exact)[1] - 1 if exact else -126
    return mpmath.ldexp(1, max(exponent, -126) - 23)


def error_in_ulp(actual: np.ndarray, x: np.ndarray, function, *more: np.ndarray) -> float:
    """The largest error over an array, in units in the last place of the exact result."""
    worst = mpmath.mpf(0)
    with mpmath.workprec(120):
        for result, *arguments in zip(actual, x, *more, strict=True):
            exact = function(*(mpmath.mpf(float(argument)) for argument in arguments))
            largest = float(np.finfo(np.float32).max)
            if abs(exact) > largest * (1 + 2.0**-25):
                assert np.isinf(result), (arguments, result, exact)
                continue
            worst = max(worst, abs(mpmath.mpf(float(result)) - exact) / ulp_of(exact))
    return float(worst)


# name, exact function, domain, bound in ulp. Ours are 0.501 everywhere; PTX documents, for
# ex2 2, lg2 2^-22 absolute or relative, rsqrt 2^-22.9, rcp 1, sin/cos 2^-20.5 absolute, tanh 2^-11.
APPROXIMATE = [
    ("vg_ex2f", lambda x: mpmath.power(2, x), (-152, 129)),
    ("vg_lg2f", lambda x: mpmath.log(x, 2), (1e-45, 3.4e38)),
    ("vg_sinf", mpmath.sin, (-3.4e38, 3.4e38)),
    ("vg_cosf", mpmath.cos, (-3.4e38, 3.4e38)),
    ("vg_tanhf", mpmath.tanh, (-12, 12)),
    ("vg_rsqrtf", lambda x: 1 / mpmath.sqrt(x), (1e-45, 3.4e38)),
    ("vg_rcpf", lambda x: 1 / x, (1e-38, 3.4e38)),
    ("vg_sqrtf_approx", mpmath.sqrt, (0, 3.4e38)),
]

PRECISE = [
    ("vg_expf_p", mpmath.exp, (-104, 89)),
    ("vg_exp2f_p", lambda x: mpmath.power(2, x), (-150, 128)),
    ("vg_exp10f_p", lambda x: mpmath.power(10, x), (-46, 39)),
    ("vg_expm1f_p", mpmath.expm1, (-20, 89)),
    ("vg_logf_p", mpmath.log, (1e-45, 3.4e38)),
    ("vg_logf_p", mpmath.log, (0.5, 2)),
    ("vg_log2f_p", lambda x: mpmath.log(x, 2), (0.5, 2)),
    ("vg_log10f_p", mpmath.log10, (1e-45, 3.4e38)),
    ("vg_log1pf_p", mpmath.log1p, (-0.9999999, 3.4e38)),
    ("vg_log1pf_p", mpmath.log1p, (-1e-3, 1e-3)),
    ("vg_sinf_p", mpmath.sin, (-10, 10)),
    ("vg_cosf_p", mpmath.cos, (-10, 10)),
    ("vg_tanf_p", mpmath.tan, (-3.4e38, 3.4e38)),
    ("vg_tanf_p", mpmath.tan, (-10, 10)),
    ("vg_sinpif_p", mpmath.sinpi, (-1e5, 1e5)),
    ("vg_cospif_p", mpmath.cospi, (-1e5, 1e5)),
    ("vg_tanpif_p", lambda x: mpmath.sinpi(x) / mpmath.cospi(x), (-0.49, 0.49)),
    ("vg_asinf_p", mpmath.asin, (-1, 1)),
    ("vg_acosf_p", mpmath.acos, (-1, 1)),
    ("vg_atanf_p", mpmath.atan, (-3.4e38, 3.4e38)),
    ("vg_sinhf_p", mpmath.sinh, (-91, 91)),
    ("vg_coshf_p", mpmath.cosh, (-91, 91)),
    ("vg_tanhf_p", mpmath.tanh, (-12, 12)),
    ("vg_asinhf_p", mpmath.asinh, (-3.4e38, 3.4e38)),
    ("vg_acoshf_p", mpmath.acosh, (1, 3.4e38)),
    ("vg_acoshf_p", mpmath.acosh, (1, 1.01)),
    ("vg_atanhf_p", mpmath.atanh, (-0.9999999, 0.9999999)),
    ("vg_cbrtf_p", lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), (-3.4e38, 3.4e38)),
]


@pytest.mark.parametrize(
    ("name", "exact", "domain"), APPROXIMATE, ids=[row[0] for row in APPROXIMATE]
)
def test_approximate_functions_are_within_half_an_ulp(device, name, exact, domain):
    x = floats(*domain, 3000)
    actual = device.warps(f"{name}_v32", x)
    assert error_in_ulp(actual, x, exact) < 0.501


@pytest.mark.parametrize(
    ("name", "exact", "domain"), PRECISE, ids=[f"{row[0]}{row[2]}" for row in PRECISE]
)
def test_precise_functions_are_within_half_an_ulp(device, name, exact, domain):
    call = device.function(name, "f32", "f32")
    x = floats(*domain, 2000)
    actual = np.array([call(float(value)) for value in x], np.float32)
    assert error_in_ulp(actual, x, exact) < 0.501


def test_pow_atan2_within_half_an_ulp(device):
    rng = np.random.default_rng(3)
    power, atan2 = (device.function(f"vg_{n}f_p", "f32", "f32", "f32") for n in ("pow", "atan2"))
    x = np.exp(rng.normal(0, 20, 2000)).astype(np.float32)
    y = rng.uniform(-6, 6, 2000).astype(np.float32)
    actual = np.array([power(a, b) for a, b in zip(x, y, strict=True)], np.float32)
    assert error_in_ulp(actual, x, mpmath.power, y) < 0.501
    signed = x * rng.choice([-1, 1], 2000).astype(np.float32)
    actual = np.array([atan2(a, b) for a, b in zip(y, signed, strict=True)], np.float32)
    assert error_in_ulp(actual, y, mpmath.atan2, signed) < 0.501


def test_scalar_and_warp_forms_agree_and_so_do_all_builds(device, baseline):
    bits = np.random.default_rng(5).integers(0, 2**32, 32 * 200, dtype=np.uint32)
    x = bits.view(np.float32)
    for name, _, _ in APPROXIMATE:
        scalar = device.function(name, "f32", "f32")
        native, old = (
            build.warps(f"{name}_v32", x).view(np.uint32) for build in (device, baseline)
        )
        one_by_one = np.array([scalar(float(v)) for v in x], np.float32).view(np.uint32)
        np.testing.assert_array_equal(native, old, err_msg=name)
        np.testing.assert_array_equal(native, one_by_one, err_msg=name)
        nans = np.isnan(native.view(np.float32))
        assert set(native[nans]) <= {CANONICAL}, name
    for name in {name for name, _, _ in PRECISE}:
        native, old = (build.function(name, "f32", "f32") for build in (device, baseline))
        for value in x[:1500]:
            a, b = (np.float32(f(float(value))).view(np.uint32) for f in (native, old))
            assert a == b, (name, value)


SPECIAL = [
    (
        "vg_ex2f",
        [
            (-INF, 0.0),
            (INF, INF),
            (NAN, NAN),
            (-0.0, 1.0),
            (0.0, 1.0),
            (1e-45, 1.0),
            (200.0, INF),
            (-200.0, 0.0),
        ],
    ),
    (
        "vg_lg2f",
        [
            (-INF, NAN),
            (-1.0, NAN),
            (-1e-45, NAN),
            (-0.0, -INF),
            (0.0, -INF),
            (INF, INF),
            (NAN, NAN),
            (1.0, 0.0),
        ],
    ),
    ("vg_sinf", [(-INF, NAN), (INF, NAN), (NAN, NAN), (-0.0, -0.0), (0.0, 0.0), (1e-45, 1e-45)]),
    ("vg_cosf", [(-INF, NAN), (INF, NAN), (NAN, NAN), (-0.0, 1.0), (0.0, 1.0), (1e-45, 1.0)]),
    (
        "vg_tanhf",
        [
            (-INF, -1.0),
            (INF, 1.0),
            (NAN, NAN),
            (-0.0, -0.0),
            (0.0, 0.0),
            (1e-45, 1e-45),
            (50.0, 1.0),
        ],
    ),
    ("vg_rsqrtf", [(-INF, NAN), (-1.0, NAN), (-0.0, -INF), (0.0, INF), (INF, 0.0), (NAN, NAN)]),
    ("vg_rcpf", [(-INF, -0.0), (INF, 0.0), (-0.0, -INF), (0.0, INF), (NAN, NAN)]),
    (
        "vg_sqrtf_approx",
        [(-INF, NAN), (-1.0, NAN), (-0.0, -0.0), (0.0, 0.0), (INF, INF), (NAN, NAN)],
    ),
    ("vg_expf_p", [(-INF, 0.0), (INF, INF), (NAN, NAN), (0.0, 1.0)]),
    ("vg_expm1f_p", [(-INF, -1.0), (INF, INF), (NAN, NAN), (-0.0, -0.0)]),
    ("vg_logf_p", [(-1.0, NAN), (0.0, -INF), (INF, INF), (NAN, NAN), (1.0, 0.0)]),
    ("vg_log10f_p", [(-1.0, NAN), (0.0, -INF), (INF, INF), (1000.0, 3.0)]),
    ("vg_log1pf_p", [(-2.0, NAN), (-1.0, -INF), (INF, INF), (NAN, NAN), (-0.0, -0.0)]),
    ("vg_tanf_p", [(-0.0, -0.0), (INF, NAN), (NAN, NAN)]),
    (
        "vg_sinpif_p",
        [(-0.0, -0.0), (3.0, 0.0), (-3.0, -0.0), (0.5, 1.0), (1.5, -1.0), (INF, NAN), (1e30, 0.0)],
    ),
    ("vg_cospif_p", [(-0.0, 1.0), (3.0, -1.0), (0.5, 0.0), (INF, NAN), (1e30, 1.0)]),
    ("vg_tanpif_p", [(0.25, 1.0), (0.0, 0.0), (NAN, NAN)]),
    ("vg_asinf_p", [(1.5, NAN), (-0.0, -0.0), (NAN, NAN)]),
    ("vg_acosf_p", [(1.5, NAN), (1.0, 0.0), (NAN, NAN)]),
    ("vg_atanf_p", [(-0.0, -0.0), (NAN, NAN)]),
    ("vg_sinhf_p", [(-INF, -INF), (INF, INF), (-0.0, -0.0), (NAN, NAN)]),
    ("vg_coshf_p", [(-INF, INF), (INF, INF), (0.0, 1.0), (NAN, NAN)]),
    ("vg_asinhf_p", [(-INF, -INF), (INF, INF), (-0.0, -0.0), (NAN, NAN)]),
    ("vg_acoshf_p", [(0.5, NAN), (1.0, 0.0), (INF, INF), (-INF, NAN), (NAN, NAN)]),
    ("vg_atanhf_p", [(1.0, INF), (-1.0, -INF), (2.0, NAN), (-0.0, -0.0), (NAN, NAN)]),
    ("vg_cbrtf_p", [(27.0, 3.0), (-27.0, -3.0), (-0.0, -0.0), (INF, INF), (NAN, NAN)]),
]


@pytest.mark.parametrize(("name", "table"), SPECIAL, ids=[row[0] for row in SPECIAL])
def test_special_values(device, name, table):
    call = device.function(name, "f32", "f32")
    for x, expected in table:
        actual = np.float32(call(x)).view(np.uint32)
        wanted = CANONICAL if np.isnan(expected) else np.float32(expected).view(np.uint32)
        assert actual == wanted, (name, x, hex(actual), expected)


def test_pow_special_values_follow_c99(device):
    call = device.function("vg_powf_p", "f32", "f32", "f32")
    values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        2.5,
        1e30,
        -1e30,
        INF,
        -INF,
        NAN,
    ]
    for x in values:
        for y in values:
            with np.errstate(all="ignore"):
                expected = np.power(np.full(2, x), np.full(2, y))[0].astype(np.float32)
            actual = np.float32(call(x, y))
            if np.isnan(expected):
                assert actual.view(np.uint32) == CANONICAL, (x, y, actual)
            else:
                assert actual.view(np.uint32) == expected.view(np.uint32), (x, y, actual, expected)


def test_atan2_special_values(device):
    call = device.function("vg_atan2f_p", "f32", "f32", "f32")
    values = [0.0, -0.0, 1.0, -1.0, INF, -INF, 1e-45, 3e38, NAN]
    for y in values:
        for x in values:
            expected = np.arctan2(np.float64(y), np.float64(x)).astype(np.float32)
            actual = np.float32(call(y, x))
            same = actual.view(np.uint32) == expected.view(np.uint32)
            assert same or (np.isnan(actual) and np.isnan(expected)), (y, x, actual, expected)


def test_fmod_is_exact(device):
    call = device.function("vg_fmodf_p", "f32", "f32", "f32")
    x, y = (
        np.random.default_rng(s).integers(0, 2**32, 20000, dtype=np.uint32).view(np.float32)
        for s in (1, 2)
    )
    with np.errstate(invalid="ignore"):
        expected = np.fmod(x, y)
    actual = np.array([call(float(a), float(b)) for a, b in zip(x, y, strict=True)], np.float32)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(
        actual.view(np.uint32)[numbers], expected.view(np.uint32)[numbers]
    )
    assert np.isnan(actual[~numbers]).all()


def test_division_flushes_huge_divisors_as_documented(device):
    call = device.function("vg_divf_approx", "f32", "f32", "f32")
    assert call(1e38, 2.0**127) == 0.0
    assert np.isnan(call(INF, 2.0**127))
    assert call(1e38, 2.0**126) == np.float32(1e38) / np.float32(2.0**126)
    assert call(1.0, INF) == 0.0
    assert call(7.0, 2.0) == 3.5
    warp = device.warps("vg_divf_approx_v32", np.float32([6, 1, 0, -1]), np.float32([3, 0, 0, 0]))
    np.testing.assert_array_equal(warp, [2, np.inf, np.nan, -np.inf])


def test_f64_approximations_have_an_upper_half_only(device):
    rcp = device.function("vg_rcp_approx_ftz_f64", "f64", "f64")
    rsqrt = device.function("vg_rsqrt_approx_ftz_f64", "f64", "f64")
    for x in np.exp(np.random.default_rng(7).normal(0, 200, 2000)):
        for call, exact in ((rcp, 1 / x), (rsqrt, 1 / np.sqrt(x))):
            actual = np.float64(call(x))
            assert actual.view(np.uint64) & np.uint64(0xFFFFFFFF) == 0
            assert abs(actual / exact - 1) < 2.0**-18.9
    assert rcp(5e-324) == INF and rcp(-5e-324) == -INF and rcp(INF) == 0.0
    assert rcp(1.7e308) == 0.0, "a subnormal result is flushed"
    assert rsqrt(5e-324) == INF and np.isnan(rsqrt(-1.0))
