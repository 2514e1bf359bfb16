"""What is wrong with the host side of a program, as faults with the host's line.

One record per kind, line and buffer, with a count. Faults of kernels keep their own line; where a
launch caused them, the launch is named.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.programs import errors as E
from grader.programs.device_memory import Allocation, DeviceMemory, Site

if TYPE_CHECKING:
    from grader.vgpu.records import Fault

MOST = 500
"""Findings of one program; where there are more, errors take the places of notes and warnings."""

MOST_CHARACTERS = 1000
"""Of a message or a file's name: a program may put words of its own into either."""


class Findings:
    """The findings of one program."""

    def __init__(self, lines: dict[str, list[str]]) -> None:
        self.lines = lines
        self.found: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.unseen: list[tuple[Any, ...]] = []

    def add(
        self, kind: str, site: Site | None, message: str, *, advice: str = "",
        severity: str = "error", **more: Any,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Record a finding, or count one that is known."""
        told = site and 0 < len(site.file) <= MOST_CHARACTERS
        file, line = (site.file, site.line) if site and told else (None, None)
        key = (kind, file, line, more.get("buffer"), severity)
        if key in self.found:
            self.found[key]["count"] += 1
        elif self._room_for(severity):
            self.found[key] = {
                "kind": kind, "severity": severity, "file": file, "line": line,
                "message": message[:MOST_CHARACTERS], "advice": advice or None, "count": 1, **more,
            }  # fmt: skip
        return key

    def _room_for(self, severity: str) -> bool:
        """Whether one more may be recorded; one that weighs less is given up for it."""
        if len(self.found) < MOST:
            return True
        if severity != "error":
            return False
        lighter = [key for key, found in self.found.items() if found["severity"] != "error"]
        if lighter:
            del self.found[lighter[-1]]
        return bool(lighter)

    def as_json(self) -> list[dict[str, Any]]:
        """Errors first, then by line."""
        order = {"error": 0, "warning": 1, "note": 2}
        return sorted(
            self.found.values(),
            key=lambda f: (order[f["severity"]], f["file"] or "", f["line"] or 0),
        )

    # -- memory --------------------------------------------------------------------------------

    def freed_twice(self, api: str, site: Site, what: Allocation) -> None:
        assert what.freed is not None, "the caller has looked"
        self.add(
            "use_after_free", site,
            f"{api} of {what.name}, which line {what.freed.line} has freed already",
            advice="Free each allocation once; set the pointer to nullptr after it.",
            buffer=what.name,
        )  # fmt: skip

    def used_after_free(self, api: str, site: Site, what: Allocation) -> None:
        assert what.freed is not None, "the caller has looked"
        self.add(
            "use_after_free", site,
            f"{api} uses {what.name}, which line {what.freed.line} has freed",
            advice="Free device memory after its last use.", buffer=what.name,
        )  # fmt: skip

    def launched_with_freed(self, site: Site, kernel: str, index: int, what: Allocation) -> None:
        assert what.freed is not None, "the caller has looked"
        self.add(
            "use_after_free", site,
            f"argument {index + 1} of kernel {kernel} is {what.name}, which line "
            f"{what.freed.line} has freed",
            advice="Free device memory after its last use.", buffer=what.name,
        )  # fmt: skip

    def host_pointer_freed(
        self, api: str, site: Site, what: Allocation | None, address: int
    ) -> None:
        if what is None:
            words = f"expected a pointer of cudaMalloc, found {address:#x}, which is host memory"
            advice = "Host memory goes to free() or delete[]."
        elif what.kind in ("pinned", "registered") or api == "cudaFreeHost":
            words = f"{what.name} does not belong to {api}"
            advice = (
                "cudaHostUnregister() ends what cudaHostRegister() began."
                if what.kind == "registered"
                else "cudaFreeHost() frees what cudaMallocHost() gave, cudaFree() the rest."
            )
        else:
            words = (
                f"expected the start of {what.name}, found {address - what.address} bytes into it"
            )
            advice = "Free the pointer that cudaMalloc gave."
        self.add("host_pointer", site, f"{api}: {words}", advice=advice)

    # -- copies --------------------------------------------------------------------------------

    def pitch_too_small(self, api: str, site: Site, pitch: int, width: int) -> None:
        self.add("bad_copy", site, f"{api}: rows of {width} bytes with a pitch of {pitch}",
                 advice="The pitch is the distance of two rows in bytes.")  # fmt: skip

    def null_copied(self, api: str, site: Site, target: bool) -> None:
        which = "destination" if target else "source"
        self.add("bad_copy", site, f"{api}: the {which} is a null pointer",
                 advice="Allocate it first, and check what cudaMalloc returned.")  # fmt: skip

    def wrong_direction(
        self, api: str, site: Site, kinds: tuple[str, ...], given: int, actual: int,
        names: tuple[str, str],
    ) -> None:  # fmt: skip
        said = kinds[given] if given < len(kinds) else str(given)
        self.add(
            "bad_copy", site,
            f"{api}: expected {kinds[actual]}, found {said}: the destination is {names[0]}, "
            f"the source {names[1]}",
            advice="Nothing was copied. The destination comes first, then the source.",
        )  # fmt: skip

    def outside(
        self, api: str, site: Site, name: str, has: int, offset: int, size: int, preposition: str,
        made: Site | None,
    ) -> None:  # fmt: skip
        where = f" (allocated in line {made.line})" if made and made.line else ""
        at = f" from byte {offset}" if offset else ""
        self.add(
            "bad_copy", site,
            f"{api} of {_bytes(size)} {preposition} {name}{at}, which has {_bytes(has)}{where}",
            advice="Nothing was copied. Sizes are in bytes on both sides: n * sizeof(type), at "
            "cudaMalloc as well.",
            buffer=name,
        )  # fmt: skip

    def no_allocation(self, api: str, site: Site, address: int) -> None:
        self.add("bad_copy", site, f"{api}: {address:#x} is in no allocation of this program",
                 advice="Pass the pointer that cudaMalloc filled.")  # fmt: skip

    def nothing_to_copy(self, api: str, site: Site, what: Allocation, size: int) -> None:
        self.add(
            "bad_copy", site,
            f"{api} of {size} bytes out of {what.name}, which nothing has written",
            advice="Copy results out after the kernel that writes them was launched, and check "
            "that it was.",
            buffer=what.name,
        )  # fmt: skip

    def partly_written(
        self, api: str, site: Site, what: Allocation, at: int, known: np.ndarray
    ) -> None:
        """A result that is copied out although some of it was never written.

        An error where each thread of the largest launch wrote its share and the rest is missing:
        that launch leaves a tail. Otherwise it may be meant (a list that is not full, a buffer of
        which half is for another step): a warning.
        """
        item = what.storage.itemsize
        marks = known.reshape(-1) != 0
        start = int(marks.argmin())
        missing = int((~marks).sum()) // item
        first = (at + start) // item
        threads, elements = what.most_threads, what.size // item
        launch = what.written_by
        tail = 0 < threads < elements and first % threads == 0 and not marks[start:].any()
        tail = tail and (elements % threads != 0 or 2 * missing < elements)
        if tail and launch is not None:
            self.add(
                "bad_launch", launch,
                f"the launch leaves a tail: {threads} threads for the {elements} elements of "
                f"{what.name}; from element {first} on they were never written, and line "
                f"{site.line} copies them out",
                advice="Round the number of blocks up, (n + block - 1) / block, and guard with "
                "if (i < n).",
                buffer=what.name,
            )  # fmt: skip
            return
        self.add(
            "bad_copy", site,
            f"{api}: {missing} of {marks.size // item} elements of {what.name} were never written, "
            f"from element {first}",
            advice="Copy what the kernel wrote, or let it write the rest.",
            severity="warning", buffer=what.name,
        )  # fmt: skip

    def no_symbol(self, api: str, site: Site, name: str) -> None:
        what = (
            f"{name} is no __device__ or __constant__ variable"
            if name
            else ("expected a __device__ or __constant__ variable, found something else")
        )
        self.add("bad_copy", site, f"{api}: {what}",
                 advice="Pass the variable itself, not a pointer made from it.")  # fmt: skip

    def wrong_symbol_direction(self, api: str, site: Site, wanted: str, given: str) -> None:
        self.add("bad_copy", site, f"{api}: expected {wanted}, found {given}",
                 advice="Nothing was copied.")  # fmt: skip

    # -- order ---------------------------------------------------------------------------------

    def not_waited_for(self, api: str, site: Site, name: str, what: str, when: Site) -> None:
        self.add(
            "unsynchronised_read", site,
            f"{api} uses {name} while {what}, started in line {when.line}, may still write it",
            advice="Wait for it first: cudaDeviceSynchronize(), or cudaStreamSynchronize() of its "
            "stream.",
            buffer=name,
        )  # fmt: skip

    def event_not_waited_for(self, site: Site) -> None:
        self.add(
            "unsynchronised_read", site,
            "cudaEventElapsedTime before the last event was waited for: CUDA answers "
            "cudaErrorNotReady",
            advice="Call cudaEventSynchronize(stop) first.",
        )  # fmt: skip

    # -- launches ------------------------------------------------------------------------------

    def launch_refused(self, site: Site, message: str, status: int, advice: str) -> None:
        key = self.add(
            "bad_launch", site, f"CUDA refuses this launch ({E.name(status)}): {message}",
            advice=advice or "The kernel did not run: return before the launch when there is "
            "nothing to do, and check cudaGetLastError() after every launch.",
        )  # fmt: skip
        self.unseen.append(key)

    def capture_refused(self, api: str, site: Site, status: int, begun: int) -> None:
        """A call that voids the capture of a stream, which line `begun` has begun."""
        since = f", begun in line {begun}" if begun and begun != site.line else ""
        advice = {
            E.CAPTURE_UNJOINED: "Let the first stream wait for each stream that joined it: "
            "cudaEventRecord() there, cudaStreamWaitEvent() here, then end the capture.",
            E.CAPTURE_ISOLATION: "Record the event inside the capture, or wait for it before.",
            E.CAPTURE_INVALIDATED: "The call before it that broke the capture is to be mended.",
        }.get(
            status,
            "What is captured runs when its graph is launched. Allocate, copy at once and "
            "wait before cudaStreamBeginCapture() or after cudaStreamEndCapture().",
        )
        self.add(
            "bad_launch", site,
            f"{api} during the capture of a stream{since}: CUDA answers {E.name(status)} "
            f"({E.text(status)})",
            advice=advice,
        )  # fmt: skip

    def too_many_blocks(
        self, site: Site, kernel: str, blocks: int, needed: int, block: int
    ) -> None:
        self.add(
            "bad_launch", site,
            f"{blocks - needed} of the {blocks} blocks of kernel {kernel} had nothing to do: the "
            f"first {needed} give the same result",
            advice=f"A block has {block} threads: launch (n + {block - 1}) / {block} blocks.",
            severity="note",
        )  # fmt: skip

    def seen(self, status: int) -> None:
        """The program asked for errors: refused launches were not overlooked."""
        if status:
            self.unseen.clear()

    def host_pointer(self, site: Site, kernel: str, index: int) -> None:
        self.add(
            "host_pointer", site,
            f"argument {index + 1} of kernel {kernel} points into host memory",
            advice="Pass the device pointer: what cudaMalloc filled.",
        )  # fmt: skip

    def of_launch(
        self, site: Site, kernel: str, faults: tuple[Fault, ...], grid: Any, block: Any,
        shared: int,
    ) -> None:  # fmt: skip
        """The engine's findings of one launch."""
        for fault in faults:
            record = dataclasses.asdict(fault)
            if "freed" in fault.message and fault.kind == "out_of_bounds":
                record["kind"] = "use_after_free"
            key = (record["kind"], fault.file, fault.line, fault.buffer, fault.severity)
            if key in self.found:
                self.found[key]["count"] = max(self.found[key]["count"], fault.count)
                continue
            if self._room_for(fault.severity):
                elsewhere = f"{site.file}, " if fault.file not in (None, site.file) else ""
                record["message"] += f" (kernel {kernel}, launched at {elsewhere}line {site.line})"
                self.found[key] = record
            if fault.space == "shared" and fault.kind == "out_of_bounds" and not fault.extent:
                self.add(
                    "bad_launch", site,
                    f"kernel {kernel} uses dynamic shared memory ({fault.buffer}); this launch "
                    f"gives it {shared} bytes",
                    advice="The third launch parameter is its size in bytes: "
                    "kernel<<<grid, block, bytes>>>(...).",
                )  # fmt: skip

    # -- the end -------------------------------------------------------------------------------

    def died(
        self, site: Site | None, number: int, name: str | None, address: int, *,
        full_stack: bool = False,
    ) -> None:  # fmt: skip
        """A signal ended the program; `name` is the device memory it took for its own."""
        if name is not None:
            self.add(
                "host_pointer", site,
                f"device pointer {name} dereferenced on the host",
                advice="Copy it to the host first (cudaMemcpyDeviceToHost), or allocate it with "
                "cudaMallocManaged.",
                buffer=name,
            )  # fmt: skip
            return
        words = {11: "segmentation fault", 8: "division by zero", 7: "bus error", 6: "aborted",
                 4: "illegal instruction"}  # fmt: skip
        at = f" at address {address:#x}" if number == 11 else ""
        what = words.get(number, f"signal {number}")
        if full_stack:
            self.add(
                "trap", site, "the host program died: its stack is full",
                advice="Large arrays belong on the heap, in a std::vector or by malloc; a function "
                "that calls itself must come to an end.",
            )  # fmt: skip
            return
        self.add("trap", site, f"the host program died: {what}{at}",
                 advice="This is host code; a debugger shows it as well.")  # fmt: skip

    def asserted(self, site: Site, text: str) -> None:
        """An `assert` of the host ended the program."""
        self.add("assertion", site, f"the host's assertion failed: {text}")

    def at_end(self, memory: DeviceMemory, *, clean: bool) -> None:
        """Refused launches nobody asked about, partial copies, leaks."""
        for key in dict.fromkeys(self.unseen):
            if key not in self.found:  # there was no room for it
                continue
            self.found[key]["message"] += "; the program never asked (cudaGetLastError)"
        for allocation in memory.by_slot.values():
            if allocation.kind in ("given", "registered"):
                continue
            self._in_elements(allocation)
            if allocation.freed is None and clean:
                free = "cudaFreeHost" if allocation.kind == "pinned" else "cudaFree"
                self.add(
                    "leak", allocation.site,
                    f"{_bytes(allocation.size)} of {allocation.name} "
                    f"{'was' if allocation.size == 1 else 'were'} never freed",
                    advice=f"Call {free}({allocation.name}) after its last use.",
                    buffer=allocation.name,
                )  # fmt: skip

    def left_to_reset(self, site: Site, allocation: Allocation) -> None:
        """An allocation that cudaDeviceReset() took away: nothing is lost, but nobody freed it."""
        self.add(
            "leak", allocation.site,
            f"{allocation.size} bytes of {allocation.name} were never freed; cudaDeviceReset in "
            f"line {site.line} took them away",
            advice=f"Call cudaFree({allocation.name}) after its last use: in a longer program "
            "nothing resets the device.",
            severity="warning", buffer=allocation.name,
        )  # fmt: skip

    def _in_elements(self, allocation: Allocation) -> None:
        """Copies that moved n bytes of n elements, where something came of it."""
        item = allocation.storage.itemsize
        if item == 1:
            return
        read_undefined = any(
            f["kind"] == "uninitialised" and f["severity"] == "error"
            and f.get("buffer") == allocation.name
            for f in self.found.values()
        )  # fmt: skip
        largest = max((s for s, _ in allocation.filled), default=0)
        for size, site in dict.fromkeys(allocation.filled):
            if size * item == allocation.size and size == largest:
                self.add(
                    "bad_copy", site,
                    f"{size} bytes of {allocation.name}, which has {allocation.size} bytes: "
                    f"{size} is the number of its elements",
                    advice=f"Sizes are in bytes: multiply by {item}, the size of one element.",
                    severity="error" if read_undefined else "warning", buffer=allocation.name,
                )  # fmt: skip
        most = max((s for s, _ in allocation.emptied), default=0)
        for size, site in dict.fromkeys(allocation.emptied):
            short = size * item == allocation.size and size == most
            if short and allocation.known_beyond(size):
                self.add(
                    "bad_copy", site,
                    f"{size} bytes of {allocation.name}, which has {allocation.size} bytes: "
                    f"{size} is the number of its elements",
                    advice=f"Sizes are in bytes: multiply by {item}, the size of one element.",
                    buffer=allocation.name,
                )  # fmt: skip


def _bytes(count: int) -> str:
    return f"{count} byte{'s' * (count != 1)}"
