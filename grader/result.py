"""The records of the line: submission -> build -> run -> verdict -> score -> report.

Each is frozen, and each is what `result.json` holds: the model is the schema
(`docs/result.schema.json` is exported from it).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA = "grade/result/v1"


class Record(BaseModel):
    """A frozen record; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Verdict(StrEnum):
    """Verdicts, worst first: the verdict of a result is the worst of its cases."""

    GRADER_ERROR = "grader_error"
    NOT_GRADABLE = "not_gradable"
    REFUSED = "refused"
    BUILD_FAILED = "build_failed"
    CRASHED = "crashed"
    BAD_HOST_CALL = "bad_host_call"
    TIMED_OUT = "timed_out"
    OUT_OF_BOUNDS = "out_of_bounds"
    MISALIGNED = "misaligned"
    INPUT_MODIFIED = "input_modified"
    RACE = "race"
    BAD_BARRIER = "bad_barrier"
    UNINITIALISED = "uninitialised"
    WRONG_ANSWER = "wrong_answer"
    ACCEPTED = "accepted"

    @property
    def rank(self) -> int:
        """Position in the table: 0 is the worst."""
        return list(Verdict).index(self)

    @property
    def exit_code(self) -> int:
        """Exit code of a command whose result has this verdict (design, the table)."""
        return {Verdict.GRADER_ERROR: 4, Verdict.NOT_GRADABLE: 3, Verdict.ACCEPTED: 0}.get(self, 1)


class Severity(StrEnum):
    """How much a fault weighs: only an error changes a verdict."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


Dim3 = tuple[int, int, int]


class Place(Record):
    """Where the other half of a race stands."""

    access: Literal["read", "write", "atomic"]
    file: str | None = None
    line: int | None = None
    block: Dim3 | None = None
    thread: Dim3 | None = None


class Fault(Record):
    """One finding about memory, order or barriers: one record per source line and kind.

    `index` and `extent` count elements of `buffer`; `count` counts lane accesses.
    """

    kind: str
    severity: Severity
    access: Literal["read", "write", "atomic"] | None = None
    space: str | None = None
    buffer: str | None = None
    index: int | None = None
    extent: int | None = None
    size_bytes: int | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    block: Dim3 | None = None
    thread: Dim3 | None = None
    other: Place | None = None
    count: int = 1
    message: str
    advice: str | None = None


class Diagnostic(Record):
    """One message of a compiler, or of the contract check."""

    file: str
    line: int | None = None
    column: int | None = None
    severity: Literal["error", "warning", "note"]
    message: str


class Build(Record):
    """One compilation: what the compiler said, and with which options it was asked."""

    language: str
    compiler: str
    version: str
    ok: bool
    options: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    log: str = ""
    seconds: float = 0.0


class Mismatch(Record):
    """The first wrong element of an output, how many are wrong, and what that looks like."""

    output: str
    index: tuple[int, ...]
    expected: float | int | str
    actual: float | int | str
    wrong: int
    total: int
    pattern: str | None = None
    message: str
    advice: str | None = None


class OutputMap(Record):
    """Where the wrong and the unwritten elements of an output stand, as a grid of cells.

    The cells are in row order; each stands for `rows_per_cell` by `columns_per_cell` elements of
    the output seen as a matrix of `width` columns, and counts those that are wrong or unwritten.
    """

    output: str
    shape: tuple[int, ...]
    width: int
    rows: int
    columns: int
    rows_per_cell: int
    columns_per_cell: int
    wrong: tuple[int, ...]
    unwritten: tuple[int, ...]


class LineMetrics(Record):
    """Exact counts of one source line."""

    file: str | None
    line: int
    counts: dict[str, float]


class Metrics(Record):
    """Exact counts of one run, whole and per source line; the names are in docs/cost-model.md."""

    counts: dict[str, float] = Field(default_factory=dict)
    lines: tuple[LineMetrics, ...] = ()


class Timing(Record):
    """Modelled (or, on a real device, measured) time of one run."""

    source: Literal["modelled", "measured"]
    device: str
    nanoseconds: float
    bound: str | None = None
    ratio_to_reference: float | None = None
    detail: dict[str, float] = Field(default_factory=dict)


class ReferenceRun(Record):
    """What the reference kernel of the same language did on the same case."""

    verdict: Verdict
    faults: tuple[Fault, ...] = ()
    metrics: Metrics | None = None
    timing: Timing | None = None


class CaseResult(Record):
    """One case on one device."""

    name: str
    device: str
    verdict: Verdict
    sizes: dict[str, int] = Field(default_factory=dict)
    hidden: bool = False
    weight: int = 1
    faults: tuple[Fault, ...] = ()
    mismatch: Mismatch | None = None
    maps: tuple[OutputMap, ...] = ()
    metrics: Metrics | None = None
    timing: Timing | None = None
    reference: ReferenceRun | None = None
    printed: str = ""
    reason: str = ""
    seconds: float = 0.0


class ScoreLine(Record):
    """Points of one rubric item and why."""

    item: Literal["build", "correct", "bounds", "sync", "speed", "notes"]
    points: int
    out_of: int
    why: str


class Score(Record):
    """Points; `points` is null when the grader, not the student, is at fault."""

    points: int | None
    out_of: int
    lines: tuple[ScoreLine, ...] = ()


class NoteClaim(Record):
    """One claim of a note: right, partly, wrong or unknown, and a reason to learn from.

    `line` is that of the notes file; `out_of` the points the assignment gives for the claim.
    """

    claim: str
    verdict: Literal["right", "partly", "wrong", "unknown"]
    reason: str
    line: int | None = None
    out_of: int | None = None


class NoteEntry(Record):
    """One [[kernel]] entry of notes.toml."""

    framework: str
    backend: str | None = None
    version: str | None = None
    verdict: Literal["right", "partly", "wrong", "unknown"]
    claims: tuple[NoteClaim, ...] = ()
    citation: str | None = None
    line: int | None = None


class Notes(Record):
    """The notes file: its form, and what was found out about each entry."""

    file: str | None = None
    problems: tuple[Diagnostic, ...] = ()
    entries: tuple[NoteEntry, ...] = ()


class SourceFile(Record):
    """One file of the submission: its name relative to the folder and its SHA-256."""

    name: str
    sha256: str
    language: str | None = None
    text: str | None = None


class Result(Record):
    """Everything known about one graded submission: `result.json`."""

    schema_: str = Field(default=SCHEMA, alias="schema")
    assignment: str
    language: str | None
    device: str
    verdict: Verdict
    reason: str
    next_step: str = ""
    score: Score
    builds: tuple[Build, ...] = ()
    cases: tuple[CaseResult, ...] = ()
    notes: Notes | None = None
    submission_sha256: str
    files: tuple[SourceFile, ...] = ()
    mentions: tuple[str, ...] = ()
    others: tuple[dict[str, Any], ...] = ()
    versions: dict[str, str] = Field(default_factory=dict)
    created: str = ""
    seconds: float = 0.0

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
