"""Inputs and oracle of the first kernel."""

import numpy as np


def inputs(sizes, rng, case):
    """A and B, float32 of shape (N,), between -10 and 10, with a few exact zeros."""
    pair = rng.uniform(-10, 10, size=(2, sizes["N"]))
    pair[rng.random(pair.shape) < 0.02] = 0.0
    a, b = pair.astype(np.float32)
    return {"A": a, "B": b}


def oracle(inputs, sizes):
    """The sum in float64."""
    return {"C": inputs["A"].astype(np.float64) + inputs["B"].astype(np.float64)}
