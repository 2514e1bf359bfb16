"""The records of `assignment.toml`: its schema.

`docs/assignment-format.md` is written from them: what a key means stands in its `Field`.
`assignment.py` finds and reads the file; `assignment_rules.py` says what must hold between keys.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from grader import parameters
from grader.languages import Contract

Language = Literal["cuda-c", "metal", "triton"]
Feedback = Literal["full", "first", "cases", "verdict"]
LANGUAGES: tuple[Language, ...] = ("cuda-c", "metal", "triton")
Expression = str | int
DType = Literal[
    "float16", "float32", "float64",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip
RUBRIC_ITEMS = ("build", "correct", "bounds", "sync", "steps", "speed", "notes")
STEPS = ("host", "allocated", "copied_in", "covered", "launched", "checked", "synchronised",
         "copied_out", "freed")  # fmt: skip


class Section(BaseModel):
    """A table of `assignment.toml`: frozen; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, strict=True)


class Size(Section):
    """A number that differs between cases; expressions and `inputs.py` use it by its name.

    A string in place of the table is its `about`.
    """

    about: str = Field(description="what the number counts")
    default: int | None = Field(None, ge=0, description="its value in a case that does not set it")

    @model_validator(mode="before")
    @classmethod
    def short_form(cls, value: Any) -> Any:
        """`N = "number of rows"` is `N = { about = "number of rows" }`."""
        return {"about": value} if isinstance(value, str) else value


class Tolerance(Section):
    """How far a floating-point output may be from the oracle.

    An element passes when |actual - expected| <= atol + rtol * scale, where scale is |expected|
    or, where the oracle returns one, the sum of the magnitudes added.
    """

    rtol: float = Field(ge=0, description="relative tolerance")
    atol: float = Field(0.0, ge=0, description="absolute tolerance")


class Buffer(Section):
    """An array in global memory."""

    name: str = Field(description="its name in messages, `args`, and `inputs.py`")
    role: Literal["input", "output", "inout", "scratch"] = Field(
        description="input: writing to it is a fault; output: compared with the oracle; inout: "
        "both given and compared; scratch: passed from one launch to the next, never compared"
    )
    dtype: DType = Field(description="element type")
    shape: tuple[Expression, ...] = Field(
        min_length=1, description="expressions over the sizes (scratch: and the constants)"
    )
    initial: Literal["undefined", "zero"] = Field(
        "undefined",
        description="content of an output or scratch before the first launch; elements of an "
        "`undefined` output that no thread writes are a fault",
    )


class Scalar(Section):
    """A number that `inputs.py` chooses, passed to a kernel by value."""

    name: str = Field(description="its name in messages, `args`, and `inputs.py`")
    dtype: DType = Field(description="its type")


class Constant(Section):
    """A compile-time constant that the student's source may declare, such as BLOCK."""

    name: str = Field(description="its name in expressions and in the source")
    default: int = Field(description="its value where the source does not declare it")
    allowed: tuple[int, ...] = Field(
        (), description="values the source may give it; empty: from 1 to 2^20"
    )
    languages: tuple[Language, ...] = Field(LANGUAGES, description="languages that have it")


class Signature(Section):
    """The parameters of a kernel as one language spells them."""

    parameters: tuple[str, ...] = Field(
        min_length=1, description="declarations in order; their names are free for the student"
    )


class Kernel(Section):
    """A kernel the student writes."""

    name: str = Field(description="the function's name in the source, in every language")
    cuda_c: Signature | None = Field(None, alias="cuda-c", description="its parameters in CUDA C")
    metal: Signature | None = Field(None, description="its parameters in Metal")
    triton: Signature | None = Field(None, description="its parameters in Triton")

    def signature(self, language: Language) -> Signature | None:
        """Its parameters in `language`; None where that language does not have this kernel."""
        return {"cuda-c": self.cuda_c, "metal": self.metal, "triton": self.triton}[language]


Extent = Expression | tuple[Expression, ...]


class LaunchKeys(Section):
    """How a kernel is launched; a language's own table overrides the keys it holds.

    Either of the two must have `args`, `grid` and, but for Triton, `block`.
    """

    args: tuple[str, ...] | None = Field(
        None, description="buffers, scalars and expressions over sizes, in parameter order"
    )
    grid: Extent | None = Field(
        None, description="blocks (Metal's `threads` dispatch: threads) in x, y, z"
    )
    block: Extent | None = Field(None, description="threads per block in x, y, z")
    shared: Expression | None = Field(None, description="dynamic shared memory in bytes")
    dispatch: Literal["threadgroups", "threads"] | None = Field(
        None, description="Metal only: dispatchThreadgroups (the default) or dispatchThreads"
    )
    threadgroup_memory: tuple[Expression, ...] | None = Field(
        None, description="Metal only: bytes of each `[[threadgroup(n)]]` argument"
    )


class Launch(LaunchKeys):
    """One step of the run: launches happen in the order in which they are listed."""

    kernel: str = Field(description="name of a `[[kernel]]`")
    cuda_c: LaunchKeys | None = Field(None, alias="cuda-c", description="its own in CUDA C")
    metal: LaunchKeys | None = Field(None, description="its own in Metal")
    triton: LaunchKeys | None = Field(None, description="its own in Triton")
    languages: tuple[Language, ...] = Field(LANGUAGES, description="languages that have it")

    def keys(self, language: Language) -> LaunchKeys:
        """The launch as `language` has it."""
        own = {"cuda-c": self.cuda_c, "metal": self.metal, "triton": self.triton}[language]
        merged = {
            key: getattr(self, key)
            for key in LaunchKeys.model_fields
            if getattr(self, key) is not None
        }
        merged.update(own.model_dump(exclude_none=True) if own else {})
        return LaunchKeys(**merged)


class Case(Section):
    """One input: its sizes, and a word to `inputs.py` about the values."""

    name: str = Field(description="what reports call it; its seed derives from it")
    sizes: dict[str, int | tuple[int, int]] = Field(
        description="a number, or [lowest, highest] to draw one from the seed"
    )
    weight: int = Field(1, ge=0, description="share of the `correct`, `bounds`, `sync` points")
    large: bool = Field(
        False, description="run with bounds checks only, on the optimised build; speed is its job"
    )
    values: str = Field("uniform", description="handed to `inputs.py` as `case.values`")
    constants: dict[str, int] = Field(
        {}, description="value of a constant in this case, where the source does not declare it"
    )
    hidden: bool = Field(
        False, description="its seed includes the secret and reports do not show its numbers"
    )
    languages: tuple[Language, ...] = Field(LANGUAGES, description="languages that run it")


class Rubric(Section):
    """Points of each item; the total is 100. A starter that nobody wrote in earns none of them
    unless it is accepted."""

    build: int = Field(0, ge=0, description="it compiles and keeps the contract")
    correct: int = Field(0, ge=0, description="right numbers, shared out over the cases")
    bounds: int = Field(
        0, ge=0, description="no access outside an array, misaligned, or to an input"
    )
    sync: int = Field(0, ge=0, description="no race, bad barrier or uninitialised memory")
    steps: int = Field(0, ge=0, description="programs only: the sum of `program.steps`")
    speed: int = Field(0, ge=0, description="the points of `[speed]`; 0 unless accepted")
    notes: int = Field(0, ge=0, description="the points of `[notes]`")


class Band(Section):
    """A step of a scale: the first band whose limit is met gives its share of the points."""

    at_least: float | None = Field(None, description="met by this value and larger ones")
    at_most: float | None = Field(None, description="met by this value and smaller ones")
    share: float = Field(ge=0, le=1, description="share of the points")

    @field_validator("at_least", "at_most", "share", mode="before")
    @classmethod
    def whole_numbers_too(cls, value: Any) -> Any:
        """TOML's `1` is as good as `1.0` here."""
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


class MetricRule(Section):
    """Points for what the lesson teaches, read from the exact counts of the virtual GPU."""

    name: str = Field(description="what the report calls it")
    formula: str = Field(description="expression over metric names; / divides")
    relative: bool = Field(False, description="divide by the reference kernel's value")
    points: int = Field(gt=0, description="points of the best band")
    bands: tuple[Band, ...] = Field(
        min_length=1, description="the scale, best first: the first that is met counts"
    )
    why: str = Field("", description="what the student should learn from it")


class TimeRule(Section):
    """Points for time relative to the reference kernel of the same language."""

    points: int = Field(gt=0, description="points of the best band")
    bands: tuple[Band, ...] = Field(
        min_length=1, description="`at_most` times the reference's time, best first"
    )


class Speed(Section):
    """What earns the speed points of an accepted kernel."""

    device: Literal["virtual", "cuda", "metal"] = Field(
        "virtual", description="whose time counts: `virtual` is modelled, the others are measured"
    )
    cases: tuple[str, ...] = Field((), description="cases that count; empty: the large ones")
    tie_margin: float = Field(0.05, ge=0, le=1, description="limits are met within this share")
    metric: tuple[MetricRule, ...] = Field((), description="rules on what the virtual GPU counts")
    time: TimeRule | None = Field(None, description="a rule on time")


class Lowered(Section):
    """A check that this assignment reports without judging by it."""

    severity: Literal["warning", "note"] = Field(description="how it is reported instead")
    reason: str = Field(min_length=10, description="shown in the report")


CLAIMS = ("file", "bounds_check", "global_id", "operation", "elements_per_thread",
          "differs_from_mine")  # fmt: skip


class NotesRubric(Section):
    """What the notes file must answer, and the points of each claim of an entry."""

    operation: str = Field("add", description="the operation whose kernel is looked for")
    frameworks: tuple[str, ...] = Field((), description="frameworks that count; empty: all known")
    entries: int = Field(1, ge=1, description="how many entries full points need")
    claims: dict[str, int] = Field(description=f"points of {', '.join(CLAIMS)}")


class Files(Section):
    """Names of the starter's files; a file of that name wins over others of its language."""

    cuda_c: str = Field("kernel.cu", alias="cuda-c", description="in CUDA C")
    metal: str = Field("kernel.metal", description="in Metal")
    triton: str = Field("kernel.py", description="in Triton")
    notes: str = Field("notes.toml", description="the notes")

    def starter(self, language: Language) -> str:
        """The starter's file name in `language`."""
        return {"cuda-c": self.cuda_c, "metal": self.metal, "triton": self.triton}[language]


class Program(Section):
    """Kind `program`: a whole program with a `main()`.

    Inputs are files beside it, `NAME.bin` with the raw elements of the buffer; it writes a file
    for each output. What `stdout(inputs, sizes)` of `inputs.py` returns, if there is one, is
    compared with what the program prints, and `stdin(inputs, sizes)` is its standard input.
    """

    arguments: tuple[Expression, ...] = Field((), description="expressions over the sizes")
    steps: dict[str, int] = Field(
        {}, description=f"points of each step of the workflow: {', '.join(STEPS)}"
    )


class Solve(Section):
    """Kind `solve`: a host function over device pointers, which launches kernels itself."""

    function: str = Field("solve", description="its name")
    parameters: tuple[str, ...] = Field(min_length=1, description="declarations in order")
    args: tuple[str, ...] = Field(
        min_length=1, description="buffers, scalars and expressions over sizes, in that order"
    )


class Assignment(Section):
    """The whole of `assignment.toml`, and the folder it came from."""

    name: str = Field(description="the folder's name")
    title: str = Field(description="its heading in reports")
    summary: str = Field("", description="one sentence for lists and reports")
    kind: Literal["kernel", "program", "solve"] = Field(
        "kernel",
        description="what is handed in: kernels that the grader launches; a whole CUDA program; a "
        "host function over device arrays",
    )
    languages: tuple[Language, ...] = Field(
        min_length=1, description="languages that may be handed in; the best one counts"
    )
    feedback: Feedback = Field(
        "full",
        description="what a student sees: everything (of hidden cases the verdict only); the first "
        "failure and the verdicts of the other cases; the verdict of each case; the verdict and "
        "points only",
    )
    files: Files = Field(
        default_factory=lambda: Files.model_validate({}), description="names of the starter's files"
    )
    sizes: dict[str, Size] = Field(description="numbers that differ between cases")
    buffers: tuple[Buffer, ...] = Field(
        min_length=1, alias="buffer", description="arrays in global memory"
    )
    scalars: tuple[Scalar, ...] = Field((), alias="scalar", description="numbers of `inputs.py`")
    constants: tuple[Constant, ...] = Field(
        (), alias="constant", description="constants that the source may declare"
    )
    kernels: tuple[Kernel, ...] = Field((), alias="kernel", description="kind `kernel` only")
    launches: tuple[Launch, ...] = Field((), alias="launch", description="kind `kernel` only")
    program: Program | None = Field(None, description="kind `program` only")
    solve: Solve | None = Field(None, description="kind `solve` only")
    tolerance: dict[DType, Tolerance] = Field(
        {}, description="for each floating-point type of an output; whole numbers are exact"
    )
    cases: tuple[Case, ...] = Field(min_length=1, alias="case", description="the inputs")
    rubric: Rubric = Field(description="points of each item")
    speed: Speed | None = Field(None, description="what earns the speed points")
    checks: dict[str, Lowered] = Field(
        {}, description="kinds of fault, as docs/checks.md names them, lowered to a warning or note"
    )
    notes: NotesRubric | None = Field(None, description="what the notes must answer")
    folder: Path = Field(Path(), exclude=True, description="set by load, not a key")

    def buffer(self, name: str) -> Buffer | None:
        """The buffer of that name."""
        return next((buffer for buffer in self.buffers if buffer.name == name), None)

    def scalar(self, name: str) -> Scalar | None:
        """The scalar of that name."""
        return next((scalar for scalar in self.scalars if scalar.name == name), None)

    def outputs(self) -> tuple[Buffer, ...]:
        """Buffers that are compared with the oracle."""
        return tuple(buffer for buffer in self.buffers if buffer.role in ("output", "inout"))

    def defaults(self, language: Language) -> dict[str, int]:
        """The constants `language` has, with their defaults."""
        return {c.name: c.default for c in self.constants if language in c.languages}

    def launches_in(self, language: Language) -> tuple[Launch, ...]:
        """The launches that `language` has, in order."""
        return tuple(launch for launch in self.launches if language in launch.languages)

    def contracts(self, language: Language) -> tuple[Contract, ...]:
        """What the compiler of `language` must find in the source: one contract per kernel."""
        return tuple(
            Contract(
                kernel=kernel.name,
                parameters=tuple(parameters.split(text, language) for text in own.parameters),
                constants=self.defaults(language),
            )
            for kernel in self.kernels
            if (own := kernel.signature(language))
        )

    def speed_cases(self) -> tuple[str, ...]:
        """Names of the cases whose metrics and times earn speed points."""
        if self.speed is not None and self.speed.cases:
            return self.speed.cases
        return tuple(case.name for case in self.cases if case.large)

    def reference(self, language: Language) -> Path | None:
        """The reference kernel's file, if this installation has it (students' may not)."""
        suffix = {"cuda-c": ".cu", "metal": ".metal", "triton": ".py"}[language]
        path = self.folder.parent.parent / "reference" / self.name / f"kernel{suffix}"
        return path if path.is_file() else None

    def starter(self, language: Language) -> Path | None:
        """The file students start from, if this installation has it."""
        path = self.folder.parent.parent / "student_template" / self.name
        path /= self.files.starter(language)
        return path if path.is_file() else None
