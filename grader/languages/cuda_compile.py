"""Compiles one CUDA C submission: what the sandboxed build child does.

The text is compiled as it is, with the contract behind it. Only where that fails, what the compiler
calls host code is blanked and headers that are not here are taken as empty, and it is tried again.

::

    cuda_includes.py    what may be included; stand-ins for host headers
    cuda_contract.py    the text that judges the entry, and the wording
    cuda_nvrtc.py  cuda_clang.py    the two compilers
    cuda_attempt.py     one compilation and its messages
    cuda_host_code.py   blanks host definitions, lines and columns kept
    cuda_remedies.py    until nothing is left to blank
    cuda_messages.py    the messages as a student needs them
    nvrtc.py  nvrtc_log.py  cuda_compilation.py  signature.py
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.languages import Artefact, Contract, Variant, cuda_nvrtc
from grader.languages import cuda_contract as contract_check
from grader.languages.cuda_attempt import Attempt
from grader.languages.cuda_compilation import RELOCATABLE, Compiler, Source
from grader.languages.cuda_includes import (
    PRELUDE,
    as_written_for_nvcc,
    prelude,
    resolve,
    without_comments,
    without_line_directives,
)
from grader.languages.cuda_messages import explain, refuse_unsupported, reported
from grader.languages.cuda_remedies import until_settled
from grader.result import Build, Diagnostic

LANGUAGE = "cuda-c"
_ENTRY = re.compile(r"^\s*(?:\.visible |\.weak )?\.entry ([\w$]+)\(", re.MULTILINE)


def compile_submission(
    text: str,
    file_name: str,
    contracts: Sequence[Contract],
    *,
    submission_headers: Mapping[str, str],
    toolkit: str | None,
    kernels: Sequence[str] = (),
    compiler: Compiler = cuda_nvrtc,
    defines: Sequence[str] = (),
    relocatable: bool = False,
) -> tuple[tuple[Build, ...], Artefact | None]:
    """The builds of a submission, optimised first, and what a device runs.

    `submission_headers` are the other files of the submission by their path from its folder;
    `toolkit` is the folder with the compiler's own headers. Without contracts every kernel of the
    file is an entry under its name in the PTX, and `kernels` are further ones in C++
    (`reduce<float, 256>`). `defines` are what -D gives a compiler. `relocatable` code may use what
    other files define, and is to be linked with them. Working directory and folder names never
    reach the PTX, so that equal sources give equal PTX on every machine. Raises UnsupportedError
    for what is CUDA but not graded here.
    """
    started = time.perf_counter()
    written = {**submission_headers, file_name: text}
    files = {
        name: as_written_for_nvcc(without_line_directives(content))
        for name, content in written.items()
    }
    found = resolve(files, Path(toolkit) if toolkit else None, _without_stand_in(compiler))
    refused = list(found.forbidden)
    if "\0" in text:
        refused.append(
            Diagnostic(file=file_name, severity="error", message="expected text, found a NUL byte")
        )
    if refused:
        return (_failed(compiler, refused, "", started),), None
    plain = without_comments("\n".join(files.values()))
    mentioned = set(re.findall(r"[A-Za-z_]\w*", plain))
    constants = dict.fromkeys(name for contract in contracts for name in contract.constants)
    source = Source(
        original=text,
        text=files[file_name],
        file_name=file_name,
        headers={**found.headers, PRELUDE: prelude(mentioned)},
        missing=found.missing,
        submission_files=tuple(submission_headers),
        contracts=tuple(contracts),
        constants=tuple(name for name in constants if name in mentioned),
        expressions=(*map(contract_check.name_expression, contracts), *kernels),
        toolkit=toolkit or "",
        defines=tuple(defines),
        relocatable=relocatable,
    )
    attempt = until_settled(source, compiler)
    if not attempt.compilation.ok:
        declared = contract_check.as_declared(contracts, text)
        if declared != tuple(contracts):
            names = (*map(contract_check.name_expression, declared), *kernels)
            source = dataclasses.replace(source, contracts=declared, expressions=names)
            attempt = until_settled(source, compiler)
    if not attempt.compilation.ok:
        refuse_unsupported(attempt)
        diagnostics = [*attempt.source.notes, *explain(attempt)]
        return (_failed(compiler, diagnostics, attempt.log, started),), None
    return _finish(attempt, started)


def prime(_: str) -> None:
    """Load the compiler and let it start up, before children are forked; never an error."""
    right = "__global__ void prime(float* a) { *a = 1; }\n"
    with contextlib.suppress(Exception):
        for text in (right, right.replace("1;", "one;")):  # messages have modules of their own
            compile_submission(text, "prime.cu", (), submission_headers={}, toolkit=None)


def _without_stand_in(compiler: Compiler) -> tuple[str, ...]:
    """Stand-ins that only lead to headers which the compiler lacks; empty ones stay."""
    return tuple(name for name in ("cub/cub.cuh",) if name.startswith(compiler.UNAVAILABLE))


def _finish(attempt: Attempt, started: float) -> tuple[tuple[Build, ...], Artefact | None]:
    """Both variants of a submission that compiles."""
    source, compiler, done = attempt.source, attempt.compiler, attempt.compilation
    linked = source.relocatable
    entries = _entries(attempt)
    optimised = Variant(
        name="optimised",
        optimised=True,
        ptx=done.ptx,
        entries=entries,
        constants=dict(done.constants),
        shared_bytes={name: u.shared_bytes for name, u in done.resources.items()},
        registers={name: u.registers for name, u in done.resources.items()},
        spill_bytes={name: u.spill_bytes for name, u in done.resources.items()},
    )
    seconds = time.perf_counter() - started
    diagnostics = [*source.notes, *reported(attempt)]
    again = time.perf_counter()
    debug = compiler.compile_text(source, source.text, optimised=False)
    if debug.ok:
        unoptimised = Variant(
            name="unoptimised",
            optimised=False,
            ptx=debug.ptx,
            entries=entries,
            constants=dict(done.constants),
        )
        builds = (
            _build(compiler, True, True, diagnostics, attempt.log, seconds, linked),
            _build(compiler, False, True, (), "", time.perf_counter() - again, linked),
        )
        return builds, Artefact(language=LANGUAGE, variants=(optimised, unoptimised))
    reason = next((m.diagnostic.message for m in debug.messages), "no reason given")
    diagnostics.append(
        Diagnostic(
            file=source.file_name,
            severity="note",
            message=f"the unoptimised build failed ({reason}): "
            "faults come from the optimised one only",
        )
    )
    build = _build(compiler, True, True, diagnostics, attempt.log, seconds, linked)
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


def _failed(
    compiler: Compiler, diagnostics: Sequence[Diagnostic], log: str, started: float
) -> Build:
    return _build(compiler, True, False, diagnostics, log, time.perf_counter() - started)


def _build(
    compiler: Compiler,
    optimised: bool,
    ok: bool,
    diagnostics: Sequence[Diagnostic],
    log: str,
    seconds: float,
    relocatable: bool = False,
) -> Build:
    return Build(
        language=LANGUAGE,
        compiler=compiler.NAME,
        version=compiler.version(),
        ok=ok,
        options=(*compiler.options(optimised), *((RELOCATABLE,) if relocatable else ())),
        diagnostics=tuple(diagnostics),
        log=log,
        seconds=seconds,
    )
