"""How the frameworks do a vector addition; `grade verify` compares them with the oracle."""

import numpy as np


def with_numpy(inputs, sizes):
    """a + b, into an array that numpy allocates."""
    with np.errstate(invalid="ignore"):  # inf - inf
        return {"C": inputs["A"] + inputs["B"]}


def with_torch(inputs, sizes):
    """torch.add."""
    return {"C": inputs["A"] + inputs["B"]}


def with_mlx(inputs, sizes):
    """mx.add: nothing is computed before somebody asks for it."""
    return {"C": inputs["A"] + inputs["B"]}


def with_cupy(inputs, sizes):
    """CuPy's element-wise kernel, on an NVIDIA card."""
    return {"C": inputs["A"] + inputs["B"]}
