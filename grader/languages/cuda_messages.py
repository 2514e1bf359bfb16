"""Words for a CUDA C build: the compiler's messages as a student needs them."""

from __future__ import annotations

import re

from grader.languages import cuda_contract as contract_check
from grader.languages.cuda_attempt import NAME_MAP, WITHOUT_PTXAS, Attempt, Source, compile_text
from grader.languages.cuda_host_code import HOST_MESSAGES
from grader.result import Diagnostic

_UNDEFINED = re.compile(r'identifier "(?:[\w:]*::)?(\w+)" is undefined')
_NOT_GLOBAL = "non-__global__"
_DEVICE_LAUNCH = "device-side kernel launch could not be processed"
_LIBRARIES = ("curand_", "cufftdx", "cublasdx", "nvshmem", "cutlass/", "cute/", "optix")
_ABORTED = "Ptx assembly aborted"
_UNREFERENCED = "#177-D"
_LOC = re.compile(r"^\s*\.loc\s+\d+ (\d+) \d+")


class UnsupportedError(Exception):
    """The submission uses something of CUDA that is not graded here; the words name it."""


def refuse_unsupported(attempt: Attempt) -> None:
    """Raise UnsupportedError where a build failed for a lack of ours, not for a mistake."""
    source = attempt.source
    for message in attempt.errors:
        if message.diagnostic.message.startswith(_DEVICE_LAUNCH):
            place = f"{message.diagnostic.file}:{message.diagnostic.line}"
            raise UnsupportedError(
                f"{place}: this kernel launches another (dynamic parallelism), "
                "which the virtual GPU does not run"
            )
    for name, (file, line) in source.missing.items():
        if name.startswith(_LIBRARIES):
            raise UnsupportedError(
                f"{file}:{line}: {name} belongs to a library that does not come with the compiler"
            )


def explain(attempt: Attempt) -> list[Diagnostic]:
    """The messages of a failed build in the order of the source; the contract's only where the
    submission itself compiles."""
    source = attempt.source
    if not attempt.errors:
        return [*_contract_errors(attempt), *reported(attempt)]
    host = [m for m in attempt.errors if m.diagnostic.message.startswith(HOST_MESSAGES)]
    kept = [m for m in attempt.student if m not in host or len(host) == len(attempt.errors)]
    ptx = ""
    if any(message.diagnostic.file == "ptx" for message in kept):
        ptx = compile_text(source, source.text, WITHOUT_PTXAS).ptx
    explained = [
        _about_host(_placed(m.diagnostic, ptx, source), source)
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
        if message.diagnostic.file == NAME_MAP:
            refused = [c for c in source.contracts if _NOT_GLOBAL in reason and c.kernel in reason]
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
    if not explained:
        told = attempt.compilation.log.strip().splitlines()
        explained = [
            Diagnostic(file=source.file_name, severity="error", message=m.diagnostic.message)
            for m in attempt.contract
        ] or [Diagnostic(file=source.file_name, severity="error", message=" ".join(told[:2]))]
    return list(dict.fromkeys(explained))


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
