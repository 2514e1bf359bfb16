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


def error_in_ulp(actual: np.ndarray, x: np.ndarray, function) -> float:
    """The largest error over an array, in units in the last place of the exact result."""
    worst = mpmath.mpf(0)
    with mpmath.workprec(120):
        for result, argument in zip(actual, x, strict=True):
            exact = function(mpmath.mpf(float(argument)))
            largest = float(np.finfo(np.float32).max)
            if abs(exact) > largest * (1 + 2.0**-25):
                assert np.isinf(result), (argument, result, exact)
                continue
            worst = max(worst, abs(mpmath.mpf(float(result)) - exact) / ulp_of(exact))
    return float(worst)


# name, exact function, domain. Ours are within 0.501 ulp everywhere; PTX documents 2 ulp for ex2,
# 2^-22 absolute or relative for lg2, 2^-20.5 absolute for sin and cos, 2^-11 relative for tanh.
APPROXIMATE = [
    ("vg_ex2f", lambda x: mpmath.power(2, x), (-152, 129)),
    ("vg_lg2f", lambda x: mpmath.log(x, 2), (1e-45, 3.4e38)),
    ("vg_sinf", mpmath.sin, (-3.4e38, 3.4e38)),
    ("vg_cosf", mpmath.cos, (-3.4e38, 3.4e38)),
    ("vg_tanhf", mpmath.tanh, (-12, 12)),
]


@pytest.mark.parametrize(
    ("name", "exact", "domain"), APPROXIMATE, ids=[row[0] for row in APPROXIMATE]
)
def test_approximate_functions_are_within_half_an_ulp(device, name, exact, domain):
    x = floats(*domain, 3000)
    actual = device.warps(f"{name}_v32", x)
    assert error_in_ulp(actual, x, exact) < 0.501


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
    (
        "vg_sinf",
        [(-INF, NAN), (INF, NAN), (NAN, NAN), (-0.0, -0.0), (0.0, 0.0), (1e-45, 1e-45)],
    ),
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
]


@pytest.mark.parametrize(("name", "table"), SPECIAL, ids=[row[0] for row in SPECIAL])
def test_special_values(device, name, table):
    call = device.function(name, "f32", "f32")
    for x, expected in table:
        actual = np.float32(call(x)).view(np.uint32)
        wanted = CANONICAL if np.isnan(expected) else np.float32(expected).view(np.uint32)
        assert actual == wanted, (name, x, hex(actual), expected)


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
