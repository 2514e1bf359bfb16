"""The shapes of wrong outputs, each as the mistake leaves it, and what to do about each."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.assignment_schema import Tolerance
from grader.check import compare, unwritten
from grader.pattern_advice import ADVICE, IN_OTHER_WORDS, of_pattern

RNG = np.random.default_rng(11)
X = RNG.uniform(-1, 1, 3000).astype(np.float32)
M = RNG.uniform(-1, 1, (8, 16)).astype(np.float32)
LOSE = Tolerance(rtol=1e-5, atol=1e-6)


def pattern(
    actual: np.ndarray, expected: np.ndarray, block: int | None = 256, **inputs: np.ndarray
) -> str:
    exact = actual.dtype.kind in "iu"
    found = compare(
        "C", actual, expected, tolerance=None if exact else LOSE, inputs=inputs, block=block
    )
    assert found is not None
    return found.pattern or ""


def total(value: float) -> np.ndarray:
    return np.array([value], np.float32)


def exact(array: np.ndarray) -> np.ndarray:
    return np.array([array.astype(np.float64).sum()])


@pytest.mark.parametrize(
    ("length", "words"),
    [(1, "first element"), (32, "first 32 elements"), (256, "first 256 elements"),
     (2048, "first 2,048 elements"), (2999, "first 2,999 elements")],
)  # fmt: skip
def test_a_sum_of_the_first_elements_only(length: int, words: str) -> None:
    said = pattern(total(float(X[:length].sum())), exact(X), x=X)
    assert said == f"the sum of the {words} of x only"


def test_a_sum_with_every_element_twice() -> None:
    assert "added twice" in pattern(total(2 * float(exact(X)[0])), exact(X), x=X)


def test_a_wrong_sum_of_another_kind_is_not_explained() -> None:
    assert pattern(total(float(exact(X)[0]) + 0.7), exact(X), x=X) == ""


def test_a_maximum_that_starts_at_zero() -> None:
    low = -np.abs(M) - 0.1
    rows = low.max(axis=1).astype(np.float64)
    said = pattern(np.zeros(8, np.float32), rows, x=low)
    assert said == "zero where all of x is negative: the maximum starts at 0, not at -infinity"
    high = np.abs(M) + 0.1
    said = pattern(np.zeros(1, np.float32), np.array([float(high.min())]), x=high)
    assert said == "zero where all of x is positive: the minimum starts at 0, not at infinity"


def test_a_product_in_half_precision_overflows() -> None:
    wanted = np.linspace(7e4, 9e4, 64)
    with np.errstate(over="ignore"):
        assert "65504" in pattern(wanted.astype(np.float16).astype(np.float32), wanted)
    said = pattern(np.full(64, np.inf, np.float32), np.linspace(1, 2, 64))
    assert said.startswith("every wrong element is infinite")


@pytest.mark.parametrize(("narrow", "bits"), [(np.int32, 32), (np.int16, 16), (np.uint8, 8)])
def test_an_integer_that_overflowed(narrow: type[np.integer], bits: int) -> None:
    wanted = np.arange(1, 200, dtype=np.int64) * ((1 << bits) // 7)
    said = pattern(wanted.astype(narrow).astype(np.int64), wanted)
    assert said == f"right but for multiples of 2^{bits}: an integer of {bits} bits overflowed"


def test_other_wrong_integers_are_no_overflow() -> None:
    wanted = np.arange(100, dtype=np.int64)
    assert "overflow" not in pattern(wanted * wanted + 1, wanted)


def test_a_nan_that_fmax_swallows() -> None:
    wanted = np.full(100, np.nan)
    assert pattern(np.zeros(100, np.float32), wanted).startswith("NaN is lost")


def test_one_value_in_half_precision() -> None:
    value = np.array([0.34631982])
    assert "half precision" in pattern(value.astype(np.float16).astype(np.float32), value)
    assert pattern(total(0.3464), value) == ""  # as near, but no half


def test_many_values_in_half_precision_though_they_cancel() -> None:
    a, b = X[:1000], X[1000:2000]
    wanted = a.astype(np.float64) + b
    halves = (a.astype(np.float16) + b.astype(np.float16)).astype(np.float32)
    assert "half precision" in pattern(halves, wanted, A=a, B=b)
    bits = wanted.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    assert "bfloat16" in pattern(bits.view(np.float32), wanted, A=a, B=b)
    large = wanted.copy()
    large[::3] *= 1e6
    with np.errstate(over="ignore"):
        assert "65504" in pattern(large.astype(np.float16).astype(np.float32), large)
    assert "half" not in pattern(np.trunc(4 * wanted).astype(np.float32), 4 * wanted)


def test_softmax_with_a_maximum_that_starts_at_zero() -> None:
    x = (M * 5 - 200).astype(np.float32)
    x[3] += 300
    wanted = np.exp(x - x.max(axis=1, keepdims=True).astype(np.float64))
    wanted /= wanted.sum(axis=1, keepdims=True)
    actual = wanted.astype(np.float32)
    actual[np.arange(8) != 3] = np.nan
    assert pattern(actual, wanted, x=x) == "NaN in the rows where all of x is far below 0"


def test_softmax_without_the_maximum() -> None:
    x = (M * 5).astype(np.float32)
    x[3] += 300
    wanted = np.exp(x - x.max(axis=1, keepdims=True).astype(np.float64))
    wanted /= wanted.sum(axis=1, keepdims=True)
    actual = wanted.astype(np.float32)
    actual[3] = np.nan
    said = pattern(actual, wanted, x=x)
    assert said == "NaN in the rows where an element of x is above 88"


def test_the_same_factor_and_the_same_difference() -> None:
    wanted = X[:500].astype(np.float64)
    assert pattern(X[:500] * 3, wanted) == "every wrong element is 3 times what it should be"
    said = pattern(X[:500] + np.float32(0.5), wanted)
    assert said == "every wrong element is 0.5 more than it should be"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda i: i % 256 >= 128, "elements 128 to 255 of every 256"),
        (lambda i: i % 4 == 3, "one in every 4 elements"),
        (lambda i: i % 32 != 0, "all but one in every 32 elements"),
        (lambda i: i % 5 < 2, "elements 0 to 1 of every 5"),
    ],
)
def test_what_is_missing_repeats(wrong: object, words: str) -> None:
    assert callable(wrong)
    written = ~wrong(np.arange(1000))
    fault = unwritten("C", written, 256)
    assert fault is not None
    assert fault.message.endswith(f": {words}")


def test_scattered_elements_have_no_shape() -> None:
    written = RNG.uniform(size=1000) > 0.3
    fault = unwritten("C", written, 256)
    assert fault is not None
    assert ": " not in fault.message


def test_a_row_stride_that_is_the_number_of_columns() -> None:
    padded = RNG.uniform(-1, 1, (8, 24)).astype(np.float32)
    wanted = padded[:, :16].astype(np.float64)
    packed = padded.reshape(-1)[: 8 * 16].reshape(8, 16)
    assert pattern(packed, wanted) == "only the first row is right"


def test_negative_numbers_that_nothing_keeps_at_zero() -> None:
    """As of two inputs, one of them of another shape: the input alone does not say where."""
    sums = M + M[0]
    wanted = np.maximum(sums, 0).astype(np.float64)
    found = pattern(sums, wanted, x=np.tile(M, 2), bias=M[0])
    assert found == "negative where it should be 0"
    assert "max(value, 0)" in (of_pattern(found, "cuda-c") or "")


def test_a_branch_that_only_some_inputs_take() -> None:
    wanted = np.maximum(X, 0).astype(np.float64)
    actual = np.where(X < 0, X * np.float32(0.01), X)
    assert pattern(actual, wanted, A=X) == "only where A is negative"


def test_every_piece_of_advice_is_reached_and_filled_in() -> None:
    seen = {
        "only the first block of 256 is right": "blockIdx.x * blockDim.x + threadIdx.x",
        "only the tail from 1024 on": "the elements from 1024 on",
        "one in every 4 elements": "repeats every 4 elements",
        "elements 128 to 255 of every 256": "repeats every 256 elements",
        "all but one in every 32 elements": "repeats every 32 elements",
        "only the columns from 32 on": "The columns from 32 on",
        "the sum of the first 32 elements of x only": "Only the first 32 elements of x",
        "right but for multiples of 2^16: an integer of 16 bits overflowed": "in 16 bits",
        "only where A is negative": "whose A is negative",
        "every second element": "steps of two",
        "every wrong element is 3 times what it should be": "added 3 times",
    }
    for text, words in seen.items():
        said = of_pattern(text, "cuda-c")
        assert said is not None
        assert words in said
        assert "{" not in said
    assert "tl.program_id(0)" in (of_pattern("only the first element", "triton") or "")
    assert of_pattern("something else", "cuda-c") is None

    assert len({advice for _, advice in ADVICE}) == len(ADVICE)


def test_what_to_do_is_said_in_the_words_of_the_language() -> None:
    assert all(key in dict(ADVICE) for words in IN_OTHER_WORDS.values() for key in words)
    samples = [
        "only the first block of 256 is right",
        "only the last element",
        "only the tail from 32768 on",
        "only the tail from 1024 on",
        "every second element",
        "elements 3 to 7 of every 8",
        "one in every 3 elements",
        "only the first row is right",
        "NaN is lost",
        "right but for multiples of 2^32",
        "the sum of the first 32 elements of x only",
        "every element of x is added twice",
    ]
    for sample in samples:
        assert not re.search(r"\b(threads?|warps?|fmax|long)\b", of_triton(sample)), sample
    for sample in samples:
        assert "warp" not in (of_pattern(sample, "metal") or "")
    assert "tl.num_programs(0)" in of_triton("only the tail from 1024 on")


def of_triton(pattern: str) -> str:
    return of_pattern(pattern, "triton") or ""


SHAPES = st.sampled_from([(1,), (5,), (32,), (40,), (4, 8), (7, 5), (33, 3), (2, 3, 4)])
PALETTE = np.array([0, -0.0, 1, -1, 0.5, 2, 65504, 7e4, 3e38, 1e-40, np.inf, -np.inf, np.nan])


@settings(max_examples=150, deadline=None)
@given(SHAPES, st.sampled_from(["float32", "float64", "float16", "int32", "uint8"]),
       st.integers(0, 2**32 - 1), st.integers(1, len(PALETTE)), st.integers(0, 64))  # fmt: skip
def test_no_pattern_fails_on_any_numbers(
    shape: tuple[int, ...], dtype: str, seed: int, kinds: int, spoilt: int
) -> None:
    """Few kinds of numbers, so that zeros, infinities and equal values meet each other often."""
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(PALETTE)[:kinds]
    if dtype in ("int32", "uint8"):
        chosen = np.array([0, 1, 2, 7, 200])[: max(1, kinds % 6)]
    with np.errstate(all="ignore"):
        a, b = (rng.choice(chosen, shape).astype(dtype) for _ in range(2))
        wanted = np.asarray(a, np.float64 if "float" in dtype else np.int64) + b
        actual = wanted.astype(dtype)
    actual.reshape(-1)[:spoilt] = rng.choice(chosen, min(spoilt, actual.size)).astype(dtype)
    exact_type = "float" not in dtype
    tolerance = None if exact_type else LOSE
    compare("C", actual, wanted, tolerance=tolerance, inputs={"a": a, "b": b}, block=32)


def test_a_factor_of_zeros_is_no_factor() -> None:
    """A ReLU without its maximum: three quarters of the right numbers are 0."""
    wanted = np.where(np.arange(64) % 4 == 0, 3.0, 0.0)
    actual = np.linspace(-9, -1, 64).astype(np.float32)
    assert "times what it should be" not in pattern(actual, wanted)
