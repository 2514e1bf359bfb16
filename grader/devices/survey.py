"""What `grade devices` finds: languages, whole programs, devices and the layers of the sandbox."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grader.devices import DEVICES, device
from grader.languages import LANGUAGES, language
from grader.result import Record


class Availability(Record):
    """Whether a language or a whole program can be compiled, a device used or a layer of the
    sandbox put on, here.

    `missing` is why not; `detail` says more of what is there.
    """

    kind: Literal["language", "program", "device", "sandbox"]
    name: str
    missing: str | None
    detail: str = ""


class Survey(Record):
    """What `grade devices` found, and where to grade a language that is missing."""

    schema_: str = Field(default="grade/devices/v1", alias="schema")
    found: tuple[Availability, ...]

    @property
    def next_step(self) -> str:
        """Empty where every language is here."""
        languages = [item for item in self.found if item.kind == "language"]
        lacking = [item.name for item in languages if item.missing is not None]
        if not lacking:
            return ""
        return (
            f"For {' and '.join(lacking)}: the dev container of the student template "
            f"(.devcontainer/) has all {len(languages)} languages, on x86-64 and arm64. Open the "
            "repository in it with VS Code or GitHub Codespaces."
        )


def survey() -> Survey:
    """Probe every language and device of the tables, and the layers of the sandbox."""
    from grader import sandbox
    from grader.programs import toolchain

    languages = [
        Availability(kind="language", name=name, missing=language(name).missing())
        for name in LANGUAGES
    ]
    programs = Availability(
        kind="program",
        name="cuda-c",
        missing=toolchain.missing(),
        detail=toolchain.state(),
    )
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
    return Survey(found=(*languages, programs, *devices, *layers))
