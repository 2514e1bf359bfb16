"""The words every report shares: headlines, labels and numbers as people read them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.result import CaseResult, Dim3, Fault, Place, Result, Score, Timing, Verdict
from grader.verdict import VERDICT_OF_FAULT

TITLES: dict[Verdict, str] = {
    Verdict.GRADER_ERROR: "the grader failed",
    Verdict.NOT_GRADABLE: "not gradable here",
    Verdict.REFUSED: "refused",
    Verdict.BUILD_FAILED: "build failed",
    Verdict.CRASHED: "crashed",
    Verdict.BAD_HOST_CALL: "bad host call",
    Verdict.TIMED_OUT: "timed out",
    Verdict.OUT_OF_BOUNDS: "out of bounds",
    Verdict.MISALIGNED: "misaligned access",
    Verdict.INPUT_MODIFIED: "input modified",
    Verdict.RACE: "race",
    Verdict.BAD_BARRIER: "bad barrier",
    Verdict.UNINITIALISED: "uninitialised read",
    Verdict.WRONG_ANSWER: "wrong answer",
    Verdict.ACCEPTED: "accepted",
}

LANGUAGES = {"cuda-c": "CUDA C", "metal": "Metal", "triton": "Triton"}
DEVICES = {"virtual": "the virtual GPU", "cuda": "an NVIDIA GPU", "metal": "an Apple GPU"}


def subject(result: Result) -> str:
    """What was graded and where: `assignment3: vec_add.cu, CUDA C on the virtual GPU`."""
    name = kernel_file(result)
    parts = [name] if name else []
    if result.language:
        language = LANGUAGES.get(result.language, result.language)
        parts.append(f"{language} on {DEVICES.get(result.device, result.device)}")
    return f"{result.assignment}: {', '.join(parts)}" if parts else result.assignment


def kernel_file(result: Result) -> str | None:
    """The name of the file whose kernel was graded."""
    return next(
        (f.name for f in result.files if f.language == result.language and f.language), None
    )


def points(score: Score) -> str:
    """`40 of 100 points`, or that there are none to give."""
    if score.points is None:
        return "no score"
    return f"{score.points} of {score.out_of} points"


def lesser(faults: Sequence[Fault]) -> str:
    """How many findings there are beside errors: `2 warnings, 1 note`; empty for none."""
    counts = [(n, sum(f.severity == n for f in faults)) for n in ("warning", "note")]
    return ", ".join(f"{count} {n}{'s' * (count > 1)}" for n, count in counts if count)


def slow(score: Score) -> bool:
    """Whether points of speed were lost."""
    return any(line.item == "speed" and line.points < line.out_of for line in score.lines)


def place(file: str | None, line: int | None) -> str:
    """`vec_add.cu:12`, or as much of it as is known."""
    if file is None:
        return f"line {line}" if line else ""
    return f"{file}:{line}" if line else file


def fault_text(fault: Fault) -> str:
    """`vec_add.cu:12: read of A[1000] …`: the place and the message."""
    where = place(fault.file, fault.line)
    return f"{where}: {fault.message}" if where else fault.message


BLOCKS = {"metal": "threadgroup", "triton": "program"}
"""What a language calls a block."""
_WHO = re.compile(r" \((?:block|threadgroup|program) ")


def without_place(message: str) -> str:
    """A finding's message without who it was: block, thread and count."""
    return _WHO.split(message)[0]


def other(half: Place, language: str | None) -> str:
    """The other half of a race: `read by block 0, thread 1 at line 23`."""
    who = [f"{BLOCKS.get(language or '', 'block')} {_three(half.block)}"] if half.block else []
    if language != "triton":  # its programs have no threads that the source knows of
        who += [f"thread {_three(half.thread)}"] if half.thread else []
    by = f" by {', '.join(who)}" if who else ""
    return f"{half.access}{by} at line {half.line}"


def _three(place: Dim3) -> str:
    """`7` for a place on the first axis only, else all three."""
    return str(place[0]) if place[1:] == (0, 0) else str(place)


def sizes(case: CaseResult) -> str:
    """`N=1000, M=3`, in the assignment's order; of a hidden case its class alone."""
    if case.hidden and not case.sizes:
        return f"hidden, {'large' if case.large else 'small'}"
    return ", ".join(f"{name}={value}" for name, value in case.sizes.items())


def what_happened(case: CaseResult) -> str:
    """One clause on a case: its worst error without thread and count, its first wrong element, or
    its reason."""
    fault = leading(case)
    if fault is not None:
        message = without_place(fault.message)
        return f"line {fault.line}: {message}" if fault.line else message
    if case.mismatch is not None:
        return case.mismatch.message
    return case.reason


def in_short(case: CaseResult) -> str:
    """Fewer words on a case, for a narrow table: `line 16, tile[33]`, or `744 of 1,000 wrong`."""
    fault = leading(case)
    if fault is not None and fault.kind != "unwritten":
        element = f"{fault.buffer}[{fault.index}]" if fault.index is not None else fault.buffer
        parts = (f"line {fault.line}" if fault.line else "", element or "")
        return ", ".join(part for part in parts if part)
    if fault is not None and fault.extent is None:  # of a hidden case no number is said
        return f"{fault.buffer}: elements never written"
    if fault is not None:
        return f"{fault.buffer}: {fault.count:,} of {fault.extent:,} never written"
    if case.mismatch is not None:
        wrong = case.mismatch
        place = "][".join(map(str, wrong.index))
        if wrong.total == 1:
            return f"{wrong.output}[{place}]"
        return f"{wrong.wrong:,} of {wrong.total:,} wrong, first {wrong.output}[{place}]"
    return "" if case.verdict is Verdict.TIMED_OUT else case.reason


def leading(case: CaseResult) -> Fault | None:
    """The first error that the verdict of a case rests on."""
    errors = [fault for fault in case.faults if fault.severity == "error"]
    mine = [f for f in errors if VERDICT_OF_FAULT[f.kind] is case.verdict]
    return next((f for f in mine if f.kind != "leak"), next(iter(mine), None))


def duration(nanoseconds: float) -> str:
    """A time with three significant digits and the unit that suits it."""
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= scale:
            return f"{nanoseconds / scale:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def timing(time: Timing | None) -> str:
    """`12.3 µs (1.02 × the reference)`, empty where nothing was timed."""
    if time is None:
        return ""
    text = duration(time.nanoseconds)
    if time.ratio_to_reference is not None:
        text += f" ({time.ratio_to_reference:.2f} × reference)"
    return text


def count(number: float) -> str:
    """A count with thin grouping: `16,777,216`."""
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.3g}"


def reproduce(result: Result) -> str:
    """The one command that grades the same file again."""
    name = kernel_file(result)
    return f"grade submit {result.assignment}" + (f" {name}" if name else "")


LONGEST = 2000
"""Characters of one line of prose before the rest is a number: nobody reads more."""


def cut(line: str) -> str:
    """A line of at most about LONGEST characters, which says how many are left out."""
    more = len(line) - LONGEST
    return line if more <= 0 else f"{line[:LONGEST]} ({more:,} more characters)"


_COMMAND = re.compile(r"(?<!\S)::(?=[A-Za-z])|##(?=\[)")
"""What the runner of a workflow takes for a command, at the start of a line or anywhere."""


def clean(text: str) -> str:
    """Text of a student or compiler without what a terminal or a workflow's runner would obey."""
    printable = "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
    return _COMMAND.sub(lambda match: " ".join(match[0]), printable)
