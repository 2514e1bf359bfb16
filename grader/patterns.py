"""What wrong numbers have in common: the shapes that common mistakes leave in an output.

`values` and `same_difference` look at the numbers, `places` at where they stand. They take
what `check.compare` has and return a few words, or None where nothing is sure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

LARGEST_HALF = 65504.0
NEARLY = 2.0**-6
"""Some roundings to 8 bits, relative and absolute: differences of like numbers keep the latter."""

ENOUGH = 8
"""As many halves do not end in three zero bits by chance; one in eight does."""

SMALLEST_EXP = 80.0
"""exp(-88) is the smallest normal float32; a little before that a sum of them still is one."""

LARGEST_EXP = 88.0
"""exp(88.7) is the largest float32."""

PERIODS = (3, 4, 5, 6, 7, 8, 16, 32, 64, 128, 256, 512, 1024)
MOST_OF_A_SUM = 1 << 16


def values(
    actual: np.ndarray,
    expected: np.ndarray,
    wrong: np.ndarray,
    inputs: Mapping[str, np.ndarray],
    block: int | None,
) -> str | None:
    """What the wrong values look like. All arrays but `inputs` have the output's shape;
    `expected` is float64 (exact integers for integer outputs), `block` the threads of a block."""
    bad, wanted = actual[wrong], expected[wrong]
    if actual.dtype.kind in "iu":
        return _wrapped(bad, wanted)
    if actual.dtype.kind != "f":
        return None
    found = bad.astype(np.float64)
    if np.isnan(wanted).all() and not np.isnan(found).any():
        return "NaN is lost: every wrong element should be NaN"
    if np.isnan(found).all():
        return _starved_rows(expected, wrong, inputs)
    finite = np.isfinite(wanted)
    if finite.all() and np.isinf(found).all():
        if float(np.abs(wanted).min()) > LARGEST_HALF:
            return "infinity beyond 65504, the largest number of half precision"
        return "every wrong element is infinite: something on the way is too large for its type"
    if not finite.all() or not np.isfinite(found).all():
        return _narrow(bad, wanted)
    return (
        _identity(found, expected, wrong, inputs)
        or _part_of_a_sum(actual, expected, wrong, inputs, block)
        or _narrow(bad, wanted)
    )


def _starved_rows(
    expected: np.ndarray, wrong: np.ndarray, inputs: Mapping[str, np.ndarray]
) -> str | None:
    """NaN in rows whose inputs are all so far below 0 that exp() of them is 0 in float32, or in
    those with one so large that it is infinite."""
    if wrong.ndim != 2:
        return None
    rows = np.asarray(wrong.any(axis=1))
    for name, array in inputs.items():
        if array.shape == expected.shape and array.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                most = np.asarray(array.max(axis=1))
                low, high = most < -SMALLEST_EXP, most > LARGEST_EXP
            if np.array_equal(low, rows):
                return f"NaN in the rows where all of {name} is far below 0"
            if np.array_equal(high, rows):
                return f"NaN in the rows where an element of {name} is above {LARGEST_EXP:.0f}"
    return None


def _wrapped(bad: np.ndarray, wanted: np.ndarray) -> str | None:
    """Integers that are right but for multiples of a power of two: a narrower type overflowed."""
    difference = [int(a) - int(b) for a, b in zip(bad.tolist(), wanted.tolist(), strict=True)]
    for bits in (32, 16, 8):
        if all(value % (1 << bits) == 0 for value in difference):
            return f"right but for multiples of 2^{bits}: an integer of {bits} bits overflowed"
    return None


def _reductions(
    inputs: Mapping[str, np.ndarray], shape: tuple[int, ...]
) -> Iterator[tuple[str, np.ndarray, int | None]]:
    """Inputs that reduce to the output's shape, with the axis; None for the whole input."""
    size = int(np.prod(shape))
    for name, array in inputs.items():
        if array.dtype.kind != "f" or array.size <= size or not array.size:
            continue
        if size == 1:
            yield name, array.astype(np.float64), None
        elif array.ndim == 2 and array.shape[0] == size:
            yield name, array.astype(np.float64), 1
        elif array.ndim == 2 and array.shape[1] == size:
            yield name, array.astype(np.float64), 0


def _identity(
    found: np.ndarray, expected: np.ndarray, wrong: np.ndarray, inputs: Mapping[str, np.ndarray]
) -> str | None:
    """Zero where the largest of negative numbers, or the smallest of positive ones, should be."""
    if found.any():
        return None
    for name, array, axis in _reductions(inputs, expected.shape):
        for word, reduced in (("maximum", array.max(axis=axis)), ("minimum", array.min(axis=axis))):
            same = np.allclose(np.reshape(reduced, expected.shape), expected, rtol=1e-5)
            outside = bool((expected[wrong] < 0).all() if word == "maximum"
                           else (expected[wrong] > 0).all())  # fmt: skip
            if same and outside:
                side, start = ("negative", "-infinity") if word == "maximum" else (
                    "positive", "infinity")  # fmt: skip
                return f"zero where all of {name} is {side}: the {word} starts at 0, not at {start}"
    return None


def _part_of_a_sum(
    actual: np.ndarray,
    expected: np.ndarray,
    wrong: np.ndarray,
    inputs: Mapping[str, np.ndarray],
    block: int | None,
) -> str | None:
    """A sum of an input from which some elements are missing: only the first ones are in it."""
    if expected.size != 1:
        return None
    total, got = float(expected.reshape(-1)[0]), float(actual.reshape(-1)[0])
    for name, array, _ in _reductions(inputs, expected.shape):
        flat = array.reshape(-1)
        near = 1e-5 * float(np.abs(flat).sum())
        if abs(float(flat.sum()) - total) > near or abs(got - total) <= near:
            continue
        for length in _lengths(flat.size, block):
            if abs(float(flat[:length].sum()) - got) <= min(near, abs(got - total) / 8):
                elements = "element" if length == 1 else f"{length:,} elements"
                return f"the sum of the first {elements} of {name} only"
        if abs(got - 2 * total) <= near:
            return f"every element of {name} is added twice"
    return None


def _lengths(size: int, block: int | None) -> Sequence[int]:
    """How many of the first elements a forgetful reduction adds: a lane, a warp, blocks."""
    step = block or 256
    blocks = range(step, min(size, MOST_OF_A_SUM), step)
    return [n for n in dict.fromkeys((1, 32, *blocks, 512, 1024, size - 1)) if 0 < n < size]


def _narrow(bad: np.ndarray, wanted: np.ndarray) -> str | None:
    """Values that are all halves or bfloat16s and about right: no other arithmetic gives those."""
    if bad.dtype.itemsize < 4 or not bad.any():
        return None
    found = bad.astype(np.float64)
    beyond = np.isinf(found) & (np.abs(wanted) > LARGEST_HALF)
    finite = np.isfinite(found) & np.isfinite(wanted)
    if not (finite | beyond).all():
        return None
    with np.errstate(all="ignore"):
        halves = bad.astype(np.float16).astype(np.float64)[finite] == found[finite]
        short = bad.astype(np.float32).view(np.uint32)[finite] & 0xFFFF == 0
        error = np.abs(found - wanted)[finite]
        near = error <= NEARLY * np.abs(wanted)[finite] + NEARLY
    if near.size and float(near.mean()) < 0.9:
        return None
    if short.all() and (short.size >= ENOUGH or not halves.all()):
        return "the values are nearly right, as if computed with 8 bits (bfloat16)"
    if halves.all() and beyond.any():
        return "infinity beyond 65504, the largest number of half precision"
    if halves.all():
        return "the values are nearly right, as if computed in half precision"
    return None


def same_difference(actual: np.ndarray, expected: np.ndarray, wrong: np.ndarray) -> str | None:
    """The same number too much, or the same factor, everywhere."""
    found, wanted = actual[wrong].astype(np.float64), expected[wrong].astype(np.float64)
    if found.size < max(4, wrong.size // 2) or not (
        np.isfinite(found).all() and np.isfinite(wanted).all()
    ):
        return None
    with np.errstate(all="ignore"):
        factor = found / wanted
        offset = found - wanted
    for word, each in (("times", factor), ("more than", offset)):
        if not np.isfinite(each).all():  # a factor of zeros
            continue
        middle = float(np.median(each))
        whole = round(middle) if abs(middle) >= 0.99 else middle
        spread = float(np.max(np.abs(each - middle)))
        if spread > 1e-3 * abs(middle) or abs(middle) < 1e-6:
            continue
        if word == "times" and abs(middle - 1) > 0.01:
            return f"every wrong element is {_number(whole)} times what it should be"
        if word == "more than" and float(np.ptp(wanted)) > 10 * spread:
            side = "more" if middle > 0 else "less"
            return f"every wrong element is {_number(abs(middle))} {side} than it should be"
    return None


def _number(value: float) -> str:
    return f"{value:.3g}"


def negative(actual: np.ndarray, expected: np.ndarray, wrong: np.ndarray) -> str | None:
    """Numbers below zero, and nothing else, where zeros should be."""
    enough = np.count_nonzero(wrong) >= ENOUGH
    if enough and actual.dtype.kind in "fi" and not expected[wrong].any():
        return "negative where it should be 0" if (actual[wrong] < 0).all() else None
    return None


def places(wrong: np.ndarray, inputs: Mapping[str, np.ndarray], block: int | None) -> str | None:
    """Where the wrong elements stand: what repeats, what only the first row escapes, or what
    their inputs have in common. `wrong` has the output's shape."""
    count = int(np.count_nonzero(wrong))
    if count == wrong.size or wrong.size < 4 or count < 3:
        return None
    return _first_row(wrong) or _periodic(wrong.reshape(-1), block) or _by_sign(wrong, inputs)


def _first_row(wrong: np.ndarray) -> str | None:
    if wrong.ndim != 2 or min(wrong.shape) < 2 or wrong.shape[0] < 3:
        return None
    rows = np.asarray(wrong.any(axis=1))
    mostly = float(wrong[1:].mean()) > 0.3
    later = bool(np.all(rows[1:])) and mostly
    return "only the first row is right" if later and not rows[0] else None


def _periodic(flat: np.ndarray, block: int | None) -> str | None:
    """`elements 128 to 255 of every 256`, for at least two whole periods."""
    for period in sorted({*PERIODS, *((block, 2 * block) if block else ())}):
        if flat.size < 2 * period:
            break
        whole = flat[: flat.size // period * period].reshape(-1, period)
        first_one = np.asarray(whole[0], dtype=bool)
        rest = flat[whole.size :]
        if np.any(whole != first_one) or np.any(rest != first_one[: rest.size]):
            continue
        where = np.flatnonzero(first_one)
        first, last = int(where[0]), int(where[-1])
        if last - first + 1 != where.size:
            return None
        if where.size == period - 1:
            return f"all but one in every {period} elements"
        if where.size == 1:
            return f"one in every {period} elements"
        return f"elements {first} to {last} of every {period}"
    return None


def _by_sign(wrong: np.ndarray, inputs: Mapping[str, np.ndarray]) -> str | None:
    """`only where A is negative`: the mask of an input of the output's shape fits exactly."""
    for name, array in inputs.items():
        if array.shape != wrong.shape or array.dtype.kind not in "fi":
            continue
        with np.errstate(invalid="ignore"):
            masks = (("negative", array < 0), ("positive", array > 0), ("zero", array == 0),
                     ("not finite", ~np.isfinite(array)))  # fmt: skip
        for word, mask in masks:
            if np.array_equal(mask, wrong):
                return f"only where {name} is {word}"
    return None
