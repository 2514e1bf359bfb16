"""How the frameworks do SAXPY; `grade verify` compares them with the oracle."""


def with_numpy(inputs, sizes):
    """Two operations and an array in between."""
    return {"y": inputs["a"] * inputs["x"] + inputs["y"]}


def with_torch(inputs, sizes):
    """One call; y.add_(x, alpha=a) would do it in place."""
    return {"y": inputs["y"].add(inputs["x"], alpha=inputs["a"])}


def with_mlx(inputs, sizes):
    """Lazy: mx.compile could fuse the two."""
    return {"y": inputs["a"] * inputs["x"] + inputs["y"]}


def with_cupy(inputs, sizes):
    """An ElementwiseKernel: one pass."""
    import cupy

    saxpy = cupy.ElementwiseKernel(
        "float32 a, float32 x, float32 y", "float32 out", "out = a * x + y", "saxpy"
    )
    return {"y": saxpy(inputs["a"], inputs["x"], inputs["y"])}
