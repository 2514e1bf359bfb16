"""Moves and conversions (PTX ISA 9.7.9: `mov`, `cvt`, `cvta`, `isspacep`)."""

from __future__ import annotations

from grader.vgpu import layout as L
from grader.vgpu.emit import BITS, INT_OF_BYTES, Shadow, V
from grader.vgpu.lower import Lowering
from grader.vgpu.lower_arith import (
    CANONICAL_NAN,
    canonical,
    double_to_float_odd,
    float_to_half,
    flush,
    half_to_float,
    runtime_math,
    saturate,
    signed,
    type_of,
    types_of,
)
from grader.vgpu.program import Unsupported
from grader.vgpu.ptx import TYPE_BYTES, Instruction, Operand, Sink, Sym, Vec

_FLOATS = {"f16", "bf16", "f32", "f64", "tf32"}
_FP8 = {"e4m3x2", "e5m2x2"}
_WINDOW = {"shared": L.SHARED_BASE, "local": L.LOCAL_BASE, "param": L.PARAM_BASE}


def mov(lo: Lowering, i: Instruction) -> None:
    """`mov`: registers, constants, addresses, packing and unpacking of vectors."""
    t = type_of(i)
    target, source = i.operands[0], i.operands[1]
    if t == "pred":
        lo.set(target, lo.read(source, "pred"), i)
    elif isinstance(target, Vec):
        _unpack(lo, i, target, source, TYPE_BYTES[t])
    elif isinstance(source, Vec):
        _pack(lo, i, target, source, TYPE_BYTES[t])
    elif isinstance(source, Sym) and lo.body.recursive and source.name in lo.frame.local:
        lo.set(target, _recursive_local(lo, source, f"i{8 * TYPE_BYTES[t]}"), i)
    else:
        lo.set(target, lo.read(source, INT_OF_BYTES[TYPE_BYTES[t]]), i)


def _recursive_local(lo: Lowering, source: Sym, t: str) -> V:
    """Each depth of recursion has its own copy of the depot."""
    e = lo.e
    offset, variable = lo.frame.local[source.name]
    slot = lo.frame.depth_slots[lo.body.function.name]
    depth = V("i32", e.op(f"load <32 x i32>, ptr {lo.ptr(slot)}, align 64"))
    size = (variable.size_bytes + 15) // 16 * 16
    below = e.binary("sub", depth, e.const("i32", 1))
    moved = e.binary("mul", below, e.const("i32", size))
    at = e.binary("add", moved, e.const("i32", offset + source.offset))
    return e.resize(at, t)


def _unpack(lo: Lowering, i: Instruction, target: Vec, source: Operand, size: int) -> None:
    e = lo.e
    n = size // len(target.items)
    whole = INT_OF_BYTES[size]
    v = lo.read(source, whole)
    for k, item in enumerate(target.items):
        if isinstance(item, Sink):
            continue
        moved = e.binary("lshr", v, e.const(whole, 8 * n * k)) if k else v
        part = e.resize(moved, INT_OF_BYTES[n])
        lo.set(item, V(part.t, part.n, part.u, lo.slice_shadow(v.s, n * k, n)), i)


def _pack(lo: Lowering, i: Instruction, target: Operand, source: Vec, size: int) -> None:
    e = lo.e
    n = size // len(source.items)
    whole = INT_OF_BYTES[size]
    parts = [lo.read(o, INT_OF_BYTES[n]) for o in source.items]
    total: V | None = None
    for k, part in enumerate(parts):
        wide = e.resize(part, whole)
        placed = e.binary("shl", wide, e.const(whole, 8 * n * k)) if k else wide
        total = placed if total is None else e.binary("or", total, placed)
    assert total is not None
    s = None
    if lo.shadow and any(p.s for p in parts):
        name = ""
        for k, part in enumerate(parts):
            piece = lo.bytes_of(part.s, n)
            index = ", ".join(
                f"i32 {j - n * k if n * k <= j < n * (k + 1) else n}" for j in range(size)
            )
            wide_s = e.op(
                f"shufflevector <{n} x i32> {piece}, <{n} x i32> zeroinitializer, "
                f"<{size} x i32> <{index}>"
            )
            name = wide_s if not name else e.op(f"or <{size} x i32> {name}, {wide_s}")
        s = Shadow(name, size)
    lo.set(target, V(total.t, total.n, total.u, s), i)


def cvta(lo: Lowering, i: Instruction) -> None:
    """`cvta[.to].space`: between generic addresses and a space's own."""
    e = lo.e
    space = next(m for m in i.mods if m.split("::")[0] in (*_WINDOW, "global", "const"))
    base = _WINDOW.get(space.split("::")[0], 0)
    t = INT_OF_BYTES[TYPE_BYTES[type_of(i)]]
    source = i.operands[1]
    if isinstance(source, Sym) and lo.body.recursive and source.name in lo.frame.local:
        a = _recursive_local(lo, source, t)
    else:
        a = lo.read(source, t)
    if base and t == "i64":
        v = e.binary("sub" if "to" in i.mods else "add", a, e.const(t, base))
        a = V(v.t, v.n, v.u, a.s)
    lo.set(i.operands[0], a, i)


def isspacep(lo: Lowering, i: Instruction) -> None:
    """`isspacep.space p, a`."""
    e = lo.e
    space = i.mods[0].split("::")[0]
    a = lo.read(i.operands[1], "i64")
    slot = e.binary("lshr", a, e.const("i64", L.SLOT_BITS))
    own = {"shared": L.SHARED_SLOT, "local": L.LOCAL_SLOT, "param": L.PARAM_SLOT}.get(space)
    if own is not None:
        v = e.compare("icmp eq", slot, e.const("i64", own))
    elif space == "global":
        v = e.compare("icmp uge", slot, e.const("i64", L.FIRST_VARIABLE_SLOT))
    elif space == "const":
        v = V("i1", "false", True)
    else:
        raise Unsupported(i.text)
    lo.set(i.operands[0], lo.with_shadow(v, a), i)


def mapa(lo: Lowering, i: Instruction) -> None:
    """`mapa`: without clusters every block is a cluster of one."""
    lo.set(i.operands[0], lo.read(i.operands[1], INT_OF_BYTES[TYPE_BYTES[type_of(i)]]), i)


# -- cvt ----------------------------------------------------------------------------------------


def cvt(lo: Lowering, i: Instruction) -> None:
    """`cvt[.rnd][.ftz][.sat].dtype.atype` (9.7.9.21)."""
    types = types_of(i)
    e = lo.e
    if any(m in _FP8 for m in i.mods):
        _cvt_fp8(lo, i)
        return
    if "pack" in i.mods:
        _cvt_pack(lo, i)
        return
    if len(types) < 2:
        raise Unsupported(i.text)
    dt, st = types[0], types[1]
    if any("x2" in m and m not in ("f16x2", "bf16x2") for m in i.mods):
        raise Unsupported(i.text)
    if dt in ("f16x2", "bf16x2"):
        sources = [lo.read(o, "float") for o in i.operands[1:3]]
        high, low = (_to_half(lo, i, v, dt) for v in sources)
        packed = e.binary(
            "or", e.resize(low, "i32"), e.binary("shl", e.resize(high, "i32"), e.const("i32", 16))
        )
        lo.set(i.operands[0], lo.with_shadow(packed, *sources), i)
        return
    if st in _FLOATS:
        a, wide = _float_source(lo, i, st)
        if dt in _FLOATS:
            v = _float_to_float(lo, i, dt, st, wide)
        else:
            v = _float_to_int(lo, i, dt, st, wide)
    else:
        n = INT_OF_BYTES[TYPE_BYTES[st]]
        a = lo.read(i.operands[1], n, signed(st))
        if dt in _FLOATS:
            v = _int_to_float(lo, i, dt, st, a)
        else:
            v = _int_to_int(lo, i, dt, st, a)
            lo.set(i.operands[0], V(v.t, v.n, v.u, _resized_shadow(lo, a, dt, st)), i, signed(dt))
            return
    lo.set(i.operands[0], lo.with_shadow(v, a), i, signed(dt))


def _cvt_pack(lo: Lowering, i: Instruction) -> None:
    """`cvt.pack.sat.type.abType[.b32] d, a, b[, c]` (9.7.9.22): b's and then a's saturated bits
    from the lowest up, the rest of d the low bits of c."""
    e = lo.e
    kind, source = i.mods[2:4]
    width = int(kind[1:])
    sources = [lo.read(o, "i32") for o in i.operands[1:]]
    least, most = (
        (-(1 << width - 1), (1 << width - 1) - 1) if kind[0] == "s" else (0, (1 << width) - 1)
    )
    parts = []
    for v in sources[:2]:
        clamped = e.resize(v, "i64", source == "s32")
        clamped = e.intrinsic("smax", "i64", clamped, e.const("i64", least))
        clamped = e.intrinsic("smin", "i64", clamped, e.const("i64", most))
        parts.append(e.binary("and", e.resize(clamped, "i32"), e.const("i32", (1 << width) - 1)))
    packed = e.binary("or", parts[1], e.binary("shl", parts[0], e.const("i32", width)))
    if width < 16:
        rest = e.binary("shl", sources[2], e.const("i32", 2 * width))
        packed = e.binary("or", packed, rest)
    lo.set(i.operands[0], lo.with_shadow(packed, *sources), i)


def _cvt_fp8(lo: Lowering, i: Instruction) -> None:
    """`cvt` of pairs of e4m3 or e5m2: from two f32 (the first becomes the upper one) or an f16x2,
    always saturating, and to an f16x2."""
    e = lo.e
    form = next(m for m in i.mods if m in _FP8)
    if i.mods[-1] == form:
        packed = lo.read(i.operands[1], "i16")
        v = runtime_math(lo, f"vg_{form}_to_f16x2_v32", "i32", [packed])
        lo.set(i.operands[0], lo.with_shadow(v, packed), i)
        return
    if i.mods[-1] == "f32":
        sources = [lo.read(o, "float") for o in i.operands[1:3]]
        values = sources
    elif i.mods[-1] == "f16x2":
        sources = [lo.read(i.operands[1], "i32")]
        high = e.binary("lshr", sources[0], e.const("i32", 16))
        values = [half_to_float(lo, e.resize(v, "i16"), "f16") for v in (high, sources[0])]
    else:
        raise Unsupported(i.text)
    if "relu" in i.mods:
        zero = e.const("float", 0)
        values = [e.select(e.compare("fcmp ole", v, zero), zero, v) for v in values]
    packed = runtime_math(lo, f"vg_f32_to_{form}_v32", "i16", values)
    lo.set(i.operands[0], lo.with_shadow(packed, *sources), i)


def _resized_shadow(lo: Lowering, a: V, dt: str, st: str) -> Shadow | None:
    if not lo.shadow or a.s is None:
        return None
    n, m = TYPE_BYTES[dt], TYPE_BYTES[st]
    if n <= m:
        return lo.slice_shadow(a.s, 0, n)
    if signed(st) or n < 2:
        return lo.join(a)
    index = ", ".join(f"i32 {k if k < m else m}" for k in range(n))
    if m == 1:
        one = lo.e.op(f"insertelement <1 x i32> poison, i32 {lo.any(a.s)}, i32 0")
    else:
        one = lo.bytes_of(a.s, m)
    return Shadow(
        lo.e.op(
            f"shufflevector <{m} x i32> {one}, <{m} x i32> zeroinitializer, <{n} x i32> <{index}>"
        ),
        n,
    )


def _float_source(lo: Lowering, i: Instruction, st: str) -> tuple[V, V]:
    """The operand and its value as float or double."""
    if st in ("f16", "bf16"):
        a = lo.read(i.operands[1], "i16")
        return a, half_to_float(lo, a, st)
    a = lo.read(i.operands[1], "float" if st in ("f32", "tf32") else "double")
    return a, flush(lo, a) if "ftz" in i.mods and st == "f32" else a


def _integral(lo: Lowering, i: Instruction, v: V) -> V:
    e = lo.e
    for mod, name in (("rni", "roundeven"), ("rzi", "trunc"), ("rmi", "floor"), ("rpi", "ceil")):
        if mod in i.mods:
            return e.intrinsic(name, v.t, v)
    return v


def _float_to_float(lo: Lowering, i: Instruction, dt: str, st: str, v: V) -> V:
    e = lo.e
    v = _integral(lo, i, v)
    if dt == "f64":
        out = canonical(lo, v if v.t == "double" else e.cast("fpext", v, "double"))
        return saturate(lo, out) if "sat" in i.mods else out
    if dt in ("f16", "bf16"):
        return _to_half(lo, i, v, dt)
    if dt == "tf32":
        bits = e.bitcast(v, "i32")
        rounded = e.binary("add", bits, e.const("i32", 0x1000))
        out = e.binary("and", rounded, e.const("i32", 0xFFFFE000))
        nan = e.compare("fcmp uno", v, v)
        return e.select(nan, e.const("i32", CANONICAL_NAN["float"]), out)
    out = _narrow(lo, i, v) if v.t == "double" else v
    out = canonical(lo, out)
    if "ftz" in i.mods:
        out = flush(lo, out)
    return saturate(lo, out) if "sat" in i.mods else out


def _narrow(lo: Lowering, i: Instruction, v: V) -> V:
    """double to float under the instruction's rounding."""
    e = lo.e
    near = e.cast("fptrunc", v, "float")
    mode = next((m for m in ("rz", "rm", "rp") if m in i.mods), None)
    if mode is None:
        return near
    return _step(lo, v, near, e.cast("fpext", near, "double"), mode)


def _step(lo: Lowering, exact: V, near: V, back: V, mode: str) -> V:
    """Move the nearest float one step where the direction of rounding wants the other side."""
    e = lo.e
    bits = e.bitcast(near, "i32")
    if mode == "rz":
        size, size_back = (e.intrinsic("fabs", "double", x) for x in (exact, back))
        wrong = e.compare("fcmp ogt", size_back, size)
        moved = e.binary("sub", bits, e.const("i32", 1))
    else:
        wrong = e.compare("fcmp ogt" if mode == "rm" else "fcmp olt", back, exact)
        negative = e.compare("icmp slt", bits, e.const("i32", 0))
        zero = e.compare("icmp eq", e.binary("shl", bits, e.const("i32", 1)), e.const("i32", 0))
        up = e.binary("add", bits, e.const("i32", 1))
        down = e.binary("sub", bits, e.const("i32", 1))
        tiny = e.const("i32", 1 if mode == "rp" else 0x80000001)
        moved = e.select(negative, up, down) if mode == "rm" else e.select(negative, down, up)
        moved = e.select(zero, tiny, moved)
    return e.bitcast(e.select(wrong, moved, bits), "float")


def _to_half(lo: Lowering, i: Instruction, v: V, dt: str) -> V:
    """float or double to f16 or bf16 bits under the instruction's rounding."""
    e = lo.e
    t = dt[:-2] if dt.endswith("x2") else dt
    if v.t == "double":
        v = double_to_float_odd(lo, v)
    if "ftz" in i.mods:
        v = flush(lo, v)
    if "sat" in i.mods:
        v = saturate(lo, v)
    if "relu" in i.mods:
        zero = e.const("float", 0)
        v = e.select(e.compare("fcmp ole", v, zero), zero, v)
    if any(m in ("rz", "rm", "rp") for m in i.mods):
        mode = next(m for m in ("rz", "rm", "rp") if m in i.mods)
        if t == "bf16" and mode == "rz":
            nan = e.compare("fcmp uno", v, v)
            bits = e.binary("lshr", e.bitcast(v, "i32"), e.const("i32", 16))
            return e.select(nan, e.const("i16", 0x7FFF), e.resize(bits, "i16"))
        near = float_to_half(lo, v, t)
        back = half_to_float(lo, near, t)
        wide = e.resize(near, "i32")
        fixed = _half_step(lo, v, wide, back, mode)
        return e.resize(fixed, "i16")
    return float_to_half(lo, v, t)


def _half_step(lo: Lowering, exact: V, bits: V, back: V, mode: str) -> V:
    e = lo.e
    one = e.const("i32", 1)
    sign = e.binary("and", bits, e.const("i32", 0x8000))
    negative = e.compare("icmp ne", sign, e.const("i32", 0))
    up, down = e.binary("add", bits, one), e.binary("sub", bits, one)
    if mode == "rz":
        wrong = e.compare(
            "fcmp ogt", e.intrinsic("fabs", "float", back), e.intrinsic("fabs", "float", exact)
        )
        return e.select(wrong, down, bits)
    zero = e.compare("icmp eq", e.binary("and", bits, e.const("i32", 0x7FFF)), e.const("i32", 0))
    if mode == "rm":
        wrong = e.compare("fcmp ogt", back, exact)
        moved = e.select(zero, e.const("i32", 0x8001), e.select(negative, up, down))
    else:
        wrong = e.compare("fcmp olt", back, exact)
        moved = e.select(zero, one, e.select(negative, down, up))
    return e.select(wrong, moved, bits)


def _float_to_int(lo: Lowering, i: Instruction, dt: str, st: str, v: V) -> V:
    """Out-of-range values clamp; NaN is 0, but the top bit alone where either side has 64 bits."""
    e = lo.e
    if not any(m in ("rni", "rzi", "rmi", "rpi") for m in i.mods):
        v = e.intrinsic("trunc", v.t, v)
    v = _integral(lo, i, v)
    t = INT_OF_BYTES[TYPE_BYTES[dt]]
    name = "fptosi.sat" if signed(dt) else "fptoui.sat"
    f = {"float": "f32", "double": "f64"}[v.t]
    prefix = "" if v.u else "v32"
    full = f"llvm.{name}.{prefix}{t}.{prefix}{f}"
    ty = t if v.u else f"<32 x {t}>"
    e.declare(full, f"{ty} ({v.ty})")
    out = V(t, e.op(f"call {ty} @{full}({v.full})"), v.u)
    if t == "i64" or st == "f64":
        nan = e.compare("fcmp uno", v, v)
        out = e.select(nan, e.const(t, 1 << (BITS[t] - 1)), out)
    return out


def _int_to_float(lo: Lowering, i: Instruction, dt: str, st: str, a: V) -> V:
    e = lo.e
    op = "sitofp" if signed(st) else "uitofp"
    mode = next((m for m in ("rz", "rm", "rp") if m in i.mods), None)
    if dt == "f64":
        if mode is not None and BITS[a.t] == 64:
            return runtime_math(lo, f"rt_cvt_{mode}_f64_{st}", "double", [a])
        return e.cast(op, a, "double")
    if mode is not None and BITS[a.t] == 64 and dt == "f32":
        return runtime_math(lo, f"rt_cvt_{mode}_f32_{st}", "float", [a])
    if dt == "f32":
        near = e.cast(op, a, "float")
        if mode is not None and BITS[a.t] == 32:
            exact = e.cast(op, a, "double")
            near = _step(lo, exact, near, e.cast("fpext", near, "double"), mode)
        return saturate(lo, near) if "sat" in i.mods else near
    if BITS[a.t] == 64:
        wide = runtime_math(lo, f"rt_cvt_odd_f32_{st}", "float", [a])
        return _to_half(lo, i, wide, dt)
    return _to_half(lo, i, e.cast(op, a, "double"), dt)


def _int_to_int(lo: Lowering, i: Instruction, dt: str, st: str, a: V) -> V:
    e = lo.e
    t = INT_OF_BYTES[TYPE_BYTES[dt]]
    if "sat" in i.mods and dt[0] in "us":
        width = 8 * TYPE_BYTES[dt]
        wide = "i64"
        v = e.resize(a, wide, signed(st))
        if signed(st):
            least, most = (
                (-(1 << (width - 1)), (1 << (width - 1)) - 1)
                if signed(dt)
                else (0, (1 << min(width, 63)) - 1)
            )
            v = e.intrinsic("smax", wide, v, e.const(wide, least))
            v = e.intrinsic("smin", wide, v, e.const(wide, most))
        else:
            most = (1 << (width - (1 if signed(dt) else 0))) - 1
            v = e.intrinsic("umin", wide, v, e.const(wide, most))
        return e.resize(v, t)
    return e.resize(a, t, signed(st))
