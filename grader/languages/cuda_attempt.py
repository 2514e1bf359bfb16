"""One compilation of a CUDA C submission: its text as it is now, the contract, the messages."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.languages import Contract
from grader.languages import cuda_contract as contract_check
from grader.languages.cuda_host_code import CONSTEXPR_OPTION
from grader.languages.cuda_includes import PRELUDE
from grader.languages.nvrtc import Compilation, compile_source
from grader.languages.nvrtc_log import Message, messages
from grader.result import Diagnostic

# sm_80, not compute_80: ptxas then says registers and spills, and rejects bad inline PTX.
OPTIMISED = ("-arch=sm_80", "-std=c++17", "-lineinfo", "--ptxas-options=-v")
UNOPTIMISED = ("-arch=compute_80", "-std=c++17", "-G")
WITHOUT_PTXAS = ("-arch=compute_80", "-std=c++17", "-lineinfo")
_SHARED = (
    "-D_CG_LIMIT_INCLUDED_DEPENDENCIES",  # cooperative_groups.h in 70 ms, not 1,450 ms
    "-frandom-seed=grade",  # names of internal symbols would differ between two builds
    CONSTEXPR_OPTION,
    f"--pre-include={PRELUDE}",
    "-fmax-errors=5000",  # a program's host code alone can make a hundred
)
# NVRTC searches the folder of the source for what it includes: one that does not exist.
_NO_FOLDER = "/no-such-folder"
NAME_MAP = "__nv_name_map"
"""The file that NVRTC names in messages about name expressions."""

_LOG_LINES = 40
_OUTSIDE = "a file outside the submission and the toolkit was included; only those may be"


@dataclass(frozen=True)
class Source:
    """A submission on its way: the text as it is now, and what had to be done to it.

    `original` is what the student wrote; `headers` and `missing` are those of `Includes`;
    `blanked` names what was host code, with line and kind;
    `expressions` name the entries in C++ (see `nvrtcAddNameExpression`).
    """

    original: str
    text: str
    file_name: str
    headers: Mapping[str, str]
    missing: Mapping[str, tuple[str, int]]
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


def attempt(source: Source) -> Attempt:
    """Compile the source with its contract behind it, optimised."""
    check = contract_check.contract_text(source.contracts, source.constants)
    compilation = compile_text(source, source.text + check, OPTIMISED)
    student: list[Message] = []
    contract: list[Message] = []
    log: list[str] = []
    for message in messages(compilation.log, last_line=source.original.count("\n") + 1):
        if message.diagnostic.file in (contract_check.FILE, NAME_MAP):
            contract.append(message)
            continue
        own = _own_words(message, source)
        student.append(own)
        log.extend(own.lines)
    return Attempt(source, compilation, tuple(student), tuple(contract), _shortened(log))


def compile_text(source: Source, text: str, options: Sequence[str]) -> Compilation:
    """Compile `text` under the submission's name; no folder of this machine gets into the PTX."""
    include = (f"-I{source.toolkit}", f"-I{source.toolkit}/cccl") if source.toolkit else ()
    with contextlib.chdir("/"):  # the working directory is part of the debug information
        return compile_source(
            f'#line 1 "{source.file_name}"\n{text}',
            f"{_NO_FOLDER}/{source.file_name}",
            (*options, *_SHARED, *include),
            headers=source.headers,
            name_expressions=source.expressions,
        )


def _own_words(message: Message, source: Source) -> Message:
    """The message, its file named as the student knows it; nothing of a file that is not theirs."""
    diagnostic = message.diagnostic
    if diagnostic.file in source.missing:
        return _about_missing(diagnostic.file, source)
    file = diagnostic.file or source.file_name
    if source.toolkit:
        file = file.removeprefix(f"{source.toolkit}/")
    if file in (source.file_name, "ptx") or file in source.headers or file != diagnostic.file:
        return replace(message, diagnostic=diagnostic.model_copy(update={"file": file}))
    hidden = diagnostic.model_copy(update={"file": source.file_name, "message": _OUTSIDE})
    return Message(hidden.model_copy(update={"line": None, "column": None}), "", (_OUTSIDE,))


def _about_missing(name: str, source: Source) -> Message:
    """What the compiler found in place of a header that is not here, said where it is included."""
    file, line = source.missing[name]
    words = f"{name} is neither in the submission nor in the CUDA toolkit: taken as empty"
    diagnostic = Diagnostic(file=file, line=line, severity="warning", message=words)
    return Message(diagnostic, "", (f"{file}({line}): warning: {words}", ""))


def _shortened(lines: Sequence[str]) -> str:
    """The log; of a long one the first and the last lines."""
    if len(lines) > 2 * _LOG_LINES:
        left_out = f"... {len(lines) - 2 * _LOG_LINES} lines left out ..."
        lines = [*lines[:_LOG_LINES], left_out, *lines[-_LOG_LINES:]]
    return "\n".join(lines).rstrip()
