"""What Metal says, in our words: the compiler's log, and errors of command buffers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.devices.card import CardError, Ending
from grader.result import Diagnostic

# MTLCommandBufferError (MTLCommandBuffer.h).
ERRORS: dict[int, tuple[Ending, str | None, str]] = {
    1: ("trap", "trap", "an internal error of the device"),
    2: ("time", None, "it ran for too long"),
    3: ("stopped", "out_of_bounds", "page fault: an address outside every buffer"),
    4: ("trap", "trap", "the device took its access away after earlier faults"),
    7: ("unsupported", None, "not permitted"),
    8: ("unsupported", None, "out of memory"),
    9: ("refused", None, "invalid resource"),
    10: ("unsupported", None, "the device cannot keep so much in its own memory"),
    11: ("unsupported", None, "the device was removed"),
    12: ("trap", "trap", "stack overflow"),
}

_LINE = re.compile(
    r"^program_source:(?P<line>\d+):(?P<column>\d+): "
    r"(?P<severity>fatal error|error|warning|note): (?P<message>.*)$",
    re.MULTILINE,
)


def explain(code: int, text: str) -> CardError:
    """The error of a command buffer; the process should not go on with the device after one."""
    ended, fault, words = ERRORS.get(code, ("unsupported", None, f"Metal error {code}: {text}"))
    return CardError(ended, f"the device said: {words}", fault=fault, sticky=True)


def validation(messages: Sequence[tuple[str, int | None]]) -> CardError | None:
    """What shader validation logged of a command buffer: texts, and lines where they are known."""
    if not messages:
        return None
    text, line = messages[0]
    where = f"line {line}: " if line else ""
    more = f"; {len(messages)} such messages" if len(messages) > 1 else ""
    said = f"shader validation: {where}{' '.join(text.split())[:300]}{more}"
    return CardError("stopped", said, fault="out_of_bounds", sticky=True)


def diagnostics(log: str, file: str) -> tuple[Diagnostic, ...]:
    """What `newLibraryWithSource` said, a message each: Metal calls the source `program_source`."""
    return tuple(
        Diagnostic(
            file=file,
            line=int(found["line"]),
            column=int(found["column"]),
            severity="error" if "error" in found["severity"] else found["severity"],  # type: ignore[arg-type]
            message=found["message"],
        )
        for found in _LINE.finditer(log)
    )


def not_compiled(log: str) -> CardError:
    """The error of a source that Apple's compiler refuses where ours took it."""
    first = next((d for d in diagnostics(log, "the source") if d.severity == "error"), None)
    said = f"line {first.line}: {first.message}" if first else log.strip()[:300]
    return CardError("unsupported", f"Apple's compiler refuses the source: {said}")
