"""What the runtime recorded, as faults a person can read.

A message says what happened, with the buffer's own name, index and extent; the place in the source
is in the record's fields. One record per kind, severity, source line and buffer.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection
from ctypes import c_int64

from grader.vgpu import layout as L
from grader.vgpu.execution import Execution
from grader.vgpu.lower import Site
from grader.vgpu.memory import IS_HEAP
from grader.vgpu.polling import polls
from grader.vgpu.ptx import Instruction, Loc, Ptx
from grader.vgpu.records import Access, Dim3, Fault, Place, Severity
from grader.vgpu.runtime_records import CFault

SHARED_ID, LOCAL_ID = 0x40000000, 0x80000000
ACCESS: tuple[Access, ...] = ("read", "write", "atomic")
SEVERITY: tuple[Severity, ...] = ("note", "warning", "error")
SPACE = ("generic", "global", "shared", "local", "const", "param")
KINDS = (
    "out_of_bounds", "misaligned", "input_modified", "race", "bad_barrier", "deadlock",
    "warp_mask", "uninitialised", "trap", "assertion", "out_of_bounds", "bad_barrier", "race",
    "warp_mask", "out_of_bounds",
)  # fmt: skip
FREED, EARLY_EXIT, STALE_COPY, OFF_THE_EDGE = 10, 11, 12, 14
VERB = {"read": "read of", "write": "write to", "atomic": "atomic on"}


def demangle(name: str) -> str:
    """The last name inside a mangled variable: `_ZZ3redE1s` is `s`; also of one that was renamed to
    link several modules.
    """
    name = name.partition("@")[0]
    if not name.startswith("_Z"):
        return re.sub(r"\$\d+$", "", name.removeprefix("$")) or name
    if name.startswith("_ZZ"):
        # A name inside a function ends it all: `E`, its length, itself, and a number among several.
        for inner in re.finditer(r"E(\d+)", name):
            end = inner.end() + int(inner.group(1))
            part = name[inner.end() : end]
            if re.fullmatch(r"[A-Za-z_]\w*", part) and re.fullmatch(r"(_\d+|__\d+_)?", name[end:]):
                return part
    found = name
    at = 2
    while at < len(name):
        m = re.compile(r"(\d+)").match(name, at)
        if m is None:
            at += 1
            continue
        n = int(m.group(1))
        part = name[m.end() : m.end() + n]
        if 0 < n <= len(name) - m.end() and re.fullmatch(r"[A-Za-z_]\w*", part):
            found = part
            at = m.end() + n
        else:
            at = m.end()
    return found


def main_file(ptx: Ptx, kernel: str) -> int | None:
    """The file the kernel itself is written in; a name such as `<entry>` is nobody's file."""
    for item in ptx.functions[kernel].body:
        if isinstance(item, Instruction) and item.loc is not None:
            chain = [item.loc.file]
            loc = item.loc
            while loc.inlined is not None:
                loc = loc.inlined
                chain.append(loc.file)
            for file in reversed(chain):
                if not ptx.files.get(file, "").startswith("<"):
                    return file
    return None


def own_files(ptx: Ptx, kernel: str) -> frozenset[int]:
    """The files that are no headers: the kernel's, and those of modules that were linked, as far as
    they have something that others use."""
    shared = (
        name for name, f in ptx.functions.items() if ptx.linked and f.linkage == "visible"
    )  # fmt: skip
    return frozenset(
        file for name in (kernel, *shared) if (file := main_file(ptx, name)) is not None
    )


def source(loc: Loc | None, own: Collection[int]) -> Loc | None:
    """The innermost position in one of the files `own`; code of headers stands where it is used."""
    at = loc
    while at is not None:
        if at.file in own:
            return at
        at = at.inlined
    return loc


def place(block: Dim3, thread: Dim3) -> str:
    """Block and thread as a person writes them: one number where one dimension is used."""

    def short(d: Dim3) -> str:
        return str(d[0]) if d[1] == d[2] == 0 else f"({d[0]}, {d[1]}, {d[2]})"

    return f"block {short(block)}, thread {short(thread)}"


class Reporter:
    """Turns the records of one launch into faults."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self.ptx = execution.kernel.module.ptx
        self.sites = execution.translated.lowered.sites
        self.own = own_files(self.ptx, execution.kernel.name)

    # -- places -------------------------------------------------------------------------------

    def where(self, site: int) -> tuple[str | None, int | None, int | None]:
        """File, line and column of a site."""
        if site < len(self.sites):
            return self.position(self.sites[site].instruction.loc)
        k = site - len(self.sites)
        if k >= self.execution.c.ncall_sites:
            return None, None, None
        call = self.execution.call_sites[k]
        locs = [self.sites[call.site].instruction.loc]
        blocks = self.execution.kernel.program.blocks
        for back in call.back[: call.depth]:
            resumed = blocks[back].resume
            locs.append(resumed.loc if resumed is not None else None)
        for loc in locs:
            found = source(loc, self.own)
            if found is not None and found.file in self.own:
                return self.position(found)
        return self.position(locs[0])

    def position(self, loc: Loc | None) -> tuple[str | None, int | None, int | None]:
        """File name, line and column of a position."""
        at = source(loc, self.own)
        if at is None:
            return None, None, None
        return self.ptx.files.get(at.file), at.line, at.column or None

    def thread(self, linear: int) -> Dim3:
        """A thread's index from its number in the block."""
        x, y, _ = self.execution.block
        return linear % x, linear // x % y, linear // (x * y)

    def block_index(self, linear: int) -> Dim3:
        """A block's index from its number in the grid."""
        x, y, _ = self.execution.grid
        return linear % x, linear // x % y, linear // (x * y)

    # -- buffers ------------------------------------------------------------------------------

    def buffer(self, f: CFault) -> tuple[str | None, int | None, int | None]:
        """Name, element index and extent in elements of what an access meant."""
        offset_bits = f.address & ((1 << L.SLOT_BITS) - 1)
        size = max(f.size, 1)
        if f.buffer >= LOCAL_ID or f.buffer >= SHARED_ID:
            inside = (offset_bits & (L.ARRAY_STRIDE - 1)) - L.ARRAY_START
            local = f.buffer >= LOCAL_ID
            k = f.buffer & ~(LOCAL_ID if local else SHARED_ID)
            lowered = self.execution.translated.lowered
            table = lowered.local if local else lowered.shared
            arrays = self.execution.local_arrays if local else self.execution.shared_arrays
            name = next((n for n, (at, _) in table.items() if at // L.ARRAY_STRIDE == k), None)
            if name is None:
                return ("local memory" if local else "shared memory"), None, None
            label = demangle(name)
            if "__local_depot" in name:
                label = name.partition(".")[2] or "local memory"
            return label, inside // size, int(arrays[k][0]) // size
        if f.buffer >= self.execution.c.heap_slot:
            block = f.buffer - self.execution.c.heap_slot
            _file, line, _ = self.where(self.execution.heap_sites[block])
            name = f"memory allocated at line {line}" if line else "memory allocated in the kernel"
            heap = self.execution.heap[block]
            return name, (f.address - heap.base) // size, heap.size // size
        storage = self.storage(f.buffer)
        if storage is None:
            return None, None, None
        item = max(storage.itemsize, 1)
        inside = f.address - storage.address
        name = demangle(storage.name) if f.buffer < L.FIRST_BUFFER_SLOT else storage.name
        if item == 1 and size > 1 and self._untyped(f.buffer):
            item = size
        return name, inside // item, storage.data.size // item

    def lanes(self, f: CFault, index: int | None) -> tuple[int | None, ...]:
        """The element that each lane of the first access touched, by its distance from `index`."""
        if not f.lane_mask or index is None:
            return ()
        storage = None if f.buffer >= SHARED_ID else self.storage(f.buffer)
        item = max(storage.itemsize if storage else f.size, 1)
        if item == 1 and self._untyped(f.buffer):
            item = max(f.size, 1)
        return tuple(
            index + (f.lanes[lane] - f.address) // item if f.lane_mask >> lane & 1 else None
            for lane in range(32)
        )

    def _untyped(self, slot: int) -> bool:
        """Whether a buffer has no element type of its own: a module's variable, or the heap's."""
        return slot < L.FIRST_BUFFER_SLOT or self._in_heap(slot)

    def _in_heap(self, slot: int) -> bool:
        """Whether this launch, or one before, allocated the buffer."""
        if slot >= SHARED_ID:
            return False
        if slot >= self.execution.c.heap_slot:
            return True
        found = self.storage(slot)
        return found is not None and bool(found.record.flags & IS_HEAP)

    def storage(self, slot: int):  # type: ignore[no-untyped-def]
        """The buffer of a slot."""
        for s in (
            *self.execution.variables,
            *self.execution.memory.buffers,
            self.execution.workspace,
        ):
            if s.slot == slot:
                return s
        return None

    # -- faults -------------------------------------------------------------------------------

    def faults(self) -> tuple[Fault, ...]:
        """All faults, merged by kind, severity, access, line and buffer, in source order."""
        made: dict[tuple[object, ...], Fault] = {}
        for k in range(self.execution.c.nfaults):
            if self._checked(self.execution.faults[k]):
                continue
            fault = self.one(self.execution.faults[k])
            key = (fault.kind, fault.severity, fault.access, fault.file, fault.line, fault.buffer)
            if key in made:
                first = made[key]
                made[key] = dataclasses.replace(first, count=first.count + fault.count)
            else:
                made[key] = fault
        # A same-value note says nothing where the same line also races with different values.
        worst: dict[tuple[object, ...], int] = {}
        for f in made.values():
            if f.kind == "race":
                spot = (f.file, f.line, f.buffer)
                worst[spot] = max(worst.get(spot, 0), SEVERITY.index(f.severity))
        kept = [
            f
            for f in made.values()
            if f.kind != "race" or SEVERITY.index(f.severity) == worst[(f.file, f.line, f.buffer)]
        ]
        order = {kind: n for n, kind in enumerate(KINDS)}
        kept.sort(
            key=lambda f: (
                -SEVERITY.index(f.severity), f.file or "", f.line or 0, order[f.kind],
                f.access or "", f.buffer or "",
            )
        )  # fmt: skip
        return tuple(dataclasses.replace(f, message=_counted(f)) for f in kept)

    def _checked(self, f: CFault) -> bool:
        """Whether a race is a load beside atomics whose value an atomic checks, as compare-and-swap
        loops begin."""
        if KINDS[f.kind] != "race" or not f.has_other:
            return False
        sides = {ACCESS[f.access]: f.site, ACCESS[f.other_access]: f.other_site}
        if sides.keys() != {"read", "atomic"}:
            return False
        load = sides["read"]
        if load >= len(self.sites):
            load = self.execution.call_sites[load - len(self.sites)].site
        if not self.execution.checked_reads[load]:
            return False
        return not polls(self.execution.kernel.program, self.sites[load])

    def one(self, f: CFault) -> Fault:
        """One record of the runtime."""
        kind = KINDS[f.kind]
        file, line, column = self.where(f.site)
        block, thread = _dim3(f.block), _dim3(f.thread)
        memory = kind in ("out_of_bounds", "misaligned", "input_modified", "race") or (
            kind == "uninitialised" and f.address
        )
        name, index, extent = self.buffer(f) if memory else (None, None, None)
        access = ACCESS[f.access] if memory or kind == "uninitialised" else None
        other = self.other(f)
        message = self.message(f, kind, access, name, index, extent, other)
        return Fault(
            kind=kind,
            severity=SEVERITY[f.severity],
            message=message,
            access=access,
            space=SPACE[f.space] if memory and f.space else None,
            buffer=name,
            index=index,
            extent=extent,
            size_bytes=f.size or None,
            file=file,
            line=line,
            column=column,
            block=block,
            thread=thread,
            other=other,
            count=f.count,
            lanes=self.lanes(f, index),
        )

    def other(self, f: CFault) -> Place | None:
        """The other half of a race, or where an undefined value mattered."""
        if not f.has_other:
            return None
        file, line, _ = self.where(f.other_site)
        if f.has_other == 2 or KINDS[f.kind] in ("bad_barrier", "deadlock"):
            return Place("read", file, line)
        return Place(
            ACCESS[f.other_access],
            file,
            line,
            self.block_index(f.other_block),
            self.thread(f.other_thread),
        )

    def message(
        self,
        f: CFault,
        kind: str,
        access: Access | None,
        name: str | None,
        index: int | None,
        extent: int | None,
        other: Place | None,
    ) -> str:
        """What happened, in one clause; the count follows in `_counted`."""
        what = f"{VERB.get(access or '', 'access to')} "
        cell = f"{name}[{index}]" if name is not None and index is not None else name
        if name is not None and self._in_heap(f.buffer):
            cell = f"element {index} of {name}"
        if kind == "out_of_bounds":
            return self._outside(f, what, cell, name, extent)
        if kind == "misaligned":
            target = cell or hex(f.address)
            where = f"{target}: the address is not a multiple of {f.size}"
            return f"misaligned {what}{f.size} bytes at {where}"
        if kind == "input_modified" and SPACE[f.space] == "const":
            return f"write to {cell}, but {name} is constant memory, which only the host writes"
        if kind == "input_modified":
            return f"write to {cell}, but {name} is an input and must not change"
        if kind == "race":
            return self._race(f, cell, access, other)
        if kind == "uninitialised":
            if f.address:
                where = f"; it is used at line {other.line}" if other and other.line else ""
                return f"{what}{cell}, which nothing wrote before{where}"
            made = self.site(f.site)
            if made is not None and made.instruction.op == "shfl":
                return f"the shuffle reads lane {f.size}, which takes no part in it"
            return "a value that was never set is used"
        if kind in ("bad_barrier", "deadlock"):
            return self._barrier(f, kind, other)
        if kind == "warp_mask":
            return self._mask(f)
        if kind == "trap":
            return "the kernel executed a trap"
        return "an assertion failed"

    def _outside(
        self, f: CFault, what: str, cell: str | None, name: str | None, extent: int | None
    ) -> str:
        if f.kind == FREED:
            return f"{what}{cell or hex(f.address)} after it was freed"
        if f.kind == OFF_THE_EDGE:
            x, y, z, *size = f.lanes[:6]
            at = f"byte {c_int64(x).value} of row {c_int64(y).value}"
            if size[2] > 1:
                at += f" of layer {c_int64(z).value}"
            rows = f"{size[1]} row{'' if size[1] == 1 else 's'} of {size[0] * f.code} bytes"
            return f"{what}{at} of the surface {name}, which has {rows}"
        if f.code == 3:
            return "recursion deeper than 256 calls: the stack overflowed"
        if name is None or cell is None:
            if f.address < 1 << 20:
                return f"{what}address {f.address:#x}: a null pointer{self._no_memory()}"
            if SPACE[f.space] in ("shared", "local"):
                return f"{what}address {f.address:#x}, which is none of {SPACE[f.space]} memory"
            return f"{what}address {f.address:#x}, which lies in no buffer"
        if cell == name:
            return f"{what}{name} outside every array"
        if name == "local memory":
            return f"{what}{f.size} bytes outside a local array"
        given = f"but {name} has {extent} element{'' if extent == 1 else 's'}"
        if extent == 0 and f.space == 2:
            given = "but the launch gave 0 bytes of dynamic shared memory"
        return f"{what}{cell}, {given}"

    def _no_memory(self) -> str:
        """What may have made a pointer null: an allocation that the heap had no room for."""
        if not self.execution.c.no_memory_site:
            return ""
        _file, line, _ = self.where(self.execution.c.no_memory_site - 1)
        at = f" at line {line}" if line else ""
        return f"; an allocation{at} had found the heap of {L.HEAP_BYTES >> 20} MB used up"

    def _race(self, f: CFault, cell: str | None, access: Access | None, other: Place | None) -> str:
        if f.kind == STALE_COPY:
            started = f" (line {other.line})" if other and other.line else ""
            verb = "read" if access == "read" else "written"
            return f"{cell} is {verb} while a cp.async copy into it{started} is still under way"
        first = other.access if other else "write"
        hazard = {
            ("write", "read"): "read-after-write", ("read", "write"): "write-after-read",
            ("write", "write"): "write-after-write",
        }.get((first, access or "read"), f"{access} beside {first}")  # fmt: skip
        text = f"race on {cell}: {access} here"
        if other is not None and other.block is not None and other.thread is not None:
            text += f", {other.access} by {place(other.block, other.thread)} at line {other.line},"
        relation = f.code & 15
        where = {
            1: "with no __syncwarp between lanes of one warp",
            2: "with no barrier between",
            3: "in different blocks, which nothing orders",
        }.get(relation, "with nothing to order them")
        text += f" {where} ({hazard} hazard)"
        if f.code & 16 and SEVERITY[f.severity] == "note":
            text += "; both write the same value"
        return text

    def _barrier(self, f: CFault, kind: str, other: Place | None) -> str:
        if kind == "deadlock":
            if other is not None:
                return (
                    "deadlock: some threads wait at this barrier, others at the one at line "
                    f"{other.line}, and none can go on"
                )
            return "deadlock: threads wait at this barrier for others that never come"
        if f.kind == EARLY_EXIT:
            return "some threads returned before this barrier, which others reach"
        if f.code == 2 and other is not None:
            return f"threads of one block wait at different barriers: here and at line {other.line}"
        return "barrier reached by some threads of the block only: others went around it"

    def _mask(self, f: CFault) -> str:
        mask = f"{f.address & 0xFFFFFFFF:#010x}"
        if f.code == 1:
            return f"a lane executes this warp operation but is not in its mask {mask}"
        lanes = [k for k in range(32) if f.other_thread >> k & 1]
        listed = f"{lanes[0]}" if len(lanes) == 1 else f"{lanes[0]}-{lanes[-1]}"
        names = f"the mask {mask} names lanes that do not execute this warp operation"
        return f"{names} (lane {listed})"

    # -- how it ended -------------------------------------------------------------------------

    def reason(self, ended: str, assertion: str | None) -> str:
        """One clause for a launch that did not finish."""
        if ended == "finished":
            return ""
        c = self.execution.c
        if ended == "unsupported":
            return self._unsupported(c.ended_site)
        if ended == "fuel":
            line = self._block_line(c.ended_site)
            at = f" near line {line}" if line else ""
            after = f"after {c.instructions:,} warp instructions"
            return f"the instruction budget is used up {after}{at}"
        _file, line, _ = self.where(c.ended_site)
        at = f" at line {line}" if line else ""
        who = place(_dim3(c.ended_block), _dim3(c.ended_thread))
        if ended == "assertion":
            return f"assertion `{assertion}` failed{at} ({who})"
        if ended == "trap":
            return f"the kernel trapped{at} ({who})"
        return f"no thread of a block can go on{at} ({who})"

    def _unsupported(self, number: int) -> str:
        _file, line, _ = self.where(number)
        site = self.site(number)
        if site is None:
            return "an unsupported instruction"
        what = site.kind.removeprefix("unsupported: ")
        if site.kind == "call":
            what = "indirect call of an unknown function"
        at = f" at line {line}" if line else f" at PTX line {site.instruction.line}"
        return f"{what} is not supported by the virtual GPU{at}"

    def site(self, number: int) -> Site | None:
        """A site by its number, also when it was reached through calls."""
        k = number - len(self.sites)
        if 0 <= k < self.execution.c.ncall_sites:
            number = self.execution.call_sites[k].site
        return self.sites[number] if number < len(self.sites) else None

    def _block_line(self, block: int) -> int | None:
        blocks = self.execution.kernel.program.blocks
        if block >= len(blocks):
            return None
        for i in (*blocks[block].instructions, blocks[block].terminator):
            if i is not None and i.loc is not None:
                return self.position(i.loc)[1]
        return None

    @staticmethod
    def with_assertion(faults: tuple[Fault, ...], text: str) -> tuple[Fault, ...]:
        """Put the asserted expression into the message."""
        return tuple(
            dataclasses.replace(f, message=f"assertion `{text}` failed")
            if f.kind == "assertion"
            else f
            for f in faults
        )


def _counted(f: Fault) -> str:
    """The message with the first place and the count."""
    if f.block is None or f.thread is None:
        return f.message
    more = {"read": "reads", "write": "writes", "atomic": "atomics"}.get(f.access or "", "times")
    count = ""
    if f.count > 1:
        count = f"; {f.count} times" if more == "times" else f"; {f.count} such {more}"
    return f"{f.message} ({place(f.block, f.thread)}{count})"


def _dim3(values: object) -> Dim3:
    x, y, z = (int(v) for v in values)  # type: ignore[attr-defined]
    return x, y, z
