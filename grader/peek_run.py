"""Runs an operation in the frameworks that are installed, to show beside the facts.

Each framework adds, multiplies ... a million float32 numbers once to warm up and then a few times;
what is said is what it reports about itself, the best time and whether the result is right.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.notes import sources

if TYPE_CHECKING:
    from grader.languages.inductor_run import Measured

ELEMENTS = 1_000_000
ROUNDS = 5

Array = np.ndarray[Any, np.dtype[np.float32]]


def run(operation: str, frameworks: set[str]) -> dict[tuple[str, str], str]:
    """A sentence for each framework and backend that ran here."""
    found = {}
    if "numpy" in frameworks:
        found["numpy", "cpu"] = _numpy(operation)
    if "pytorch" in frameworks and sources.installed_version("pytorch"):
        found["pytorch", "cpu"] = _torch(operation)
    if "mlx" in frameworks and sources.installed_version("mlx"):
        backend, text = _mlx(operation)
        found["mlx", backend] = text
    if "cupy" in frameworks and sources.installed_version("cupy"):
        found["cupy", "cuda"] = _cupy(operation)
    return {key: text for key, text in found.items() if text}


def inputs(operation: str) -> list[Array]:
    """Float32 operands; for `where` the first is a condition of zeros and ones."""
    rng = np.random.default_rng(7)
    a, b = (rng.uniform(-1, 1, ELEMENTS).astype(np.float32) for _ in range(2))
    if operation == "exp":
        return [a]
    return [(a > 0).astype(np.float32), a, b] if operation == "where" else [a, b]


def _best(call: Callable[[], Any]) -> tuple[Any, str]:
    """The result and the best time of a few rounds, in words."""
    result = call()
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - started)
    return result, f"{ELEMENTS:,} float32 in {best * 1e3:.2f} ms"


def _judged(operation: str, given: list[Array], result: Array) -> str:
    """Whether the result is that of numpy in float64, to float32's accuracy."""
    wide = [one.astype(np.float64) for one in given]
    if operation == "where":
        expected = np.where(wide[0] != 0, wide[1], wide[2])
    else:
        expected = getattr(np, operation)(*wide)
    good = np.allclose(result, expected, rtol=1e-6, atol=1e-6)
    return "right" if good else "WRONG"


def _numpy(operation: str) -> str:
    given = inputs(operation)
    if operation == "where":
        result, took = _best(lambda: np.where(given[0] != 0, given[1], given[2]))
        target = "np.where is no ufunc and has no dispatch target"
    else:
        function = getattr(np, operation)
        result, took = _best(lambda: function(*given))
        target = f"dispatch target for float32: {numpy_target(operation)}"
    return f"numpy {np.__version__}: {target}; {took}, {_judged(operation, given, result)}"


def numpy_target(operation: str) -> str:
    """The CPU features whose copy of the float32 loop this machine runs (numpy 2 and later)."""
    try:
        from numpy.lib.introspect import opt_func_info
    except ImportError:
        return "unknown (numpy before 2.0 cannot say)"
    table = opt_func_info(func_name=f"^{operation}$").get(operation, {})
    loop = table.get("fff") or table.get("ff")
    if loop is None:
        return "unknown (opt_func_info lists no float32 loop)"
    return f"{loop['current']} of {loop['available']}"


def _torch(operation: str) -> str:
    import torch

    given = inputs(operation)
    tensors = [torch.from_numpy(one) for one in given]
    if operation == "where":
        condition = tensors[0] != 0
        result, took = _best(lambda: torch.where(condition, tensors[1], tensors[2]))
    else:
        function = getattr(torch, operation)
        result, took = _best(lambda: function(*tensors))
    capability = torch.backends.cpu.get_cpu_capability()
    said = _judged(operation, given, result.numpy())
    return f"torch {torch.__version__}: CPU capability {capability}; {took}, {said}"


def generated(operation: str) -> tuple[Measured, ...]:
    """The kernels Inductor writes for a million elements and for a multiple of its largest block.

    Each ran on the virtual GPU. Empty where torch or Triton is missing, or it writes none.
    """
    from grader.errors import GradeError
    from grader.languages import inductor, inductor_run

    name = {"multiply": "mul"}.get(operation, operation)
    if inductor.missing() or name not in inductor.MEANINGS:
        return ()
    try:
        return tuple(
            inductor_run.measure(inductor.generate(name, size)) for size in (ELEMENTS + 3, 1 << 20)
        )
    except GradeError:
        return ()


def _mlx(operation: str) -> tuple[str, str]:
    import mlx.core as mx

    given = inputs(operation)
    arrays = [mx.array(one) for one in given]

    def evaluated(call: Callable[[], Any]) -> Callable[[], Any]:
        def done() -> Any:
            result = call()
            mx.eval(result)
            return result

        return done

    if operation == "where":
        result, took = _best(evaluated(lambda: mx.where(arrays[0] != 0, arrays[1], arrays[2])))
    else:
        function = getattr(mx, operation)
        result, took = _best(evaluated(lambda: function(*arrays)))
    said = _judged(operation, given, np.array(result))
    on_gpu = mx.default_device().type == mx.DeviceType.gpu
    metal = bool(getattr(mx, "metal", None)) and mx.metal.is_available()
    backend = ("metal" if metal else "cuda") if on_gpu else "cpu"
    name = f"mlx {sources.installed_version('mlx')} on {mx.default_device()}"
    return backend, f"{name}: {took}, {said}; {_copies(mx)}"


def _copies(mx: Any) -> str:
    """Whether `mx.array` of a numpy array copies it: tried, not believed."""
    ours = np.zeros(4, np.float32)
    theirs = mx.array(ours)
    ours[0] = 1.0
    if float(theirs[0]) == 0.0:
        return "mx.array(a_np) copies (tried here: a later write to a_np does not show)"
    return "mx.array(a_np) shares memory (tried here: a later write to a_np shows)"


def _cupy(operation: str) -> str:
    try:
        import cupy

        given = inputs(operation)
        arrays = [cupy.asarray(one) for one in given]
        function = getattr(cupy, operation)
        stream = cupy.cuda.Stream.null

        def done() -> Any:
            result = function(*arrays)
            stream.synchronize()
            return result

        result, took = _best(done)
        said = _judged(operation, given, cupy.asnumpy(result))
    except Exception as error:  # no driver, no card, a broken installation: all are "not here"
        return f"cupy is installed, but does not run here: {type(error).__name__}"
    return f"cupy {cupy.__version__}: {took}, {said}"
