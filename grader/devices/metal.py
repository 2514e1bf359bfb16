"""An Apple GPU as a device: the student's source as it is, compiled by Metal in a sandboxed child.

Never run by the authors: docs/devices.md says what has been tried and how to try it.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader import sandbox
from grader.devices import cuda

NAME = "metal"
TITLE = "Apple GPU"
LANGUAGES = ("metal",)
CHECKS = True  # shader validation

FRAMEWORK = Path("/System/Library/Frameworks/Metal.framework")

PROBE = """
#include <metal_stdlib>
kernel void probe(device int* out [[buffer(0)]]) { int one = 1; out[0] = one + 2; }
"""


def missing() -> str | None:
    """Why nothing can run on an Apple GPU here, or None after a kernel really ran in a child."""
    if sys.platform != "darwin":
        return "Metal is a part of macOS"
    if importlib.util.find_spec("Metal") is None:
        return "PyObjC's Metal is not installed: pip install 'grader[metal]'"
    return _probed()


@functools.cache
def _probed() -> str | None:
    return cuda.probed(call("probe_job", {"code": PROBE}, [], limits=cuda.PROBE_LIMITS))


def reach() -> tuple[list[Path], list[Path]]:
    """What a child must be able to open: what it reads, and the GPU's services."""
    return [], [FRAMEWORK]


def call(
    job: str,
    request: dict[str, Any],
    blobs: Sequence[bytes],
    *,
    limits: sandbox.Limits = cuda.LIMITS,
) -> sandbox.Reply:
    """Call a job of `hardware_jobs.py` in a child that may speak to the GPU."""
    read, devices = reach()
    return sandbox.call(
        f"grader.devices.hardware_jobs:{job}",
        {**request, "device": NAME},
        blobs,
        limits=limits,
        read=read,
        devices=devices,
    )
