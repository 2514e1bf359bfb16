"""Compare what a kernel left in an output with what the oracle says.

`compare` finds wrong numbers, `unwritten` finds elements that no thread wrote. Both name the
first one, say how many there are, and recognise the shapes that common mistakes leave.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grader import patterns
from grader.assignment_schema import Tolerance
from grader.pattern_advice import ZERO
from grader.result import Fault, Mismatch, Severity

_MOST_FOR_PATTERNS = 1 << 22
_ENOUGH_FOR_PATTERNS = 1 << 16
"""Of more wrong elements, as many at equal distances are looked at."""

FEWEST_DIGITS = 4
"""Of a number that is shown: with fewer it would not be known again."""
MOST_DIGITS = {2: 5, 4: 9, 8: 17}
"""Decimal digits that tell any two numbers of so many bytes apart (IEEE 754-2019, 5.12.2)."""


def wrong_elements(
    actual: np.ndarray,
    expected: np.ndarray,
    tolerance: Tolerance | None,
    scale: np.ndarray | None = None,
) -> np.ndarray:
    """Which elements are wrong: a boolean array of the output's shape.

    Integers (no tolerance) must be equal. Floating-point elements pass when
    |actual - expected| <= atol + rtol * scale, with |expected| for a missing scale. NaN passes
    only for NaN, an infinity only for the same one. An expected value that overflows the output's
    dtype may also be that dtype's infinity. What is rounded correctly is right under every
    tolerance.
    """
    if tolerance is None or actual.dtype.kind in "iu":
        return np.asarray(actual != expected)
    with np.errstate(over="ignore", invalid="ignore"):
        wrong = np.asarray(actual != expected.astype(actual.dtype))
    if wrong.any():  # of most outputs nothing is left to look at
        limits = scale if scale is None else scale[wrong]
        wrong[wrong] = _beyond(actual[wrong], expected[wrong], tolerance, limits)
    return wrong


def _beyond(
    actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance, scale: np.ndarray | None
) -> np.ndarray:
    """The same for floating-point elements, by the tolerance."""
    wanted = expected.astype(np.float64, copy=False)
    found = actual.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        stored = wanted.astype(actual.dtype).astype(np.float64)
        allowed = tolerance.atol + tolerance.rtol * (np.abs(wanted) if scale is None else scale)
        near = np.abs(found - wanted) <= np.where(np.isfinite(allowed), allowed, 0.0)
    special = ~np.isfinite(wanted) | ~np.isfinite(found)
    equal = (found == stored) | (np.isnan(wanted) & np.isnan(found))
    return ~np.where(special, equal, near)


def compare(
    name: str,
    actual: np.ndarray,
    expected: np.ndarray,
    *,
    tolerance: Tolerance | None,
    scale: np.ndarray | None = None,
    written: np.ndarray | None = None,
    inputs: Mapping[str, np.ndarray] = {},
    block: int | None = None,
    wrong: np.ndarray | None = None,
) -> Mismatch | None:
    """The wrong elements of output `name`, or None when there are none.

    `actual` has the output's dtype and shape; `expected` is float64 (exact integers for integer
    outputs), `scale` the oracle's. Elements that were not `written` are not judged here: their
    content means nothing, and `unwritten` reports them. `inputs` and `block` (threads per block)
    only serve the pattern. `wrong` is what `wrong_elements` said, where it was asked already.
    """
    if actual.shape != expected.shape:
        raise ValueError(f"{name}: shapes differ: {actual.shape} and {expected.shape}")
    if wrong is None:
        wrong = wrong_elements(actual, expected, tolerance, scale)
    if written is not None:
        wrong = wrong & written.reshape(wrong.shape)
    count = int(np.count_nonzero(wrong))
    if count == 0:
        return None
    flat = int(np.argmax(wrong))
    index = tuple(int(i) for i in np.unravel_index(flat, wrong.shape))
    place = f"{name}[{']['.join(map(str, index))}]"
    want, got = _shown(expected.reshape(-1)[flat]), _shown(actual.reshape(-1)[flat])
    pattern = None
    if wrong.size <= _MOST_FOR_PATTERNS:
        pattern = (
            patterns.values(actual, expected, wrong, inputs, block)
            or _values_pattern(
                actual, expected, wrong, tolerance=tolerance, scale=scale, inputs=inputs
            )
            or _places_pattern(wrong, block)
            or patterns.places(wrong, inputs, block)
            or patterns.same_difference(actual, expected, wrong)
            or patterns.negative(actual, expected, wrong)
        )
    told = told_apart(want, got, actual.dtype)
    message = f"{place} should be {told[0]}, found {told[1]}; {_of(count, wrong.size)} wrong"
    return Mismatch(
        output=name, index=index, expected=want, actual=got, wrong=count, total=wrong.size,
        pattern=pattern, message=f"{message}: {pattern}" if pattern else message,
    )  # fmt: skip


def unwritten(name: str, written: np.ndarray, block: int | None = None) -> Fault | None:
    """A fault for output elements that no thread wrote, or None; `written` has its shape."""
    missing = ~written.astype(bool)
    count = int(np.count_nonzero(missing))
    if count == 0:
        return None
    first = int(np.argmax(missing))
    index = np.unravel_index(first, written.shape)
    place = f"{name}[{']['.join(str(int(i)) for i in index)}]"
    if count == missing.size:
        message = f"no element of {name} was written"
        advice = "Check that the kernel stores its result, and for which threads."
    else:
        pattern = _places_pattern(missing, block) or patterns.places(missing, {}, block)
        message = f"{place} was never written; {_of(count, missing.size)} missing"
        message += f": {pattern}" if pattern else ""
        advice = None  # it depends on the pattern and the language: `advice` has it
    return Fault(
        kind="unwritten", severity=Severity.ERROR, access="write", space="global", buffer=name,
        index=first, extent=missing.size, count=count, message=message, advice=advice,
    )  # fmt: skip


def _of(count: int, total: int) -> str:
    if total == 1:
        return "the only element is"
    if count == total:
        return f"all {total:,} elements are"
    return f"{count:,} of {total:,} elements {'is' if count == 1 else 'are'}"


def _shown(value: np.generic) -> float | int | str:
    """A number as JSON can hold it: NaN and infinities are words."""
    number = value.item()
    if isinstance(number, float) and not math.isfinite(number):
        return "NaN" if math.isnan(number) else "infinity" if number > 0 else "-infinity"
    assert isinstance(number, int | float)
    return number


def told_apart(
    expected: float | int | str, actual: float | int | str, dtype: np.dtype[Any]
) -> tuple[str, str]:
    """Both as text, with as many digits as tell them apart: at least FEWEST_DIGITS and those before
    the point, and no more than a number of `dtype` has (float32: 9)."""
    floats = [number for number in (expected, actual) if isinstance(number, float)]
    if not floats:
        return str(expected), str(actual)
    most = MOST_DIGITS[dtype.itemsize]
    whole = max(len(f"{abs(number):.0f}") for number in floats)
    fewest = max(FEWEST_DIGITS, whole) if whole <= most else FEWEST_DIGITS

    def text(number: float | int | str, digits: int) -> str:
        return f"{number:.{digits}g}" if isinstance(number, float) else str(number)

    pairs = [(text(expected, n), text(actual, n)) for n in range(fewest, most + 1)]
    return next(((one, other) for one, other in pairs if one != other), pairs[-1])


def _values_pattern(
    actual: np.ndarray,
    expected: np.ndarray,
    wrong: np.ndarray,
    *,
    tolerance: Tolerance | None,
    scale: np.ndarray | None,
    inputs: Mapping[str, np.ndarray],
) -> str | None:
    """What the wrong values look like, judged where they are wrong."""
    bad = actual[wrong]
    count = bad.size
    if bad.dtype.kind == "f" and np.isnan(bad).all():
        return "every wrong element is NaN"
    if not bad.any():
        return ZERO
    few = count < 4  # too few to tell a shape from chance
    where = np.flatnonzero(wrong)[:: -(-count // _ENOUGH_FOR_PATTERNS)]
    seen = actual.reshape(-1)[where]

    def explains(candidate: np.ndarray) -> bool:
        """Whether `candidate`, an output of the same shape, would be right where we are wrong."""
        return candidate.shape == actual.shape and fits(candidate.reshape(-1)[where])

    def fits(values: np.ndarray) -> bool:
        wrong_there = wrong_elements(seen, values.astype(expected.dtype), tolerance, None)
        return float(np.mean(~wrong_there)) > 0.95

    if few:
        return _precision_pattern(actual, expected, scale)
    for other, array in inputs.items():
        if explains(array):
            return f"the output is a copy of {other}"
    with np.errstate(all="ignore"):
        wanted = expected.reshape(-1)[where]
        if fits(-wanted):
            return "the sign is flipped"
        if expected.dtype.kind == "f" and fits(np.trunc(wanted)):
            return "the fraction is cut off, as by a conversion to int"
        same = {n: x.reshape(-1)[where] for n, x in inputs.items() if x.shape == actual.shape}
        for operator, candidate in _operators(expected.dtype, same):
            if fits(candidate):
                return f"the values are those of {operator}"
    if expected.ndim == 2:
        if expected.shape[0] == expected.shape[1] and explains(expected.T):
            return "rows and columns are swapped (transposed)"
        if explains(expected.T.reshape(expected.shape)):
            return "rows and columns are swapped: check which index is the row"
    flat = expected.reshape(-1)
    for shift in (1, -1):
        if flat.size > 4 and explains(np.roll(flat, shift).reshape(expected.shape)):
            neighbour = "before" if shift == 1 else "after"
            return f"off by one: each element holds the value of the one {neighbour} it"
    return _precision_pattern(actual, expected, scale)


def _operators(
    dtype: np.dtype[Any], inputs: Mapping[str, np.ndarray]
) -> list[tuple[str, np.ndarray]]:
    """What other element-wise operators would have given, for two inputs of the output's shape."""
    same = [(name, array.astype(dtype)) for name, array in inputs.items()]
    if len(same) != 2:
        return []
    (first, a), (second, b) = same
    candidates = [
        (f"{first} + {second}", a + b),
        (f"{first} - {second}", a - b),
        (f"{second} - {first}", b - a),
        (f"{first} * {second}", a * b),
    ]
    if dtype.kind == "f":
        candidates.append((f"{first} / {second}", a / b))
    return candidates


def _precision_pattern(
    actual: np.ndarray, expected: np.ndarray, scale: np.ndarray | None
) -> str | None:
    """Errors everywhere of the size of a half-precision (2^-11) or TF32/bfloat16 rounding."""
    if actual.dtype.kind != "f" or actual.dtype.itemsize < 4:
        return None
    finite = np.isfinite(expected) & np.isfinite(actual)
    size = np.abs(expected) if scale is None else scale
    with np.errstate(all="ignore"):
        error = (np.abs(actual.astype(np.float64) - expected) / size)[finite & (size > 0)]
    if error.size < 4 or np.any(actual[finite & (size == 0)] != 0):
        return None
    largest = float(error.max())
    if largest < 2.0**-9:
        return "the values are nearly right, as if computed in half precision"
    if largest < 2.0**-7:
        return "the values are nearly right, as if computed with 8 bits (bfloat16)"
    return None


def _places_pattern(wrong: np.ndarray, block: int | None) -> str | None:
    """Where the wrong elements stand."""
    flat = wrong.reshape(-1)
    total, count = flat.size, int(np.count_nonzero(flat))
    if count == total or total < 4:
        return None
    where = np.flatnonzero(flat)
    first, last = int(where[0]), int(where[-1])
    if count > 3 and np.array_equal(where, np.arange(first, total, 2)) and first < 2:
        return "every second element"
    if wrong.ndim == 2:
        shape = _rows_and_columns(wrong)
        if shape:
            return shape
    if last - first + 1 != count:
        return None
    if last == total - 1:
        if block and first == block:
            return f"only the first block of {block} is right"
        return "only the last element" if count == 1 else f"only the tail from {first} on"
    if first == 0:
        if count == 1:
            return "only the first element"
        return "only the first block" if block and count == block else f"only the first {count}"
    if block and first % block == 0 and count <= block:
        return f"only block {first // block}"
    return None


def _rows_and_columns(wrong: np.ndarray) -> str | None:
    rows, columns = wrong.any(axis=1), wrong.any(axis=0)
    if not np.array_equal(wrong, np.outer(rows, columns)):
        return None
    if columns.all():
        names, size = np.flatnonzero(rows), rows.size
        kind = "row"
    elif rows.all():
        names, size = np.flatnonzero(columns), columns.size
        kind = "column"
    else:
        return None
    if names.size == 1:
        return f"only the last {kind}" if names[0] == size - 1 else f"only {kind} {names[0]}"
    if names[-1] == size - 1 and names[-1] - names[0] + 1 == names.size:
        if names[0] == 1:
            return f"only the first {kind} is right"
        return f"only the {kind}s from {names[0]} on"
    return None
