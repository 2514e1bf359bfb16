"""`grade run program.cu -- ARGS`: a whole CUDA program on the virtual GPU.

The program's exit status is its own affair: what counts here is what was found.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import Field

from grader.file_to_run import headers_beside, texts_beside
from grader.languages.cuda_includes import without_comments
from grader.programs import build as building
from grader.programs import run as running
from grader.programs.run import Call
from grader.result import Build, Fault, Metrics, Record, Severity

SCHEMA = "grade/program-run/v1"
_MAIN = re.compile(r"\bmain\s*\([^;{}]*\)\s*(?:try\s*)?\{")
LARGEST_FILE = 64 << 20


class ProgramRun(Record):
    """What one run of a whole program did."""

    schema_: str = Field(default=SCHEMA, alias="schema")
    file: str
    arguments: tuple[str, ...] = ()
    ended: str = Field(description="exited, died, unsupported, fuel, deadlock, time, memory, odd")
    exit_status: int | None = Field(default=None, description="of the program, where it exited")
    reason: str = ""
    faults: tuple[Fault, ...] = ()
    launches: dict[str, int] = Field(default={}, description="how often each kernel was launched")
    trace: tuple[Call, ...] = Field(default=(), description="calls to the CUDA runtime, in order")
    metrics: Metrics | None = None
    modelled_ns: float = Field(default=0.0, description="of kernels and copies, as events see it")
    kernel_ns: float = Field(default=0.0, description="modelled time of all kernels")
    stdout: str = ""
    stderr: str = ""
    builds: tuple[Build, ...] = ()
    program_seconds: float = Field(
        default=0.0, description="of `seconds`, from the program's start to its end, kernels too"
    )
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """0 for a clean run, 3 for what is not supported, 1 for everything else."""
        if self.ended == "unsupported":
            return 3
        errors = any(fault.severity is Severity.ERROR for fault in self.faults)
        return 0 if self.ended == "exited" and not self.exit_status and not errors else 1


def is_program(text: str) -> bool:
    """Whether a CUDA C file has a `main()`."""
    return _MAIN.search(without_comments(text)) is not None


def texts(
    path: Path, text: str, beside: Sequence[Path] = (), folders: Sequence[Path] = ()
) -> dict[str, str]:
    """Every file of the program, by the name that findings give it."""
    return {**headers_beside(path, beside, folders), **texts_beside(path, beside), path.name: text}


def run(
    path: Path,
    text: str,
    arguments: Sequence[str],
    *,
    stdin: bytes = b"",
    beside: Sequence[Path] = (),
    folders: Sequence[Path] = (),
    defines: Sequence[str] = (),
    step: Callable[[str], None] = lambda text: None,
) -> ProgramRun:
    """Build the program and run it once.

    `beside` are the program's other files, CUDA and C++; `folders` are where headers lie too, and
    `defines` what is defined for all files, as a compiler's -I and -D. Arguments that name files
    are given to the program as copies under the same name. Raises NotGradableError where programs
    cannot be built or run.
    """
    started = time.perf_counter()
    files = {}
    for word in arguments:
        given = Path(word)
        inside = not given.is_absolute() and ".." not in given.parts and given.is_file()
        if inside and given.stat().st_size <= LARGEST_FILE:
            files[word] = given.read_bytes()
    headers, more = headers_beside(path, beside, folders), texts_beside(path, beside)
    builds, built = building.build(text, path.name, headers, step, beside=more, defines=defines)
    reason = building.unserved(builds) if built is None else None
    found = ProgramRun(
        file=path.name,
        arguments=tuple(arguments),
        ended="unsupported" if reason else "build_failed",
        reason=reason or "",
        builds=builds,
    )
    if built is not None:
        step(f"running {path.name}")
        outcome = running.run(built, arguments=arguments, stdin=stdin, files=files)
        answer = outcome.answer
        found = found.model_copy(
            update={
                "ended": answer.ended,
                "exit_status": answer.code if answer.ended == "exited" else None,
                "reason": answer.stopped_reason,
                "faults": answer.faults,
                "launches": answer.launches,
                "trace": answer.trace,
                "metrics": Metrics(counts=answer.counts, lines=answer.lines),
                "modelled_ns": answer.modelled_ns,
                "kernel_ns": answer.kernel_ns,
                "stdout": outcome.stdout,
                "stderr": outcome.stderr,
                "program_seconds": round(answer.host_seconds, 3),
            }
        )
    return found.model_copy(update={"seconds": round(time.perf_counter() - started, 3)})
