"""The jobs that a parent calls in a child, whichever real device it is.

A request names the module of the card, `cuda_card` or `metal_card`: importing one loads CuPy or
PyObjC, which is why only a child does it.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Generator
from typing import Any, cast

from grader.devices import hardware_child
from grader.devices.card import Card, CardError
from grader.devices.hardware_child import Answered

CARDS = {"cuda": "grader.devices.cuda_card", "metal": "grader.devices.metal_card"}


def probe_job(request: dict[str, Any], blobs: list[bytes]) -> Answered:
    """Run a kernel of one thread; `missing` says why that failed."""
    code = request["code"]
    return _explained(lambda: hardware_child.probe(_card(request), code, "probe")), []


def facts_job(request: dict[str, Any], blobs: list[bytes]) -> Answered:
    """What the device is, with the bandwidth of a copy."""
    return _explained(lambda: hardware_child.facts(_card(request))), []


def run_job(request: dict[str, Any], blobs: list[bytes]) -> Generator[Answered, None, Answered]:
    """Run works, and answer each as soon as it ended; Metal checks every access where `checked`."""
    if request["checked"]:
        os.environ["MTL_SHADER_VALIDATION"] = "1"  # read when the device is made
    yield from hardware_child.run(_card(request), request, blobs)
    return {}, []


def time_job(request: dict[str, Any], blobs: list[bytes]) -> Generator[Answered, None, Answered]:
    """Time a kernel beside the reference."""
    yield from hardware_child.measure(_card(request), request, blobs)
    return {}, []


def _card(request: dict[str, Any]) -> Card:
    return cast(Card, importlib.import_module(CARDS[request["device"]]).open_card())


def _explained(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return ask()
    except CardError as error:
        return {"missing": error.message}
