"""Kernel launches of a host program on the virtual GPU.

The optimised build gives values, counts and modelled time; the unoptimised one runs on a copy of
the memory for its findings, the first times a kernel is launched. A launch that repeats the one
before it and changes nothing is counted without being run: the engine is deterministic.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from grader import vgpu
from grader.programs import errors as E
from grader.programs import geometry, symbols
from grader.programs.device_memory import Allocation, DeviceMemory, Site, merge
from grader.programs.findings import Findings
from grader.programs.order import Span
from grader.vgpu import cost
from grader.vgpu.limits import Limits
from grader.vgpu.memory import Storage
from grader.vgpu.module import Kernel, Module

LIMITS = Limits()
DYNAMIC_SHARED_BYTES = 48 << 10
"""Dynamic shared memory of a launch before cudaFuncSetAttribute raises it."""

FUEL = 400_000_000
FULL_CHECKS_BYTES = 1 << 26
"""With more bytes allocated than this, a launch has bounds checks only."""

CHECKED_LAUNCHES = 4
CHECKED_INSTRUCTIONS = 12_000_000
"""How many launches of a kernel get the checks for races and undefined values, in both builds, and
how many warp instructions of a program do."""

MOST_LINES = 2000
_SYSTEM_ATOMIC = re.compile(r"\b(?:atom|red)(?:\.\w+)*\.sys\b")


class Refused(Exception):
    """A launch that CUDA refuses, with its error code and what to do about it."""

    def __init__(self, message: str, status: int, advice: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.advice = advice


@dataclass(frozen=True)
class KernelOf:
    """A kernel of the program: its entries in both builds, and what ptxas said of it."""

    name: str
    optimised: Kernel
    unoptimised: Kernel | None
    registers: int | None
    shared_bytes: int
    system_atomics: bool = False


@dataclass
class Program:
    """The device half of a program: the optimised module of each CUDA file, None where it has no
    device code, and the kernels of all by the symbol the host uses.

    Files that are linked share a module; `variables` has for each those of them that it declares.
    """

    modules: tuple[Module | None, ...]
    variables: tuple[frozenset[str], ...]
    kernels: dict[str, KernelOf]


@dataclass(frozen=True)
class Done:
    """One launch that was carried out."""

    name: str
    ended: str
    nanoseconds: float
    printed: str
    buffers: tuple[str, ...]
    outputs: tuple[str, ...]
    slots: frozenset[int]
    threads: int
    largest_elements: int
    system_atomics: bool = False
    spans: Mapping[int, Span] = field(default_factory=dict)


class Launcher:
    """Launches kernels, and adds up what they did."""

    def __init__(self, program: Program, memory: DeviceMemory, findings: Findings) -> None:
        self.program = program
        self.memory = memory
        self.findings = findings
        self.counts: dict[str, float] = {}
        self.lines: dict[tuple[str | None, int], dict[str, float]] = {}
        self.nanoseconds = 0.0
        self.reason = ""
        self.done: dict[str, int] = {}
        self._allowed: dict[str, int] = {}
        self._last: tuple[Any, int, Done, dict[str, float]] | None = None
        self._settled = False
        self._checked = 0

    # -- questions about kernels ---------------------------------------------------------------

    def parameter_bytes(self, symbol: str) -> list[int]:
        """The size of each parameter of the kernel `symbol`."""
        kernel = self.program.kernels.get(symbol)
        return [p.size_bytes for p in kernel.optimised.parameters] if kernel else []

    def variable(self, name: str) -> Storage | None:
        """A variable of the module that belongs to its file."""
        number = symbols.unit(name)
        module = self.program.modules[number] if number < len(self.program.modules) else None
        if module is None:
            return None
        kernel = next((module.kernel(entry) for entry in module.kernels), None)
        own = self.program.variables[number]
        return self.memory.variable(kernel, symbols.plain(name), own) if kernel else None

    def allow_shared(self, symbol: str, size: int) -> bool:
        """cudaFuncAttributeMaxDynamicSharedMemorySize."""
        kernel = self.program.kernels.get(symbol)
        if kernel is None or not 0 <= size <= LIMITS.shared_bytes - kernel.shared_bytes:
            return False
        self._allowed[symbol] = size
        return True

    def attributes(self, symbol: str) -> tuple[int, ...] | None:
        """Registers, static shared bytes, local bytes, allowed dynamic shared bytes."""
        kernel = self.program.kernels.get(symbol)
        if kernel is None:
            return None
        allowed = self._allowed.get(symbol, DYNAMIC_SHARED_BYTES)
        return kernel.registers or 32, kernel.shared_bytes, 0, allowed

    def blocks_per_multiprocessor(self, symbol: str, block: int, shared: int) -> int | None:
        """Theoretical occupancy of a kernel, in blocks."""
        kernel = self.program.kernels.get(symbol)
        if kernel is None:
            return None
        if not 1 <= block <= LIMITS.threads:
            return 0
        counts = {
            "threads_per_block": float(block),
            "shared_bytes_per_block": float(kernel.shared_bytes + shared),
        }
        return cost.resident_blocks(counts, kernel.registers)

    # -- one launch ----------------------------------------------------------------------------

    def launch(
        self,
        site: Site,
        symbol: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        packed: bytes,
        *,
        cooperative: bool,
        spans: bool = False,
    ) -> Done:
        """Carry out a launch; with `spans`, see which part of each buffer it writes.

        Raises Refused for what CUDA refuses.
        """
        kernel = self.check(symbol, grid, block, shared, cooperative=cooperative)
        arguments = _unpack(kernel.optimised, packed)
        key = (symbol, grid, block, shared, packed)
        if repeated := self._repeated(key):
            return repeated
        self._host_pointers(site, kernel, arguments)
        times = self.done.get(symbol, 0)
        self.done[symbol] = times + 1
        twins = self._twins(kernel) if self._thorough(times) else []
        spare = self._with_fewer_blocks(kernel, grid, block, arguments) if twins else None
        before = self._written()
        # Only a launch that repeats the last one can turn out to change nothing.
        again = self._last is not None and self._last[0] == key
        state = self.memory.state() if again else 0
        marks = self._put_aside(arguments) if spans else {}
        try:
            run = vgpu.launch(
                kernel.optimised, grid, block, arguments, shared=shared, memory=self.memory.memory,
                checks="bounds", fuel=FUEL,
            )  # fmt: skip
        except vgpu.LaunchError as error:
            raise Refused(str(error), E.INVALID_VALUE) from None
        finally:
            parts = _put_back(marks)
        self.memory.wrote()
        spent = int(run.metrics.counts.get("warp_instructions", 0))
        if twins and self._checked + spent <= CHECKED_INSTRUCTIONS:
            self._checked += spent
            for build, twin in twins:
                self._second_opinion(site, kernel.name, build, twin, grid, block, arguments, shared)
            if spare is not None and run.ended == "finished" and not (run.faults or run.printed):
                needed, twin = spare
                if geometry.changes_the_same(
                    twin, kernel.optimised, (needed, 1, 1), block, arguments, shared,
                    2 * spent + 10_000, self.memory.memory,
                ) and self._written() != before:  # fmt: skip
                    self.findings.too_many_blocks(site, kernel.name, grid[0], needed, block[0])
        self.findings.of_launch(site, kernel.name, run.faults, grid, block, shared)
        if run.ended != "finished":
            self.reason = self.reason or f"kernel {kernel.name}: {run.reason or run.ended}"
        self.memory.version += 1
        time = cost.estimate(run.metrics.counts, registers=kernel.registers).nanoseconds
        done = self._describe(site, kernel, run, time, arguments, grid, block, before)
        done = replace(done, slots=(done.slots - set(marks)) | set(parts), spans=parts)
        self._add(run.metrics.counts, run.metrics.lines, time)
        unchanged = again and not run.printed and self.memory.state() == state
        self._settled = unchanged and run.ended == "finished"
        self._last = (key, self.memory.version, done, dict(run.metrics.counts))
        return done

    def _repeated(self, key: Any) -> Done | None:
        """The launch before, where this is the same again and that one changed nothing."""
        if self._last is None or not self._settled:
            return None
        known, version, done, counts = self._last
        if known != key or version != self.memory.version:
            return None
        self.done[key[0]] += 1
        self._add(counts, {}, done.nanoseconds)
        return done

    def check(
        self,
        symbol: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        *,
        cooperative: bool,
    ) -> KernelOf:
        """The kernel of a launch that CUDA takes. Raises Refused for another."""
        kernel = self.program.kernels.get(symbol)
        if kernel is None:
            raise Refused("this kernel has no device code", E.INVALID_DEVICE_FUNCTION)
        for what, sizes, limits in (("grid", grid, LIMITS.grid), ("block", block, LIMITS.block)):
            for axis, size, limit in zip("xyz", sizes, limits, strict=True):
                if not 1 <= size <= limit:
                    raise Refused(
                        f"{what}.{axis} is {size}, expected 1 to {limit}", E.INVALID_CONFIGURATION
                    )
        threads = math.prod(block)
        if threads > LIMITS.threads:
            raise Refused(
                f"a block of {threads} threads, expected at most {LIMITS.threads}",
                E.INVALID_CONFIGURATION,
                "Use smaller blocks and more of them.",
            )
        allowed = self._allowed.get(symbol)
        room = DYNAMIC_SHARED_BYTES - kernel.shared_bytes
        if allowed is not None:  # asked for: without what the kernel has by itself
            room = max(min(allowed, LIMITS.shared_bytes - kernel.shared_bytes), room)
        if shared > room:
            raise Refused(
                f"{shared} bytes of dynamic shared memory, expected at most {room}",
                E.INVALID_VALUE,
                "More than 48 KiB must be asked for: cudaFuncSetAttribute(kernel, "
                "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes).",
            )
        if kernel.registers and kernel.registers * threads > 65536:
            raise Refused(
                f"{threads} threads with {kernel.registers} registers each, a block has 65536",
                E.OUT_OF_RESOURCES,
            )
        if cooperative:
            most = self.blocks_per_multiprocessor(symbol, threads, shared) or 0
            if math.prod(grid) > most * LIMITS.multiprocessors:
                raise Refused(
                    f"a cooperative launch of {math.prod(grid)} blocks, expected at most "
                    f"{most * LIMITS.multiprocessors}: all must be resident at once",
                    E.COOPERATIVE_TOO_LARGE,
                )
        return kernel

    def _thorough(self, times: int) -> bool:
        """Whether the next launch of a kernel, launched so often, may get every check."""
        small = self.memory.used <= FULL_CHECKS_BYTES
        return small and times < CHECKED_LAUNCHES and self._checked < CHECKED_INSTRUCTIONS

    def _twins(self, kernel: KernelOf) -> list[tuple[Kernel, vgpu.Memory]]:
        """Both builds, each with a copy of the memory as it is before the launch.

        One that calls what a pointer names is not run unoptimised: that build numbers functions and
        tables of virtual functions otherwise than the one that wrote the pointers.
        """
        builds = [kernel.optimised]
        if kernel.unoptimised and not kernel.optimised.program.indirect:
            builds.append(kernel.unoptimised)
        return [(build, self.memory.copy_for(build, kernel.optimised)) for build in builds]

    def _with_fewer_blocks(
        self, kernel: KernelOf, grid: tuple[int, int, int], block: tuple[int, int, int],
        arguments: list[bytes],
    ) -> tuple[int, vgpu.Memory] | None:  # fmt: skip
        """How many blocks would do, and a copy of the memory to try it on."""
        used = self._passed(arguments)
        elements = max((a.size // a.storage.itemsize for a in used), default=0)
        needed = geometry.fewer_blocks(kernel.optimised, grid, block, elements)
        if needed is None:
            return None
        return needed, self.memory.copy_for(kernel.optimised, kernel.optimised)

    def _put_aside(self, arguments: list[bytes]) -> dict[int, tuple[Storage, np.ndarray]]:
        """The marks of what was written in a launch's buffers, which begin anew."""
        kept = {}
        for storage in {a.storage.slot: a.storage for a in self._passed(arguments)}.values():
            if storage.written is not None:
                kept[storage.slot] = storage, storage.written
                storage.track_writes()
        return kept

    def _passed(self, arguments: list[bytes]) -> list[Allocation]:
        """The allocations that a launch is given."""
        named = [self.memory.at(int.from_bytes(a, "little")) for a in arguments if len(a) == 8]
        return [a for a in named if a is not None]

    def _second_opinion(
        self, site: Site, name: str, build: Kernel, twin: vgpu.Memory, grid: Any, block: Any,
        arguments: list[bytes], shared: int,
    ) -> None:  # fmt: skip
        """Findings of one build with every check, on a copy of the memory."""
        try:
            run = vgpu.launch(build, grid, block, arguments, shared=shared, memory=twin, fuel=FUEL)
        except vgpu.LaunchError:
            return  # the launch itself says why
        self.findings.of_launch(site, name, run.faults, grid, block, shared)

    def _host_pointers(self, site: Site, kernel: KernelOf, arguments: list[bytes]) -> None:
        for index, data in enumerate(arguments):
            if len(data) != 8:
                continue
            value = int.from_bytes(data, "little")
            found = self.memory.at(value)
            if found is not None:
                if found.freed is not None:
                    self.findings.launched_with_freed(site, kernel.name, index, found)
                found.launched_with += 1
            elif _is_host(value):
                self.findings.host_pointer(site, kernel.name, index)

    def _written(self) -> dict[int, int]:
        return {
            a.storage.slot: int(a.storage.written.sum())
            for a in self.memory.live()
            if a.storage.written is not None and a.size <= 1 << 24
        }

    def _describe(
        self, site: Site, kernel: KernelOf, run: vgpu.Launch, time: float, arguments: list[bytes],
        grid: tuple[int, int, int], block: tuple[int, int, int], before: dict[int, int],
    ) -> Done:  # fmt: skip
        used = self._passed(arguments)
        outputs = [  # of a structure that was passed too
            a for a in self.memory.live()
            if a.storage.written is not None
            and a.storage.slot in before
            and int(a.storage.written.sum()) > before[a.storage.slot]
        ]  # fmt: skip
        threads = math.prod(grid) * math.prod(block)
        for output in outputs:
            if threads >= output.most_threads:
                output.most_threads, output.written_by = threads, site
        sizes = [a.size // a.storage.itemsize for a in outputs or used]
        return Done(
            name=kernel.name,
            ended=run.ended,
            nanoseconds=time,
            printed=run.printed,
            buffers=tuple(a.name for a in used),
            outputs=tuple(a.name for a in outputs),
            slots=frozenset(a.storage.slot for a in (*used, *outputs)),
            system_atomics=kernel.system_atomics,
            threads=threads,
            largest_elements=max(sizes, default=0),
        )

    def _add(
        self, counts: dict[str, float], lines: dict[tuple[str | None, int], dict[str, float]],
        time: float,
    ) -> None:  # fmt: skip
        self.nanoseconds += time
        for name, value in counts.items():
            self.counts[name] = self.counts.get(name, 0.0) + value
        for place, values in lines.items():
            if place not in self.lines and len(self.lines) >= MOST_LINES:
                continue
            into = self.lines.setdefault(place, {})
            for name, value in values.items():
                into[name] = into.get(name, 0.0) + value

    def line_counts(self) -> list[dict[str, Any]]:
        """Counts per source line, as JSON."""
        return [
            {"file": file, "line": line, "counts": counts}
            for (file, line), counts in sorted(
                self.lines.items(), key=lambda i: (i[0][0] or "", i[0][1])
            )
        ]

    def summary(self) -> dict[str, int]:
        """How often each kernel was launched."""
        found: dict[str, int] = {}
        for symbol, times in self.done.items():
            name = self.program.kernels[symbol].name
            found[name] = found.get(name, 0) + times
        return found


def _unpack(kernel: Kernel, packed: bytes) -> list[bytes]:
    arguments, at = [], 0
    for parameter in kernel.parameters:
        arguments.append(packed[at : at + parameter.size_bytes])
        at += parameter.size_bytes
    if at != len(packed):
        raise ValueError(f"{len(packed)} bytes of arguments for a kernel that takes {at}")
    return arguments


def _put_back(marks: dict[int, tuple[Storage, np.ndarray]]) -> dict[int, Span]:
    """Which part of each buffer a launch has written; its marks are added to those of before."""
    spans = {}
    for slot, (storage, before) in marks.items():
        now = storage.written
        assert now is not None, "marks were put aside"
        if now.any():
            spans[slot] = int(now.argmax()), now.size - int(now[::-1].argmax())
        merge(before, now)
        storage.track_writes(before)
    return spans


def _is_host(value: int) -> bool:
    """Addresses of a position-independent program, its heap, libraries and stack on Linux."""
    return 0x5500_0000_0000 <= value < 0x5700_0000_0000 or 0x7000_0000_0000 <= value < 1 << 47


def program_of(units: list[dict[str, Any]], *, linked: bool) -> Program:
    """The device half: for each CUDA file its variants with PTX, entries and registers, and its
    kernels' names by host symbol. Raises PtxError for PTX that cannot be read.
    """
    kernels: dict[str, KernelOf] = {}
    texts = [[v["ptx"] for v in unit["variants"]] for unit in units]
    modules = _linked(texts) if linked else [_each(own) for own in texts]
    system_atomics = [any(_SYSTEM_ATOMIC.search(text) for text in own) for own in texts]
    for k, (unit, made) in enumerate(zip(units, modules, strict=True)):
        variants = unit["variants"]
        for symbol, name in unit["kernels"].items():
            entries = [v["symbols"].get(symbol) for v in variants]
            if not entries or entries[0] is None:
                continue
            builds = [
                one.module.kernel(one.names.get(entry, entry)) if entry else None
                for one, entry in zip(made, entries, strict=False)
            ]
            optimised, unoptimised = (*builds, None)[:2]
            assert optimised is not None, "it has an entry"
            kernels[symbol] = KernelOf(
                name=name,
                optimised=optimised,
                unoptimised=unoptimised,
                registers=variants[0]["registers"].get(entries[0]),
                shared_bytes=variants[0]["shared_bytes"].get(entries[0], 0),
                system_atomics=any(system_atomics) if linked else system_atomics[k],
            )
    firsts = [made[0] if made else None for made in modules]
    return Program(
        tuple(one.module if one else None for one in firsts),
        tuple(one.variables if one else frozenset() for one in firsts),
        kernels,
    )


@dataclass(frozen=True)
class _Made:
    """The module that a file's PTX became, or became a part of: what its own symbols are called
    there, where that is another name, and the variables it declares."""

    module: Module
    names: Mapping[str, str]
    variables: frozenset[str]


def _each(texts: list[str]) -> list[_Made]:
    """The modules of one file's variants."""
    made = map(Module.from_ptx, texts)
    return [_Made(module, {}, frozenset(module.ptx.variables)) for module in made]


def _linked(texts: list[list[str]]) -> list[list[_Made]]:
    """For each file the modules that its variants became a part of."""
    found: list[list[_Made]] = [[] for _ in texts]
    parts = [k for k, own in enumerate(texts) if own]
    for variants in zip(*(texts[k] for k in parts), strict=False):
        module, names = Module.linked(variants)
        for k, own, part in zip(parts, names, module.ptx.linked, strict=True):
            found[k].append(_Made(module, own, frozenset(part.variables)))
    return found
