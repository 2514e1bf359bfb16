"""One next step for a result: what to do about the finding that the verdict rests on."""

from __future__ import annotations

import re

from grader.pattern_advice import of_pattern
from grader.report import findings
from grader.result import CaseResult, Diagnostic, Fault, Mismatch, Score, Verdict
from grader.verdict import telling, worst

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
    "uninitialised": "Give the memory a value before it is read: initialise it, then a barrier. "
    "Where the data are fewer than the threads, or a block is smaller, does each element get one?",
    "unwritten": "Every element of the output needs a thread: check the global index, the guard "
    "and the stride.",
    "trap": "Remove the trap, or the condition that leads to it.",
    "assertion": "The assertion's condition is false here: mend what it checks.",
    "bad_launch": "Choose a grid and block that a GPU can run, and check cudaGetLastError() after "
    "the launch.",
    "bad_copy": "Sizes are in bytes; the destination comes first, and the direction must fit both.",
    "use_after_free": "Free the memory after the last kernel or copy that uses it.",
    "leak": "Free what was allocated after its last use.",
    "host_pointer": "Kernels take device pointers, host code takes host pointers: copy between.",
    "unsynchronised_read": "Wait for the work before its result is read: cudaDeviceSynchronize().",
}

OF_PROGRAMS: dict[str, str] = {
    "unwritten": "Every element of the output needs a lane of some program: check the grid, the "
    "offsets and the mask of the store.",
    "uninitialised": "Give the memory a value before it is read: does some program store every "
    "element that is loaded?",
}
"""What is said instead of Triton, which has programs and lanes where others have threads."""

WILD = 1 << 24
"""So far from a much smaller buffer an index is an overflow or garbage."""

COUNTED = r"\bfor\b.*;.*(?:\+\+|--|[-+]=\s*[1-9])|\bfor\b[^;]*\b(?:in|:)\b"
"""The header of a loop that moves on by a number: one that ends."""

STEPPED = r"\bfor\b.*;.*;.*="
"""The header of a loop whose step is worked out, and can be 0."""

CHANGES = (
    r"\]\s*(?:[-+*|&^]=|\+\+|--)|\*\s*\w+\s*[-+*|&^]=|(?:\+\+|--)\s*\w+\s*\[|\(\s*\*\w+\s*\)\s*\+\+"
)
"""An element or what a pointer points at is changed in place, not a loop's counter."""

UNUSED = " is never used in "
"""What a lint says of any parameter; a pattern in the numbers says more."""


def next_step(
    verdict: Verdict,
    cases: tuple[CaseResult, ...] = (),
    diagnostics: tuple[Diagnostic, ...] = (),
    source: str = "",
    language: str | None = None,
    starter: str = "",
) -> str:
    """What the student does next, in a sentence or two; empty for an accepted kernel. `starter` is
    what to say of a file that nobody has worked on."""
    if verdict is Verdict.ACCEPTED:
        return ""
    if starter:
        return starter
    if verdict is Verdict.BUILD_FAILED:
        return _build(diagnostics)
    finding = findings.leading(verdict, cases)
    if finding is not None:
        shown = tuple(c for c in cases if not c.hidden and c.verdict is not Verdict.ACCEPTED)
        if shown and not any(case.name in finding.cases for case in shown):
            first = worst(case.verdict for case in shown)
            names = ", ".join(case.name for case in shown[:2])
            return f"Begin with what is shown ({names}): " + next_step(
                first, shown, diagnostics, source, language
            )
        return _returned(finding, cases) or of_fault(finding.fault, source, language)
    case = telling(verdict, cases)
    if case is None:
        return ""
    if verdict is Verdict.TIMED_OUT:
        told = _endless(case, source)
        return told.replace("thread", "program") if language == "triton" else told
    if case.mismatch is not None:
        return of_mismatch(case.mismatch, case, language)
    return ""


def still_starter(file: str, mentions: tuple[str, ...]) -> str:
    """What to do about a file that a mention says to be the starter, or nothing."""
    if not any(file in m and re.search(r" (is|are) still as the starter has", m) for m in mentions):
        return ""
    return (
        f"{file} is still the starter: write the kernel in it. If you did, save the file, and see "
        "whether this is the folder that you work in."
    )


def _returned(finding: findings.Finding, cases: tuple[CaseResult, ...]) -> str:
    """For shared memory that nobody filled: threads that should have had returned already."""
    if finding.verdict is not Verdict.UNINITIALISED or finding.fault.space == "global":
        return ""
    early = (fault for case in cases if case.name in finding.cases for fault in case.faults
             if fault.kind == "bad_barrier" and "returned before" in fault.message)  # fmt: skip
    barrier = next(early, None)
    if barrier is None:
        return ""
    return (
        f"Some threads returned before the barrier on line {barrier.line}: what they should have "
        "filled holds nothing. Let threads without an element of the result stay, fill their part "
        "(with a neutral value where there is no data), and skip only the store."
    )


def reason(verdict: Verdict, cases: tuple[CaseResult, ...]) -> str:
    """Why the result has its verdict, in a sentence: what leads, and in which case."""
    if verdict is Verdict.ACCEPTED:
        return "every case is right, and no access was wrong"
    finding = findings.leading(verdict, cases)
    if finding is not None:
        case = next(case for case in cases if case.name == finding.cases[0])
        where = f"line {finding.fault.line}: " if finding.fault.line else ""
        order = f"; {case.reason}" if finding.fault.kind == "race" and case.reason else ""
        return f"case {case.name}: {where}{finding.fault.message}{order}"
    told = telling(verdict, cases)
    if told is None:
        return "this assignment shows the verdict and the points only"
    if told.mismatch is not None and verdict is Verdict.WRONG_ANSWER:
        return f"case {told.name}: {told.mismatch.message}"
    return f"case {told.name}: {told.reason or verdict.value.replace('_', ' ')}"


def of_build(diagnostics: tuple[Diagnostic, ...], compilers: str) -> str:
    """Why it does not build: the first error, and how many there are."""
    errors = [d for d in diagnostics if d.severity == "error"]
    if not errors:
        return f"{compilers}: no error was named"
    first = errors[0]
    where = f"{first.file}:{first.line}: " if first.line else f"{first.file}: "
    more = len(errors) - 1
    rest = f" (and {more} more error{'s' * (more != 1)})" if more else ""
    return f"{where}{first.message.splitlines()[0] if first.message else compilers}{rest}"


def _endless(case: CaseResult, source: str) -> str:
    """The loop around the line that executed most, where the source shows one.

    A loop that steps in its own header ends unless the step is 0: the one around it is looked at
    first, and where there is none, too many rounds are the likelier cause.
    """
    busy = findings.telling_line(case)
    rows = source.splitlines()
    counted = stepped = 0
    if busy is not None and 1 <= busy.line <= len(rows):
        depth = _indent(rows[busy.line - 1])
        for number in range(busy.line, 0, -1):
            row = _code(rows[number - 1])
            inside = number == busy.line or _indent(rows[number - 1]) < depth
            if not inside or not re.search(r"\b(?:for|while)\b", row):
                continue
            depth = min(depth, _indent(rows[number - 1]))
            if re.search(COUNTED, row):
                counted = counted or number
            elif re.search(STEPPED, row):
                stepped = stepped or number
            else:
                return (
                    f"The loop on line {number} does not end: nothing that its condition reads "
                    "changes from round to round. A step of 0, or a wait for another thread?"
                )
    if stepped:
        return (
            f"The loop on line {stepped} does not end, or takes far more rounds than the work "
            "needs: is its step 0 for some thread, or does every thread do the work of all?"
        )
    if counted:
        return (
            f"The loop on line {counted} takes far more rounds than the work needs: does every "
            "thread do the work of all? Let each do its own share. Or is its counter set back "
            "within?"
        )
    return (
        "Look for a loop whose condition never becomes false, or a wait for something that "
        "no thread does."
    )


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip()) if row.strip() else 1 << 30


def _code(row: str) -> str:
    return re.sub(r"//.*|#\s.*", "", row)


def faster(score: Score) -> str:
    """What an accepted kernel lacks for the points of speed; empty where it has them."""
    for line in score.lines:
        if line.item == "speed" and line.points < line.out_of:
            parts = re.split(r"; (?=[a-z][a-z ]* [\d.]+)", line.why)
            lost = [part for part in parts if "(" in part or " time " in part] or parts
            return f"The kernel is right. For the points of speed: {'; '.join(lost)}"
    return ""


def of_fault(fault: Fault, source: str = "", language: str | None = None) -> str:
    """What to do about one fault: its own advice, or that of its kind seen with its line."""
    if fault.kind == "race" and language != "triton":
        return _race(fault, source, language) or fault.advice or FAULT_ADVICE["race"]
    if fault.kind == "unwritten" and ": " in fault.message:
        pattern = of_pattern(fault.message.rpartition(": ")[2], language)
        if pattern and not fault.advice:
            return pattern
    if fault.advice:
        return fault.advice
    if fault.kind == "out_of_bounds":
        return _bounds(fault, source, language)
    rows = source.splitlines()
    if fault.kind == "trap" and fault.line and "assert" in "".join(rows[fault.line - 1 :][:1]):
        return FAULT_ADVICE["assertion"]  # an assertion whose message the compiler dropped
    if fault.kind == "uninitialised" and fault.line and fault.buffer:
        row = _code("".join(rows[fault.line - 1 :][:1]))
        if re.search(rf"\b{re.escape(fault.buffer)}\s*\[[^=]*\]\s*[-+*/]=", row):
            return (
                f"The assignment on line {fault.line} also reads {fault.buffer}, which holds "
                "garbage until it is written: store with = the first time."
            )
    words = OF_PROGRAMS if language == "triton" else {}
    return words.get(fault.kind, FAULT_ADVICE[fault.kind])


def _bounds(fault: Fault, source: str, language: str | None) -> str:
    """The usual causes of an access outside: no guard, a guard that lets one too many through."""
    if fault.buffer is None and "an allocation" in fault.message:
        return "malloc and new return null when the heap is full: compare with nullptr, free more."
    if language == "triton":
        return "Compare the offsets of this access with the number of elements in its `mask=`."
    lines = source.splitlines()
    if fault.index is not None and abs(fault.index) >= max(WILD, 16 * (fault.extent or 0)):
        return (
            f"An index of {fault.index:,} is far from every element: a factor too many, or a "
            "product that did not fit in 32 bits. Widen an operand before it is multiplied, as in "
            "(size_t)row * columns."
        )
    if fault.extent == 0 and fault.buffer and fault.line:
        rest = _bounds(fault.model_copy(update={"extent": None}), source, language)
        return f"This case has no elements, and a block is started all the same. {rest}"
    if fault.line is None or not 1 <= fault.line <= len(lines):
        return FAULT_ADVICE["out_of_bounds"]
    if fault.index is not None and fault.index < 0:
        return (
            f"The index is negative here ({fault.index}): guard the low end too, or start one "
            "element later."
        )
    guards = [
        (number, _code(line).strip())
        for number, line in enumerate(lines[: fault.line], start=1)
        if re.search(r"\b(if|for|while)\b.*[<>]", _code(line))
    ]
    near = guards[-1] if guards else None
    chosen = re.search(r"=\s*(.*?[<>].*?)\s*\?", _code(lines[fault.line - 1]))
    if chosen is not None:  # value = condition ? a[i] : 0
        near = fault.line, chosen[1]
    used = _subscripts(fault, _code(lines[fault.line - 1]))
    name = f"`{used[0]}`" if len(used) == 1 else "the index that is used here"
    if near is None:
        return (
            f"No condition guards this access: compare {name} with the number of elements, as in "
            f"if ({used[0] if len(used) == 1 and used[0].isidentifier() else 'i'} < N)."
        )
    number, text = near
    if "<=" in text and _just_past(fault):
        return (
            f"The condition on line {number} lets one too many through: the last element is "
            f"{(fault.extent or 1) - 1}, so use < instead of <=."
        )
    if re.search(r">(?!=)[^;]*\breturn\b", text) and _just_past(fault):
        return (
            f"The condition on line {number} lets one too many through: {fault.index} is not an "
            "element any more, so return with >= instead of >."
        )
    shown = f" (`{text.rstrip(' {')}`)" if len(text) <= 50 else ""
    condition = text if chosen is not None else _header(text)[0]
    if len(used) == 1 and _compared(used[0], condition, source):
        return (
            f"The condition on line {number}{shown} compares every part of the index "
            f"`{used[0]}` already. Is each compared with the extent of its own dimension, and is a "
            f"row's number multiplied by the length of a row of {fault.buffer or 'the buffer'}?"
        )
    return (
        f"The condition on line {number}{shown} does not stop this access: compare {name} with "
        f"the number of elements of {fault.buffer or 'the buffer'}."
    )


def _compared(index: str, condition: str, source: str) -> bool:
    """Whether an index of several parts is made of what the condition compares, and of numbers
    that the source never sets."""
    names = set(re.findall(r"(?<![\w.])[A-Za-z_][\w.]*(?!\s*\()", index))
    set_here = {n for n in names if re.search(rf"(?<![\w.]){re.escape(n)}\s*[-+*/]?=(?!=)", source)}
    varying = set_here | {n for n in names if re.match(r"(block|thread)(Idx|Dim)|\w+\.[xyz]$", n)}
    return len(varying) > 1 and all(re.search(rf"\b{re.escape(n)}\b", condition) for n in varying)


def _just_past(fault: Fault) -> bool:
    """Whether the access is to the element after the last one."""
    return fault.index is not None and fault.index == fault.extent


def _subscripts(fault: Fault, line: str) -> list[str]:
    """What is between brackets on the line: of the buffer where it has its name there, else all."""
    found: list[tuple[str, str]] = re.findall(r"(\w+)\s*\[([^\[\]]+)\]", line)
    named = [inner.strip() for name, inner in found if name == fault.buffer]
    if not named and len(found) > 1:
        left, assigns, right = _header(line)[1].partition(" = ")
        side = left if fault.access == "write" and assigns else right
        named = re.findall(r"\w+\s*\[([^\[\]]+)\]", side)
    return list(dict.fromkeys(named or [inner.strip() for _, inner in found]))


def _header(line: str) -> tuple[str, str]:
    """The conditions at the start of a line, in if, for and while, and the statement after them."""
    rest, start = line.strip(), 0
    while re.match(r"(?:else\s+)?(?:if|for|while)\s*\(", rest[start:]):
        depth = 0
        for at in range(rest.index("(", start), len(rest)):
            depth += {"(": 1, ")": -1}.get(rest[at], 0)
            if depth == 0:
                break
        start = at + 1
        start += len(rest[start:]) - len(rest[start:].lstrip(" {"))
    return rest[:start], rest[start:]


BARRIERS = {
    "cuda-c": "__syncthreads()",
    "metal": "threadgroup_barrier(mem_flags::mem_threadgroup)",
}


def _race(fault: Fault, source: str, language: str | None) -> str | None:
    """A barrier between two lines of a block or two rounds of a loop; an owner or an atomic
    operation where several threads change one element."""
    other, lines = fault.other, source.splitlines()
    if other is None or other.line is None or fault.line is None:
        return None
    line = _code(lines[fault.line - 1]) if fault.line <= len(lines) else ""
    barrier = BARRIERS.get(language or "", "a barrier")
    name = fault.buffer or "it"
    if other.line == fault.line:
        both_write = fault.access == other.access == "write"
        adds = re.search(CHANGES, line) is not None
        if fault.space == "shared" and not both_write and len(_subscripts(fault, line)) > 1:
            after = "".join(_code(row) for row in lines[fault.line : fault.line + 2])
            if barrier.partition("(")[0] in after:
                return (
                    f"Line {fault.line} reads elements of {name} that other threads change in the "
                    "same round: let only threads change whose own element nobody else reads, or "
                    "keep what is read in a variable and put a barrier before it is stored."
                )
            return (
                f"Line {fault.line} reads an element of {name} that another thread writes there: "
                f"put {barrier} at the end of every round, where all threads reach it."
            )
        fixed = all(inner.isdigit() for inner in _subscripts(fault, line))
        if fixed or (adds and not both_write):
            return (
                f"Several threads change the same element of {name} on line {fault.line}: use an "
                "atomic operation, or give each thread an element of its own and combine them "
                "afterwards."
            )
        return (
            f"Several threads handle the same element of {name} on line {fault.line}: check the "
            "index, the guard of every dimension and the stride, so that each element has one "
            "owner."
        )
    if fault.advice and language == "metal":
        return None
    if fault.space == "shared":
        first, last = sorted((fault.line, other.line))
        between = "".join(_code(row) for row in lines[first : last - 1])
        if barrier.partition("(")[0] in between:
            return (
                f"A barrier stands between lines {first} and {last}, but none between line {last} "
                f"and line {first} of the next round: put {barrier} after line {last}, where all "
                "threads reach it."
            )
        return (
            f"Put {barrier}, which all threads must reach, between what lines "
            f"{min(fault.line, other.line)} and {max(fault.line, other.line)} do to {name}."
        )
    fence = ""
    if language == "cuda-c" and re.search(r"\batomic[A-Z]", source):
        fence = ", or __threadfence() between the write and the atomic operation that announces it"
    return (
        f"Lines {min(fault.line, other.line)} and {max(fault.line, other.line)} touch {name} in no "
        f"order: use atomic operations{fence}, or a second launch where blocks need each other's "
        "results."
    )


def of_mismatch(mismatch: Mismatch, case: CaseResult, language: str | None = None) -> str:
    """What to do about a wrong number: from the pattern the wrong elements make, from what the
    source shows (the mismatch's own advice), or by following one element."""
    pattern = of_pattern(mismatch.pattern, language) if mismatch.pattern else None
    if mismatch.advice and not (pattern and UNUSED in mismatch.advice):
        return mismatch.advice
    if pattern:
        return pattern
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
    if first.message.startswith('expected a ";"') and (first.line or 0) > 1:
        above = f"{first.file}:{(first.line or 0) - 1}"
        return f"Look at the line above, {above}, as well: a ; is missing at its end most often."
    if re.match(r"expected .* for parameter \d+ of |expected \d+ parameters? \(", first.message):
        return "Copy the parameters, types and order, from the starter or the assignment's README."
    if len(errors) == 1:
        return f"Mend the error{where} and submit again."
    return f"Mend the first error{where}; later ones often follow from it."
