"""Inputs, oracle and standard output of the nine-step program."""

import numpy as np


def inputs(sizes, rng, case):
    """a and b, float32 of shape (N,), away from 0 so that an answer of zeros is wrong."""
    n = sizes["N"]
    return {
        "a": rng.uniform(1, 3, n).astype(np.float32),
        "b": rng.uniform(-9, -4, n).astype(np.float32),
    }


def oracle(inputs, sizes):
    """a + b in float64."""
    return {"c": inputs["a"].astype(np.float64) + inputs["b"].astype(np.float64)}


def stdout(inputs, sizes):
    """The one line that the program prints."""
    return f"added {sizes['N']} elements\n"
