"""What a child does to time an operation in one framework: the job of `baselines.py`."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from grader.devices import timing
from grader.framework_devices import framework_device

COMPILED = "torch.compile"
SECONDS = 1.0
LEAST, MOST = 10, 400
WANTED_ERROR = timing.RULES.relative_error
SAID_CHARACTERS = 300


def time_job(request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """The first call, and the mean of those that follow, in nanoseconds.

    Empty where the author wrote nothing for the framework; `missing` says why it does not work
    here. Arrays are on the device before the clock starts.
    """
    framework = request["framework"]
    functions: dict[str, Any] = {}
    path = Path(request["path"])
    exec(compile(path.read_text("utf-8"), path.name, "exec"), functions)  # the author's own
    own = "torch" if framework == COMPILED else framework
    function = functions.get(f"with_{own}")
    if function is None:
        return {}, []
    said = {"framework": framework, "version": _version(own)}
    try:
        return said | _timed(request, blobs, own, function), []
    except Exception as error:  # whatever a framework, its compiler or its driver may raise
        return said | {"missing": _said(error)}, []


def _timed(
    request: dict[str, Any], blobs: list[bytes], own: str, function: Callable[..., Any]
) -> dict[str, Any]:
    on = framework_device(own, request["where"])
    arrays = {
        one["name"]: np.frombuffer(data, one["dtype"]).reshape(one["shape"])
        for one, data in zip(request["arrays"], blobs, strict=True)
    }
    inputs = {name: on.place(array) for name, array in arrays.items()} | request["scalars"]
    sizes = request["sizes"]
    if request["framework"] == COMPILED:
        function = _compiled(function)
    on.wait(list(inputs.values()))
    started = time.perf_counter_ns()
    on.wait(list(function(inputs, sizes).values()))
    first = time.perf_counter_ns() - started
    times: list[float] = []
    ends = time.perf_counter() + SECONDS
    while len(times) < MOST:
        times.append(on.timer(lambda: list(function(inputs, sizes).values())))
        enough = len(times) >= LEAST and timing.relative_error(times) < WANTED_ERROR
        if enough or (len(times) >= LEAST and time.perf_counter() > ends):
            break
    return {
        "device": on.name,
        "events": on.events,
        "first": float(first),
        "each": timing.mean(times),
        "error": timing.relative_error(times),
    }


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.compile` of the whole function: what it would leave to Python is refused."""
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # read when the compiler is imported
    torch = importlib.import_module("torch")
    compiled: Callable[..., Any] = torch.compile(function, fullgraph=True, dynamic=False)
    return compiled


def _said(error: Exception) -> str:
    """The kind of an exception and its first line that says something."""
    lines = [line.strip() for line in str(error).splitlines()]
    first = next((line for line in lines if line), "")
    return f"{type(error).__name__}: {first}"[:SAID_CHARACTERS]


def _version(framework: str) -> str:
    names = {"cupy": ("cupy", "cupy-cuda13x", "cupy-cuda12x")}
    for name in names.get(framework, (framework,)):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return ""
