"""How the frameworks do the two kernels; `grade verify` compares them with the oracle."""

import numpy as np


def matrix(sizes):
    """The shape (ROWS, COLS) of x, and its strides in elements: rows lie STRIDE apart."""
    return (sizes["ROWS"], sizes["COLS"]), (sizes["STRIDE"], 1)


def with_numpy(inputs, sizes):
    """Broadcasting, and np.maximum, which keeps NaN."""
    shape, strides = matrix(sizes)
    x = np.lib.stride_tricks.as_strided(inputs["x"], shape, [4 * step for step in strides])
    column, row = inputs["column"], inputs["row"]
    with np.errstate(invalid="ignore"):
        y = np.maximum(x + inputs["bias"], np.float32(0))
        return {"grid": column[:, None] + row[None, :], "y": y}


def with_torch(inputs, sizes):
    """Broadcasting, and torch.relu of a strided view."""
    import torch

    x = inputs["x"].as_strided(*matrix(sizes))
    grid = inputs["column"][:, None] + inputs["row"][None, :]
    return {"grid": grid, "y": torch.relu(x + inputs["bias"])}


def with_mlx(inputs, sizes):
    """Broadcasting, and mx.maximum."""
    import mlx.core as mx

    shape, strides = matrix(sizes)
    full = inputs["x"].size > 0  # as_strided takes no empty array
    x = mx.as_strided(inputs["x"], shape, strides) if full else mx.zeros(shape)
    grid = inputs["column"][:, None] + inputs["row"][None, :]
    return {"grid": grid, "y": mx.maximum(x + inputs["bias"], 0)}


def with_cupy(inputs, sizes):
    """Broadcasting, and cupy.maximum."""
    import cupy

    shape, strides = matrix(sizes)
    x = cupy.lib.stride_tricks.as_strided(inputs["x"], shape, [4 * step for step in strides])
    grid = inputs["column"][:, None] + inputs["row"][None, :]
    return {"grid": grid, "y": cupy.maximum(x + inputs["bias"], 0)}
