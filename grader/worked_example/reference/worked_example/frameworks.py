"""The leaky ReLU by the frameworks; `grade verify` compares those installed with the oracle.

A function for each framework that has the operation; the others may be left out.
"""

import numpy as np


def with_numpy(inputs, sizes):
    """No such function: a choice between two arrays."""
    x = inputs["x"]
    return {"y": np.where(x > 0, x, inputs["slope"] * x)}


def with_torch(inputs, sizes):
    """torch.nn.functional.leaky_relu."""
    import torch

    x = torch.from_numpy(inputs["x"])
    return {"y": torch.nn.functional.leaky_relu(x, float(inputs["slope"])).numpy()}


def with_mlx(inputs, sizes):
    """mx.where of two lazy arrays."""
    import mlx.core as mx

    x = mx.array(inputs["x"])
    return {"y": np.array(mx.where(x > 0, x, float(inputs["slope"]) * x))}


def with_cupy(inputs, sizes):
    """cupy.where, on an NVIDIA card."""
    import cupy

    x = cupy.asarray(inputs["x"])
    return {"y": cupy.asnumpy(cupy.where(x > 0, x, inputs["slope"] * x))}
