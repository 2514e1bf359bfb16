"""What a child does on an NVIDIA card: the jobs of `cuda.py`."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from grader.devices import cuda_ptx, hardware_child
from grader.devices.card import CardError
from grader.devices.hardware_child import Answered


def probe_job(request: dict[str, Any], blobs: list[bytes]) -> Answered:
    """Run a kernel of one thread; `missing` says why that failed."""
    return _explained(lambda: hardware_child.probe(_card(), cuda_ptx.PROBE, "probe")), []


def facts_job(request: dict[str, Any], blobs: list[bytes]) -> Answered:
    """What the card is, with the bandwidth of a copy."""
    return _explained(lambda: hardware_child.facts(_card())), []


def run_job(request: dict[str, Any], blobs: list[bytes]) -> Generator[Answered, None, Answered]:
    """Run works, and answer each as soon as it ended."""
    yield from hardware_child.run(_card(), request, blobs)
    return {}, []


def time_job(request: dict[str, Any], blobs: list[bytes]) -> Generator[Answered, None, Answered]:
    """Time a kernel beside the reference."""
    yield from hardware_child.measure(_card(), request, blobs)
    return {}, []


def _card() -> Any:
    from grader.devices.cuda_card import CudaCard  # needs CuPy

    return CudaCard()


def _explained(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return ask()
    except CardError as error:
        return {"missing": error.message}
