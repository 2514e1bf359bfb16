"""Inputs and oracle of y = a * x + y."""

import numpy as np


def inputs(sizes, rng, case):
    """x and y, float32 of shape (N,) between -2 and 2, and the scalar a.

    `zero`: a is 0, so y must stay as it is. `cancel`: a * x is close to -y, so that what is left
    is small beside the terms.
    """
    n = sizes["N"]
    a = np.float32(0.0 if case.values == "zero" else rng.uniform(0.5, 3) * rng.choice([-1, 1]))
    x = rng.uniform(-2, 2, n).astype(np.float32)
    y = rng.uniform(-2, 2, n).astype(np.float32)
    if case.values == "cancel":
        y = (-a * x * (1 + rng.uniform(-1e-3, 1e-3, n))).astype(np.float32)
    return {"a": a, "x": x, "y": y}


def oracle(inputs, sizes):
    """a * x + y in float64, and |a * x| + |y|: the scale of what rounding may do."""
    product = np.float64(inputs["a"]) * inputs["x"].astype(np.float64)
    y = inputs["y"].astype(np.float64)
    return {"y": (product + y, np.abs(product) + np.abs(y))}
