"""The table of verdicts: which fault gives which verdict, and which rubric item it loses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from grader.pattern_advice import ZERO
from grader.result import CaseResult, Fault, Mismatch, Severity, Verdict

Item = Literal["build", "correct", "bounds", "sync", "steps", "speed", "notes"]

VERDICT_OF_FAULT = {
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

ITEM_OF_VERDICT: dict[Verdict, Item] = {
    Verdict.CRASHED: "correct",
    Verdict.BAD_HOST_CALL: "correct",
    Verdict.TIMED_OUT: "correct",
    Verdict.OUT_OF_BOUNDS: "bounds",
    Verdict.MISALIGNED: "bounds",
    Verdict.INPUT_MODIFIED: "bounds",
    Verdict.RACE: "sync",
    Verdict.BAD_BARRIER: "sync",
    Verdict.UNINITIALISED: "sync",
    Verdict.WRONG_ANSWER: "correct",
}

_ENDED = {
    "finished": Verdict.ACCEPTED,
    "trap": Verdict.CRASHED,
    "assertion": Verdict.CRASHED,
    "fuel": Verdict.TIMED_OUT,
    "deadlock": Verdict.BAD_BARRIER,
    "unsupported": Verdict.NOT_GRADABLE,
    "stopped": Verdict.ACCEPTED,  # its fault gives the verdict
}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of them; `accepted` where there are none."""
    return min(verdicts, key=lambda verdict: verdict.rank, default=Verdict.ACCEPTED)


def telling(found: Verdict, cases: Iterable[CaseResult]) -> CaseResult | None:
    """The case that shows best why a result has the verdict `found`.

    Of the cases with it the first whose wrong numbers make a pattern, else the first one; None
    for `accepted`. Zeros in few of the cases come from their inputs, not from the kernel.
    """
    if found is Verdict.ACCEPTED:
        return None
    mine = [case for case in cases if case.verdict is found]
    wrong = [case for case in mine if case.mismatch is not None]
    zero = [case for case in wrong if case.mismatch and case.mismatch.pattern == ZERO]
    told = [case for case in wrong if case.mismatch and case.mismatch.pattern]
    if len(zero) * 2 < len([case for case in wrong if case.mismatch and case.mismatch.wrong > 3]):
        told = [case for case in told if case not in zero]
    return next(iter(told), next(iter(mine), None))


def of_case(ended: str, faults: Iterable[Fault], mismatch: Mismatch | None) -> Verdict:
    """The verdict of a run that ended as `ended` (finished, trap, assertion, fuel, deadlock,
    unsupported, stopped), with these findings."""
    found = [_ENDED[ended]]
    found += [VERDICT_OF_FAULT[fault.kind] for fault in faults if fault.severity == Severity.ERROR]
    if mismatch is not None:
        found.append(Verdict.WRONG_ANSWER)
    return worst(found)


def items_lost(case: CaseResult) -> frozenset[Item]:
    """The rubric items that a case loses: by its verdict, by each fault and by its mismatch.

    A case that left an output untouched as a whole also loses `bounds` and `sync`: a kernel that
    does nothing shows nothing to be safe.
    """
    lost: set[Item] = set()
    if case.verdict in ITEM_OF_VERDICT:
        lost.add(ITEM_OF_VERDICT[case.verdict])
    for fault in case.faults:
        if fault.severity == Severity.ERROR:
            lost.add(ITEM_OF_VERDICT[VERDICT_OF_FAULT[fault.kind]])
        if fault.kind == "unwritten" and fault.count == fault.extent:
            lost |= {"correct", "bounds", "sync"}
    if case.mismatch is not None:
        lost.add("correct")
    return frozenset(lost)
