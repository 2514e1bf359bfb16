"""Values an instruction names without a register: constants and special registers."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from grader.vgpu import layout as L
from grader.vgpu.emit import V
from grader.vgpu.program import UNIFORM_SPECIAL, Unsupported
from grader.vgpu.ptx import Imm

if TYPE_CHECKING:
    from grader.vgpu.lower import Lowering


def special(lo: Lowering, name: str) -> V:
    """A special register (PTX ISA chapter 10) as an i32 or i64 value."""
    e = lo.e
    axis = {"x": 0, "y": 1, "z": 2}
    base, _, part = name.partition(".")
    if base in ("%tid", "%ctaid", "%ntid", "%nctaid") and part in axis:
        k = axis[part]
        if base == "%tid":
            n = e.op(f"load <32 x i32>, ptr {lo.ptr(L.W_TID + 128 * k)}, align 64")
            return V("i32", n)
        field_ = {"%ctaid": L.W_CTAID, "%ntid": L.W_NTID, "%nctaid": L.W_NCTAID}[base]
        return V("i32", lo.load_field(field_ + 4 * k, "i32"), True)
    if base in ("%tid", "%ctaid", "%ntid", "%nctaid") and not part:
        return special(lo, f"{base}.x")
    if name == "%laneid":
        return V("i32", "<" + ", ".join(f"i32 {k}" for k in range(32)) + ">")
    if base == "%lanemask_eq":
        return V("i32", "<" + ", ".join(f"i32 {_s32(1 << k)}" for k in range(32)) + ">")
    if base.startswith("%lanemask_"):
        which = base[len("%lanemask_") :]
        masks = {
            "lt": [(1 << k) - 1 for k in range(32)],
            "le": [(2 << k) - 1 for k in range(32)],
            "gt": [0xFFFFFFFF & ~((2 << k) - 1) for k in range(32)],
            "ge": [0xFFFFFFFF & ~((1 << k) - 1) for k in range(32)],
        }.get(which)
        if masks is not None:
            return V("i32", "<" + ", ".join(f"i32 {_s32(m)}" for m in masks) + ">")
    scalar = {
        "%warpid": L.W_WARPID, "%nwarpid": L.W_NWARPS, "%smid": L.W_SMID,
        "%dynamic_smem_size": L.W_DYNAMIC_SHARED, "%total_smem_size": L.W_DYNAMIC_SHARED,
    }.get(name)  # fmt: skip
    if scalar is not None:
        return V("i32", lo.load_field(scalar, "i32"), True)
    if name in ("%clock", "%clock_hi"):
        wide = _clock(lo)
        if name == "%clock_hi":
            wide = e.op(f"lshr i64 {wide}, 32")
        return V("i32", e.op(f"trunc i64 {wide} to i32"), True)
    if name in ("%clock64", "%globaltimer"):
        return V("i64", _clock(lo), True)
    if name in ("%globaltimer_lo", "%globaltimer_hi"):
        return V("i32", e.op(f"trunc i64 {_clock(lo)} to i32"), True)
    constants = {"%nsmid": 108, "%gridid": 1, "%reserved_smem_offset_1": 0}
    if name in constants:
        return e.const("i32" if name != "%gridid" else "i64", constants[name])
    if name.startswith("%envreg") and name in UNIFORM_SPECIAL:
        e.declare("rt_envreg", "i32 (ptr, i32)")
        return V("i32", e.op(f"call i32 @rt_envreg(ptr %w, i32 {name[7:]})"), True)
    if name == "%is_explicit_cluster":
        return V("pred", "0", True)
    raise Unsupported(f"special register {name}")


def _clock(lo: Lowering) -> str:
    lo.e.declare("rt_clock", "i64 (ptr)")
    return lo.e.op("call i64 @rt_clock(ptr %w)")


def immediate(o: Imm, t: str) -> int:
    """Bits of a constant in the type an instruction wants."""
    if o.kind == "int":
        return o.bits
    if o.kind == "f64" and t == "float":
        value = struct.unpack("<d", struct.pack("<Q", o.bits))[0]
        try:
            return int(struct.unpack("<I", struct.pack("<f", value))[0])
        except OverflowError:
            return 0x7F800000 if value > 0 else 0xFF800000
    if o.kind == "f32" and t == "double":
        value = struct.unpack("<f", struct.pack("<I", o.bits))[0]
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])
    return o.bits


def _s32(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value
