"""Reads a kernel's structure out of its PTX: id, guard, operation, elements per thread.

The questions are those of the lesson, asked of any kernel: is the address of every store made
from block and thread ids; is every store reached only where an index was compared with a size;
how many additions and fused multiply-adds make one stored element; how many elements does one
thread store. Nothing is executed; the answers come from data and control dependence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.result import CodeLine, Structure
from grader.vgpu import program as programs
from grader.vgpu import ptx as text
from grader.vgpu.parse import parse
from grader.vgpu.program import Block, Body, defs_uses
from grader.vgpu.ptx import Addr, Imm, Instruction, Ptx, Reg, Sym, Vec

FLOAT_TYPES = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"}
COMPARISONS = {"lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "ne", "eq"}
BLOCK_IDS = ("%ctaid", "%clusterid")
THREAD_IDS = ("%tid", "%laneid")
ELEMENT_BYTES = 4

BLOCK, THREAD, SIZE, DATA = "block id", "thread id", "size", "data"


def analyse_ptx(ptx: str, entry: str, name: str, element_bytes: int = ELEMENT_BYTES) -> Structure:
    """The structure of one kernel of a PTX text; `name` is how a report calls it.

    Raises ptx.PtxError for malformed text, KeyError for a kernel it does not have.
    """
    module = parse(ptx)
    body = programs.build(module, entry).bodies[entry]
    return _Analysis(module, body, element_bytes).structure(name)


def analyse_job(
    request: dict[str, Any], blobs: Sequence[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    """In a sandboxed child: the structures of several kernels, one blob of PTX each."""
    found = []
    for asked, blob in zip(request["kernels"], blobs, strict=True):
        made = analyse_ptx(blob.decode(), asked["entry"], asked["name"])
        found.append(made.model_dump(mode="json"))
    return {"structures": found}, []


@dataclass
class _Store:
    """One store to global memory, with the instructions that make its address and value."""

    block: Block
    instruction: Instruction
    elements: int
    values: tuple[text.Operand, ...]
    looped: bool = False
    guards: list[Instruction] = field(default_factory=list)


class _Analysis:
    """The dependences of one kernel's body."""

    def __init__(self, module: Ptx, body: Body, element_bytes: int) -> None:
        self.module = module
        self.body = body
        self.element_bytes = element_bytes
        self.blocks = {block.id: block for block in body.blocks}
        self.made: dict[str, list[Instruction]] = {}
        for block in body.blocks:
            for instruction in block.instructions:
                for name in defs_uses(instruction)[0]:
                    self.made.setdefault(name, []).append(instruction)
        self.taint = self._taints()
        self.loops = _in_loops(body.blocks)
        self.controls = _controls(body.blocks)

    def structure(self, name: str) -> Structure:
        """Everything that is asked, about every store of the kernel."""
        stores = [store for block in self.body.blocks for store in self._stores(block)]
        identified = [store for store in stores if self._has_id(store)]
        guarded = [store for store in stores if store.guards]
        kinds: dict[str, int] = {}
        lines: list[Instruction] = []
        for store in stores:
            counted, made = self._operations(store.values[0])
            if sum(counted.values()) > sum(kinds.values()) or not kinds:
                kinds, lines = counted, made
        straight, looped = self._elements(stores)
        return Structure(
            name=name,
            entry=self.body.function.name,
            stores=len(stores),
            stores_with_id=len(identified),
            stores_guarded=len(guarded),
            adds=kinds.get("add", 0),
            fmas=kinds.get("fma", 0),
            other_operations=sum(kinds.values()) - kinds.get("add", 0) - kinds.get("fma", 0),
            elements_per_thread=straight,
            in_loop=looped,
            global_id_lines=self._lines(i for store in identified for i in self._id_makers(store)),
            bounds_check_lines=self._lines(i for store in guarded for i in store.guards),
            operation_lines=self._lines(lines),
            store_lines=self._lines(store.instruction for store in stores),
        )

    # -- data -----------------------------------------------------------------------------------

    def _taints(self) -> dict[str, frozenset[str]]:
        """What each register is made from: ids, sizes (scalars of the launch), loaded data."""
        taint: dict[str, frozenset[str]] = {}
        changed = True
        while changed:
            changed = False
            for name, makers in self.made.items():
                found = frozenset().union(*(self._made_from(i, taint) for i in makers))
                if found != taint.get(name, frozenset()):
                    taint[name] = found
                    changed = True
        return taint

    def _made_from(self, i: Instruction, taint: dict[str, frozenset[str]]) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for name in defs_uses(i)[1]:
            if name.startswith(BLOCK_IDS):
                found |= {BLOCK}
            elif name.startswith(THREAD_IDS):
                found |= {THREAD}
            found |= taint.get(name, frozenset())
        if i.op not in ("ld", "ldu", "atom"):
            return found
        if i.mods[:1] == ("param",):
            return frozenset({SIZE})
        # A load whose address is the same in every thread is a scalar given by reference.
        return frozenset({DATA}) if found & {BLOCK, THREAD} else frozenset({SIZE})

    def _of(self, operand: text.Operand) -> frozenset[str]:
        if isinstance(operand, Imm):
            return frozenset({SIZE})
        if isinstance(operand, Addr):
            return self._of(operand.base)
        if isinstance(operand, Reg):
            if operand.name.startswith(BLOCK_IDS):
                return frozenset({BLOCK})
            if operand.name.startswith(THREAD_IDS):
                return frozenset({THREAD})
            return self.taint.get(operand.name, frozenset())
        return frozenset({SIZE}) if isinstance(operand, Sym) else frozenset()

    def _has_id(self, store: _Store) -> bool:
        return {BLOCK, THREAD} <= self._of(store.instruction.operands[0])

    def _id_makers(self, store: _Store) -> list[Instruction]:
        """The instructions in which block and thread id first come together."""
        makers = []
        for i in self._slice(store.instruction.operands[0]):
            sources = [self._of(Reg(name)) for name in defs_uses(i)[1]]
            whole = frozenset().union(*sources)
            if {BLOCK, THREAD} <= whole and not any({BLOCK, THREAD} <= one for one in sources):
                makers.append(i)
        return makers

    def _slice(self, operand: text.Operand) -> list[Instruction]:
        """Every instruction the operand depends on, nearest first."""
        todo = list(programs.registers_of(operand))
        seen: set[str] = set()
        found: list[Instruction] = []
        while todo:
            name = todo.pop(0)
            if name in seen:
                continue
            seen.add(name)
            for i in self.made.get(name, ()):
                if all(i is not other for other in found):
                    found.append(i)
                    todo += defs_uses(i)[1]
        return found

    def _operations(self, value: text.Operand) -> tuple[dict[str, int], list[Instruction]]:
        """Floating-point operations that make a stored value, up to the loads it came from."""
        counted: dict[str, int] = {}
        lines = []
        todo = list(programs.registers_of(value))
        seen: set[str] = set()
        while todo:
            name = todo.pop(0)
            if name in seen:
                continue
            seen.add(name)
            for i in self.made.get(name, ()):
                if i.op in ("ld", "ldu"):
                    continue
                if FLOAT_TYPES & set(i.mods) and i.op not in ("mov", "cvt", "setp", "selp"):
                    kind = {"sub": "add", "mad": "fma"}.get(i.op, i.op)
                    counted[kind] = counted.get(kind, 0) + 1
                    lines.append(i)
                todo += defs_uses(i)[1]
        return counted, lines

    # -- control --------------------------------------------------------------------------------

    def _stores(self, block: Block) -> Iterable[_Store]:
        for i in block.instructions:
            if i.op not in ("st", "red") or not _is_global(i):
                continue
            stored = i.operands[1]
            values = stored.items if isinstance(stored, Vec) else (stored,)
            width = text.TYPE_BYTES.get(
                next((m for m in reversed(i.mods) if m in text.TYPE_BYTES), "b32"), 4
            )
            elements = max(1, len(values) * width // self.element_bytes)
            store = _Store(block, i, elements, tuple(values), block.id in self.loops)
            store.guards = self._guards(store)
            yield store

    def _guards(self, store: _Store) -> list[Instruction]:
        """The comparisons of an index with a size that the store waits for."""
        predicates = [] if store.instruction.guard is None else [store.instruction.guard.name]
        for block in self.controls.get(store.block.id, ()):
            guard = self.blocks[block].guard
            if guard is not None:
                predicates.append(guard.name)
        found = []
        for name in predicates:
            for i in self._slice(Reg(name)):
                if i.op != "setp" or not COMPARISONS & set(i.mods) or FLOAT_TYPES & set(i.mods):
                    continue
                left, right = (self._of(operand) for operand in i.operands[1:3])
                index = {BLOCK, THREAD}
                if bool(left & index) != bool(right & index) and (left | right) & {SIZE}:
                    found.append(i)
        return found

    def _elements(self, stores: list[_Store]) -> tuple[int, bool]:
        """Most elements stored on one way through the kernel, each loop taken once.

        Loops are left out where other stores stand outside them: they are the tail.
        """
        looped = any(store.looped for store in stores)
        outside = [store for store in stores if not store.looped]
        weight: dict[int, int] = {}
        for store in outside or stores:
            weight[store.block.id] = weight.get(store.block.id, 0) + store.elements
        return _heaviest(self.body.blocks, weight), looped

    # -- lines ----------------------------------------------------------------------------------

    def _lines(self, instructions: Iterable[Instruction]) -> tuple[CodeLine, ...]:
        """Source lines of instructions, each once, in order; the innermost of inlined code."""
        found: dict[tuple[str, int], None] = {}
        for i in instructions:
            name = self.module.files.get(i.loc.file, "?") if i.loc is not None else "<none>"
            if i.loc is not None and not name.startswith("<"):  # text of ours around a kernel
                found[_short(name), i.loc.line] = None
        return tuple(CodeLine(file=file, line=line) for file, line in sorted(found))


def _short(path: str) -> str:
    """The end of a path that a person needs: from the framework's own folder on."""
    found = re.search(r"(?:^|/)((?:mlx|c10|cupy)/.+)$", path)
    return found[1] if found else path.rpartition("/")[2]


def _is_global(i: Instruction) -> bool:
    return not {"shared", "local", "param", "const"} & {m.partition("::")[0] for m in i.mods}


def _in_loops(blocks: list[Block]) -> set[int]:
    """Blocks that can be reached from themselves."""
    reach = _reachable(blocks)
    return {block.id for block in blocks if block.id in reach[block.id]}


def _reachable(blocks: list[Block]) -> dict[int, set[int]]:
    """The blocks that can come after each block, itself only through a loop."""
    after: dict[int, set[int]] = {block.id: set(block.successors) for block in blocks}
    changed = True
    while changed:
        changed = False
        for block in blocks:
            whole = set(after[block.id])
            for one in after[block.id]:
                whole |= after.get(one, set())
            if whole != after[block.id]:
                after[block.id] = whole
                changed = True
    return after


def _controls(blocks: list[Block]) -> dict[int, set[int]]:
    """The branching blocks each block is control dependent on (Ferrante et al. 1987), transitively.

    B depends on X where B post-dominates a successor of X, but not X itself.
    """
    every = {block.id for block in blocks}
    post: dict[int, set[int]] = {block.id: set(every) for block in blocks}
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            after = [post[s] for s in block.successors]
            found = {block.id} | (set.intersection(*after) if after else set())
            if found != post[block.id]:
                post[block.id] = found
                changed = True
    direct: dict[int, set[int]] = {block.id: set() for block in blocks}
    for block in blocks:
        if block.guard is None or len(block.successors) < 2:
            continue
        for successor in block.successors:
            for one in post[successor]:
                if one == block.id or one not in post[block.id]:
                    direct[one].add(block.id)
    changed = True
    while changed:
        changed = False
        for one, found in direct.items():
            whole = found.union(*(direct[other] for other in found))
            if whole != found:
                direct[one] = whole
                changed = True
    return direct


def _heaviest(blocks: list[Block], weight: dict[int, int]) -> int:
    """The largest sum of weights on a way through the blocks that takes none of them twice."""
    best: dict[int, int] = {}
    order = {block.id: place for place, block in enumerate(blocks)}
    for block in reversed(blocks):
        # A branch back closes a loop: its blocks have been counted on the way in.
        ahead = [best[s] for s in block.successors if order[s] > order[block.id]]
        best[block.id] = weight.get(block.id, 0) + max(ahead, default=0)
    return best[blocks[0].id] if blocks else 0
