"""Inputs and oracle of the leaky ReLU. The grader trusts and runs this file; students need not."""

import numpy as np


def inputs(sizes, rng, case):
    """x, float32 of shape (N,), between -10 and 10, and a slope between 0.1 and 0.3.

    `rng` is a numpy Generator seeded by the assignment, the case and, where it is hidden, the
    secret. `specials`: infinities of both signs, NaN and zeros of both signs among the numbers.
    """
    x = rng.uniform(-10, 10, sizes["N"])
    if case.values == "specials":
        special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0])
        pick = rng.random(x.size) < 0.3
        x[pick] = special[rng.integers(0, len(special), int(pick.sum()))]
    return {"x": x.astype(np.float32), "slope": np.float32(rng.uniform(0.1, 0.3))}


def oracle(inputs, sizes):
    """Every output in float64."""
    x = inputs["x"].astype(np.float64)
    return {"y": np.where(x > 0, x, float(inputs["slope"]) * x)}
