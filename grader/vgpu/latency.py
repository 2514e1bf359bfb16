"""How long a warp needs for a block of instructions on its own, and which loads it waits for.

A warp waits where a value is not there yet, and a compiler issues the independent loads of a block
one after the other, so what counts is the longest path through the values of the block. Here it is
found for everything but memory, whose latencies only a run knows (L1, L2 or DRAM): each load is
given the number of loads that must have come back before it, and loads of one number overlap.
Values that only other blocks use are waited for there. docs/cost-model.md has the latencies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from grader.vgpu.cost import A100
from grader.vgpu.program import Block, Body, Program, defs_uses
from grader.vgpu.ptx import Addr, Instruction, Reg, Sym

SLOTS = 8  # of `Warp.wait` in runtime/engine.h
AWAITED, LATER, ALONE, COPY = 8, 16, 32, 64
"""How a site waits, beside its slot: in its block, in another one, overlapping with nothing, or
where its group of copies is waited for."""

NO_TIME = {"mov", "cvta"}  # copies of registers, which the last compiler removes
SPECIAL = {"ex2", "lg2", "sin", "cos", "tanh", "rsqrt", "rcp", "sqrt"}  # special function units
ACROSS = {"shfl", "match", "redux"}
SPACES = ("global", "shared", "local", "generic")


@dataclass(frozen=True, slots=True)
class Timing:
    """A block's clocks without memory, and what its memory instructions wait for.

    `waits` is keyed by the identity of an instruction: a slot and AWAITED, LATER, ALONE or COPY.
    `arrives` says that the block needs values that loads of other blocks left under way.
    """

    clocks: int
    waits: dict[int, int] = field(default_factory=dict)
    arrives: bool = False

    @property
    def awaits(self) -> bool:
        """Whether loads of the block are waited for in it, side by side."""
        return any(wait & AWAITED for wait in self.waits.values())


def timings(program: Program) -> dict[int, Timing]:
    """The timing of every block of a program, by its id."""
    found: dict[int, Timing] = {}
    for body in program.bodies.values():
        walks = [(block, _Walk(body, block)) for block in body.blocks]
        under_way = _copied(body, {name for _, walk in walks for name in walk.left})
        for block, walk in walks:
            arrives = not under_way.isdisjoint(walk.needed)
            found[block.id] = Timing(walk.clocks, walk.waits, arrives)
    return found


def latency(i: Instruction) -> int:
    """Clocks until a dependent instruction can use the result of one that is not a load."""
    rounded = 0 if "approx" in i.mods else 4 * A100.alu_latency  # refined in four dependent steps
    if i.op in NO_TIME or _parameter(i):
        return 0
    if i.op in ("mma", "wmma"):
        return A100.tensor_latency
    if i.op in ACROSS:
        return A100.shuffle_latency
    if i.op in SPECIAL or i.op in ("div", "rem"):
        return A100.special_latency + rounded
    return A100.alu_latency


def _copied(body: Body, names: set[str]) -> set[str]:
    """These registers and those that copies of them may go to."""
    copies: dict[str, list[str]] = {}
    for block in body.blocks if names else ():
        for i in block.instructions:
            if (copy := _copy(i)) is not None:
                copies.setdefault(copy[1], []).append(copy[0])
    reached, todo = set(names), list(names)
    while todo:
        for name in copies.get(todo.pop(), ()):
            if name not in reached:
                reached.add(name)
                todo.append(name)
    return reached


def _copy(i: Instruction) -> tuple[str, str] | None:
    """Target and source of an instruction that only copies a register."""
    if i.op != "mov" or i.guard is not None or len(i.operands) != 2:
        return None
    to, source = i.operands
    return (to.name, source.name) if isinstance(to, Reg) and isinstance(source, Reg) else None


def _parameter(i: Instruction) -> bool:
    """A load of a parameter: it comes with the instruction that uses it."""
    return i.op == "ld" and i.mods[:1] == ("param",)


def _reads(i: Instruction) -> bool:
    """Whether a run says how long the result takes."""
    if i.op in ("ld", "ldu"):
        return not _parameter(i)
    if i.op == "wmma":
        return "load" in i.mods
    return i.op in ("atom", "ldmatrix", "tex", "tld4", "suld") or _copies(i)


def _copies(i: Instruction) -> bool:
    """An asynchronous copy: it is waited for where its group is."""
    return i.op == "cp" and i.mods[:1] == ("async",) and len(i.operands) > 2


def _space(i: Instruction) -> str:
    heads = (m.split("::")[0] for m in i.mods)
    return next((head for head in heads if head in (*SPACES, "const")), "generic")


@dataclass(slots=True)
class _Value:
    """What a register holds: when it is there, after how many loads, which loads it is of, and
    the register whose value from before the block it may be."""

    ready: int = 0
    depth: int = 0
    loads: frozenset[int] = frozenset()
    before: str = ""


class _Walk:
    """One pass over a block: its `clocks` and `waits`, the registers `needed` from before it, and
    those that its loads `left` under way."""

    def __init__(self, body: Body, block: Block) -> None:
        self.waits: dict[int, int] = {}
        self.needed: set[str] = set()
        self.values: dict[str, _Value] = {}
        self.versions: dict[str, int] = {}
        self.depths: dict[int, int] = {}  # of loads that nothing has used yet
        self.memory = _Order()
        end = issued = 0
        for i in (*block.instructions, *((block.terminator,) if block.terminator else ())):
            issued += i.op not in NO_TIME and not _parameter(i)
            end = max(end, self._step(i))
        if block.guard is not None:
            self._use((block.guard.name,))
        self.clocks = max(issued, end)
        self.left: set[str] = set()
        for name, value in self.values.items() if self.depths else ():
            bit = body.index.get(name)
            if bit is not None and block.live_out >> bit & 1:
                late = value.loads & self.depths.keys()
                self.waits |= dict.fromkeys(late, LATER)
                self.left |= {name} if late else set()

    def _use(self, names: Iterable[str]) -> tuple[int, int]:
        """When these registers are there, and after how many loads."""
        start = depth = 0
        for name in names:
            value = self.values.get(name) or _Value(before=name)
            if value.before:
                self.needed.add(value.before)
            for load in value.loads & self.depths.keys():
                at = self.depths.pop(load)
                self.waits[load] = AWAITED | at if at < SLOTS else ALONE
            start, depth = max(start, value.ready), max(depth, value.depth)
        return start, depth

    def _step(self, i: Instruction) -> int:
        """Take the next instruction; when its results are there."""
        if (copy := _copy(i)) is not None:
            self._set(copy[0], self.values.get(copy[1]) or _Value(before=copy[1]))
            return 0
        defs, uses = defs_uses(i)
        start, depth = self._use(uses)
        depth = self.memory.after(i, depth, self.versions)
        loads: frozenset[int] = frozenset()
        if _copies(i):
            self.waits[id(i)] = COPY
        elif _reads(i) and defs:
            self.depths[id(i)] = depth
            loads, depth = frozenset((id(i),)), depth + 1
        elif defs:
            start += latency(i)
        for name in defs:
            value = _Value(start, depth, loads)
            if i.guard is not None:
                old = self.values.get(name) or _Value(before=name)
                value = _Value(
                    max(start, old.ready), max(depth, old.depth), loads | old.loads, old.before
                )
            self._set(name, value)
        return start

    def _set(self, name: str, value: _Value) -> None:
        self.values[name] = value
        self.versions[name] = self.versions.get(name, 0) + 1


class _Order:
    """What memory orders in a block: no load passes a store that may be to the same place."""

    def __init__(self) -> None:
        self.fence = self.deepest = 0
        self.latest: dict[str, tuple[object, int]] = {}  # of a space: the one pointer, and depth
        self.places: dict[object, int] = {}

    def after(self, i: Instruction, depth: int, versions: dict[str, int]) -> int:
        """How many loads must have come back before `i`, of whose operands `depth` must."""
        if i.op in ("membar", "fence"):
            self.fence = self.deepest
        if not (_reads(i) or i.op in ("st", "red")):
            return depth
        space = "shared" if i.op == "ldmatrix" else _space(i)
        if space == "const" or "nc" in i.mods:
            return depth
        depth = max(depth, self.fence)
        pointer, place = _place(i, versions)
        reads = _reads(i) and not _copies(i)
        if reads:
            for other in SPACES:
                if "generic" in (space, other) or space == other:
                    of, stored = self.latest.get(other, (None, 0))
                    if of == pointer and space == other:
                        stored = self.places.get((space, place), 0)
                    depth = max(depth, stored)
        if i.op in ("st", "red", "atom"):
            of, stored = self.latest.get(space, (pointer, 0))
            self.latest[space] = pointer if of == pointer else None, max(stored, depth)
            self.places[space, place] = max(self.places.get((space, place), 0), depth)
        self.deepest = max(self.deepest, depth + reads)
        if reads and not {"acquire", "acq_rel"}.isdisjoint(i.mods):
            self.fence = max(self.fence, depth + 1)
        return depth


def _place(i: Instruction, versions: dict[str, int]) -> tuple[object, object]:
    """The pointer that an access goes through, and it with the offset."""
    for o in i.operands:
        if isinstance(o, Addr):
            base = o.base
            if isinstance(base, Reg | Sym):
                pointer = (base.name, versions.get(base.name, 0))
                return pointer, (pointer, o.offset)
    return "", ""
