"""An NVIDIA GPU as a device: probes, and children that may open its nodes and nothing else.

Everything is done in sandboxed children; the parent imports no CuPy and opens no device. What a
child does is in `hardware_child.py`, for every real device, and `cuda_card.py`.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader import sandbox
from grader.devices import cuda_ptx

NAME = "cuda"
TITLE = "NVIDIA GPU"
LANGUAGES = ("cuda-c", "triton")
CHECKS = False

NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia[0-9]*",
         "/dev/dxg")  # fmt: skip
"""The control node, unified memory (both since driver 570), the cards, and what WSL has instead."""

CAPABILITIES = "/dev/nvidia-caps/nvidia-cap[0-9]*"
"""A slice of a card (MIG) is used by whoever may read its node; other slices' are closed."""

READ = (
    "/proc/driver/nvidia", "/proc/driver/nvidia-uvm", "/proc/devices", "/proc/modules",
    "/sys/bus/pci/devices", "/sys/devices", "/sys/module/nvidia", "/sys/module/nvidia_uvm",
    "/usr/local/nvidia", "/usr/local/cuda", "/run/opengl-driver",
)  # fmt: skip
"""What the driver's library looks up, and where it stands itself if not in /usr/lib."""

HIDDEN = ("no device can be seen", "not be initialised", "the system refused", "unknown error")
"""What a driver says that may not open what it needs (`cuda_errors.py`)."""

LIMITS = sandbox.Limits(
    wall_seconds=180.0, cpu_seconds=180.0, memory_bytes=16 << 30, output_bytes=2 << 30
)
PROBE_LIMITS = sandbox.Limits(wall_seconds=60.0, cpu_seconds=60.0, memory_bytes=8 << 30)


def nodes(root: Path = Path("/")) -> list[Path]:
    """The device nodes that there are."""
    return [path for node in NODES for path in sorted(root.glob(node.lstrip("/")))]


def slices(root: Path = Path("/")) -> list[Path]:
    """The nodes of slices of cards that this user may use."""
    found = sorted(root.glob(CAPABILITIES.lstrip("/")))
    return [path for path in found if os.access(path, os.R_OK)]


def missing() -> str | None:
    """Why nothing can run on an NVIDIA card here, or None after a kernel really ran in a child."""
    return (
        _unusable(
            installed=importlib.util.find_spec("cupy") is not None,
            found=[str(path) for path in nodes()],
            closed=[str(path) for path in nodes() if not os.access(path, os.R_OK | os.W_OK)],
        )
        or _probed()
    )


def _unusable(*, installed: bool, found: Sequence[str], closed: Sequence[str]) -> str | None:
    """What can be said without starting anything."""
    if sys.platform == "darwin":
        return "there is no CUDA on macOS"
    if not found:
        return "no device node /dev/nvidia*: there is no NVIDIA card, or its driver is not loaded"
    if closed:
        user = f"user {os.getuid()}"
        return f"no permission to open {', '.join(closed)} as {user}: see `ls -l {closed[0]}`"
    if not installed:
        return "a card is there, but CuPy is not installed: pip install 'grader[cuda]'"
    return None


@functools.cache
def _probed() -> str | None:
    return probed(call("probe_job", {"code": cuda_ptx.PROBE}, [], limits=PROBE_LIMITS))


def probed(reply: sandbox.Reply) -> str | None:
    """What a probe's reply says: None where its kernel stored the right number."""
    header = reply.header
    if header is None:
        why = reply.error or reply.exit.detail or reply.output.strip()[-300:]
        return f"the probe ended without an answer ({reply.exit.cause}): {why}"
    if "missing" in header:
        reason = str(header["missing"])
        if any(words in reason for words in HIDDEN):
            return f"{reason}: the nodes are there, but not visible in the sandbox or not in use"
        return reason
    if header.get("sum") != 3:
        return f"the probe's kernel should store 3, it stored {header.get('sum')}"
    return None


def reach() -> tuple[list[Path], list[Path]]:
    """What a child must be able to open: what it reads, and the card's nodes."""
    return [Path(path) for path in READ if Path(path).exists()], [*nodes(), *slices()]


def call(
    job: str,
    request: dict[str, Any],
    blobs: Sequence[bytes],
    *,
    limits: sandbox.Limits = LIMITS,
) -> sandbox.Reply:
    """Call a job of `hardware_jobs.py` in a child that may open the card's nodes."""
    read, devices = reach()
    return sandbox.call(
        f"grader.devices.hardware_jobs:{job}",
        {**request, "device": NAME},
        blobs,
        limits=limits,
        read=read,
        devices=devices,
    )
