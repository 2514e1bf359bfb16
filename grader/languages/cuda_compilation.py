"""What compiling CUDA C takes and gives, whichever compiler does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from grader.languages import Contract
from grader.result import Diagnostic

RELOCATABLE = "-rdc=true"
"""nvcc's and NVRTC's option for code that may use what other files define."""

NOWHERE = "is declared here and defined nowhere in this file"
STATIC = "is treated as a static definition"
"""What is said of a device function, and by NVRTC of a variable, that a file only declares."""


@dataclass(frozen=True)
class Message:
    """One message of a log: its record, its warning number ("#177-D"), and its own lines."""

    diagnostic: Diagnostic
    number: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Resources:
    """What an assembler says that an entry uses on the chip it was asked about."""

    registers: int
    spill_bytes: int
    shared_bytes: int


@dataclass(frozen=True)
class Compilation:
    """One run of a compiler; without `ok` there are only messages.

    `lowered` maps each name expression to the function's name in the PTX, `constants` the declared
    constants to their values. `resources` is empty where no assembler looked.
    """

    ok: bool
    messages: tuple[Message, ...]
    ptx: str = ""
    lowered: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, int] = field(default_factory=dict)
    resources: Mapping[str, Resources] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """A submission on its way: the text as it is now, and what had to be done to it.

    `original` is what the student wrote; `headers` and `missing` are those of `Includes`;
    `blanked` names what was host code, with line and kind; `expressions` name the entries in C++
    (`(static_cast<void (*)(float*)>(&::scale))`, `reduce<float, 256>`); `toolkit` is the folder of
    the compiler's own headers, or empty; `defines` are what -D gives it, and `relocatable` code
    may use what other files define.
    """

    original: str
    text: str
    file_name: str
    headers: Mapping[str, str]
    missing: Mapping[str, tuple[str, int]]
    submission_files: tuple[str, ...]
    contracts: tuple[Contract, ...]
    constants: tuple[str, ...]
    expressions: tuple[str, ...]
    toolkit: str
    defines: tuple[str, ...] = ()
    relocatable: bool = False
    blanked: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    notes: tuple[Diagnostic, ...] = ()

    @property
    def definitions(self) -> tuple[str, ...]:
        """`defines` as options."""
        return tuple(f"-D{definition}" for definition in self.defines)

    @property
    def own_files(self) -> tuple[str, ...]:
        """The submission's files, as messages name them."""
        return (self.file_name, *self.submission_files)


class Compiler(Protocol):
    """The shape of a module that drives one compiler.

    `UNAVAILABLE` are beginnings of header names that exist for CUDA and not for this compiler;
    `NAMES_HOST_CODE` says that its errors tell what is host code, not only where something fails.
    """

    NAME: str
    NAMES_HOST_CODE: bool
    UNAVAILABLE: tuple[str, ...]

    def version(self) -> str:
        """The exact version: it decides the code that is generated."""
        ...

    def options(self, optimised: bool) -> tuple[str, ...]:
        """The options that decide the code, as the build record shows them."""
        ...

    def compile_text(self, source: Source, text: str, *, optimised: bool = True) -> Compilation:
        """Compile `text` with the source's headers under its file name.

        Messages name files as the submission does, or with the compiler's own path. No folder of
        this machine gets into the PTX.
        """
        ...

    def is_host_code(self, message: Message) -> bool:
        """Whether an error may mean that its place is host code."""
        ...

    def place(self, source: Source, message: Message) -> Diagnostic:
        """The record of a message with its place in the source, where that takes a look."""
        ...
