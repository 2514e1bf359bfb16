"""How the frameworks do a row softmax; `grade verify` compares them with the oracle."""

import numpy as np


def with_numpy(inputs, sizes):
    """There is no softmax in numpy: five operations."""
    x = inputs["x"]
    if not x.size:
        return {"y": x.copy()}
    power = np.exp(x - x.max(axis=1, keepdims=True))
    return {"y": power / power.sum(axis=1, keepdims=True)}


def with_torch(inputs, sizes):
    """One kernel."""
    import torch

    return {"y": torch.softmax(inputs["x"], dim=1)}


def with_mlx(inputs, sizes):
    """One kernel; precise=True would keep the sum in float32 for half precision inputs."""
    import mlx.core as mx

    return {"y": mx.softmax(inputs["x"], axis=1)}


def with_cupy(inputs, sizes):
    """Five operations, each a kernel."""
    import cupy

    x = inputs["x"]
    if not x.size:
        return {"y": x}
    power = cupy.exp(x - x.max(axis=1, keepdims=True))
    return {"y": power / power.sum(axis=1, keepdims=True)}
