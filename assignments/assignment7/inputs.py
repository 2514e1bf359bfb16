"""Inputs and oracle of the matrix product."""

import numpy as np


def inputs(sizes, rng, case):
    """A of shape (M, K) and B of shape (K, N), float32 between -1 and 2.

    `whole`: whole numbers from -2 to 5, whose products float32 adds exactly.
    """
    shapes = {"A": (sizes["M"], sizes["K"]), "B": (sizes["K"], sizes["N"])}
    if case.values == "whole":
        made = {name: rng.integers(-2, 5, shape, endpoint=True) for name, shape in shapes.items()}
    else:
        made = {name: rng.uniform(-1, 2, shape) for name, shape in shapes.items()}
    return {name: values.astype(np.float32) for name, values in made.items()}


def oracle(inputs, sizes):
    """The product in float64, and that of the magnitudes: the scale of what rounding may do."""
    a, b = inputs["A"].astype(np.float64), inputs["B"].astype(np.float64)
    return {"C": (a @ b, np.abs(a) @ np.abs(b))}
