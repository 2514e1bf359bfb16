"""Inputs and oracle of element-wise addition."""

import numpy as np


def inputs(sizes, rng, case):
    """A and B, float32 of shape (N,).

    `uniform`: between -1 and 1, so that sums cancel as often as they grow, with a few exact
    zeros. `magnitudes`: from 1e-20 to 1e20 with both signs. `specials`: infinities of both signs,
    NaN and zeros of both signs among ordinary numbers.
    """
    n = sizes["N"]
    pair = rng.uniform(-1, 1, size=(2, n))
    if case.values == "magnitudes":
        pair *= 10.0 ** rng.integers(-20, 20, size=(2, n), endpoint=True)
    pair[:, rng.random(n) < 0.02] = 0.0
    if case.values == "specials":
        special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0])
        pick = rng.random((2, n)) < 0.3
        pair[pick] = special[rng.integers(0, len(special), size=int(pick.sum()))]
    a, b = pair.astype(np.float32)
    return {"A": a, "B": b}


def oracle(inputs, sizes):
    """The sum in float64."""
    with np.errstate(invalid="ignore"):
        return {"C": inputs["A"].astype(np.float64) + inputs["B"].astype(np.float64)}
