"""Where kernels run: plain modules in one literal table; nothing registers itself.

A device module has `NAME` and `missing() -> str | None`, the reason why it cannot be used here
after a probe really ran, and jobs that run cases in a child process::

    exchange.py        what a child is asked, and what of its answers is believed
    virtual.py         the virtual GPU                                  (parent)
    virtual_child.py   what its children do                             (child)
    cuda.py  metal.py  an NVIDIA and an Apple GPU: probes, children     (parent)
    hardware.py        which of them; runs and times come back          (parent)
    timing.py          the timing protocol, and what it believes        (both)
    hardware_child.py  what a child does on any real device             (child)
    buffers.py         red zones, poison, and what can be read there    (child)
    card.py            what a real device must do for that              (child)
    hardware_jobs.py   the jobs that are called there                   (child)
    cuda_card.py       a card through CuPy; cuda_errors.py, cuda_ptx.py (child)
    metal_card.py      a card through PyObjC; metal_errors.py           (child)
    sanitizer.py       compute-sanitizer; sanitizer_log.py reads it     (parent)
    sanitized.py       the program it watches                           (its own)
    metal_works.py     works with Metal's source in place of PTX        (parent)

docs/devices.md says how to use a real device, and what of it has run on hardware.
"""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from grader.errors import UsageError

DEVICES: dict[str, str] = {
    "virtual": "grader.devices.virtual",
    "cuda": "grader.devices.cuda",
    "metal": "grader.devices.metal",
}


class Device(Protocol):
    """The shape of a device module."""

    NAME: str

    def missing(self) -> str | None:
        """Why nothing can run on this device here, or None after a probe really ran."""
        ...


def device(name: str) -> Device:
    """The module of a device; `auto` is the virtual GPU, whose faults a grade always rests on.

    Raises UsageError for a name that is not in the table.
    """
    name = "virtual" if name == "auto" else name
    if name not in DEVICES:
        raise UsageError(
            f"expected --device auto, {', '.join(DEVICES)}; found {name!r}",
            "`grade devices` says what can run here.",
        )
    return cast(Device, importlib.import_module(DEVICES[name]))
