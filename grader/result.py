"""The records of the line: submission -> build -> run -> verdict -> score -> report.

Each is frozen, and each is what `result.json` holds: the model is the schema
(`docs/result.schema.json` is exported from it).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

SCHEMA = "grade/result/v1"
MOST_MESSAGES, MOST_CHARACTERS, MOST_LOG = 1000, 4000, 1 << 18
"""What is kept of a compiler's messages, of each of them, and of its log: a result is read whole,
and a file of a megabyte can be one error in every line."""


def _whole(number: int | None) -> int | None:
    return number if number is None or 0 <= number < 1 << 31 else None


Position = Annotated[int | None, AfterValidator(_whole)]


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

    access: Literal["read", "write", "atomic"] = Field(description="what the other access did")
    file: str | None = None
    line: int | None = None
    block: Dim3 | None = None
    thread: Dim3 | None = None


class Fault(Record):
    """One finding about memory, order or barriers: one record per source line and kind.

    `index` and `extent` count elements of `buffer`; `count` counts lane accesses.
    """

    kind: str = Field(description="what was found; every kind stands on docs/messages.md")
    severity: Severity = Field(description="only an error changes a verdict")
    access: Literal["read", "write", "atomic"] | None = Field(
        default=None, description="what the access did; null where the finding is no access"
    )
    space: str | None = Field(default=None, description="global, shared, local, const or param")
    buffer: str | None = Field(
        default=None,
        description="the buffer's name in the assignment, or the array's in the source",
    )
    index: int | None = Field(
        default=None, description="the element that was touched, from 0; may be negative"
    )
    extent: int | None = Field(default=None, description="how many elements the buffer has")
    size_bytes: int | None = Field(default=None, description="size of one lane's access")
    file: str | None = Field(default=None, description="as the submission names it")
    line: int | None = None
    column: int | None = None
    block: Dim3 | None = Field(default=None, description="block of the first such access (x, y, z)")
    thread: Dim3 | None = Field(
        default=None, description="thread of the first such access (x, y, z)"
    )
    other: Place | None = Field(default=None, description="the other half of a race")
    count: int = Field(default=1, description="how many lane accesses of this line did the same")
    lanes: tuple[int | None, ...] = Field(
        default=(),
        description="the element each of the 32 lanes of the first access's warp touched",
    )
    message: str = Field(description="what happened, expected first; without the place")
    advice: str | None = Field(default=None, description="what to do about it")


class Diagnostic(Record):
    """One message of a compiler, or of the contract check."""

    file: str
    line: Position = None
    column: Position = None
    severity: Literal["error", "warning", "note"]
    message: Annotated[str, AfterValidator(lambda text: text[:MOST_CHARACTERS])]


class Build(Record):
    """One compilation: what the compiler said, and with which options it was asked."""

    language: str
    compiler: str
    version: str
    ok: bool
    options: tuple[str, ...] = Field(default=(), description="as the compiler was asked")
    diagnostics: Annotated[
        tuple[Diagnostic, ...], AfterValidator(lambda found: found[:MOST_MESSAGES])
    ] = ()
    log: Annotated[str, AfterValidator(lambda text: text[:MOST_LOG])] = Field(
        default="", description="what the compiler printed"
    )
    seconds: float = 0.0


class Mismatch(Record):
    """The first wrong element of an output, how many are wrong, and what that looks like."""

    output: str = Field(description="name of the output")
    index: tuple[int, ...] = Field(description="the first wrong element, an index per dimension")
    expected: float | int | str = Field(description="by the oracle")
    actual: float | int | str = Field(description="what the kernel left there")
    wrong: int = Field(description="how many elements are wrong")
    total: int = Field(description="how many elements the output has")
    pattern: str | None = Field(
        default=None, description="what the wrong elements have in common, in words"
    )
    message: str
    advice: str | None = None


class OutputMap(Record):
    """Where the wrong and the unwritten elements of an output stand, as a grid of cells.

    The cells are in row order; each stands for `rows_per_cell` by `columns_per_cell` elements of
    the output seen as a matrix of `width` columns, and counts those that are wrong or unwritten.
    """

    output: str
    shape: tuple[int, ...]
    width: int = Field(description="elements in a row of the map before they are put into cells")
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
    stores_to: tuple[str, ...] = Field(
        default=(), description="outputs of the launches that stored to global memory here"
    )


class Metrics(Record):
    """Exact counts of one run, whole and per source line; the names are in docs/cost-model.md."""

    counts: dict[str, float] = Field(default_factory=dict)
    lines: tuple[LineMetrics, ...] = ()


class Timing(Record):
    """Modelled (or, on a real device, measured) time of one run."""

    source: Literal["modelled", "measured"] = Field(
        description="modelled from exact counts, or measured on hardware"
    )
    device: str = Field(description="whose time it is")
    nanoseconds: float
    bound: str | None = Field(default=None, description="what bounds the kernel")
    ratio_to_reference: float | None = Field(
        default=None, description="time over that of the reference on the same case"
    )
    detail: dict[str, float] = Field(
        default_factory=dict, description="the parts the time is made of"
    )
    dram_bytes_per_second: float | None = Field(default=None, description="of that device")
    flops_per_second: float | None = Field(default=None, description="of that device, in FP32")


class ReferenceRun(Record):
    """What the reference kernel of the same language did on the same case."""

    verdict: Verdict
    faults: tuple[Fault, ...] = ()
    metrics: Metrics | None = None
    timing: Timing | None = None


class Hardware(Record):
    """A real device, as it was probed. Rates are per second; 0 is unknown."""

    device: Literal["cuda", "metal"]
    name: str
    architecture: str = Field(default="", description="sm_90, or the GPU family")
    driver: str = ""
    multiprocessors: int = 0
    clock_hz: float = 0.0
    memory_bytes: int = 0
    l2_bytes: int = 0
    peak_bytes_per_second: float = Field(default=0.0, description="of its memory, by its clock")
    peak_flops_per_second: float = Field(default=0.0, description="FP32, by its clock")
    copy_bytes_per_second: float = Field(
        default=0.0, description="read and written together, of a copy measured there"
    )


class Baseline(Record):
    """The same operation by a framework, on the same data."""

    framework: str
    version: str
    device: str = Field(default="", description="where the framework ran it")
    missing: str = Field(default="", description="why it could not be timed here")
    nanoseconds: float | None = Field(default=None, description="mean time; null where missing")
    relative_error: float | None = Field(
        default=None, description="relative standard error of that mean"
    )
    timer: Literal["events", "wall clock"] = Field(
        default="wall clock", description="the wall clock counts what launching takes as well"
    )
    first_nanoseconds: float = Field(
        default=0.0, description="the first call, with what is compiled then"
    )
    ratio: float | None = Field(
        default=None, description="the kernel's measured time over the framework's"
    )


class Measured(Record):
    """What a case did on a real device. It never overrules a fault of the virtual GPU."""

    device: Literal["cuda", "metal"]
    verdict: Verdict = Field(description="of this run alone")
    reason: str = ""
    faults: tuple[Fault, ...] = ()
    timing: Timing | None = Field(default=None, description="mean time of a launch")
    reference: Timing | None = Field(default=None, description="the reference's, interleaved")
    relative_error: float | None = Field(
        default=None, description="relative standard error of the ratio of the two"
    )
    pairs: int = Field(default=0, description="measurements of yours and the reference's")
    launches: int = Field(default=0, description="launches in each measurement")
    floor_nanoseconds: float = Field(default=0.0, description="what no honest launch beats")
    copy_share: float | None = Field(
        default=None, description="bytes moved per second over those of a copy measured there"
    )
    noisy: bool = False
    untrusted: tuple[str, ...] = Field(default=(), description="why the time is not believed")
    remarks: tuple[str, ...] = ()
    code_sha256: str = Field(default="", description="of the code that was checked and loaded")


class Step(Record):
    """One step of a host program's workflow, read from its calls to the CUDA runtime."""

    name: str
    ok: bool
    line: int | None = Field(default=None, description="where it stands, or should stand")
    why: str = Field(description="what was seen, or what is missing")


class CaseResult(Record):
    """One case on one device."""

    name: str
    device: str
    verdict: Verdict
    sizes: dict[str, int] = Field(
        default_factory=dict, description="the case's sizes; empty where they are not shown"
    )
    hidden: bool = Field(default=False, description="its numbers are not shown")
    large: bool = Field(default=False, description="whether it is one of the large cases")
    weight: int = Field(default=1, description="share of the points that go by case")
    faults: tuple[Fault, ...] = ()
    mismatch: Mismatch | None = Field(default=None, description="the first wrong output")
    maps: tuple[OutputMap, ...] = Field(
        default=(), description="where wrong and unwritten elements stand"
    )
    metrics: Metrics | None = None
    timing: Timing | None = None
    reference: ReferenceRun | None = Field(
        default=None, description="what the reference kernel of the language did on the case"
    )
    measured: Measured | None = Field(
        default=None, description="the same case on a real device; null where none was used"
    )
    baselines: tuple[Baseline, ...] = Field(
        default=(), description="the same operation by frameworks, where that was asked for"
    )
    steps: tuple[Step, ...] = Field(
        default=(), description="the workflow of a whole program; empty for kernels"
    )
    printed: str = Field(default="", description="what the kernel printed")
    reason: str = Field(default="", description="why it ended as it did, where faults do not say")
    seconds: float = 0.0


class ScoreLine(Record):
    """Points of one rubric item and why."""

    item: Literal["build", "correct", "bounds", "sync", "steps", "speed", "notes"]
    points: int
    out_of: int
    why: str = Field(description="what earned or lost the points")


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
    citation: str | None = Field(default=None, description="where the framework really has it")
    line: int | None = None


class CodeLine(Record):
    """A line of a source file."""

    file: str
    line: int


class Structure(Record):
    """The structure of a kernel as its PTX shows it (`grader/notes/structure.py`).

    `stores` counts store instructions to global memory: those whose address is made from block
    and thread ids, and those that a comparison of an index with a size guards. `adds`, `fmas` and
    `other_operations` are floating-point operations that make one stored element;
    `elements_per_thread` is the most that one thread stores outside loops, or in one round of a
    loop where it stores nowhere else.
    """

    name: str
    entry: str
    stores: int
    stores_with_id: int
    stores_guarded: int
    adds: int
    fmas: int
    other_operations: int
    elements_per_thread: int
    in_loop: bool
    global_id_lines: tuple[CodeLine, ...] = ()
    bounds_check_lines: tuple[CodeLine, ...] = ()
    operation_lines: tuple[CodeLine, ...] = ()
    store_lines: tuple[CodeLine, ...] = ()


class Notes(Record):
    """The notes file: its form, and what was found out about each entry.

    `yours` and `theirs` are the structures of the student's kernel and of the frameworks' kernels
    the notes are about; `not_compiled` says why one of theirs is missing.
    """

    file: str | None = None
    problems: tuple[Diagnostic, ...] = ()
    entries: tuple[NoteEntry, ...] = ()
    yours: tuple[Structure, ...] = ()
    theirs: tuple[Structure, ...] = ()
    not_compiled: tuple[str, ...] = ()


class SourceFile(Record):
    """One file of the submission: its name relative to the folder and its SHA-256."""

    name: str
    sha256: str
    language: str | None = None
    text: str | None = Field(default=None, description="the source as it was graded")


class Result(Record):
    """Everything known about one graded submission: `result.json`."""

    schema_: str = Field(default=SCHEMA, alias="schema")
    assignment: str
    language: str | None = Field(description="of the kernel that counts; null where none was found")
    device: str
    hardware: Hardware | None = Field(
        default=None, description="the real device that measured; null where none did"
    )
    verdict: Verdict
    reason: str = Field(description="one sentence")
    next_step: str = Field(default="", description="what the student does next")
    score: Score
    builds: tuple[Build, ...] = ()
    cases: tuple[CaseResult, ...] = ()
    notes: Notes | None = Field(default=None, description="null where the assignment asks for none")
    submission_sha256: str = Field(description="over names and contents of the files that count")
    files: tuple[SourceFile, ...] = ()
    mentions: tuple[str, ...] = Field(
        default=(), description="files that were seen and do not count, and why"
    )
    others: tuple[dict[str, Any], ...] = Field(
        default=(), description="verdict and points of the other languages handed in"
    )
    versions: dict[str, str] = Field(
        default_factory=dict, description="what decides a grade, with exact versions"
    )
    created: str = Field(default="", description="when it was graded (UTC)")
    seconds: float = Field(default=0.0, description="how long grading took")

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
