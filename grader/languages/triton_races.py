"""Which races of a Triton kernel are its author's.

A Triton program is written as one thread of control over blocks of values; the compiler spreads it
over threads. Two of its habits look like races to a checker of threads, and are none of the
author's business.
"""

from __future__ import annotations

from collections.abc import Iterable

from grader.languages.triton_source import Memory, kernels
from grader.result import Dim3, Fault, Severity

WARP = 32
COPIES = (
    "the block is smaller than the program's threads, so spare warps load it again; their copies "
    "are not used"
)


def settle(faults: Iterable[Fault], source: str) -> tuple[Fault, ...]:
    """The faults without the races that Triton's own code makes.

    Races in shared memory are dropped: only the compiler lays out and synchronises it. A block
    with fewer elements than the program has threads is loaded by every spare thread again, and
    stored by one: when the same offsets are loaded and later stored, the spare threads may read the
    new value, which nobody uses. Where the offsets surely differ from lane to lane, only copies can
    meet in an element, and the race with an earlier load is dropped; where they may be equal
    (indices that were loaded), one between threads that look like copies becomes a note. `source`
    is the text of the kernel's file.
    """
    calls = [call for kernel in kernels(source).values() for call in kernel.memory]
    kept = (fault for fault in faults if not (fault.kind == "race" and fault.space == "shared"))
    settled = (_settled(fault, calls) for fault in kept)
    return tuple(fault for fault in settled if fault is not None)


def _settled(fault: Fault, calls: list[Memory]) -> Fault | None:
    other = fault.other
    if fault.kind != "race" or other is None or fault.severity is Severity.NOTE:
        return fault
    if fault.block != other.block or {fault.access, other.access} != {"read", "write"}:
        return fault
    one, two = _call(calls, fault.line), _call(calls, other.line)
    if one is None or two is None or _place(one) != _place(two):
        return fault
    read, write = (one, two) if fault.access == "read" else (two, one)
    if one.lanes == two.lanes != "any" and read.line <= write.line:
        return None
    if not _spare(fault.thread, other.thread):
        return fault
    return fault.model_copy(
        update={
            "severity": Severity.NOTE,
            "message": f"{fault.message}: {COPIES}",
        }
    )


def _spare(one: Dim3 | None, two: Dim3 | None) -> bool:
    """Whether two threads may hold copies of one element.

    Copies of a block are the same lane of other warps; of a block smaller than a warp, lanes a
    power of two apart.
    """
    if one is None or two is None or one == two:
        return False
    apart = one[0] ^ two[0]
    return apart % WARP == 0 or apart.bit_count() == 1


def _call(calls: list[Memory], line: int | None) -> Memory | None:
    here = [c for c in calls if line is not None and c.line <= line <= c.end_line]
    return here[0] if len(here) == 1 else None


def _place(call: Memory) -> tuple[str | None, str]:
    return call.base, call.offsets or call.pointer
