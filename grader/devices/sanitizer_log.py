"""What compute-sanitizer printed, as our findings.

A finding is a heading and indented lines about it, each behind `=========`; the forms are those of
NVIDIA's manual of version 2026.4 and of logs that people published, older ones included. Messages
about API calls, which follow from a finding, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.result import Dim3, Fault, Place, Severity

Access = Literal["read", "write", "atomic"]

_HEADS = (
    (re.compile(r"(?P<severity>Potential )?[Ii]nvalid __(?P<space>\w+)__ "
                r"(?P<access>read|write|atomic\w*) of size (?P<size>[\d,]+)"), "out_of_bounds"),
    (re.compile(r"Uninitialized __(?P<space>\w+)__ memory read of size (?P<size>[\d,]+)"),
     "uninitialised"),
    (re.compile(r"Barrier error detected(?P<what>.*)"), "bad_barrier"),
    (re.compile(r"Deadlock detected"), "deadlock"),
    (re.compile(r"(?:(?P<severity>ERROR|WARN(?:ING)?|INFO): ?)?Race reported between "
                r"(?P<access>Read|Write|Atomic) access at ", re.IGNORECASE), "race"),
)  # fmt: skip
_PLACE = re.compile(r" in (?:\S*/)?(?P<file>[^\s/:]+):(?P<line>\d+)")
_THREAD = re.compile(r"by thread \((\d+),(\d+),(\d+)\) in block \((\d+),(\d+),(\d+)\)")
_OTHER = re.compile(r"and (?P<access>Read|Write|Atomic) access at ")
_HAZARDS = re.compile(r"\[([\d,]+) hazards?\]")
_ADDRESS = re.compile(r"(?:Address|Access (?:at|to)) 0x(?P<address>[0-9a-f]+)(?P<what>.*)")
_NEAREST = re.compile(r"nearest allocation at 0x(?P<start>[0-9a-f]+) of size ")
_SUMMARY = re.compile(r"^========= (?:ERROR|RACECHECK) SUMMARY: ", re.MULTILINE)
_LOST = re.compile(r"^=========\s+(.*(?:Errors might go undetected|Results might be incorrect).*)$",
                   re.MULTILINE)  # fmt: skip
_SEVERITIES = {"POTENTIAL": Severity.WARNING, "WARN": Severity.WARNING, "WARNING": Severity.WARNING,
               "INFO": Severity.NOTE}  # fmt: skip
_ADVICE = {
    "out_of_bounds": "Guard the access with the size of the buffer.",
    "uninitialised": "Write the memory before it is read.",
    "bad_barrier": "Every thread of the block must reach the same barrier.",
    "warp_mask": "The mask must name the lanes that arrive, and no others.",
    "race": "Put a barrier between the two accesses.",
}


@dataclass(frozen=True)
class Allocation:
    """A buffer of the case where the watched program put it."""

    name: str
    address: int
    itemsize: int
    count: int

    def index(self, address: int) -> int:
        """The element at an address, which may lie outside."""
        return (address - self.address) // self.itemsize


def incomplete(text: str) -> str:
    """Why a log is no evidence that nothing was wrong; empty where it is.

    A tool that watched to the end closes with a summary.
    """
    lost = _LOST.search(text)
    if lost is not None:
        return lost[1].strip()
    if _SUMMARY.search(text):
        return ""
    said = [line.removeprefix("=========").strip() for line in text.splitlines()]
    return next((line for line in reversed(said) if line), "it wrote no log")


def parse(
    text: str, tool: str, file: str, allocations: Sequence[Allocation] = ()
) -> tuple[Fault, ...]:
    """The findings in a log, one for each kind and line, with how often it was seen.

    `file` is the kernel's file as the submission names it; `allocations` name buffers.
    """
    found: dict[tuple[object, ...], Fault] = {}
    for block in _blocks(text):
        fault = _fault(block, tool, file, allocations)
        if fault is None:
            continue
        key = (fault.kind, fault.severity, fault.file, fault.line, fault.access, fault.space)
        if key in found:
            count = found[key].count + fault.count
            found[key] = found[key].model_copy(update={"count": count})
        else:
            found[key] = fault
    return tuple(found.values())


def _blocks(text: str) -> list[list[str]]:
    """The findings of a log: each a heading and what is indented below it."""
    blocks: list[list[str]] = []
    for line in text.splitlines():
        said = line.strip().removeprefix("=========")
        if said == line.strip():
            continue  # the program's own output
        if said.startswith(" " * 3):
            if blocks:
                blocks[-1].append(said.strip())
        else:
            blocks.append([said.strip()])
    return blocks


def _fault(
    block: Sequence[str], tool: str, file: str, allocations: Sequence[Allocation]
) -> Fault | None:
    heading, *rest = block
    matches = ((pattern.match(heading), kind) for pattern, kind in _HEADS)
    match, kind = next(((found, kind) for found, kind in matches if found), (None, ""))
    if match is None:
        return None
    named = match.groupdict()
    touched = next((found for line in rest if (found := _ADDRESS.match(line))), None)
    if kind == "out_of_bounds" and touched is not None and "misaligned" in touched["what"]:
        kind = "misaligned"
    if kind == "bad_barrier" and "nvalid" in named["what"]:
        kind = "warp_mask"
    access = _access(named.get("access") or ("read" if kind == "uninitialised" else ""))
    where, line = _place([heading, *rest], file)
    thread = next((found for one in rest if (found := _THREAD.search(one))), None)
    numbers = [int(number) for number in thread.groups()] if thread else []
    hazards = [_number(found) for one in rest for found in _HAZARDS.findall(one)]
    buffer, index = _element(touched, rest, allocations)
    said = heading.partition(" at ")[0] if kind == "race" else heading
    if buffer is not None and kind == "out_of_bounds":
        many = "" if buffer.count == 1 else "s"
        said = (
            f"{access} of {buffer.name}[{index}], "
            f"but {buffer.name} has {buffer.count} element{many}"
        )
    elif touched is not None:
        said += f" ({touched[0]})"
    return Fault(
        kind=kind,
        severity=_SEVERITIES.get((named.get("severity") or "").strip().upper(), Severity.ERROR),
        access=access,
        space=named.get("space") or ("shared" if kind == "race" else None),
        size_bytes=_number(named["size"]) if named.get("size") else None,
        buffer=buffer.name if buffer is not None else None,
        index=index,
        extent=buffer.count if buffer is not None else None,
        file=where,
        line=line,
        thread=_three(numbers[:3]),
        block=_three(numbers[3:]),
        other=_other(rest, file),
        count=max(1, sum(hazards)),
        message=f"{said} (compute-sanitizer {tool})",
        advice=_ADVICE.get(kind),
    )


def _access(word: str) -> Access | None:
    found: dict[str, Access] = {"read": "read", "write": "write", "atomi": "atomic"}
    return found.get(word.lower()[:5])


def _place(lines: Sequence[str], file: str) -> tuple[str | None, int | None]:
    """File and line: the frame in the student's file, else the first one that is known.

    A barrier or an intrinsic is a function of a header; the line that calls it stands in a frame
    below. The other half of a race is no frame.
    """
    frames = [found for line in lines if not _OTHER.match(line) and (found := _PLACE.search(line))]
    name = Path(file).name
    mine = next((frame for frame in frames if frame["file"] == name), None)
    if mine is not None:
        return file, int(mine["line"])
    if frames:
        return frames[0]["file"], int(frames[0]["line"])
    return None, None


def _element(
    touched: re.Match[str] | None, lines: Sequence[str], allocations: Sequence[Allocation]
) -> tuple[Allocation | None, int | None]:
    """The buffer that an address belongs to, or lies nearest to, and the element."""
    if touched is None:
        return None, None
    address = int(touched["address"], 16)
    nearest = next((found for line in lines if (found := _NEAREST.search(line))), None)
    for one in allocations:
        inside = one.address <= address < one.address + one.itemsize * one.count
        if inside or (nearest is not None and int(nearest["start"], 16) == one.address):
            return one, one.index(address)
    return None, None


def _other(lines: Sequence[str], file: str) -> Place | None:
    """The other half of a race."""
    for line in lines:
        match = _OTHER.match(line)
        if match is not None:
            place = _PLACE.search(line)
            named = place["file"] if place else None
            access = _access(match["access"])
            assert access is not None  # the pattern knows the three words
            return Place(
                access=access,
                file=file if named == Path(file).name else named,
                line=int(place["line"]) if place else None,
            )
    return None


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _three(numbers: Sequence[int]) -> Dim3 | None:
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else None
