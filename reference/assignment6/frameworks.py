"""How the frameworks do a sum; `grade verify` compares them with the oracle."""

import numpy as np


def with_numpy(inputs, sizes):
    """Pairwise summation in float32."""
    return {"total": inputs["x"].sum(dtype=np.float32).reshape(1)}


def with_torch(inputs, sizes):
    """A vectorised cascade sum on the CPU, a block reduction on a GPU."""
    return {"total": inputs["x"].sum().reshape(1)}


def with_mlx(inputs, sizes):
    """mx.sum."""
    return {"total": inputs["x"].sum().reshape(1)}


def with_cupy(inputs, sizes):
    """A block reduction, or CUB."""
    return {"total": inputs["x"].sum().reshape(1)}
