"""Compiles one CUDA C submission with NVRTC: what the sandboxed build child does.

The text is compiled as it is, with the contract behind it. Only where that fails, what the compiler
calls host code is blanked and headers that are not here are taken as empty, and it is tried again.

::

    cuda_includes.py    what may be included; stand-ins for host headers
    cuda_contract.py    the text that judges the entry, and the wording
    cuda_attempt.py     one compilation and its messages
    cuda_host_code.py   blanks host definitions, lines and columns kept
    cuda_remedies.py    until nothing is left to blank
    cuda_messages.py    the messages as a student needs them
    nvrtc.py  nvrtc_log.py  signature.py
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.languages import Artefact, Contract, Variant
from grader.languages import cuda_contract as contract_check
from grader.languages.cuda_attempt import OPTIMISED, UNOPTIMISED, Attempt, Source, compile_text
from grader.languages.cuda_includes import resolve, without_comments
from grader.languages.cuda_messages import explain, refuse_unsupported, reported
from grader.languages.cuda_remedies import until_settled
from grader.languages.nvrtc import version
from grader.languages.nvrtc_log import resources
from grader.result import Build, Diagnostic

LANGUAGE = "cuda-c"
COMPILER = "nvrtc"
_ENTRY = re.compile(r"^\s*(?:\.visible |\.weak )?\.entry ([\w$]+)\(", re.MULTILINE)
_FILE = re.compile(r'^(\s*\.file\s+\d+ )"([^"]*)"', re.MULTILINE)


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

    `submission_headers` are the other files of the submission by their path from its folder;
    `toolkit` is the folder with NVRTC's own headers. Without contracts every kernel of the file is
    an entry under its name in the PTX, and `kernels` are further ones in C++ (`reduce<float,
    256>`). Working directory and folder names never reach the PTX, so that equal sources give equal
    PTX on every machine. Raises UnsupportedError for what is CUDA but not graded here.
    """
    started = time.perf_counter()
    files = {**submission_headers, file_name: text}
    found = resolve(files, Path(toolkit) if toolkit else None)
    refused = list(found.forbidden)
    if "\0" in text:
        refused.append(
            Diagnostic(file=file_name, severity="error", message="expected text, found a NUL byte")
        )
    if refused:
        return (_failed(refused, "", started),), None
    plain = without_comments("\n".join(files.values()))
    mentioned = set(re.findall(r"[A-Za-z_]\w*", plain))
    constants = dict.fromkeys(name for contract in contracts for name in contract.constants)
    source = Source(
        original=text,
        text=text,
        file_name=file_name,
        headers=found.headers,
        missing=found.missing,
        submission_files=tuple(submission_headers),
        contracts=tuple(contracts),
        constants=tuple(name for name in constants if name in mentioned),
        expressions=(*map(contract_check.name_expression, contracts), *kernels),
        toolkit=toolkit or "",
    )
    attempt = until_settled(source)
    if not attempt.compilation.ok:
        refuse_unsupported(attempt)
        diagnostics = [*attempt.source.notes, *explain(attempt)]
        return (_failed(diagnostics, attempt.log, started),), None
    return _finish(attempt, started)


def _finish(attempt: Attempt, started: float) -> tuple[tuple[Build, ...], Artefact | None]:
    """Both variants of a submission that compiles."""
    source = attempt.source
    ptx, values = contract_check.take_constants(attempt.compilation.ptx)
    used = resources(attempt.compilation.log)
    entries = _entries(attempt)
    optimised = Variant(
        name="optimised",
        optimised=True,
        ptx=_anonymous(ptx, source),
        entries=entries,
        constants=values,
        shared_bytes={name: u.shared_bytes for name, u in used.items()},
        registers={name: u.registers for name, u in used.items()},
        spill_bytes={name: u.spill_bytes for name, u in used.items()},
    )
    seconds = time.perf_counter() - started
    diagnostics = [*source.notes, *reported(attempt)]
    again = time.perf_counter()
    debug = compile_text(source, source.text, UNOPTIMISED)
    if debug.ok:
        unoptimised = Variant(
            name="unoptimised",
            optimised=False,
            ptx=_anonymous(debug.ptx, source),
            entries=entries,
            constants=values,
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
