"""The job that times a kernel, in a real child, over CuPy's recorded signatures."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from grader.devices import hardware_child, virtual_child
from grader.devices.hardware_child import Answered
from tests.devices import recorded_cupy
from tests.devices.virtual_card import CLOCK


def time_job(request: dict[str, Any], blobs: list[bytes]) -> Generator[Answered, None, Answered]:
    """`hardware_jobs.time_job`, but for the card."""
    assert virtual_child.use_cache(request.pop("cache"))  # the engine can compile nothing here
    hardware_child.time = CLOCK  # type: ignore[attr-defined]
    with recorded_cupy.installed() as cuda_card:
        yield from hardware_child.measure(cuda_card.open_card(), request, blobs)
    return {}, []
