"""What a student wrote, and how it becomes PTX.

A language is a plain module with `NAME`, `SUFFIXES`, `missing() -> str | None` and
`build(text, file_name, contracts) -> (builds, artefact)`. Student code is compiled in a
sandboxed child, never in the process that calls `build`. Triton takes more modules than one::

    triton.py           build: asks the child, keeps and validates what it says     (parent)
    triton_ptx.py       mends lines of the PTX, makes lanes beyond a mask undefined (parent)
    triton_source.py    what each load and store of a source means, read as text    (parent)
    triton_advice.py    findings in programs, offsets and masks                     (parent)
    triton_races.py     which races are the author's                                (parent)
    triton_compile.py   compiles the kernels                                        (child)
    triton_contract.py  finds the kernel a contract names, compares the two         (child)
    triton_module.py    imports the file                                            (child)
    triton_host.py      stand-ins for torch and the like                            (child)
    triton_driver.py    Triton's driver whose GPU is the virtual one
    triton_torch.py     `cuda` tensors in the host's memory
    triton_program.py   `grade run script.py`
    inductor.py         what torch.compile writes; inductor_run.py runs it
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Protocol, cast

from grader.errors import UsageError
from grader.result import Build, Diagnostic, Record

LANGUAGES: dict[str, str] = {
    "cuda-c": "grader.languages.cuda_c",
    "metal": "grader.languages.metal",
    "triton": "grader.languages.triton",
}


class Parameter(Record):
    """One parameter of a kernel as the assignment's contract spells it in the language."""

    name: str
    type: str


class Contract(Record):
    """What the entry of a kernel must look like; parameter names are free.

    `constants` are compile-time constants the source may declare, with their defaults.
    `calls` are the scalar arguments that the assignment's launches really pass, by parameter
    name: a language that specialises on values (Triton) compiles for these.
    """

    kernel: str
    parameters: tuple[Parameter, ...]
    constants: dict[str, int] = {}
    calls: tuple[dict[str, int | float], ...] = ()


class Variant(Record):
    """One compilation of the submission to PTX.

    `entries` maps a contract's kernel name to its entry in the PTX; `constants` holds the values
    the source really has; `block` overrides the assignment's block where the language owns it
    (Triton); registers and spills are per entry and unknown (absent) where no tool says them.

    Variants of one `name` belong together and complete each other: `calls` names the calls of the
    contract a variant was compiled for (empty: any), `select` finds the right one. Where a language
    has several optimised names (autotune configurations) each is graded and the best one scored.
    `parameters` lists, per kernel, what the entry takes where that is not the contract's list: what
    the compiler specialised away is missing, and a parameter without a name takes a null pointer.
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
    calls: tuple[dict[str, int | float], ...] = ()
    parameters: dict[str, tuple[Parameter, ...]] = {}
    checks: str | None = None


class Artefact(Record):
    """What a build hands to a device. The first variant gives values and metrics."""

    language: str
    variants: tuple[Variant, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variants, each once, in order."""
        return tuple(dict.fromkeys(variant.name for variant in self.variants))

    def select(self, name: str, kernel: str, call: dict[str, int | float]) -> Variant | None:
        """The variant called `name` that holds `kernel` and serves the scalar arguments `call`."""
        named = [variant for variant in self.variants if variant.name == name]
        for variant in named:
            serves = not variant.calls or call in variant.calls
            if kernel in variant.entries and serves:
                return variant
        checked = next((v.checks for v in named if v.checks is not None), None)
        return None if checked is None else self.select(checked, kernel, call)

    def checking(self, name: str) -> tuple[str, ...]:
        """The names of the builds that add findings to those of the optimised build `name`."""
        found = (v.name for v in self.variants if not v.optimised and v.checks in (None, name))
        return tuple(dict.fromkeys(found))


MOST_PTX_BYTES = 128 << 20
"""Of all builds of one file. A large kernel has a hundredth of that; a table of data that is
initialised in the source, or loops unrolled a million times, have more."""


def bounded(
    builds: tuple[Build, ...], artefact: Artefact | None, file_name: str
) -> tuple[tuple[Build, ...], Artefact | None]:
    """The same, or no artefact and an error where a compiler made more PTX than is worked on."""
    made = sum(len(variant.ptx) for variant in artefact.variants) if artefact else 0
    if made <= MOST_PTX_BYTES:
        return builds, artefact
    said = Diagnostic(file=file_name, severity="error", message=too_large(made, MOST_PTX_BYTES))
    failed = {"ok": False, "diagnostics": (*builds[-1].diagnostics, said)}
    return (*builds[:-1], builds[-1].model_copy(update=failed)), None


def too_large(made: int, most: int) -> str:
    """What is said of a file that became too much PTX."""
    return (
        f"expected at most {most >> 20} MiB of PTX, found {made >> 20} MiB: compute large tables, "
        "or keep them in a buffer, and unroll less"
    )


class Language(Protocol):
    """The shape of a language module."""

    @property
    def NAME(self) -> str:
        """The language's name, a key of LANGUAGES."""
        ...

    @property
    def SUFFIXES(self) -> tuple[str, ...]:
        """The suffixes of its files."""
        ...

    def missing(self) -> str | None:
        """Why this language cannot be compiled here, or None."""
        ...

    def build(
        self, text: str, file_name: str, contracts: tuple[Contract, ...], **options: Any
    ) -> tuple[tuple[Build, ...], Artefact | None]:
        """Compile; None beside the builds when the compiler or the contract said no.

        A language that includes also takes `headers`, the submission's other files by their path.
        """
        ...


@dataclass(frozen=True)
class WithCompiler:
    """A language that has several compilers, built by one of them."""

    module: Any
    compiler: str

    @property
    def NAME(self) -> str:
        """The language's name."""
        return str(self.module.NAME)

    @property
    def SUFFIXES(self) -> tuple[str, ...]:
        """The suffixes of its files."""
        return tuple(self.module.SUFFIXES)

    def missing(self) -> str | None:
        """Why this compiler does not work here, or None."""
        reason: str | None = self.module.missing(self.compiler)
        return reason

    def build(
        self, text: str, file_name: str, contracts: tuple[Contract, ...], **options: Any
    ) -> tuple[tuple[Build, ...], Artefact | None]:
        """Compile with this compiler."""
        built: tuple[tuple[Build, ...], Artefact | None] = self.module.build(
            text, file_name, contracts, compiler=self.compiler, **options
        )
        return built


def language(name: str, compiler: str | None = None) -> Language:
    """The module of a language; with `compiler`, where the language has several, built by that one.

    Raises UsageError for a name that is not in the table.
    """
    if name not in LANGUAGES:
        raise UsageError(f"expected a language of {', '.join(LANGUAGES)}; found {name!r}")
    module = importlib.import_module(LANGUAGES[name])
    known: dict[str, str] = getattr(module, "COMPILERS", {})
    if compiler is None or not known:
        return cast(Language, module)
    if compiler not in known:
        raise UsageError(f"expected a compiler of {', '.join(known)}; found {compiler!r}")
    return WithCompiler(module, compiler)
