"""Words for a CUDA C build: the compiler's messages as a student needs them."""

from __future__ import annotations

import re

from grader.languages import cuda_contract as contract_check
from grader.languages.cuda_attempt import Attempt
from grader.languages.cuda_compilation import Source
from grader.languages.signature import device_launch, functions
from grader.result import Diagnostic

_HOST_NAMES = (
    re.compile(r'identifier "(?:[\w:]*::)?(\w+)" is undefined'),
    re.compile(r"use of undeclared identifier '(\w+)'"),
    re.compile(r"reference to __host__ (?P<kind>function|variable) '(\w+)' in __\w+__ function"),
)
_DEVICE_LAUNCH = "device-side kernel launch could not be processed"
_FILE_LAMBDA = "The execution space for the lambda closure class members was inferred"
_ABORTED = "Ptx assembly aborted"
_UNREFERENCED = "#177-D"


class UnsupportedError(Exception):
    """The submission uses something of CUDA that is not graded here; the words name it."""


def refuse_unsupported(attempt: Attempt) -> None:
    """Raise UnsupportedError where a build failed for a lack of ours, not for a mistake."""
    source = attempt.source
    for message in attempt.errors:
        if message.diagnostic.message.startswith(_DEVICE_LAUNCH):
            raise _launches(message.diagnostic.file, message.diagnostic.line)
        # Kernels that launch others also make streams and wait: calls that only they may make.
        call = next((m for p in _HOST_NAMES if (m := p.search(message.diagnostic.message))), None)
        if call is not None and call[call.re.groups].startswith("cuda"):
            line = device_launch(source.original)
            if line is not None:
                raise _launches(source.file_name, line)
    for name, (file, line) in source.missing.items():
        if name.startswith(attempt.compiler.UNAVAILABLE):
            raise UnsupportedError(
                f"{file}:{line}: {name} belongs to a library that does not come with the compiler"
            )


def _launches(file: str | None, line: int | None) -> UnsupportedError:
    return UnsupportedError(
        f"{file}:{line}: this kernel launches another (dynamic parallelism), "
        "which the virtual GPU does not run"
    )


def explain(attempt: Attempt) -> list[Diagnostic]:
    """The messages of a failed build in the order of the source; the contract's only where the
    submission itself compiles."""
    source = attempt.source
    if not attempt.errors:
        return [*_contract_errors(attempt), *reported(attempt)]
    compiler = attempt.compiler
    host = [m for m in attempt.errors if compiler.is_host_code(m)]
    kept = [m for m in attempt.student if m not in host or len(host) == len(attempt.errors)]
    explained = [
        _about_host(compiler.place(source, m), source)
        for m in kept
        if not m.diagnostic.message.startswith(_ABORTED)
    ]
    return list(dict.fromkeys(explained))


def reported(attempt: Attempt) -> list[Diagnostic]:
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


def _contract_errors(attempt: Attempt) -> list[Diagnostic]:
    source = attempt.source
    explained: list[Diagnostic] = []
    for message in attempt.contract:
        line = message.diagnostic.line or 0
        reason = message.diagnostic.message
        name = contract_check.failed_constant(line, source.constants)
        if message.diagnostic.file == contract_check.ENTRIES:
            refused = list(source.contracts[line - 1 : line])
        elif name:
            default = contract_check.defaults(source.contracts)[name]
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
    if not explained:  # of a kernel that --kernel names
        explained = [
            Diagnostic(file=source.file_name, severity="error", message=m.diagnostic.message)
            for m in attempt.contract
        ]
    return list(dict.fromkeys(explained))


def _about_host(diagnostic: Diagnostic, source: Source) -> Diagnostic:
    """A name of the host half in device code: say that a kernel cannot reach it."""
    if diagnostic.message.startswith(_FILE_LAMBDA):
        message = (
            "a lambda at file level is host code: write a __device__ function, or the lambda "
            "inside the kernel"
        )
        return diagnostic.model_copy(update={"message": message})
    found = next((m for p in _HOST_NAMES if (m := p.search(diagnostic.message))), None)
    if found is None:
        return diagnostic
    name = found[found.re.groups]
    kind = found.groupdict().get("kind")
    line = next((f.line for f in functions(source.original) if f.name == name), None)
    if kind is None:
        if name not in source.blanked:
            return diagnostic
        line, kind = source.blanked[name]
    where = f" (line {line or contract_check.first_line(name, source.original)})"
    if kind == "function":
        message = (
            f"{name}{where} is a host function, and kernels call device functions only: "
            "write __device__ before it"
        )
    else:
        message = (
            f"{name}{where} is a host variable, which kernels cannot read: make it "
            "constexpr, mark it __device__ or __constant__, or pass it as an argument"
        )
    return diagnostic.model_copy(update={"message": message})
