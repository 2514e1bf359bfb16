"""Inputs and oracle of the transpose."""

import numpy as np


def inputs(sizes, rng, case):
    """A float32 matrix of shape (ROWS, COLS) in which no two elements are alike.

    `specials`: some of them NaN or infinite.
    """
    values = rng.permutation(sizes["ROWS"] * sizes["COLS"]) + rng.uniform(0.1, 0.4)
    values *= np.where(rng.random(values.shape) < 0.5, 1, -1)
    if case.values == "specials":
        pick = rng.random(values.shape) < 0.2
        values[pick] = rng.choice([np.nan, np.inf, -np.inf], int(pick.sum()))
    return {"input": values.reshape(sizes["ROWS"], sizes["COLS"]).astype(np.float32)}


def oracle(inputs, sizes):
    """The transposed matrix."""
    return {"output": inputs["input"].astype(np.float64).T}
