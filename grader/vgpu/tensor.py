"""Shapes and fragment layouts of the matrix instructions, for lowering `mma`, `wmma`, `ldmatrix`.

The arithmetic is `vg_mma` in tensor.c, whose docstring gives the layouts; `fragment` states the
same layout as arrays, so that `wmma.load` and `wmma.store` can address memory lane by lane.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
