"""Words a finding for a student of Metal: threadgroups, SIMD-groups, device memory.

The facts stay as the virtual GPU reported them; only `message`, `reason` and `advice` change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.result import CaseResult, Fault

_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"with no __syncwarp between lanes of one warp",
         "with no simdgroup_barrier between threads of one SIMD-group"),
        (r"CUDA would refuse the launch", "Metal would refuse the dispatch"),
        (r"CUDA refuses this launch(?: \(invalid configuration argument\))?",
         "Metal refuses this dispatch"),
        (r"\(__launch_bounds__\)", "([[max_total_threads_per_threadgroup]])"),
        (r"with no barrier between", "with no barrier between that orders this memory"),
        (r"dynamic shared memory", "threadgroup memory"),
        (r"static shared memory", "threadgroup memory"),
        (r"shared memory", "threadgroup memory"),
        (r"global memory", "device memory"),
        (r"\bblock(?=[ .][xyz] is\b)", "threadgroup"),
        (r"\bblock( \d|$)", r"threadgroup\1"),
        (r"\bblock( \()", r"threadgroup\1"),
        (r"\bof one block\b", "of one threadgroup"),
        (r"\bof the block\b", "of the threadgroup"),
        (r"\bof a block\b", "of a threadgroup"),
        (r"\ba block of\b", "a threadgroup of"),
        (r"\bin different blocks\b", "in different threadgroups"),
        (r"\bthe warps in reverse order\b", "the SIMD-groups in reverse order"),
        (r"\bblocks of\b", "threadgroups of"),
        (r"\bwarp operation\b", "SIMD-group operation"),
        (r"\bwarp\b", "SIMD-group"),
    )
)  # fmt: skip
_REFUSED = re.compile(r" \(cuda\w+\)")
_EARLY = "returned before this barrier"


def word(graded: Sequence[CaseResult]) -> list[CaseResult]:
    """The cases with what was found in Metal's words."""
    return [
        case.model_copy(
            update={
                "reason": in_metal(case.reason),
                "faults": tuple(advise(fault) for fault in case.faults),
            }
        )
        for case in graded
    ]


def in_metal(text: str) -> str:
    """`text` with CUDA's terms replaced by Metal's."""
    for pattern, replacement in _WORDS:
        text = pattern.sub(replacement, text)
    return _REFUSED.sub("", text)


def advise(fault: Fault) -> Fault:
    """The fault in Metal's terms, with what to write instead where that differs from CUDA."""
    return fault.model_copy(
        update={"message": in_metal(fault.message), "advice": _advice(fault) or fault.advice}
    )


def _advice(fault: Fault) -> str | None:
    if fault.kind == "race":
        if fault.space == "global" and fault.other and fault.other.block != fault.block:
            return (
                "No barrier orders threadgroups: let each own its elements, or use an atomic "
                "operation such as atomic_fetch_add_explicit."
            )
        space = "mem_device" if fault.space == "global" else "mem_threadgroup"
        return (
            f"Put threadgroup_barrier(mem_flags::{space}) between the two accesses: a barrier "
            "orders only the memory that its flags name."
        )
    if fault.kind == "bad_barrier" and _EARLY in fault.message:
        return (
            "In Metal every thread of the threadgroup must reach a barrier: do not return early; "
            "guard the accesses instead."
        )
    if fault.kind in ("bad_barrier", "deadlock"):
        return (
            "Every thread of the threadgroup must reach the same barrier: move it out of the "
            "branch or loop that only some threads take."
        )
    if fault.kind == "bad_launch":
        return (
            "Choose a threadgroup that the kernel and the GPU can run; its constants are at the "
            "top of your file."
        )
    if fault.kind == "uninitialised" and fault.space == "shared":
        return (
            "Threadgroup memory holds nothing at first: write every element that is read, then "
            "threadgroup_barrier(mem_flags::mem_threadgroup)."
        )
    return None
