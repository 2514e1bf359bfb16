"""Triton: from a student's Python file to PTX for sm_80, without a GPU, ptxas or torch.

The file is Python, so importing it runs it: both import and compilation happen in a sandboxed
child. What comes back is PTX text and a few numbers, which are validated here; PTX is safe to run
on the virtual GPU. Builds are kept by content.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import json
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader import __version__, cache
from grader.errors import NotGradableError
from grader.languages import Artefact, Contract, Parameter, Variant, too_large, triton_ptx
from grader.languages.triton_source import lines_without_other
from grader.result import Build, Diagnostic, Record
from grader.sandbox.records import Exit, Limits

NAME = "triton"
SUFFIXES = (".py",)

UNDEFINED_LANES = "undefined lanes"
"""Suffix of the checking variants: what a masked load leaves undefined is really undefined."""

LIMITS = Limits(wall_seconds=180, cpu_seconds=60, output_bytes=64 << 20, disk_bytes=64 << 20)
MAX_VARIANTS = 256
MAX_PTX_BYTES = 16 << 20
"""Of all compilations of a file: the parent reads this text line by line, 5 MiB a second."""

LONGEST_NAME = 1000
NOT_SHOWN = (
    "What a file with triton.heuristics prints is not shown: it knows the sizes of all cases."
)
FAILS_FOR_A_SIZE = (
    "a heuristic or the kernel it configures does not build for the sizes of some case; what it "
    "says is not shown, since it knows the sizes of all cases: try it with sizes of your own"
)
INTERFERED = "the file's own code interfered with its build"
_HEURISTICS = re.compile(r"\bheuristics\b")


class _Compiled(Record):
    """One compilation as the child reports it; `calls` are positions in the contract's calls."""

    name: str
    kernel: str
    entry: str
    constants: dict[str, int]
    shared: int
    parameters: tuple[Parameter, ...]
    calls: tuple[int, ...]


class _Problem(Record):
    """Why the child could not build, on which line of the student's file."""

    line: int | None = None
    column: int | None = None
    message: str


class _Reply(Record):
    """What the child answers."""

    diagnostics: tuple[_Problem, ...]
    variants: tuple[_Compiled, ...]


_Answer = tuple[_Reply, tuple[bytes, ...], str]
"""The child's reply, the PTX of each variant, and what was printed."""


def missing() -> str | None:
    """Why Triton cannot be compiled here, or None."""
    if importlib.util.find_spec("triton") is None:
        return (
            "Triton is not installed: pip install 'grader[triton]'"
            if sys.platform == "linux"
            else "Triton has wheels for Linux only: grade in a dev container, or on Linux with "
            "pip install 'grader[triton]'"
        )
    return None


@functools.cache
def version() -> str:
    """Version of the installed Triton."""
    return importlib.metadata.version("triton")


def build(
    text: str, file_name: str, contracts: tuple[Contract, ...]
) -> tuple[tuple[Build, ...], Artefact | None]:
    """Compile every kernel of the contracts, for each autotune choice and each kind of call.

    Raises NotGradableError where Triton is not installed or no child can be started.
    """
    reason = missing()
    if reason:
        raise NotGradableError(reason)
    started = time.perf_counter()
    asked = tuple(_representative(contract, text) for contract in contracts)
    name = cache.key(
        "triton",
        __version__,
        cache.code(Path(__file__).parent),
        version(),
        file_name,
        text,
        *(c.model_dump_json() for c in asked),
    )
    kept = cache.read(NAME, name)
    answer = _remembered(kept) if kept else None
    if answer is None:
        answer, ended_well = _ask(text, file_name, asked)
        if ended_well:  # a child that was ended by a limit may do better next time
            cache.write(NAME, name, _remember(*answer))
    reply, blobs, log = answer
    problems = reply.diagnostics
    if problems and _HEURISTICS.search(text):
        problems = _of_no_size(text, file_name, contracts)
    diagnostics = tuple(
        Diagnostic(
            file=file_name,
            line=problem.line,
            column=problem.column,
            severity="error",
            message=problem.message,
        )
        for problem in problems
    )
    result = Build(
        language=NAME,
        compiler="triton",
        version=version(),
        ok=not diagnostics,
        options=("sm_80", "fp_fusion=1"),
        diagnostics=diagnostics,
        # Heuristics are told the sizes of the hidden cases too: what they print is not passed on.
        log=NOT_SHOWN if log and _HEURISTICS.search(text) else log,
        seconds=time.perf_counter() - started,
    )
    if diagnostics:
        return (result,), None
    try:
        return (result,), _artefact(reply, blobs, text, file_name, contracts)
    except (ValueError, LookupError, StopIteration):
        # No compiler wrote this PTX.
        told = Diagnostic(file=file_name, severity="error", message=INTERFERED)
        return (result.model_copy(update={"ok": False, "diagnostics": (told,)}),), None


# ---- the child ---------------------------------------------------------------------------------


def build_job(request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """In the sandboxed child: import the student's module (blob 0) and compile it."""
    from grader.languages import triton_compile

    return triton_compile.build(request, blobs[0].decode())


def _of_no_size(text: str, file_name: str, contracts: tuple[Contract, ...]) -> tuple[_Problem, ...]:
    """What is wrong with a file whose heuristics know the sizes of all cases.

    Said by a second child, which is told no size; so a message can carry none.
    """
    (reply, _, _), _ = _ask(text, file_name, tuple(map(_without_sizes, contracts)))
    return reply.diagnostics or (_Problem(message=FAILS_FOR_A_SIZE),)


def _representative(contract: Contract, text: str) -> Contract:
    """The contract as a child may know it: sizes only where a heuristic is a function of them."""
    return contract if _HEURISTICS.search(text) else _without_sizes(contract)


def _without_sizes(contract: Contract) -> Contract:
    """The contract with each call replaced by one that Triton compiles to the same code."""
    calls = tuple(
        {name: _class_of(value) for name, value in call.items()} for call in contract.calls
    )
    return contract.model_copy(update={"calls": calls})


def _class_of(value: int | float) -> int | float:
    """Triton specialises integers equal to 1 and multiples of 16; nothing else."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0.5
    if value == 1:
        return 1
    return 16 if value % 16 == 0 else 7


def _ask(text: str, file_name: str, contracts: tuple[Contract, ...]) -> tuple[_Answer, bool]:
    """What the child answers, and whether it ended by itself."""
    from grader import sandbox

    reply = sandbox.call(
        "grader.languages.triton:build_job",
        {"file_name": file_name, "contracts": [c.model_dump() for c in contracts]},
        [text.encode()],
        limits=LIMITS,
    )
    ended, log = reply.exit, reply.output
    if ended.cause == "refused":
        raise NotGradableError(f"no sandboxed process could be started: {ended.detail}")
    if ended.cause != "exited" or reply.header is None:
        return (_problem(_died(ended, reply.error)), (), log), False
    made = sum(map(len, reply.blobs))
    if made > MAX_PTX_BYTES:
        return (_problem(too_large(made, MAX_PTX_BYTES)), (), log), True
    try:
        header = _Reply.model_validate(reply.header)
        _check(header, reply.blobs, contracts)
    except ValueError:
        # The reply comes from a process that ran the file: whatever is wrong with it is the file's.
        return (_problem(INTERFERED), (), log), False
    if len(header.variants) != len(reply.blobs) or len(header.variants) > MAX_VARIANTS:
        message = f"more than {MAX_VARIANTS} compilations: use fewer autotune configurations"
        return (_problem(message), (), log), True
    return (header, tuple(reply.blobs), log), True


def _check(reply: _Reply, blobs: Sequence[bytes], contracts: tuple[Contract, ...]) -> None:
    """Raise ValueError unless the reply is about what was asked and its PTX is text."""
    asked = {contract.kernel: len(contract.calls) for contract in contracts}
    for compiled in reply.variants:
        if not all(0 <= call < asked.get(compiled.kernel, -1) for call in compiled.calls):
            raise ValueError("calls that nobody asked about")
        if compiled.kernel not in asked or not 0 <= compiled.shared < 1 << 31:
            raise ValueError("a kernel that nobody asked for")
        if len(compiled.name) > LONGEST_NAME:
            raise ValueError("a name that no report can show")
    for blob in blobs:
        blob.decode()


def _problem(message: str) -> _Reply:
    return _Reply(diagnostics=(_Problem(message=message),), variants=())


def _died(ended: Exit, error: str) -> str:
    """What to tell a student whose import or compilation ended the child."""
    wall, cpu = LIMITS.wall_seconds, LIMITS.cpu_seconds
    return {
        "wall_timeout": f"importing and compiling the file took more than {wall:.0f} s",
        "cpu_limit": f"importing and compiling the file took more than {cpu:.0f} s of CPU time",
        "memory": "importing and compiling the file took more memory than a build may have",
        "processes": "importing the file started processes or threads, which a build may not",
        "output_cap": "importing the file printed or wrote more than a build may",
    }.get(
        ended.cause,
        f"Triton's compiler, or the file's own code, ended the build ({error or ended.detail})",
    )


# ---- the cache ---------------------------------------------------------------------------------


def _remember(reply: _Reply, blobs: tuple[bytes, ...], log: str) -> bytes:
    entry = {"reply": reply.model_dump(), "ptx": [blob.decode() for blob in blobs], "log": log}
    return json.dumps(entry).encode()


def _remembered(data: bytes) -> _Answer | None:
    try:
        entry = json.loads(data)
        reply = _Reply.model_validate(entry["reply"])
        return reply, tuple(text.encode() for text in entry["ptx"]), entry["log"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


# ---- the artefact ------------------------------------------------------------------------------


def _artefact(
    reply: _Reply,
    blobs: tuple[bytes, ...],
    text: str,
    file_name: str,
    contracts: tuple[Contract, ...],
) -> Artefact:
    """Variants for the values, then the same with undefined lanes for the faults."""
    calls = {contract.kernel: contract.calls for contract in contracts}
    unsaid = lines_without_other(text)
    values: list[Variant] = []
    checks: list[Variant] = []
    for compiled, blob in zip(reply.variants, blobs, strict=True):
        ptx = triton_ptx.mend_lines(blob.decode(), file_name)
        served = calls[compiled.kernel]
        variant = Variant(
            name=compiled.name,
            optimised=True,
            ptx=ptx,
            entries={compiled.kernel: compiled.entry},
            constants=compiled.constants,
            block=triton_ptx.threads(ptx),
            shared_bytes={compiled.kernel: compiled.shared},
            calls=tuple(served[i] for i in compiled.calls if i < len(served)),
            parameters={compiled.kernel: compiled.parameters},
        )
        values.append(variant)
        undefined = triton_ptx.undefined_lanes(ptx, unsaid)
        if undefined is not None:
            name = f"{compiled.name}, {UNDEFINED_LANES}"
            update = {
                "name": name,
                "optimised": False,
                "checks": compiled.name,
                "ptx": undefined,
            }
            checks.append(variant.model_copy(update=update))
    return Artefact(language=NAME, variants=(*values, *checks))
