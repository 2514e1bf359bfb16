"""Comparison: what passes, what does not, and the words for it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.assignment_schema import Tolerance
from grader.check import compare, told_apart, unwritten
from grader.result import Mismatch

F32 = Tolerance(rtol=1e-6, atol=1e-37)
RNG = np.random.default_rng(7)
floats = st.floats(width=32, allow_nan=True, allow_infinity=True)
arrays = hnp.arrays(np.float32, st.integers(1, 50), elements=floats)


def check(
    actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance | None = F32, **more: object
) -> Mismatch | None:
    return compare("C", actual, expected, tolerance=tolerance, **more)  # type: ignore[arg-type]


@given(arrays)
def test_the_right_answer_passes(values: np.ndarray) -> None:
    assert check(values, values.astype(np.float64)) is None


@given(arrays, st.data())
def test_a_changed_element_is_found_where_it_is(values: np.ndarray, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, values.size - 1))
    other = data.draw(floats)
    old = float(values[at])
    same = old == other or (np.isnan(old) and np.isnan(other))
    near = np.isfinite(old) and np.isfinite(other) and abs(old - other) <= 1e-6 * abs(old) + 1e-37
    changed = values.copy()
    changed[at] = other
    found = check(changed, values.astype(np.float64))
    if same or near:
        assert found is None
    else:
        assert found is not None
        assert (found.index, found.wrong, found.total) == ((at,), 1, values.size)


@given(st.floats(1e-6, 1e6), st.floats(-3, 3))
def test_the_limit_is_the_tolerance(value: float, share: float) -> None:
    tolerance = Tolerance(rtol=1e-4, atol=1e-3)
    limit = 1e-4 * value + 1e-3
    actual = np.array([value + share * limit])
    if abs(abs(share) - 1) > 1e-6:
        assert (check(actual, np.array([value]), tolerance) is None) == (abs(share) < 1)


def test_nan_and_infinity_are_no_wildcards() -> None:
    inf, nan = np.inf, np.nan
    wrong = [(nan, 1.0), (1.0, nan), (inf, -inf), (inf, 1.0), (1.0, inf), (nan, inf), (inf, nan)]
    for actual, expected in wrong:
        found = check(np.float32([actual]), np.array([expected]))
        assert found is not None and found.wrong == 1
    for value in (nan, inf, -inf):
        assert check(np.float32([value]), np.array([value])) is None


def test_a_sum_beyond_float32_is_infinity() -> None:
    assert check(np.float32([np.inf]), np.array([1e39])) is None
    assert check(np.float32([3e38]), np.array([1e39])) is not None
    assert check(np.float32([-np.inf]), np.array([1e39])) is not None


def test_a_scale_replaces_the_expected_value() -> None:
    expected, actual = np.array([0.0]), np.float32([1e-4])
    assert check(actual, expected, Tolerance(rtol=1e-5)) is not None
    assert check(actual, expected, Tolerance(rtol=1e-5), scale=np.array([100.0])) is None
    assert check(actual, expected, Tolerance(rtol=1e-5), scale=np.array([1.0])) is not None
    nan = np.array([np.nan])
    assert check(actual, expected, Tolerance(rtol=1e-5), scale=nan) is not None


def test_integers_are_exact() -> None:
    expected = np.array([2**53 + 1, 5])
    assert check(expected.copy(), expected, None) is None
    found = check(expected + np.array([1, 0]), expected, None)
    assert found is not None and found.expected == 2**53 + 1 and found.actual == 2**53 + 2


def test_half_precision_fails_for_float32() -> None:
    a, b = RNG.uniform(-1, 1, (2, 1000)).astype(np.float32)
    half = (a.astype(np.float16) + b.astype(np.float16)).astype(np.float32)
    found = check(half, a.astype(np.float64) + b, inputs={"A": a, "B": b})
    assert found is not None and found.wrong > 900


def test_the_message_says_what_was_expected_first() -> None:
    actual = np.float32([1, 2, 3, 4])
    found = check(actual, np.array([1.0, 2.5, 3.0, np.inf]))
    assert found is not None
    assert found.message == "C[1] should be 2.5, found 2; 2 of 4 elements are wrong"
    last = check(actual, np.array([1.0, 2.0, 3.0, np.inf]))
    assert last is not None and last.expected == "infinity"
    assert last.message.endswith("1 of 4 elements is wrong: only the last element")
    square = check(actual.reshape(2, 2), np.array([[1.0, 2.0], [9.0, 4.0]]))
    assert square is not None and square.index == (1, 0) and "C[1][0] should" in square.message


def test_elements_that_were_not_written_are_not_judged() -> None:
    written = np.array([True, True, False])
    assert check(np.float32([1, 2, 99]), np.array([1.0, 2, 3]), written=written) is None
    found = check(np.float32([1, 9, 99]), np.array([1.0, 2, 3]), written=written)
    assert found is not None and found.wrong == 1


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="shapes differ"):
        check(np.zeros(3, np.float32), np.zeros(4))


A, B = RNG.uniform(0.5, 2, (2, 1000)).astype(np.float32)
SUM = A.astype(np.float64) + B
M = RNG.uniform(1, 2, (8, 16))


def changed(where: slice | int, by: float = 1.0) -> np.ndarray:
    actual = SUM.astype(np.float32)
    actual[where] += by
    return actual


@pytest.mark.parametrize(
    ("actual", "expected", "words"),
    [
        (np.zeros(1000), SUM, "is zero"),
        (np.full(1000, np.nan), SUM, "is NaN"),
        (A, SUM, "copy of A"),
        (A - B, SUM, "A - B"),
        (B - A, SUM, "B - A"),
        (A * B, SUM, "A * B"),
        (-SUM, SUM, "sign"),
        (np.trunc(SUM), SUM, "fraction"),
        (np.roll(SUM, 1), SUM, "the one before"),
        (np.roll(SUM, -1), SUM, "the one after"),
        (SUM.astype(np.float16), SUM, "half precision"),
        (changed(slice(None, None, 2)), SUM, "every second"),
        (changed(slice(1, None, 2)), SUM, "every second"),
        (changed(slice(993, None)), SUM, "only the tail from 993"),
        (changed(slice(256, None)), SUM, "only the first block of 256 is right"),
        (changed(slice(0, 256)), SUM, "only the first block"),
        (changed(slice(256, 512)), SUM, "only block 1"),
        (changed(999), SUM, "only the last element"),
        (changed(0), SUM, "only the first element"),
        (changed(slice(3, 7)), SUM, None),
        (np.ascontiguousarray(M.T).reshape(M.shape), M, "rows and columns"),
        (M[:8, :8].T, M[:8, :8], "transposed"),
        (M + np.eye(8, 16)[7][None] * 0 + (np.arange(8) == 7)[:, None], M, "only the last row"),
        (M + (np.arange(16) == 15), M, "only the last column"),
        (M + (np.arange(16) >= 12), M, "columns from 12"),
    ],
)
def test_patterns(actual: np.ndarray, expected: np.ndarray, words: str | None) -> None:
    found = check(
        actual.astype(np.float32), expected, Tolerance(rtol=1e-6), inputs={"A": A, "B": B},
        block=256,
    )  # fmt: skip
    assert found is not None
    if words is None:
        assert found.pattern is None
    else:
        assert found.pattern is not None and words in found.pattern
        assert found.message.endswith(found.pattern)


@given(arrays, arrays)
def test_a_pattern_never_stops_the_comparison(first: np.ndarray, second: np.ndarray) -> None:
    n = min(first.size, second.size)
    found = check(first[:n], second[:n].astype(np.float64), inputs={"A": first[:n]}, block=8)
    assert found is None or 0 < found.wrong <= n


def test_unwritten_elements_are_a_fault() -> None:
    written = np.ones(1000, bool)
    assert unwritten("C", written) is None
    assert unwritten("C", np.ones(0, bool)) is None
    written[::2] = False
    fault = unwritten("C", written)
    assert fault is not None
    assert (fault.index, fault.extent, fault.count) == (0, 1000, 500)
    assert fault.message == (
        "C[0] was never written; 500 of 1,000 elements are missing: every second element"
    )
    nothing = unwritten("C", np.zeros((3, 4), bool))
    assert nothing is not None and nothing.count == nothing.extent == 12
    assert nothing.message == "no element of C was written"
    row = np.ones((3, 4), bool)
    row[2] = False
    last = unwritten("C", row)
    assert last is not None and "C[2][0]" in last.message and "last row" in last.message


@pytest.mark.parametrize(
    ("expected", "actual", "dtype", "shown"),
    [
        (0.30000001192092896, 0.5, "float32", ("0.3", "0.5")),
        (0.3333333333333333, 0.3333740234375, "float32", ("0.3333", "0.3334")),
        (1.0, 0.99999994, "float32", ("1", "0.9999999")),
        (1 / 3, np.float32(1 / 3).item() * 4, "float32", ("0.3333", "1.333")),
        (123456.7, 123457.9, "float32", ("123457", "123458")),
        (2.0**40, 2.0**41, "float32", ("1.1e+12", "2.199e+12")),
        (1.1754944e-38, 0.0, "float32", ("1.175e-38", "0")),
        (0.1, 0.10000000000000002, "float64", ("0.10000000000000001", "0.10000000000000002")),
        (0.1, 0.2, "float16", ("0.1", "0.2")),
        (1.2345678, "NaN", "float32", ("1.235", "NaN")),
        (7, 4294967295, "uint32", ("7", "4294967295")),
        ("infinity", "-infinity", "float32", ("infinity", "-infinity")),
    ],
)
def test_a_message_has_the_digits_that_tell_two_numbers_apart(
    expected: float, actual: float, dtype: str, shown: tuple[str, str]
) -> None:
    assert told_apart(expected, actual, np.dtype(dtype)) == shown


@given(st.floats(width=32, allow_nan=False, allow_infinity=False),
       st.floats(width=32, allow_nan=False, allow_infinity=False))  # fmt: skip
def test_two_numbers_that_differ_look_different(one: float, other: float) -> None:
    first, second = told_apart(one, other, np.dtype(np.float32))
    assert (first == second) == (f"{one:.9g}" == f"{other:.9g}")
    for text in (first, second):
        assert len(re.sub(r"e.*|[-.]", "", text).lstrip("0")) <= 9
