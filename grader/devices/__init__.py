"""Where kernels run: plain modules in one literal table; nothing registers itself.

A device module has `NAME` and `missing() -> str | None`, the reason why it cannot be used here
after a probe really ran, and a job that runs cases in a child process.
"""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from grader.errors import UsageError

DEVICES: dict[str, str] = {
    "virtual": "grader.devices.virtual",
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
