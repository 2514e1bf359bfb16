"""Inputs and oracle of the sum."""

import numpy as np


def inputs(sizes, rng, case):
    """x, float32 of shape (N,), between -1 and 2: its sum is not near zero.

    `whole`: whole numbers from -3 to 9, whose sum float32 can hold exactly. `cancel`: pairs of
    large numbers that cancel, and small ones that remain.
    """
    n = sizes["N"]
    if case.values == "whole":
        x = rng.integers(-3, 9, n, endpoint=True).astype(np.float32)
    else:
        x = rng.uniform(-1, 2, n).astype(np.float32)
    if case.values == "cancel":
        large = rng.uniform(50, 100, n // 3).astype(np.float32)
        x[: large.size] = large
        x[large.size : 2 * large.size] = -large
        rng.shuffle(x)
    return {"x": x}


def oracle(inputs, sizes):
    """The sum in float64, and the sum of the magnitudes: the scale of what rounding may do."""
    x = inputs["x"].astype(np.float64)
    return {"total": (np.array([x.sum()]), np.array([np.abs(x).sum()]))}
