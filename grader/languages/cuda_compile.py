"""Compiles one CUDA C submission with NVRTC: what the sandboxed build child does.

The text is compiled as it is, with the contract behind it. Only where that fails, what the compiler
calls host code is blanked and headers that are not here are taken as empty, and it is tried again.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.languages import Artefact, Contract, Variant
from grader.languages import cuda_contract as contract_check
from grader.languages.cuda_host_code import (
    CONSTEXPR_OPTION,
    HOST_MESSAGES,
    Blanked,
    blank_host_code,
    blank_host_types,
)
from grader.languages.cuda_includes import (
    PRELUDE,
    forbidden_includes,
    host_headers,
    without_comments,
)
from grader.languages.nvrtc import Compilation, compile_source, version
from grader.languages.nvrtc_log import Message, messages, resources
from grader.result import Build, Diagnostic

LANGUAGE = "cuda-c"
COMPILER = "nvrtc"
# sm_80, not compute_80: ptxas then says registers and spills, and rejects bad inline PTX.
OPTIMISED = ("-arch=sm_80", "-std=c++17", "-lineinfo", "--ptxas-options=-v")
UNOPTIMISED = ("-arch=compute_80", "-std=c++17", "-G")
_SHARED = (
    "-D_CG_LIMIT_INCLUDED_DEPENDENCIES",  # cooperative_groups.h in 70 ms, not 1,450 ms
    "-frandom-seed=grade",  # names of internal symbols would differ between two builds
    CONSTEXPR_OPTION,
    f"--pre-include={PRELUDE}",
)
_ROUNDS = 12
_LOG_LINES = 40
_MISSING = re.compile(r"(?:could not|cannot) open source file \"([^\"]+)\"")
_UNDEFINED = re.compile(r'identifier "(?:[\w:]*::)?(\w+)" is undefined')
_NAME_MAP = "__nv_name_map"
_UNREFERENCED = "#177-D"
# NVRTC searches the folder of the source for what it includes: one that does not exist.
_NO_FOLDER = "/no-such-folder"
_NOT_GLOBAL = "non-__global__"
_ABORTED = "Ptx assembly aborted"
_WITHOUT_PTXAS = ("-arch=compute_80", "-std=c++17", "-lineinfo")
_ENTRY = re.compile(r"^\s*(?:\.visible |\.weak )?\.entry ([\w$]+)\(", re.MULTILINE)
_FILE = re.compile(r'^(\s*\.file\s+\d+ )"([^"]*)"', re.MULTILINE)
_LOC = re.compile(r"^\s*\.loc\s+\d+ (\d+) \d+")
_OUTSIDE = "a file outside the submission and the toolkit was included; only those may be"


@dataclass(frozen=True)
class Source:
    """A submission on its way: the text as it is now, and what had to be done to it.

    `original` is what the student wrote; `blanked` names what was host code, with line and kind;
    `expressions` name the entries in C++ (see `nvrtcAddNameExpression`).
    """

    original: str
    text: str
    file_name: str
    headers: Mapping[str, str]
    submission_files: tuple[str, ...]
    contracts: tuple[Contract, ...]
    constants: tuple[str, ...]
    expressions: tuple[str, ...]
    toolkit: str
    blanked: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    notes: tuple[Diagnostic, ...] = ()

    @property
    def own_files(self) -> tuple[str, ...]:
        """The submission's files, as messages name them."""
        return (self.file_name, *self.submission_files)


@dataclass(frozen=True)
class Attempt:
    """One compilation of a source with its contract, its messages told apart by where they are."""

    source: Source
    compilation: Compilation
    student: tuple[Message, ...]
    contract: tuple[Message, ...]
    log: str

    @property
    def errors(self) -> tuple[Message, ...]:
        """The errors in the submission's own text and headers."""
        return tuple(m for m in self.student if m.diagnostic.severity == "error")


def compile_submission(
    text: str,
    file_name: str,
    contracts: Sequence[Contract],
    *,
    submission_headers: Mapping[str, str],
    toolkit: str | None,
    kernels: Sequence[str] = (),
) -> tuple[tuple[Build, ...], Artefact | None]:
    """The builds of a submission, optimised first, and what a device runs.

    `submission_headers` are the other files of the submission by name; `toolkit` is the folder with
    NVRTC's own headers. Without contracts every kernel of the file is an entry under its name in
    the PTX, and `kernels` are further ones in C++ (`reduce<float, 256>`). Working directory and
    folder names never reach the PTX, so that equal sources give equal PTX on every machine.
    """
    started = time.perf_counter()
    forbidden = [
        diagnostic
        for name, content in [(file_name, text), *submission_headers.items()]
        for diagnostic in forbidden_includes(content, name)
    ]
    if "\0" in text:
        forbidden.append(
            Diagnostic(file=file_name, severity="error", message="expected text, found a NUL byte")
        )
    if forbidden:
        return (_failed(forbidden, "", started),), None
    plain = without_comments("\n".join([text, *submission_headers.values()]))
    mentioned = set(re.findall(r"[A-Za-z_]\w*", plain))
    constants = dict.fromkeys(name for contract in contracts for name in contract.constants)
    source = Source(
        original=text,
        text=text,
        file_name=file_name,
        headers={**host_headers(), **submission_headers},
        submission_files=tuple(submission_headers),
        contracts=tuple(contracts),
        constants=tuple(name for name in constants if name in mentioned),
        expressions=(*map(contract_check.name_expression, contracts), *kernels),
        toolkit=toolkit or "",
    )
    attempt = _until_settled(source)
    if not attempt.compilation.ok:
        diagnostics = [*attempt.source.notes, *_explain(attempt)]
        return (_failed(diagnostics, attempt.log, started),), None
    return _finish(attempt, started)


def _compile(source: Source, text: str, options: Sequence[str]) -> Compilation:
    include = (f"-I{source.toolkit}", f"-I{source.toolkit}/cccl") if source.toolkit else ()
    with contextlib.chdir("/"):  # the working directory is part of the debug information
        return compile_source(
            f'#line 1 "{source.file_name}"\n{text}',
            f"{_NO_FOLDER}/{source.file_name}",
            (*options, *_SHARED, *include),
            headers=source.headers,
            name_expressions=source.expressions,
        )


def _attempt(source: Source) -> Attempt:
    check = contract_check.contract_text(source.contracts, source.constants)
    compilation = _compile(source, source.text + check, OPTIMISED)
    student: list[Message] = []
    contract: list[Message] = []
    log: list[str] = []
    for message in messages(compilation.log, last_line=source.original.count("\n") + 1):
        if message.diagnostic.file in (contract_check.FILE, _NAME_MAP):
            contract.append(message)
            continue
        own = _own_words(message, source)
        student.append(own)
        log.extend(own.lines)
    return Attempt(source, compilation, tuple(student), tuple(contract), _shortened(log))


def _own_words(message: Message, source: Source) -> Message:
    """The message, its file named as the student knows it; nothing of a file that is not theirs."""
    diagnostic = message.diagnostic
    file = diagnostic.file or source.file_name
    if source.toolkit:
        file = file.removeprefix(f"{source.toolkit}/")
    if file in (source.file_name, "ptx") or file in source.headers or file != diagnostic.file:
        return replace(message, diagnostic=diagnostic.model_copy(update={"file": file}))
    hidden = diagnostic.model_copy(update={"file": source.file_name, "message": _OUTSIDE})
    return Message(hidden.model_copy(update={"line": None, "column": None}), "", (_OUTSIDE,))


def _until_settled(source: Source) -> Attempt:
    """Compile, blank what the compiler calls host code, and again, while that helps.

    When blanking definitions no longer helps, the types and aliases that only host headers would
    explain are blanked too; if even that fails, the messages from before count.
    """
    remedies = (_without_missing_header, _without_host_code, _without_lost_constants)
    attempt = _apply(_attempt(source), remedies)
    if not attempt.errors or not attempt.source.blanked:
        return attempt
    bolder = _apply(attempt, (*remedies, _without_host_types))
    known = {message.diagnostic for message in attempt.errors}
    return bolder if known.issuperset(m.diagnostic for m in bolder.errors) else attempt


def _apply(attempt: Attempt, remedies: Sequence[Callable[[Attempt], Source | None]]) -> Attempt:
    for _ in range(_ROUNDS):
        if attempt.compilation.ok:
            break
        changed = next((s for remedy in remedies if (s := remedy(attempt))), None)
        if changed is None:
            break
        attempt = _attempt(changed)
    return attempt


def _without_missing_header(attempt: Attempt) -> Source | None:
    """A header that is neither the submission's nor the toolkit's counts as empty, and is noted."""
    source = attempt.source
    for message in attempt.errors:
        missing = _MISSING.search(message.diagnostic.message)
        if (
            missing
            and missing[1] not in source.headers
            and message.diagnostic.file in source.own_files
        ):
            words = f"{missing[1]} is neither in the submission nor in the CUDA toolkit"
            note = message.diagnostic.model_copy(
                update={"severity": "warning", "message": f"{words}: taken as empty"}
            )
            headers = {**source.headers, missing[1]: ""}
            return replace(source, headers=headers, notes=(*source.notes, note))
    return None


def _without_host_code(attempt: Attempt) -> Source | None:
    flagged = [m for m in attempt.errors if m.diagnostic.message.startswith(HOST_MESSAGES)]
    return _blank(attempt.source, flagged, blank_host_code)


def _without_host_types(attempt: Attempt) -> Source | None:
    return _blank(attempt.source, attempt.errors, blank_host_types)


def _without_lost_constants(attempt: Attempt) -> Source | None:
    """A constant that is declared inside a function only: the launch takes the default, noted."""
    source = attempt.source
    lost = {
        name
        for message in attempt.contract
        if (name := contract_check.failed_constant(message.diagnostic.line, source.constants))
        and f'identifier "{name}" is undefined' in message.diagnostic.message
        and name not in source.blanked
    }
    if not lost:
        return None
    notes = [
        Diagnostic(
            file=source.file_name,
            line=contract_check.first_line(name, source.original),
            severity="warning",
            message=f"{name} is not declared at file level: the launch takes {name} = {default}",
        )
        for name, default in _defaults(source).items()
        if name in lost
    ]
    left = tuple(name for name in source.constants if name not in lost)
    return replace(source, constants=left, notes=(*source.notes, *notes))


def _defaults(source: Source) -> dict[str, int]:
    return {name: n for contract in source.contracts for name, n in contract.constants.items()}


def _blank(
    source: Source,
    found: Sequence[Message],
    blank: Callable[[str, Sequence[tuple[int, int]]], Blanked],
) -> Source | None:
    """The source with the definitions at the messages' places blanked; None if nothing changed."""
    texts = {source.file_name: source.text}
    names = dict(source.blanked)
    for file in {message.diagnostic.file for message in found}:
        places = [
            (diagnostic.line, diagnostic.column or 1)
            for diagnostic in (message.diagnostic for message in found)
            if diagnostic.file == file and diagnostic.line
        ]
        content = source.text if file == source.file_name else source.headers.get(file, "")
        blanked = blank(content, places)
        texts[file] = blanked.text
        names.update(blanked.names)
    text = texts.pop(source.file_name)
    headers = {**source.headers, **texts}
    if text == source.text and headers == source.headers:
        return None
    return replace(source, text=text, headers=headers, blanked=names)


def _explain(attempt: Attempt) -> list[Diagnostic]:
    """The messages of a failed build in the order of the source; the contract's only where the
    submission itself compiles."""
    source = attempt.source
    if not attempt.errors:
        return [*_contract_errors(attempt), *_reported(attempt)]
    host = [m for m in attempt.errors if m.diagnostic.message.startswith(HOST_MESSAGES)]
    kept = [m for m in attempt.student if m not in host or len(host) == len(attempt.errors)]
    ptx = ""
    if any(message.diagnostic.file == "ptx" for message in kept):
        ptx = _compile(source, source.text, _WITHOUT_PTXAS).ptx
    explained = [
        _about_host(_placed(m.diagnostic, ptx, source), source)
        for m in kept
        if not m.diagnostic.message.startswith(_ABORTED)
    ]
    return list(dict.fromkeys(explained))


def _contract_errors(attempt: Attempt) -> list[Diagnostic]:
    source = attempt.source
    explained: list[Diagnostic] = []
    for message in attempt.contract:
        line = message.diagnostic.line or 0
        reason = message.diagnostic.message
        name = contract_check.failed_constant(line, source.constants)
        if message.diagnostic.file == _NAME_MAP:
            refused = [c for c in source.contracts if _NOT_GLOBAL in reason and c.kernel in reason]
        elif name:
            default = _defaults(source)[name]
            explained.append(
                contract_check.explain_constant(name, default, source.original, source.file_name)
            )
            continue
        else:
            refused = list(source.contracts[line - 1 : line])
        for contract in refused:
            explained.extend(
                contract_check.explain_kernel(contract, source.original, source.file_name, reason)
            )
    if not explained:
        told = attempt.compilation.log.strip().splitlines()
        explained = [
            Diagnostic(file=source.file_name, severity="error", message=m.diagnostic.message)
            for m in attempt.contract
        ] or [Diagnostic(file=source.file_name, severity="error", message=" ".join(told[:2]))]
    return list(dict.fromkeys(explained))


def _reported(attempt: Attempt) -> list[Diagnostic]:
    """Warnings about the submission's own files, each once.

    Unused names are no news beside blanked host code and constants that only the launch uses.
    """
    quiet = attempt.source.blanked or attempt.source.constants
    return list(
        dict.fromkeys(
            message.diagnostic
            for message in attempt.student
            if message.diagnostic.file in attempt.source.own_files
            and not (quiet and message.number == _UNREFERENCED)
        )
    )


def _about_host(diagnostic: Diagnostic, source: Source) -> Diagnostic:
    """An unknown name that the host half declares: say that a kernel cannot reach it."""
    unknown = _UNDEFINED.search(diagnostic.message)
    if unknown is None or unknown[1] not in source.blanked:
        return diagnostic
    name = unknown[1]
    line, kind = source.blanked[name]
    if kind == "function":
        message = (
            f"{name} (line {line}) is a host function, and kernels call device functions only: "
            "write __device__ before it"
        )
    else:
        message = (
            f"{name} (line {line}) is a host variable, which kernels cannot read: make it "
            "constexpr, mark it __device__ or __constant__, or pass it as an argument"
        )
    return diagnostic.model_copy(update={"message": message})


def _placed(diagnostic: Diagnostic, ptx: str, source: Source) -> Diagnostic:
    """A message of ptxas with the source line that the PTX says it comes from."""
    if diagnostic.file != "ptx":
        return diagnostic
    place: re.Match[str] | None = None
    for line in ptx.splitlines()[: diagnostic.line or 0]:
        place = _LOC.match(line) or place
    return diagnostic.model_copy(
        update={
            "file": source.file_name,
            "line": int(place[1]) if place else None,
            "message": f"in PTX: {diagnostic.message}",
        }
    )


def _finish(attempt: Attempt, started: float) -> tuple[tuple[Build, ...], Artefact | None]:
    """Both variants of a submission that compiles."""
    source = attempt.source
    ptx, values = contract_check.take_constants(attempt.compilation.ptx)
    used = resources(attempt.compilation.log)
    constants = {**_defaults(source), **values}
    entries = _entries(attempt)
    optimised = Variant(
        name="optimised",
        optimised=True,
        ptx=_anonymous(ptx, source),
        entries=entries,
        constants=constants,
        shared_bytes={name: u.shared_bytes for name, u in used.items()},
        registers={name: u.registers for name, u in used.items()},
        spill_bytes={name: u.spill_bytes for name, u in used.items()},
    )
    seconds = time.perf_counter() - started
    diagnostics = [*source.notes, *_reported(attempt)]
    again = time.perf_counter()
    debug = _compile(source, source.text, UNOPTIMISED)
    if debug.ok:
        unoptimised = Variant(
            name="unoptimised",
            optimised=False,
            ptx=_anonymous(debug.ptx, source),
            entries=entries,
            constants=constants,
        )
        builds = (
            _build(OPTIMISED, True, diagnostics, attempt.log, seconds),
            _build(UNOPTIMISED, True, (), "", time.perf_counter() - again),
        )
        return builds, Artefact(language=LANGUAGE, variants=(optimised, unoptimised))
    reason = next(iter(debug.log.strip().splitlines()), "no reason given")
    diagnostics.append(
        Diagnostic(
            file=source.file_name,
            severity="note",
            message=f"the unoptimised build failed ({reason}): "
            "faults come from the optimised one only",
        )
    )
    build = _build(OPTIMISED, True, diagnostics, attempt.log, seconds)
    return (build,), Artefact(language=LANGUAGE, variants=(optimised,))


def _entries(attempt: Attempt) -> dict[str, str]:
    """The entry in the PTX of each contract's kernel; without contracts, of every kernel."""
    lowered = attempt.compilation.lowered
    contracts = attempt.source.contracts
    entries = {c.kernel: lowered[contract_check.name_expression(c)] for c in contracts}
    if not contracts:
        entries = {name: name for name in _ENTRY.findall(attempt.compilation.ptx)}
        entries.update(lowered)
    return entries


def _anonymous(ptx: str, source: Source) -> str:
    """The PTX with file names relative to the submission or the toolkit."""

    def shorten(match: re.Match[str]) -> str:
        path = match[2].removeprefix(source.toolkit) if source.toolkit else match[2]
        return f'{match[1]}"{path.removeprefix("/")}"'

    return _FILE.sub(shorten, ptx)


def _failed(diagnostics: Sequence[Diagnostic], log: str, started: float) -> Build:
    return _build(OPTIMISED, False, diagnostics, log, time.perf_counter() - started)


def _build(
    options: Sequence[str], ok: bool, diagnostics: Sequence[Diagnostic], log: str, seconds: float
) -> Build:
    return Build(
        language=LANGUAGE,
        compiler=COMPILER,
        version=version(),
        ok=ok,
        options=tuple(options),
        diagnostics=tuple(diagnostics),
        log=log,
        seconds=seconds,
    )


def _shortened(lines: Sequence[str]) -> str:
    """The log; of a long one the first and the last lines."""
    if len(lines) > 2 * _LOG_LINES:
        left_out = f"... {len(lines) - 2 * _LOG_LINES} lines left out ..."
        lines = [*lines[:_LOG_LINES], left_out, *lines[-_LOG_LINES:]]
    return "\n".join(lines).rstrip()
