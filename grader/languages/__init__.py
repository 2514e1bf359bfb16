"""What a student wrote, and how it becomes PTX.

A language is a plain module with `NAME`, `SUFFIXES`, `missing() -> str | None` and
`build(text, file_name, contracts) -> (builds, artefact)`. Student code is compiled in a
sandboxed child, never in the process that calls `build`.
"""

from __future__ import annotations

from typing import Protocol

from grader.result import Build, Record


class Parameter(Record):
    """One parameter of a kernel as the assignment's contract spells it in the language."""

    name: str
    type: str


class Contract(Record):
    """What the entry of a kernel must look like; parameter names are free.

    `constants` are compile-time constants the source may declare, with their defaults.
    """

    kernel: str
    parameters: tuple[Parameter, ...]
    constants: dict[str, int] = {}


class Variant(Record):
    """One compilation of the submission to PTX.

    `entries` maps a contract's kernel name to its entry in the PTX; `constants` holds the values
    the source really has; `block` overrides the assignment's block where the language owns it
    (Triton); registers and spills are per entry and unknown (absent) where no tool says them.
    """

    name: str
    optimised: bool
    ptx: str
    entries: dict[str, str]
    constants: dict[str, int] = {}
    block: tuple[int, int, int] | None = None
    shared_bytes: dict[str, int] = {}
    registers: dict[str, int] = {}
    spill_bytes: dict[str, int] = {}


class Artefact(Record):
    """What a build hands to a device. The first variant gives values and metrics."""

    language: str
    variants: tuple[Variant, ...]


class Language(Protocol):
    """The shape of a language module."""

    NAME: str
    SUFFIXES: tuple[str, ...]

    def missing(self) -> str | None:
        """Why this language cannot be compiled here, or None."""
        ...

    def build(
        self, text: str, file_name: str, contracts: tuple[Contract, ...]
    ) -> tuple[tuple[Build, ...], Artefact | None]:
        """Compile; None beside the builds when the compiler or the contract said no."""
        ...
