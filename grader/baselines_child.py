"""What a child does to time an operation in one framework: the job of `baselines.py`."""

from __future__ import annotations

import importlib
import platform
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from grader.devices import timing

SECONDS = 1.0
LEAST, MOST = 5, 200


def time_job(request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """The first call, and the mean of those that follow, in nanoseconds; empty where there is none.

    Arrays are on the device before the clock starts; a call ends when its result is there.
    """
    functions: dict[str, Any] = {}
    path = Path(request["path"])
    exec(compile(path.read_text("utf-8"), path.name, "exec"), functions)  # the author's own
    function = functions.get(f"timed_{request['framework']}")
    if function is None:
        return {}, []
    arrays = {
        one["name"]: np.frombuffer(data, one["dtype"]).reshape(one["shape"])
        for one, data in zip(request["arrays"], blobs, strict=True)
    }
    place, force, device = FRAMEWORKS[request["framework"]](request["where"])
    inputs = {name: place(array) for name, array in arrays.items()} | request["scalars"]

    def call() -> int:
        started = time.perf_counter_ns()
        force(function(inputs, request["sizes"]))
        return time.perf_counter_ns() - started

    force(list(inputs.values()))
    first = call()
    times: list[float] = []
    ends = time.perf_counter() + SECONDS
    while len(times) < LEAST or (len(times) < MOST and time.perf_counter() < ends):
        times.append(float(call()))
    return {
        "framework": request["framework"],
        "version": _version(request["framework"]),
        "device": device,
        "first": float(first),
        "each": timing.mean(times),
    }, []


Framework = tuple[Callable[[Any], Any], Callable[[Any], object], str]


def _numpy(where: str) -> Framework:
    return (lambda array: array), (lambda result: None), _cpu()


def _torch(where: str) -> Framework:
    torch = importlib.import_module("torch")
    if where == "cuda" and torch.cuda.is_available():
        name = torch.cuda.get_device_name(0)
        return _on(torch, "cuda"), lambda result: torch.cuda.synchronize(), str(name)
    if where == "metal" and torch.backends.mps.is_available():
        return _on(torch, "mps"), lambda result: torch.mps.synchronize(), "mps"
    return _on(torch, "cpu"), (lambda result: None), _cpu()


def _on(torch: Any, device: str) -> Callable[[Any], Any]:
    return lambda array: torch.from_numpy(array.copy()).to(device)


def _mlx(where: str) -> Framework:
    core = importlib.import_module("mlx.core")
    device = str(core.default_device())
    return core.array, core.eval, _cpu() if "cpu" in device else device


def _cupy(where: str) -> Framework:
    cupy = importlib.import_module("cupy")
    name = bytes(cupy.cuda.runtime.getDeviceProperties(0)["name"]).decode()
    return cupy.asarray, lambda result: cupy.cuda.runtime.deviceSynchronize(), name


FRAMEWORKS: dict[str, Callable[[str], Framework]] = {
    "numpy": _numpy,
    "torch": _torch,
    "mlx": _mlx,
    "cupy": _cupy,
}
"""How an array gets to where the framework works, how its result is waited for, and where that is.
"""


def _cpu() -> str:
    return f"the CPU ({platform.machine()})"


def _version(framework: str) -> str:
    names = {"cupy": ("cupy", "cupy-cuda13x", "cupy-cuda12x")}
    for name in names.get(framework, (framework,)):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return ""
