"""From faults to a verdict: the table of the design, as data."""

from __future__ import annotations

from collections.abc import Iterable

from grader.result import Fault, Severity, Verdict

FAULT_VERDICTS: dict[str, Verdict] = {
    "trap": Verdict.CRASHED,
    "assertion": Verdict.CRASHED,
    "bad_copy": Verdict.BAD_HOST_CALL,
    "use_after_free": Verdict.BAD_HOST_CALL,
    "leak": Verdict.BAD_HOST_CALL,
    "bad_launch": Verdict.BAD_HOST_CALL,
    "host_pointer": Verdict.BAD_HOST_CALL,
    "unsynchronised_read": Verdict.BAD_HOST_CALL,
    "out_of_bounds": Verdict.OUT_OF_BOUNDS,
    "misaligned": Verdict.MISALIGNED,
    "input_modified": Verdict.INPUT_MODIFIED,
    "race": Verdict.RACE,
    "bad_barrier": Verdict.BAD_BARRIER,
    "deadlock": Verdict.BAD_BARRIER,
    "warp_mask": Verdict.BAD_BARRIER,
    "uninitialised": Verdict.UNINITIALISED,
    "unwritten": Verdict.WRONG_ANSWER,
}

ENDED_VERDICTS: dict[str, Verdict] = {
    "finished": Verdict.ACCEPTED,
    "trap": Verdict.CRASHED,
    "assertion": Verdict.CRASHED,
    "fuel": Verdict.TIMED_OUT,
    "deadlock": Verdict.BAD_BARRIER,
    "unsupported": Verdict.NOT_GRADABLE,
}


def of_fault(fault: Fault) -> Verdict | None:
    """The verdict a fault leads to; None for warnings and notes, which change nothing."""
    if fault.severity is not Severity.ERROR:
        return None
    return FAULT_VERDICTS[fault.kind]


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of the verdicts; `accepted` where there are none."""
    return min(verdicts, key=lambda verdict: verdict.rank, default=Verdict.ACCEPTED)
