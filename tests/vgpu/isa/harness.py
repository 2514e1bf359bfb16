"""Runs one instruction over many operands: a kernel loads them, applies it and stores the result.

An `Op` names the instruction with its operands in braces, `"add.s32 {d}, {a}, {b};"`, the PTX
types of result and operands, and a reference that maps Python numbers of one lane to a number:
integers are exact, signed or not as their type says, floats hold every format's values.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from grader.vgpu import Memory, Module, launch
from tests.vgpu.isa import exact

BITS = {
    "u8": 8, "s8": 8, "b8": 8, "u16": 16, "s16": 16, "b16": 16, "u32": 32, "s32": 32, "b32": 32,
    "u64": 64, "s64": 64, "b64": 64, "f16": 16, "bf16": 16, "f16x2": 32, "bf16x2": 32, "f32": 32,
    "f64": 64, "pred": 32,
}  # fmt: skip
REGISTER = {8: "b16", 16: "b16", 32: "b32", 64: "b64"}
WORD = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"


@dataclass(frozen=True)
class Op:
    """An instruction (or a few), the types it works on and what it computes.

    `near` is an error bound for approximate instructions: a function of result and reference that
    says whether they are close enough; else results agree to the bit (all NaNs of a result count
    as the canonical one only where `any_nan`).
    """

    text: str
    out: str
    inputs: tuple[str, ...]
    reference: Callable[..., Any]
    near: Callable[[float, float], bool] | None = None
    any_nan: bool = False
    operands: tuple[Any, ...] | None = None
    declare: str = ""

    def __str__(self) -> str:
        return self.text.splitlines()[-1].rstrip(";").replace("{", "").replace("}", "")


def register_type(kind: str) -> str:
    """The register that holds a value of a PTX type."""
    if kind in ("f32", "f64"):
        return kind
    return "pred" if kind == "pred" else REGISTER[BITS[kind]]


def kernel_text(text: str, out: str, inputs: Sequence[str], declare: str = "") -> str:
    """A kernel `k(p0, p1, …, out)`: lane i loads its operands at i, and stores the result at i."""
    letters = "abcdef"[: len(inputs)]
    names = {letter: f"%{letter}" for letter in letters} | {"d": "%out"}
    lines = [f".visible .entry k({', '.join(f'.param .u64 p{n}' for n in range(len(inputs) + 1))})"]
    lines += ["{", ".reg .u64 %at, %base, %index;", ".reg .u32 %i, %nt, %ct;", declare]
    lines += [f".reg .{register_type(kind)} %{x};" for x, kind in zip(letters, inputs, strict=True)]
    lines += [f".reg .{register_type(out)} %out;", ".reg .b32 %word;"]
    lines += ["mov.u32 %i, %tid.x;", "mov.u32 %nt, %ntid.x;", "mov.u32 %ct, %ctaid.x;"]
    lines += ["mad.lo.u32 %i, %ct, %nt, %i;", "cvt.u64.u32 %index, %i;"]
    for n, (letter, kind) in enumerate(zip(letters, inputs, strict=True)):
        lines += [f"ld.param.u64 %base, [p{n}];"]
        lines += [f"mad.lo.u64 %at, %index, {BITS[kind] // 8}, %base;"]
        if kind == "pred":
            lines += ["ld.global.b32 %word, [%at];", f"setp.ne.u32 %{letter}, %word, 0;"]
        else:
            load = kind if kind in ("f32", "f64", "s8", "u8") else f"b{BITS[kind]}"
            lines += [f"ld.global.{load} %{letter}, [%at];"]
    lines += [text.format(**names)]
    lines += [f"ld.param.u64 %base, [p{len(inputs)}];"]
    lines += [f"mad.lo.u64 %at, %index, {BITS[out] // 8}, %base;"]
    if out == "pred":
        lines += ["selp.b32 %word, 1, 0, %out;", "st.global.b32 [%at], %word;"]
    else:
        store = out if out in ("f32", "f64") else f"b{BITS[out]}"
        lines += [f"st.global.{store} [%at], %out;"]
    return HEADER + "\n".join([*lines, "ret;", "}", ""])


@functools.cache
def compiled(text: str) -> Any:
    """The kernel `k` of a PTX text, translated once."""
    return Module.from_ptx(text).kernel("k")


def run_text(
    text: str, arrays: Sequence[np.ndarray], out: np.ndarray, *, block: int = 32
) -> np.ndarray:
    """Launch `k(arrays…, out)` with one thread per element of `out`; must finish faultless."""
    memory = Memory()
    pointers = [memory.allocate(x, name=f"p{n}", access="in") for n, x in enumerate(arrays)]
    target = memory.allocate(out, name="out", access="out")
    grid = max(1, len(out) // block)
    done = launch(compiled(text), grid, block, [*pointers, target], memory=memory, checks="all")
    assert done.ended == "finished", (done.ended, done.reason)
    assert not done.faults, done.faults
    return memory.read(target)


def run(op: Op, columns: Sequence[Sequence[int]]) -> list[int]:
    """The result bits of an instruction for operand bits given column by column."""
    count = len(columns[0])
    padded = count + -count % 32
    arrays = []
    for kind, column in zip(op.inputs, columns, strict=True):
        word = WORD[BITS[kind]]
        array = np.zeros(padded, word)
        array[:count] = np.array([int(bits) for bits in column], np.uint64).astype(word)
        array[count:] = array[0]
        arrays.append(array)
    out = np.zeros(padded, WORD[BITS[op.out]])
    text = kernel_text(op.text, op.out, op.inputs, op.declare)
    return [int(bits) for bits in run_text(text, arrays, out)[:count]]


def number(bits: int, kind: str) -> Any:
    """Operand bits as the Python number the reference gets."""
    if kind in exact.FORMATS:
        return exact.decode(bits, kind)
    if kind == "pred":
        return bool(bits)
    if kind.startswith("s") and bits >> (BITS[kind] - 1):
        return bits - (1 << BITS[kind])
    return bits


def result_bits(value: Any, kind: str) -> int:
    """A reference's number as bits."""
    if kind in exact.FORMATS:
        return exact.encode(value, kind)
    return int(value) & ((1 << BITS[kind]) - 1)


def _is_nan(bits: int, kind: str) -> bool:
    return kind in exact.FORMATS and math.isnan(exact.decode(bits, kind))


def check(op: Op, rows: Sequence[Sequence[int]]) -> None:
    """Compare instruction and reference for operand bits given row by row."""
    actual = run(op, list(zip(*rows, strict=True)))
    for row, got in zip(rows, actual, strict=True):
        numbers = [number(bits, kind) for bits, kind in zip(row, op.inputs, strict=True)]
        wanted = op.reference(*numbers)
        if wanted is None:  # the ISA leaves it open
            continue
        if op.near is not None:
            value = exact.decode(got, op.out)
            if math.isnan(wanted):
                assert got == exact.CANONICAL[op.out], (str(op), numbers, hex(got))
            else:
                assert op.near(value, wanted), (str(op), numbers, value, wanted)
            continue
        expected = result_bits(wanted, op.out)
        if op.any_nan and _is_nan(got, op.out) and _is_nan(expected, op.out):
            continue
        assert got == expected, (str(op), numbers, hex(got), hex(expected))


# -- operands -----------------------------------------------------------------------------------


def _float_edges(kind: str) -> list[int]:
    """Zeros, subnormals, ones, halves, the largest, infinities, quiet and signalling NaNs."""
    width, fraction = BITS[kind], exact.FORMATS[kind][0] - 1
    exponent_bits = width - 1 - fraction
    infinity = ((1 << exponent_bits) - 1) << fraction
    one = ((1 << (exponent_bits - 1)) - 1) << fraction
    positive = [
        0, 1, 2, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1, one - 1, one, one + 1,
        one + (1 << fraction), one - (1 << fraction), one | 1 << (fraction - 1), infinity - 1,
        infinity, infinity | 1, infinity | 1 << (fraction - 1), (1 << (width - 1)) - 1,
    ]  # fmt: skip
    return positive + [bits | 1 << (width - 1) for bits in positive]


def _integer_edges(width: int) -> list[int]:
    """Small numbers, shift counts about every width, extremes of both signs."""
    top = 1 << (width - 1)
    small = [0, 1, 2, 3, 7, 8, 15, 16, 23, 24, 31, 32, 33, 63, 64, 65, 127]
    large = [128, 255, 256, 32767, 32768, 65535, 65536, top - 1, top, top + 1]
    negative = [-1, -2, -7, -31, -32, -33, -128, -32768]
    return sorted({x & (2 * top - 1) for x in (*small, *large, *negative)})


def edges(kind: str) -> list[int]:
    """Operand bits at which instructions of this type go wrong."""
    if kind == "pred":
        return [0, 1]
    if kind in exact.FORMATS:
        return _float_edges(kind)
    if kind in ("f16x2", "bf16x2"):
        halves = _float_edges(kind[:-2])
        return [a | b << 16 for a, b in zip(halves, halves[3:] + halves[:3], strict=True)]
    return _integer_edges(BITS[kind])


def bits_of(kind: str) -> st.SearchStrategy[int]:
    """Bits of a type: edges, small numbers and anything."""
    if kind == "pred":
        return st.integers(0, 1)
    anything = st.integers(0, (1 << BITS[kind]) - 1)
    special = st.sampled_from(edges(kind))
    if kind in exact.FORMATS:
        fraction = exact.FORMATS[kind][0] - 1
        bias = ((1 << (BITS[kind] - 2 - fraction)) - 1) << fraction
        near_one = st.integers(bias - (12 << fraction), bias + (12 << fraction))
        return st.one_of(special, anything, near_one)
    return st.one_of(special, anything, st.integers(0, 80))


def rows_of(op: Op, most: int = 64) -> st.SearchStrategy[list[tuple[int, ...]]]:
    """Several rows of operands of an instruction."""
    columns = op.operands or tuple(bits_of(kind) for kind in op.inputs)
    return st.lists(st.tuples(*columns), min_size=1, max_size=most)


def edge_rows(op: Op, most: int = 2048) -> list[tuple[int, ...]]:
    """All combinations of edges, thinned evenly to `most`."""
    if op.operands:
        return []
    lists = [edges(kind) for kind in op.inputs]
    total = math.prod(map(len, lists))
    step = max(1, total // most)
    if step > 1:
        step |= 1
    rows = []
    for index in range(0, total, step):
        row, rest = [], index
        for column in lists:
            rest, k = divmod(rest, len(column))
            row.append(column[k])
        rows.append(tuple(row))
    return rows
