"""How the frameworks smooth an array twice; `grade verify` compares them with the oracle."""

import numpy as np


def with_numpy(inputs, sizes):
    """Padding and three slices, twice."""
    x = inputs["x"]
    for _ in range(2 if x.size else 0):
        wide = np.pad(x, 1, mode="edge")
        x = (wide[:-2] + wide[1:-1] + wide[2:]) / np.float32(3)
    return {"y": x}


def with_torch(inputs, sizes):
    """Replicate padding and an average pooling, twice."""
    from torch.nn import functional

    x = inputs["x"][None, None]
    for _ in range(2 if x.numel() else 0):
        x = functional.avg_pool1d(functional.pad(x, (1, 1), mode="replicate"), 3, stride=1)
    return {"y": x[0, 0]}
