"""Where kernels run: plain modules in one literal table; nothing registers itself.

A device module has `NAME` and `missing() -> str | None`, the reason why it cannot be used here
after a probe really ran, and a job that runs cases in a child process.
"""

from __future__ import annotations

import importlib
from typing import Literal, Protocol, cast

from pydantic import Field

from grader.errors import UsageError
from grader.languages import LANGUAGES, language
from grader.result import Record

DEVICES: dict[str, str] = {
    "virtual": "grader.devices.virtual",
}


class Device(Protocol):
    """The shape of a device module."""

    NAME: str

    def missing(self) -> str | None:
        """Why nothing can run on this device here, or None after a probe really ran."""
        ...


class Availability(Record):
    """Whether a language can be compiled, a device used or a layer of the sandbox put on, here.

    `missing` is why not; `detail` says more of what is there.
    """

    kind: Literal["language", "device", "sandbox"]
    name: str
    missing: str | None
    detail: str = ""


class Survey(Record):
    """What `grade devices` found."""

    schema_: str = Field(default="grade/devices/v1", alias="schema")
    found: tuple[Availability, ...]


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


def survey() -> Survey:
    """Probe every language and device of the tables, and the layers of the sandbox."""
    from grader import sandbox

    languages = [
        Availability(kind="language", name=name, missing=language(name).missing())
        for name in LANGUAGES
    ]
    devices = [
        Availability(kind="device", name=name, missing=device(name).missing()) for name in DEVICES
    ]
    layers = [
        Availability(
            kind="sandbox",
            name=layer.name,
            missing=None if layer.on else layer.detail,
            detail=layer.detail if layer.on else "",
        )
        for layer in sandbox.layers()
    ]
    return Survey(found=(*languages, *devices, *layers))
