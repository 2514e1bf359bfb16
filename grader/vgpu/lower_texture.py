"""Texture fetches and surface accesses (PTX ISA 9.7.10, 9.7.11), of objects ("bindless").

The runtime (textures.c) finds the object at its handle; coordinates travel in rows of the scratch
area from `COORDINATES` on, results and values in those from 0.
"""

from __future__ import annotations

from grader.vgpu import layout as L
from grader.vgpu.emit import INT_OF_BYTES, Shadow, V
from grader.vgpu.lower import Lowering
from grader.vgpu.lower_memory import (
    SHADOW_ROW,
    elements,
    get_bytes,
    put_address,
    put_bytes,
    store_value,
    vector_of,
)
from grader.vgpu.program import Unsupported
from grader.vgpu.ptx import TYPE_BYTES, Addr, Instruction, Operand, Reg, Vec

COORDINATES = 8 * 128
AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2}
RESULTS = {"f32": 0, "u32": 1, "s32": 2}
EDGES = {"trap": 0, "clamp": 1, "zero": 2}
CHANNELS = "rgba"


def tex(lo: Lowering, i: Instruction) -> None:
    """`tex`, also with a level (there is one), and `tld4`."""
    shape, types = _shape(i), i.mods[-2:]
    result, at = RESULTS.get(types[0]), {"s32": 1, "f32": 0}.get(types[1])
    plain = len(i.operands) == 2 or (len(i.operands) == 3 and "level" in i.mods)
    wide = isinstance(i.operands[0], Vec) and len(i.operands[0].items) == 4
    gathers = next((CHANNELS.index(m) + 1 for m in i.mods if m in tuple(CHANNELS)), 0)
    if result is None or at is None or not (plain and wide) or (i.op == "tld4") != bool(gathers):
        raise Unsupported(i.text)
    if i.op == "tld4" and shape != "2d":
        raise Unsupported(i.text)
    _place(lo, i, i.operands[1], shape)
    how = AXES[shape] | (shape[0] == "a") << 2 | at << 3 | result << 4 | gathers << 8
    site = lo.site(i, "tex", space="global", elem_bytes=4, vector=how)
    lo.runtime("rt_tex", site, lo.active(i))
    values = [get_bytes(lo, 128 * k, "i32") for k in range(4)]
    undefined = [_undefined(lo, k) for k in range(4)]
    assert isinstance(i.operands[0], Vec), "seen above"
    for target, v, s in zip(i.operands[0].items, values, undefined, strict=True):
        lo.set(target, V(v.t, v.n, v.u, s), i)


def suld(lo: Lowering, i: Instruction) -> None:
    """`suld.b`."""
    n, count, how = _surface(i)
    targets = elements(i, i.operands[0])
    _place(lo, i, i.operands[1], _shape(i))
    site = lo.site(i, "surface_load", space="global", elem_bytes=n, vector=how)
    lo.runtime("rt_surface_load", site, lo.active(i))
    values = [get_bytes(lo, 32 * n * k, INT_OF_BYTES[n]) for k in range(count)]
    undefined = _undefined(lo, 0)
    for target, v in zip(targets, values, strict=True):
        lo.set(target, V(v.t, v.n, v.u, undefined), i)


def sust(lo: Lowering, i: Instruction) -> None:
    """`sust.b`."""
    n, _, how = _surface(i)
    _place(lo, i, i.operands[0], _shape(i))
    values = [store_value(lo, o, INT_OF_BYTES[n], f"b{8 * n}") for o in elements(i, i.operands[1])]
    for k, v in enumerate(values):
        put_bytes(lo, 32 * n * k, v)
    joined = lo.join(*values)
    if lo.shadow:
        row = lo.ptr(L.W_SCRATCH + 128 * SHADOW_ROW)
        lo.e.do(f"store i32 {joined.n if joined else 0}, ptr {row}")
    site = lo.site(i, "surface_store", space="global", elem_bytes=n, vector=how)
    lo.runtime("rt_surface_store", site, lo.active(i))


def _shape(i: Instruction) -> str:
    shape = next((m for m in i.mods if m in AXES), None)
    if shape is None:
        raise Unsupported(i.text)
    return shape


def _surface(i: Instruction) -> tuple[int, int, int]:
    """Bytes of an element, how many, and what the runtime must know besides."""
    shape = _shape(i)
    edge = next((EDGES[m] for m in i.mods if m in EDGES), EDGES["trap"])
    n = next((TYPE_BYTES[m] for m in i.mods if m in ("b8", "b16", "b32", "b64")), 0)
    count = vector_of(i)
    if i.mods[0] != "b" or not n or n * count > 16 or len(i.operands) != 2:
        raise Unsupported(i.text)
    return n, count, AXES[shape] | (shape[0] == "a") << 2 | count << 4 | edge << 8


def _place(lo: Lowering, i: Instruction, o: Operand, shape: str) -> None:
    """Hand over the object and the coordinates: a layer, if any, before the others."""
    count = AXES[shape] + (shape[0] == "a")
    if not isinstance(o, Addr) or not isinstance(o.base, Reg) or len(o.coordinates) < count:
        raise Unsupported(f"{i.text} without a texture object")
    put_address(lo, i, lo.read(o.base, "i64"))
    for k, coordinate in enumerate(o.coordinates[:count]):
        layer = shape[0] == "a" and k == 0
        v = lo.read(coordinate, "float" if i.mods[-1] == "f32" and not layer else "i32")
        lo.use(v, i, "address", lo.active(i) if lo.shadow and v.s else None)
        put_bytes(lo, COORDINATES + 128 * k, v)


def _undefined(lo: Lowering, k: int) -> Shadow | None:
    if not lo.shadow:
        return None
    return Shadow(lo.load_field(L.W_SCRATCH + 128 * SHADOW_ROW + 4 * k, "i32"))
