"""Where a framework works: how an array gets there and back, how its work is waited for and timed.

Frameworks are imported when one is asked for, never before. `where` is `cpu`, `cuda` or `metal`;
numpy knows the CPU only and CuPy an NVIDIA card only, whatever is asked.
"""

from __future__ import annotations

import importlib
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Where = Literal["cpu", "cuda", "metal"]

MODULES = {"numpy": "numpy", "torch": "torch", "mlx": "mlx.core", "cupy": "cupy"}
"""The frameworks, and the module that must be there for one."""

FLUSH_BYTES = 256 << 20
"""More than the last cache of any GPU holds."""

Timer = Callable[[Callable[[], Any]], float]


@dataclass(frozen=True)
class FrameworkDevice:
    """One framework on one device.

    `place` takes a numpy array there and `fetch` brings one back; `wait` returns when what it was
    given has been computed, which a lazy framework has to be told. `timer` calls a function and
    gives the nanoseconds that its work took there; with `events` they are those of two marks on the
    device, behind a cold cache, as for a student's kernel. Without, the wall clock counts the
    launching as well; on a GPU the cache is cold then too.
    """

    name: str
    place: Callable[[np.ndarray], Any]
    fetch: Callable[[Any], np.ndarray]
    wait: Callable[[Any], object]
    timer: Timer
    events: bool = False


def framework_device(framework: str, where: Where) -> FrameworkDevice:
    """A framework of `MODULES` on a device. Raises what importing or using it raises."""
    return _MAKERS[framework](where)


def _numpy(where: Where) -> FrameworkDevice:
    return FrameworkDevice(_cpu(), np.copy, np.asarray, _there, _wall(_there))


def _torch(where: Where) -> FrameworkDevice:
    torch = importlib.import_module("torch")
    if where == "cuda" and torch.cuda.is_available():
        event = lambda: torch.cuda.Event(enable_timing=True)  # noqa: E731 - one expression
        return _torch_on(torch, "cuda", torch.cuda.get_device_name(0), torch.cuda, event)
    if where == "metal" and torch.backends.mps.is_available():
        event = lambda: torch.mps.event.Event(enable_timing=True)  # noqa: E731
        return _torch_on(torch, "mps", "mps", torch.mps, event)
    place, fetch = _moves(torch, "cpu")
    return FrameworkDevice(_cpu(), place, fetch, _there, _wall(_there))


def _torch_on(
    torch: Any, device: str, name: str, module: Any, event: Callable[[], Any]
) -> FrameworkDevice:
    """PyTorch on a GPU; `module` is its `torch.cuda` or `torch.mps`."""
    place, fetch = _moves(torch, device)
    flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device=device)
    return FrameworkDevice(
        name,
        place,
        fetch,
        wait=lambda result: module.synchronize(),
        timer=_marked(
            flush.zero_,
            event,
            record=lambda mark: mark.record(),
            synchronise=module.synchronize,
            milliseconds=lambda before, after: before.elapsed_time(after),
        ),
        events=True,
    )


def _moves(
    torch: Any, device: str
) -> tuple[Callable[[np.ndarray], Any], Callable[[Any], np.ndarray]]:
    return (
        lambda array: torch.from_numpy(array.copy()).to(device),
        lambda result: result.detach().cpu().numpy(),
    )


def _mlx(where: Where) -> FrameworkDevice:
    core = importlib.import_module("mlx.core")
    device = str(core.default_device())
    if "cpu" in device:
        return FrameworkDevice(_cpu(), core.array, np.array, core.eval, _wall(core.eval))
    timer = _wall(core.eval, lambda: core.eval(core.zeros(FLUSH_BYTES // 4)))
    return FrameworkDevice(device, core.array, np.array, core.eval, timer)


def _cupy(where: Where) -> FrameworkDevice:
    cupy = importlib.import_module("cupy")
    cuda = cupy.cuda
    name = bytes(cuda.runtime.getDeviceProperties(0)["name"]).decode()
    flush = cuda.Memory(FLUSH_BYTES)
    stream = cuda.get_current_stream()
    return FrameworkDevice(
        name,
        cupy.asarray,
        cupy.asnumpy,
        wait=lambda result: cuda.runtime.deviceSynchronize(),
        timer=_marked(
            lambda: cuda.runtime.memsetAsync(flush.ptr, 0, flush.size, stream.ptr),
            cuda.Event,
            record=lambda mark: mark.record(stream),
            synchronise=cuda.runtime.deviceSynchronize,
            milliseconds=cuda.get_elapsed_time,
        ),
        events=True,
    )


_MAKERS: dict[str, Callable[[Where], FrameworkDevice]] = {
    "numpy": _numpy,
    "torch": _torch,
    "mlx": _mlx,
    "cupy": _cupy,
}


def _there(result: Any) -> None:
    """Nothing to wait for: the call itself computes."""


def _wall(wait: Callable[[Any], object], flush: Callable[[], object] = lambda: None) -> Timer:
    def timed(call: Callable[[], Any]) -> float:
        flush()
        started = time.perf_counter_ns()
        wait(call())
        return float(time.perf_counter_ns() - started)

    return timed


def _marked(
    flush: Callable[[], object],
    event: Callable[[], Any],
    *,
    record: Callable[[Any], object],
    synchronise: Callable[[], object],
    milliseconds: Callable[[Any, Any], float],
) -> Timer:
    """Between two marks. What fills the cache runs while the host queues the call behind it."""

    def timed(call: Callable[[], Any]) -> float:
        before, after = event(), event()
        flush()
        record(before)
        result = call()
        record(after)
        synchronise()
        del result  # only now: freeing memory may wait for the device
        return 1e6 * float(milliseconds(before, after))

    return timed


def _cpu() -> str:
    return f"the CPU ({platform.machine()}, one thread)"
