"""Inputs and oracle of the row softmax."""

import numpy as np


def inputs(sizes, rng, case):
    """x, float32 of shape (ROWS, COLS), normal with a spread of 3 around a level for each row.

    `large`: around 500, where exp overflows. `negative`: around -500, where every exp is 0. `peak`:
    one element of each row is 150 above the others, so that exp overflows unless it is the maximum
    that is subtracted. `masked`: a third of each row is minus infinity, but never the whole row.
    `constant`: all alike.
    """
    rows, cols = sizes["ROWS"], sizes["COLS"]
    level = {"large": 500.0, "negative": -500.0}.get(case.values, 0.0)
    x = rng.normal(level, 3, (rows, cols)) + rng.uniform(-5, 5, (rows, 1))
    if case.values == "peak":
        x[np.arange(rows), rng.integers(0, cols, rows)] += 150
    if case.values == "masked":
        keep = rng.integers(0, cols, rows)
        mask = rng.random((rows, cols)) < 1 / 3
        mask[np.arange(rows), keep] = False
        x[mask] = -np.inf
    if case.values == "constant":
        x[:] = x[:, :1]
    return {"x": x.astype(np.float32)}


def oracle(inputs, sizes):
    """exp(x - max) / sum in float64."""
    x = inputs["x"].astype(np.float64)
    if not x.size:
        return {"y": x}
    power = np.exp(x - x.max(axis=1, keepdims=True))
    return {"y": power / power.sum(axis=1, keepdims=True)}
