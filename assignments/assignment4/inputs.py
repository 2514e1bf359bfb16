"""Inputs and oracle of the broadcast add and of bias + ReLU."""

import numpy as np


def inputs(sizes, rng, case):
    """column (ROWS,), row (COLS,), bias (COLS,) and x, the rows of a matrix STRIDE apart.

    Values lie between -3 and 3. What stands between the rows of x is far too large, so that a
    wrong stride shows. `specials`: NaN and both infinities among the values.
    """
    rows, cols, stride = sizes["ROWS"], sizes["COLS"], sizes["STRIDE"]
    padded = np.full((rows, stride), 1e6)
    padded[:, :cols] = rng.uniform(-3, 3, (rows, cols))
    used = (rows - 1) * stride + cols if rows and cols else 0
    made = {
        "column": rng.uniform(-3, 3, rows),
        "row": rng.uniform(-3, 3, cols),
        "bias": rng.uniform(-1, 1, cols),
        "x": padded.reshape(-1)[:used],
    }
    if case.values == "specials":
        for values in made.values():
            pick = rng.random(values.shape) < 0.15
            values[pick] = rng.choice([np.nan, np.inf, -np.inf], int(pick.sum()))
    return {name: values.astype(np.float32) for name, values in made.items()}


def matrix(inputs, sizes):
    """x as a matrix of shape (ROWS, COLS), float64."""
    rows, cols, stride = sizes["ROWS"], sizes["COLS"], sizes["STRIDE"]
    if not rows or not cols:
        return np.zeros((rows, cols))
    padded = np.zeros(rows * stride)
    padded[: inputs["x"].size] = inputs["x"]
    return padded.reshape(rows, stride)[:, :cols]


def oracle(inputs, sizes):
    """Both results in float64; a NaN stays a NaN."""
    with np.errstate(invalid="ignore"):
        column, row = inputs["column"].astype(np.float64), inputs["row"].astype(np.float64)
        shifted = matrix(inputs, sizes) + inputs["bias"].astype(np.float64)
        return {"grid": column[:, None] + row[None, :], "y": np.maximum(shifted, 0.0)}
