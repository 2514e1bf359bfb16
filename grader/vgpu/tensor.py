"""Shapes and fragment layouts of the matrix instructions, and how `mma` and `wmma` are lowered.

The arithmetic is `vg_mma` in tensor.c, whose docstring gives the layouts; `fragment` states the
same layout as arrays, so that `wmma.load` and `wmma.store` can address memory lane by lane.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grader.vgpu.emit import INT_OF_BYTES, V
from grader.vgpu.lower import Lowering
from grader.vgpu.lower_memory import (
    address,
    flags_of,
    get_bytes,
    loaded_shadow,
    put_address,
    put_bytes,
    space_of,
    store_shadow,
)
from grader.vgpu.program import Unsupported
from grader.vgpu.ptx import Instruction, Operand, Vec

Shape = tuple[int, int, int]

#: Codes of element types in `vg_mma`, and bits of an element. `b1` differs by its operation.
TYPE_CODES = {
    "f16": 0,
    "bf16": 1,
    "tf32": 2,
    "f32": 3,
    "f64": 4,
    "s8": 5,
    "u8": 6,
    "s4": 7,
    "u4": 8,
    "b1.xor": 9,
    "b1.and": 10,
    "s32": 11,
    "e4m3": 12,
    "e5m2": 13,
}
TYPE_BITS = {
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "f32": 32,
    "f64": 64,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
    "s32": 32,
    "e4m3": 8,
    "e5m2": 8,
}

#: Operand types of mma.sync with the shapes the PTX ISA gives them (.row.col, dense).
#: `m8n8k4` of f16 is another function, `vg_mma_m8n8k4_f16`, with layouts of its own.
MMA_SHAPES: dict[str, frozenset[Shape]] = {
    "f16": frozenset({(16, 8, 8), (16, 8, 16)}),
    "bf16": frozenset({(16, 8, 8), (16, 8, 16)}),
    "tf32": frozenset({(16, 8, 4), (16, 8, 8)}),
    "f64": frozenset({(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)}),
    "s8": frozenset({(8, 8, 16), (16, 8, 16), (16, 8, 32)}),
    "s4": frozenset({(8, 8, 32), (16, 8, 32), (16, 8, 64)}),
    "b1": frozenset({(8, 8, 128), (16, 8, 128), (16, 8, 256)}),
    "e4m3": frozenset({(16, 8, 16), (16, 8, 32)}),
}

#: Operand types of wmma with their shapes (PTX ISA, "Matrix Shape").
_LARGE = frozenset({(16, 16, 16), (32, 8, 16), (8, 32, 16)})
WMMA_SHAPES: dict[str, frozenset[Shape]] = {
    "f16": _LARGE,
    "bf16": _LARGE,
    "tf32": frozenset({(16, 16, 8)}),
    "f64": frozenset({(8, 8, 4)}),
    "s8": _LARGE,
    "s4": frozenset({(8, 8, 32)}),
    "b1": frozenset({(8, 8, 128)}),
}

#: The row of the tables above that a type shares.
_SAME_SHAPES = {"u8": "s8", "u4": "s4", "e5m2": "e4m3"}


def shapes(table: dict[str, frozenset[Shape]], operand: str) -> frozenset[Shape]:
    """The shapes `table` has for an operand type; empty for a type it lacks."""
    return table.get(_SAME_SHAPES.get(operand, operand), frozenset())


@dataclass(frozen=True, slots=True)
class Fragment:
    """Where each element of a warp's fragment lies in its matrix.

    `row` and `column` are int32 arrays of shape (slots, 32): slot s is element s % per_register of
    register s // per_register. Elements narrower than a byte come in whole registers, so their
    slots are 32-bit words: per_register is 1 and `column` (`row` for B) that of the first element.
    Registers from `unique` on repeat those before (f16 operands of wmma).
    """

    row: npt.NDArray[np.int32]
    column: npt.NDArray[np.int32]
    per_register: int
    registers: int
    unique: int


def fragment(matrix: str, shape: Shape, element: str, *, wmma: bool = False) -> Fragment:
    """The layout of matrix "a", "b" or "c" (also D) of an mma or wmma shape (m, n, k)."""
    m, n, k = shape
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[matrix]
    packed = max(1, 32 // TYPE_BITS[element])
    unique = rows * columns // 32 // packed
    lanes = np.arange(32, dtype=np.int32)
    group, place = lanes // 4, lanes % 4
    step = packed if TYPE_BITS[element] < 8 else 1
    slots_row, slots_column = [], []
    for register in range(unique):
        for e in range(0, packed, step):
            if matrix == "c":
                # Two neighbours in a row: two registers, or one register of two f16.
                pair, half = (register, e) if packed == 2 else divmod(register, 2)
                row = group + 8 * (pair % (m // 8))
                column = 2 * place + half + 8 * (pair // (m // 8))
            elif matrix == "a":
                row = group + 8 * (register % (m // 8))
                column = packed * (place + 4 * (register // (m // 8))) + e
            else:
                blocks = k // 4 // packed
                row = packed * (place + 4 * (register % blocks)) + e
                column = group + 8 * (register // blocks)
            slots_row.append(row)
            slots_column.append(column)
    registers = 8 if wmma and element == "f16" and matrix != "c" else unique
    return Fragment(
        np.stack(slots_row).astype(np.int32),
        np.stack(slots_column).astype(np.int32),
        1 if step > 1 else packed,
        registers,
        unique,
    )


# -- lowering -----------------------------------------------------------------------------------


def _shape(i: Instruction) -> Shape:
    for m in i.mods:
        if found := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", m):
            return int(found[1]), int(found[2]), int(found[3])
    raise Unsupported(i.text)


def _function(i: Instruction, table: dict[str, frozenset[Shape]], types: list[str]) -> str:
    """The C function for shape and types, after checking that the ISA has them together."""
    shape = _shape(i)
    d, a, b, c = types
    family = _SAME_SHAPES.get(a, a)
    accumulators = {"f16": {"f16", "f32"}, "e4m3": {"f16", "f32"}, "f64": {"f64"}}.get(
        family, {"f32"} if family in ("bf16", "tf32") else {"s32"}
    )
    # The formats of A and B may differ inside a family; so may C and D of f16.
    same = family == _SAME_SHAPES.get(b, b) and (a == b or family in ("s8", "s4", "e4m3"))
    mixed = family == "f16" and table is WMMA_SHAPES
    if shape not in shapes(table, a) or not same or not {c, d} <= accumulators:
        raise Unsupported(i.text)
    if c != d and not mixed:
        raise Unsupported(i.text)
    suffix = ""
    if a == "b1":
        suffix = "_and" if "and" in i.mods else "_xor"
    elif "satfinite" in i.mods and d == "s32":
        suffix = "_satfinite"
    m, n, k = shape
    return f"vg_mma_m{m}n{n}k{k}_{d}_{a}_{b}_{c}{suffix}"


def mma_function(i: Instruction) -> str:
    """The function of tensor.c that computes an `mma.sync`; `Unsupported` for what it lacks."""
    types = [m for m in i.mods if m in TYPE_BITS]
    layouts = [m for m in i.mods if m in ("row", "col")]
    if len(types) != 4 or len(layouts) != 2 or any(m.startswith(("sp", "kind")) for m in i.mods):
        raise Unsupported(i.text)
    if _shape(i) == (8, 8, 4) and types[1] == types[2] == "f16":
        d, _, _, c = types
        if (d, c) == ("f16", "f32"):
            raise Unsupported(i.text)
        return f"vg_mma_m8n8k4_{layouts[0]}_{layouts[1]}_{d}_f16_f16_{c}"
    if layouts != ["row", "col"]:
        raise Unsupported(i.text)
    return _function(i, MMA_SHAPES, types)


def wmma_function(i: Instruction) -> str:
    """The function of tensor.c that computes a `wmma.mma`; f16 leaves the types of A and B out."""
    types = [m for m in i.mods if m in TYPE_BITS]
    if len(types) == 2:
        types = [types[0], "f16", "f16", types[1]]
    if len(types) != 4:
        raise Unsupported(i.text)
    return _function(i, WMMA_SHAPES, types)


def wmma_memory(lo: Lowering, i: Instruction) -> None:
    """`wmma.load` and `wmma.store` (PTX ISA 9.7.14.3, 9.7.14.4): one checked access per element, or
    per register where its elements are neighbours in memory."""
    store = i.mods[0] == "store"
    matrix = {"a": "a", "b": "b", "c": "c", "d": "c"}.get(i.mods[1])
    element = next((m for m in i.mods if m in TYPE_BITS), "")
    column_major = "col" in i.mods
    if matrix is None or not element or i.guard is not None:
        raise Unsupported(i.text)
    shape = _shape(i)
    layout = fragment(matrix, shape, element, wmma=True)
    where, registers = i.operands[:2] if store else (i.operands[1], i.operands[0])
    names = registers.items if isinstance(registers, Vec) else (registers,)
    if len(names) != layout.registers:
        raise Unsupported(f"{i.text} with {len(names)} registers")
    rows, columns = {"a": shape[::2], "b": shape[:0:-1], "c": shape[:2]}[matrix]
    stride = lo.e.const("i64", rows if column_major else columns)
    if len(i.operands) > 2:
        stride = lo.e.resize(lo.read(i.operands[2], "i32"), "i64")
    access = _Access(
        lo, i, address(lo, i, where, space_of(i)), stride, column_major, element, store
    )
    for register, operand in enumerate(names[: layout.unique]):
        slots = range(register * layout.per_register, (register + 1) * layout.per_register)
        major = layout.row if column_major else layout.column
        together = all(bool((major[s] == major[slots[0]] + e).all()) for e, s in enumerate(slots))
        parts = [slots[0]] if together else list(slots)
        n = max(4, TYPE_BITS[element] // 8) if together else TYPE_BITS[element] // 8
        if store:
            access.write(operand, [(layout.row[s], layout.column[s]) for s in parts], n)
        else:
            v = access.read([(layout.row[s], layout.column[s]) for s in parts], n)
            for copy in range(register, layout.registers, layout.unique):
                lo.set(names[copy], v, i)


@dataclass(frozen=True, slots=True)
class _Access:
    """A matrix in memory, seen by one wmma instruction."""

    lo: Lowering
    i: Instruction
    base: V
    stride: V
    column_major: bool
    element: str
    store: bool

    def _address(self, row: npt.NDArray[np.int32], column: npt.NDArray[np.int32], n: int) -> int:
        """Hand the runtime the addresses of one element per lane; returns the site."""
        lo, e = self.lo, self.lo.e
        outer, inner = (column, row) if self.column_major else (row, column)
        index = e.binary("add", e.binary("mul", _lanes(outer), self.stride), _lanes(inner))
        bits = e.binary("mul", index, e.const("i64", TYPE_BITS[self.element]))
        offset = e.binary("lshr", bits, e.const("i64", 3))
        at = e.binary("add", self.base, offset)
        put_address(lo, self.i, type(at)(at.t, at.n, at.u, lo.join(self.base, self.stride)))
        return lo.site(
            self.i,
            "store" if self.store else "load",
            space=space_of(self.i),
            elem_bytes=n,
            flags=flags_of(self.i),
        )

    def read(self, parts: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]], n: int) -> V:
        """One register from its elements, lowest first."""
        lo, e = self.lo, self.lo.e
        total: V | None = None
        sources = []
        for k, (row, column) in enumerate(parts):
            lo.runtime("rt_load", self._address(row, column, n), lo.mask)
            v = get_bytes(lo, 0, INT_OF_BYTES[n])
            v = type(v)(v.t, v.n, v.u, loaded_shadow(lo, n, 0))
            sources.append(v)
            if len(parts) > 1:
                wide = e.resize(v, "i32")
                placed = e.binary("shl", wide, e.const("i32", 8 * n * k)) if k else wide
                v = placed if total is None else e.binary("or", total, placed)
            total = v
        assert total is not None
        return total if len(parts) == 1 else lo.with_shadow(total, *sources)

    def write(
        self,
        operand: Operand,
        parts: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]],
        n: int,
    ) -> None:
        """One register to its elements, lowest first."""
        lo, e = self.lo, self.lo.e
        whole = lo.read(operand, INT_OF_BYTES[max(4, n)])
        for k, (row, column) in enumerate(parts):
            moved = e.binary("lshr", whole, e.const(whole.t, 8 * n * k)) if k else whole
            part = e.resize(moved, INT_OF_BYTES[n])
            part = whole if len(parts) == 1 else lo.with_shadow(part, whole)
            site = self._address(row, column, n)
            put_bytes(lo, 0, part)
            store_shadow(lo, part, n, 0)
            lo.runtime("rt_store", site, lo.mask)


def _lanes(values: npt.NDArray[np.int32]) -> V:
    """One integer constant per lane."""
    return V("i64", "<" + ", ".join(f"i64 {int(v)}" for v in values) + ">")
