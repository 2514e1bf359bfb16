"""One next step for a result: what to do about the finding that the verdict rests on."""

from __future__ import annotations

import re

from grader.result import CaseResult, Diagnostic, Fault, Mismatch, Score, Severity, Verdict
from grader.verdict import VERDICT_OF_FAULT, telling

FAULT_ADVICE: dict[str, str] = {
    "out_of_bounds": "Check the index against the size of the buffer before the access.",
    "misaligned": "A wide access needs an address that is a multiple of its size: handle the "
    "unaligned head and tail element by element.",
    "input_modified": "Write results to the output buffer only; the inputs are compared with "
    "pristine copies.",
    "race": "Order the two accesses: a barrier between them, or an atomic operation.",
    "bad_barrier": "Every thread of the block must reach the same barrier: move it out of the "
    "branch or loop that only some threads take.",
    "deadlock": "Find the barrier or lock that some threads never reach, and let all reach it.",
    "warp_mask": "The mask must name exactly the lanes that call the operation.",
    "uninitialised": "Give the memory a value before it is read: initialise it, then a barrier.",
    "unwritten": "Every element of the output needs a thread: check the global index, the guard "
    "and the stride.",
    "trap": "Remove the trap, or the condition that leads to it.",
    "assertion": "The assertion's condition is false here: mend what it checks.",
    "bad_launch": "Choose a block that a GPU can run.",
}


def next_step(
    verdict: Verdict,
    cases: tuple[CaseResult, ...] = (),
    diagnostics: tuple[Diagnostic, ...] = (),
    source: str = "",
) -> str:
    """What the student does next, in a sentence or two; empty for an accepted kernel."""
    if verdict is Verdict.ACCEPTED:
        return ""
    if verdict is Verdict.BUILD_FAILED:
        return _build(diagnostics)
    case = telling(verdict, cases)
    if case is None:
        return ""
    leading = [f for case in cases for f in case.faults if _leads(f, verdict)]
    # An empty buffer shows that there is no guard, but a full one shows which element is too far.
    full = next((f for f in leading if (f.extent or 0) >= 32), None)
    fault = full or next((f for f in leading if f.extent != 0), next(iter(leading), None))
    if fault is not None:
        return of_fault(fault, source)
    if verdict is Verdict.TIMED_OUT:
        return (
            "Look for a loop whose condition never becomes false, or a wait for something that "
            "no thread does."
        )
    if case.mismatch is not None:
        return of_mismatch(case.mismatch, case)
    return ""


def _leads(fault: Fault, verdict: Verdict) -> bool:
    return fault.severity is Severity.ERROR and VERDICT_OF_FAULT[fault.kind] is verdict


def faster(score: Score) -> str:
    """What an accepted kernel lacks for the points of speed; empty where it has them."""
    for line in score.lines:
        if line.item == "speed" and line.points < line.out_of:
            return f"The kernel is right. For the points of speed: {line.why}"
    return ""


def of_fault(fault: Fault, source: str = "") -> str:
    """What to do about one fault: its own advice, or that of its kind seen with its line."""
    if fault.advice:
        return fault.advice
    if fault.kind == "out_of_bounds":
        return _bounds(fault, source)
    if fault.kind == "race":
        return _race(fault)
    return FAULT_ADVICE[fault.kind]


def _bounds(fault: Fault, source: str) -> str:
    """The usual causes of an access outside: no guard, a guard that lets one too many through."""
    lines = source.splitlines()
    if fault.line is None or not 1 <= fault.line <= len(lines):
        return FAULT_ADVICE["out_of_bounds"]
    before = [re.sub(r"//.*", "", line) for line in lines[: fault.line]]
    guards = [
        (number, line.strip())
        for number, line in enumerate(before, start=1)
        if re.search(r"\b(if|for|while)\b.*[<>]", line)
    ]
    near = guards[-1] if guards else None
    if fault.index is not None and fault.index < 0:
        return (
            f"The index is negative here ({fault.index}): guard the low end too, or start one "
            "element later."
        )
    if near is None:
        return (
            "No condition guards this access: compare the index with the number of elements, "
            "as in if (i < N)."
        )
    number, text = near
    if "<=" in text and fault.extent is not None and fault.index == fault.extent:
        return (
            f"The condition on line {number} lets one too many through: the last element is "
            f"{fault.extent - 1}, so use < instead of <=."
        )
    return (
        f"The condition on line {number} does not stop this access: compare the index that is "
        "used here with the number of elements of the buffer."
    )


def _race(fault: Fault) -> str:
    """A barrier between two lines of a block; an atomic where one line or many blocks race."""
    other = fault.other
    if other is None or other.line is None or fault.line is None:
        return FAULT_ADVICE["race"]
    if other.line == fault.line:
        return (
            f"Several threads change {fault.buffer} on line {fault.line} at once: use an atomic "
            "operation, or give each thread an element of its own and combine them afterwards."
        )
    if fault.space == "shared":
        return (
            f"Put a barrier that all threads reach between what lines "
            f"{min(fault.line, other.line)} and {max(fault.line, other.line)} do to {fault.buffer}."
        )
    return (
        f"Lines {fault.line} and {other.line} touch {fault.buffer} in no order: use atomic "
        "operations, or a second launch where blocks need each other's results."
    )


def of_mismatch(mismatch: Mismatch, case: CaseResult) -> str:
    """What to do about a wrong number, from the pattern the wrong elements make."""
    if mismatch.advice:
        return mismatch.advice
    if mismatch.pattern:
        return f"The pattern is a hint: {mismatch.pattern}."
    sizes = ", ".join(f"{name} = {value}" for name, value in case.sizes.items())
    place = "][".join(map(str, mismatch.index))
    where = f" with {sizes}" if sizes else ""
    return (
        f"Work out {mismatch.output}[{place}] by hand{where} and follow the thread that writes it."
    )


def _build(diagnostics: tuple[Diagnostic, ...]) -> str:
    errors = [d for d in diagnostics if d.severity == "error"]
    if not errors:
        return "Read the compiler's log in the report."
    first = errors[0]
    where = f" ({first.file}:{first.line})" if first.line else ""
    if len(errors) == 1:
        return f"Mend the error{where} and submit again."
    return f"Mend the first error{where}; later ones often follow from it."
