"""Comparison and selection (PTX ISA 9.7.6, 9.7.7), on 32 lanes at a time."""

from __future__ import annotations

from grader.vgpu.emit import V
from grader.vgpu.lower import ELEMENT, Lowering
from grader.vgpu.lower_arith import flush, half_to_float, halves, pack, signed, type_of, types_of
from grader.vgpu.program import Unsupported
from grader.vgpu.ptx import TYPE_BYTES, Instruction, Pair

_INT_CMP = {
    "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "lo": "lt",
    "ls": "le", "hi": "gt", "hs": "ge",
}  # fmt: skip
_FLOAT_CMP = {
    "eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "equ": "ueq",
    "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge", "num": "ord",
    "nan": "uno",
}  # fmt: skip


def _compare(lo: Lowering, i: Instruction, t: str, a: V, b: V) -> V:
    e = lo.e
    cmp = next((m for m in i.mods if m in _FLOAT_CMP or m in _INT_CMP), "eq")
    if t.startswith(("f", "bf")):
        if cmp not in _FLOAT_CMP:
            raise Unsupported(i.text)
        return e.compare(f"fcmp {_FLOAT_CMP[cmp]}", a, b)
    if cmp not in _INT_CMP:
        raise Unsupported(i.text)
    word = _INT_CMP[cmp]
    if word in ("eq", "ne"):
        return e.compare(f"icmp {word}", a, b)
    unsigned = not signed(t) or cmp in ("lo", "ls", "hi", "hs")
    return e.compare(f"icmp {'u' if unsigned else 's'}{word}", a, b)


def _comparands(lo: Lowering, i: Instruction, t: str) -> tuple[V, V]:
    if t in ("f16", "bf16"):
        a, b = (lo.read(o, "i16") for o in i.operands[1:3])
        return a, b
    el = ELEMENT[t]
    return lo.read(i.operands[1], el, signed(t)), lo.read(i.operands[2], el, signed(t))


def _widened(lo: Lowering, i: Instruction, t: str, v: V) -> V:
    if t in ("f16", "bf16"):
        return half_to_float(lo, v, t)
    if t == "f32" and "ftz" in i.mods:
        return flush(lo, v)
    return v


def setp(lo: Lowering, i: Instruction) -> None:
    """`setp.cmp[.bool] p|q, a, b[, c]` (9.7.6.2)."""
    t = type_of(i)
    e = lo.e
    if t in ("f16x2", "bf16x2"):
        _setp_packed(lo, i, t)
        return
    a, b = _comparands(lo, i, t)
    c = _compare(lo, i, t, _widened(lo, i, t, a), _widened(lo, i, t, b))
    m = lo.mask_of(c)
    results = [m.n, e.op(f"xor i32 {m.n}, -1")]
    sources = [a, b]
    boolean = next((x for x in i.mods if x in ("and", "or", "xor")), None)
    if boolean is not None:
        third = lo.read(i.operands[3], "pred")
        results = [e.op(f"{boolean} i32 {r}, {third.n}") for r in results]
        sources.append(third)
    first = i.operands[0]
    targets = (first.first, first.second) if isinstance(first, Pair) else (first,)
    shadow = lo.join(*sources)
    for target, r in zip(targets, results, strict=False):
        lo.set(target, V("pred", r, True, shadow), i)


def _setp_packed(lo: Lowering, i: Instruction, t: str) -> None:
    first = i.operands[0]
    if not isinstance(first, Pair) or any(m in ("and", "or", "xor") for m in i.mods):
        raise Unsupported(i.text)
    a, b = halves(lo, i.operands[1]), halves(lo, i.operands[2])
    for k, target in enumerate((first.first, first.second)):
        x, y = half_to_float(lo, a[k], t), half_to_float(lo, b[k], t)
        lo.set(target, lo.mask_of(_compare(lo, i, t, x, y)), i)


def set_(lo: Lowering, i: Instruction) -> None:
    """`set.cmp.dtype.stype` (9.7.6.1): 1.0 or all ones."""
    types = types_of(i)
    dt, st = types[-2], types[-1]
    e = lo.e
    if st in ("f16x2", "bf16x2"):
        a, b = halves(lo, i.operands[1]), halves(lo, i.operands[2])
        raw = [lo.read(o, "i32") for o in i.operands[1:3]]
        parts = []
        for k in (0, 1):
            c = _compare(lo, i, st, half_to_float(lo, a[k], st), half_to_float(lo, b[k], st))
            one = {"f16x2": 0x3C00, "bf16x2": 0x3F80}.get(dt, 0xFFFF)
            parts.append(e.select(c, e.const("i16", one), e.const("i16", 0)))
        lo.set(i.operands[0], lo.with_shadow(pack(lo, *parts), *raw), i)
        return
    x, y = _comparands(lo, i, st)
    c = _compare(lo, i, st, _widened(lo, i, st, x), _widened(lo, i, st, y))
    boolean = next((m for m in i.mods if m in ("and", "or", "xor")), None)
    if boolean is not None:
        c = e.binary(boolean, c, lo.bools(lo.read(i.operands[3], "pred")))
    el = f"i{8 * TYPE_BYTES[dt]}"
    one = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}.get(dt, -1)
    v = e.select(c, e.const(el, one), e.const(el, 0))
    lo.set(i.operands[0], lo.with_shadow(v, x, y), i)


def selp(lo: Lowering, i: Instruction) -> None:
    """`selp d, a, b, p` (9.7.6.3)."""
    t = f"i{8 * TYPE_BYTES[type_of(i)]}"
    a, b, p = lo.read(i.operands[1], t), lo.read(i.operands[2], t), lo.read(i.operands[3], "pred")
    v = lo.e.select(lo.bools(p), a, b)
    s = None
    if lo.shadow:
        from grader.vgpu.emit import Shadow

        s = lo._blend_shadow(a, b, p.n)
        undecided = lo.any(p.s)
        if undecided is not None:
            if s is None:
                s = Shadow(undecided)
            elif s.bytes:
                both = lo.bytes_of(Shadow(undecided), s.bytes)
                s = Shadow(lo.e.op(f"or <{s.bytes} x i32> {s.n}, {both}"), s.bytes)
            else:
                s = Shadow(lo.e.op(f"or i32 {s.n}, {undecided}"))
    lo.set(i.operands[0], V(v.t, v.n, v.u, s), i)


def slct(lo: Lowering, i: Instruction) -> None:
    """`slct.dtype.ctype d, a, b, c`: a when c >= 0 (9.7.6.4)."""
    e = lo.e
    types = types_of(i)
    t = f"i{8 * TYPE_BYTES[types[0]]}"
    a, b = lo.read(i.operands[1], t), lo.read(i.operands[2], t)
    c = lo.read(i.operands[3], ELEMENT[types[1]])
    if types[1] == "f32":
        c2 = flush(lo, c) if "ftz" in i.mods else c
        take = e.compare("fcmp oge", c2, e.const("float", 0))
    else:
        take = e.compare("icmp sge", c, e.const("i32", 0))
    lo.set(i.operands[0], lo.with_shadow(e.select(take, a, b), a, b, c), i)
