"""One compilation of a CUDA C submission with its contract, its messages told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.languages import cuda_contract as contract_check
from grader.languages.cuda_compilation import Compilation, Compiler, Message, Source
from grader.result import Diagnostic

_LOG_LINES = 40
_OUTSIDE = "a file outside the submission and the toolkit was included; only those may be"


@dataclass(frozen=True)
class Attempt:
    """One compilation of a source with its contract, its messages told apart by where they are."""

    source: Source
    compiler: Compiler
    compilation: Compilation
    student: tuple[Message, ...]
    contract: tuple[Message, ...]
    log: str

    @property
    def errors(self) -> tuple[Message, ...]:
        """The errors in the submission's own text and headers."""
        return tuple(m for m in self.student if m.diagnostic.severity == "error")


def attempt(source: Source, compiler: Compiler) -> Attempt:
    """Compile the source with its contract behind it, optimised."""
    check = contract_check.contract_text(source.contracts, source.constants)
    compilation = compiler.compile_text(source, source.text + check)
    student: list[Message] = []
    contract: list[Message] = []
    log: list[str] = []
    for message in compilation.messages:
        if message.diagnostic.file in (contract_check.FILE, contract_check.ENTRIES):
            contract.append(message)
            continue
        own = _own_words(message, source)
        student.append(own)
        log.extend(own.lines)
    return Attempt(source, compiler, compilation, tuple(student), tuple(contract), _shortened(log))


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
