"""Arithmetic (PTX ISA 9.7.1-9.7.5), on 32 lanes at a time.

Results that are NaN become the canonical NaN of their type, so that bits agree on every machine.
"""

from __future__ import annotations

from collections.abc import Callable

from grader.vgpu import layout as L
from grader.vgpu.emit import BITS, INT_OF_FLOAT, V
from grader.vgpu.lower import ELEMENT, Lowering
from grader.vgpu.program import Unsupported
from grader.vgpu.ptx import TYPE_BYTES, Imm, Instruction, Operand, Reg

CANONICAL_NAN = {"float": 0x7FFFFFFF, "double": 0x7FF8000000000000, "half": 0x7FFF}
DIRECTED = {"rz": 1, "rm": 2, "rp": 3}


def type_of(i: Instruction) -> str:
    """The last type among the modifiers."""
    for m in reversed(i.mods):
        if m in TYPE_BYTES:
            return m
    raise Unsupported(f"{i.text} without a type")


def types_of(i: Instruction) -> list[str]:
    """All types among the modifiers, in order."""
    return [m for m in i.mods if m in TYPE_BYTES]


def signed(t: str) -> bool:
    """Whether the PTX type is a signed integer."""
    return t.startswith("s")


# -- floating point -----------------------------------------------------------------------------


def canonical(lo: Lowering, v: V) -> V:
    """Replace every NaN by the canonical one."""
    # On the integer bits: LLVM takes one NaN for as good as another.
    e = lo.e
    t = INT_OF_FLOAT[v.t]
    bits = e.select(e.compare("fcmp uno", v, v), e.const(t, CANONICAL_NAN[v.t]), e.bitcast(v, t))
    return e.bitcast(bits, v.t)


def flush(lo: Lowering, v: V) -> V:
    """Subnormal f32 to zero of the same sign (.ftz)."""
    e = lo.e
    bits = e.bitcast(v, "i32")
    size = e.binary("and", bits, e.const("i32", 0x7FFFFFFF))
    small = e.compare("icmp ult", size, e.const("i32", 0x00800000))
    zero = e.binary("and", bits, e.const("i32", 0x80000000))
    return e.bitcast(e.select(small, zero, bits), "float")


def flush_half(lo: Lowering, v: V) -> V:
    """Subnormal f16 bits (i16) to zero of the same sign (.ftz)."""
    e = lo.e
    size = e.binary("and", v, e.const("i16", 0x7FFF))
    small = e.compare("icmp ult", size, e.const("i16", 0x0400))
    return e.select(small, e.binary("and", v, e.const("i16", 0x8000)), v)


def saturate(lo: Lowering, v: V) -> V:
    """Clamp to [0, 1]; NaN gives +0 (.sat)."""
    e = lo.e
    one_bits = {"float": 0x3F800000, "double": 0x3FF0000000000000, "half": 0x3C00}[v.t]
    zero, one = e.const(v.t, 0), e.const(v.t, one_bits)
    above = e.select(e.compare("fcmp ogt", v, zero), v, zero)
    return e.select(e.compare("fcmp olt", above, one), above, one)


def half_to_float(lo: Lowering, v: V, t: str) -> V:
    """f16 or bf16 (as i16 or half) to float, exactly."""
    e = lo.e
    if t.startswith("bf16"):
        wide = e.resize(e.bitcast(v, "i16"), "i32")
        return e.bitcast(e.binary("shl", wide, e.const("i32", 16)), "float")
    return e.cast("fpext", e.bitcast(v, "half"), "float")


def float_to_half(lo: Lowering, v: V, t: str) -> V:
    """float to f16 or bf16 bits (i16), to nearest even, NaN canonical."""
    e = lo.e
    nan = e.compare("fcmp uno", v, v)
    if t.startswith("bf16"):
        bits = e.bitcast(v, "i32")
        odd = e.binary("and", e.binary("lshr", bits, e.const("i32", 16)), e.const("i32", 1))
        bias = e.binary("add", odd, e.const("i32", 0x7FFF))
        out = e.binary("lshr", e.binary("add", bits, bias), e.const("i32", 16))
        h = e.resize(out, "i16")
    else:
        h = e.bitcast(e.cast("fptrunc", v, "half"), "i16")
    return e.select(nan, e.const("i16", 0x7FFF), h)


def double_to_float_odd(lo: Lowering, v: V) -> V:
    """double to float rounded to odd: a later rounding to a shorter type is then exact."""
    e = lo.e
    near = e.cast("fptrunc", v, "float")
    back = e.cast("fpext", near, "double")
    bits = e.bitcast(near, "i32")
    exact = e.compare("fcmp oeq", back, v)
    size = e.intrinsic("fabs", "double", v)
    size_back = e.intrinsic("fabs", "double", back)
    over = e.compare("fcmp ogt", size_back, size)
    down = e.select(over, e.binary("sub", bits, e.const("i32", 1)), bits)
    odd = e.binary("or", down, e.const("i32", 1))
    keep = e.compare("fcmp uno", v, v)
    fixed = e.select(exact, bits, odd)
    return e.bitcast(e.select(keep, bits, fixed), "float")


def halves(lo: Lowering, o: Operand) -> tuple[V, V]:
    """Low and high 16 bits of a packed operand."""
    e = lo.e
    v = lo.read(o, "i32")
    low = e.resize(v, "i16")
    high = e.resize(e.binary("lshr", v, e.const("i32", 16)), "i16")
    return low, high


def pack(lo: Lowering, low: V, high: V) -> V:
    e = lo.e
    a = e.resize(low, "i32")
    b = e.binary("shl", e.resize(high, "i32"), e.const("i32", 16))
    return e.binary("or", a, b)


FloatOp = Callable[[Lowering, Instruction, list[V]], V]


def floating(lo: Lowering, i: Instruction, t: str, fn: FloatOp, sources: int) -> None:
    """Read `sources` operands of float type `t`, apply, write the result."""
    operands = i.operands[1 : 1 + sources]
    flushes = "ftz" in i.mods and t in ("f16", "f16x2")

    def on_halves(halves: list[V]) -> V:
        if flushes:
            halves = [flush_half(lo, v) for v in halves]
        args = [half_to_float(lo, v, t) for v in halves]
        out = float_to_half(lo, _finish_half(lo, i, fn(lo, i, args)), t)
        return flush_half(lo, out) if flushes else out

    if t in ("f16x2", "bf16x2"):
        parts = [halves(lo, o) for o in operands]
        raw = [lo.read(o, "i32") for o in operands]
        out = [on_halves([p[k] for p in parts]) for k in (0, 1)]
        lo.set(i.operands[0], lo.with_shadow(pack(lo, *out), *raw), i)
        return
    if t in ("f16", "bf16"):
        raw = [lo.read(o, "i16") for o in operands]
        lo.set(i.operands[0], lo.with_shadow(on_halves(raw), *raw), i)
        return
    args = [lo.read(o, ELEMENT[t]) for o in operands]
    values = [flush(lo, v) for v in args] if "ftz" in i.mods and t == "f32" else args
    v = canonical(lo, fn(lo, i, values))
    if "ftz" in i.mods and t == "f32":
        v = flush(lo, v)
    if "sat" in i.mods:
        v = saturate(lo, v)
    lo.set(i.operands[0], lo.with_shadow(v, *args), i)


def _finish_half(lo: Lowering, i: Instruction, v: V) -> V:
    if "sat" in i.mods:
        v = saturate(lo, v)
    if "relu" in i.mods:
        e = lo.e
        zero = e.const("float", 0)
        negative = e.compare("fcmp ole", v, zero)
        v = e.select(negative, zero, v)
    return v


def runtime_math(lo: Lowering, name: str, out: str, args: list[V]) -> V:
    """Call `name(dst, a, b, c)` of the runtime over arrays of 32 values in scratch memory."""
    e = lo.e
    places = []
    for k, v in enumerate(args):
        at = lo.ptr(L.W_SCRATCH + 1024 + 512 * k)
        e.do(f"store {e.vector(v).full}, ptr {at}, align 64")
        places.append(at)
    dst = lo.ptr(L.W_SCRATCH)
    e.declare(name, "void (" + ", ".join(["ptr"] * (len(args) + 1)) + ")")
    e.do(f"call void @{name}({', '.join(f'ptr {p}' for p in [dst, *places])})")
    return V(out, e.op(f"load <32 x {out}>, ptr {dst}, align 64"))


def _directed(lo: Lowering, i: Instruction, op: str, t: str, args: list[V]) -> V | None:
    """Add, multiply, fma, divide and square root with a rounding other than to nearest."""
    mode = next((m for m in i.mods if m in DIRECTED), None)
    if mode is None:
        return None
    return runtime_math(lo, f"rt_{op}_{mode}_{t}", ELEMENT[t], args)


def add(lo: Lowering, i: Instruction) -> None:
    """`add`, `sub` (9.7.1.1, 9.7.3.3)."""
    t = type_of(i)
    if t.startswith(("f", "bf")):

        def fn(lo: Lowering, i: Instruction, a: list[V]) -> V:
            if i.op == "sub" and t in ("f32", "f64") and any(m in DIRECTED for m in i.mods):
                a = [a[0], _neg(lo, a[1])]
                return _directed(lo, i, "add", t, a)  # type: ignore[return-value]
            directed = _directed(lo, i, "add", t, a)
            return directed or lo.e.binary("fadd" if i.op == "add" else "fsub", a[0], a[1])

        floating(lo, i, t, fn, 2)
        return
    if t in ("u16x2", "s16x2"):
        raise Unsupported(i.text)
    _add_int(lo, i, t)


def _neg(lo: Lowering, v: V) -> V:
    return V(v.t, lo.e.op(f"fneg {v.full}"), v.u)


def _add_int(lo: Lowering, i: Instruction, t: str) -> None:
    e = lo.e
    el = ELEMENT[t]
    a, b = lo.read(i.operands[1], el, signed(t)), lo.read(i.operands[2], el, signed(t))
    base, offset = i.operands[1], i.operands[2]
    if el == "i64" and i.mods == (t,) and isinstance(base, Reg) and isinstance(offset, Imm):
        at = lo.stack_offset(base.name, offset.bits)
        if at is not None and i.op == "add":
            lo.set(i.operands[0], e.const("i64", at), i)
            return
    op = "add" if i.op in ("add", "addc") else "sub"
    carry_in = i.op in ("addc", "subc")
    if "cc" in i.mods or carry_in:
        wide = {"i32": "i64", "i64": "i128"}[el]
        x, y = e.resize(a, wide), e.resize(b, wide)
        r = e.binary(op, x, y)
        if carry_in:
            c = e.resize(lo.bools(carry(lo)), wide)
            r = e.binary(op, r, c)
        out = e.resize(r, el)
        if "cc" in i.mods:
            over = e.binary("lshr", r, V(wide, str(BITS[el]), True))
            set_carry(lo, e.compare("icmp ne", over, V(wide, "0", True)))
        lo.set(i.operands[0], lo.with_shadow(out, a, b), i)
        return
    if "sat" in i.mods:
        v = e.intrinsic("sadd.sat" if op == "add" else "ssub.sat", el, a, b)
    else:
        v = e.binary(op, a, b)
    lo.set(i.operands[0], lo.with_shadow(v, a, b), i)


def carry(lo: Lowering) -> V:
    """CC.CF as a lane mask."""
    return lo.values.get("CC.CF", V("pred", "0", True))


def set_carry(lo: Lowering, v: V) -> None:
    """Set CC.CF from an i1 value."""
    lo.values["CC.CF"] = lo.mask_of(v)


def mul(lo: Lowering, i: Instruction) -> None:
    """`mul`, `mul24` (9.7.1.3, 9.7.1.5, 9.7.3.4)."""
    t = type_of(i)
    if t.startswith(("f", "bf")):
        floating(
            lo, i, t,
            lambda lo, i, a: _directed(lo, i, "mul", t, a) or lo.e.binary("fmul", a[0], a[1]), 2,
        )  # fmt: skip
        return
    a, b, v = _product(lo, i, t)
    lo.set(i.operands[0], lo.with_shadow(v, a, b), i, signed(t))


def _product(lo: Lowering, i: Instruction, t: str) -> tuple[V, V, V]:
    e = lo.e
    el = ELEMENT[t]
    s = signed(t)
    a, b = lo.read(i.operands[1], el, s), lo.read(i.operands[2], el, s)
    if i.op.endswith("24"):
        up = e.const("i32", 8)
        shift = "ashr" if s else "lshr"
        x = e.resize(e.binary(shift, e.binary("shl", a, up), up), "i64", s)
        y = e.resize(e.binary(shift, e.binary("shl", b, up), up), "i64", s)
        p = e.binary("mul", x, y)
        if "hi" in i.mods:
            p = e.binary("lshr", p, e.const("i64", 16))
        return a, b, e.resize(p, "i32")
    if "wide" in i.mods:
        wide = {"i8": "i16", "i16": "i32", "i32": "i64"}[el]
        return a, b, e.binary("mul", e.resize(a, wide, s), e.resize(b, wide, s))
    if "hi" in i.mods:
        if el == "i64":
            return a, b, runtime_math(lo, f"rt_mulhi_{t[0]}64", "i64", [a, b])
        wide = {"i16": "i32", "i32": "i64"}[el]
        p = e.binary("mul", e.resize(a, wide, s), e.resize(b, wide, s))
        return a, b, e.resize(e.binary("lshr", p, e.const(wide, BITS[el])), el)
    return a, b, e.binary("mul", a, b)


def mad(lo: Lowering, i: Instruction) -> None:
    """`mad`, `mad24`, `madc`, `fma` (9.7.1.4, 9.7.2.4, 9.7.3.6)."""
    t = type_of(i)
    if t.startswith(("f", "bf")):
        floating(lo, i, t, _fma, 3)
        return
    e = lo.e
    s = signed(t)
    a, b, p = _product(lo, i, t)
    c = lo.read(i.operands[3], p.t, s)
    if "cc" in i.mods or i.op == "madc":
        wide = {"i32": "i64", "i64": "i128"}[p.t]
        r = e.binary("add", e.resize(p, wide), e.resize(c, wide))
        if i.op == "madc":
            r = e.binary("add", r, e.resize(lo.bools(carry(lo)), wide))
        if "cc" in i.mods:
            over = e.binary("lshr", r, V(wide, str(BITS[p.t]), True))
            set_carry(lo, e.compare("icmp ne", over, V(wide, "0", True)))
        lo.set(i.operands[0], lo.with_shadow(e.resize(r, p.t), a, b, c), i)
        return
    v = e.intrinsic("sadd.sat", p.t, p, c) if "sat" in i.mods else e.binary("add", p, c)
    lo.set(i.operands[0], lo.with_shadow(v, a, b, c), i, s)


def _fma(lo: Lowering, i: Instruction, a: list[V]) -> V:
    t = type_of(i)
    e = lo.e
    if t in ("f32", "f64"):
        directed = _directed(lo, i, "fma", t, a)
        if directed is not None:
            return directed
        return e.intrinsic("fma", a[0].t, *a)
    # A product of two halves is exact in double; the sum is rounded to odd and then once.
    d = [e.cast("fpext", v, "double") for v in a]
    p = e.binary("fmul", d[0], d[1])
    total = e.binary("fadd", p, d[2])
    back = e.binary("fsub", total, p)
    error = e.binary(
        "fadd",
        e.binary("fsub", p, e.binary("fsub", total, back)),
        e.binary("fsub", d[2], back),
    )
    inexact = e.compare("fcmp one", error, e.const("double", 0))
    bits = e.bitcast(total, "i64")
    # Toward zero when the error points there, then sticky.
    away = e.binary("xor", bits, e.bitcast(error, "i64"))
    inward = e.compare("icmp slt", away, e.const("i64", 0))
    down = e.select(inward, e.binary("sub", bits, e.const("i64", 1)), bits)
    odd = e.bitcast(e.binary("or", down, e.const("i64", 1)), "double")
    return double_to_float_odd(lo, e.select(inexact, odd, total))


def div(lo: Lowering, i: Instruction) -> None:
    """`div` (9.7.1.8, 9.7.3.8). Integer division by zero gives all ones."""
    t = type_of(i)
    if t.startswith("f"):
        floating(
            lo, i, t,
            lambda lo, i, a: runtime_math(lo, "vg_divf_approx_v32", "float", a)
            if "approx" in i.mods
            else _directed(lo, i, "div", t, a) or lo.e.binary("fdiv", a[0], a[1]), 2,
        )  # fmt: skip
        return
    _divide(lo, i, t)


def rem(lo: Lowering, i: Instruction) -> None:
    """`rem` (9.7.1.9)."""
    _divide(lo, i, type_of(i))


def _divide(lo: Lowering, i: Instruction, t: str) -> None:
    e = lo.e
    el = ELEMENT[t]
    s = signed(t)
    a, b = lo.read(i.operands[1], el, s), lo.read(i.operands[2], el, s)
    if el == "i64":
        v = runtime_math(lo, f"rt_{i.op}_{t}", "i64", [a, b])
        lo.set(i.operands[0], lo.with_shadow(v, a, b), i)
        return
    # 32-bit quotients are exact in double: the error of the division is below 1/b.
    up, down = ("sitofp", "fptosi") if s else ("uitofp", "fptoui")
    zero = e.compare("icmp eq", b, e.const(el, 0))
    safe = e.select(zero, e.const(el, 1), b)
    wide = e.binary("fdiv", e.cast(up, a, "double"), e.cast(up, safe, "double"))
    # Through i64, so that INT_MIN / -1 wraps instead of being undefined.
    q = e.resize(e.cast("fptosi" if s else down, wide, "i64"), el)
    if i.op == "div":
        v = e.select(zero, e.const(el, -1), q)
    else:
        r = e.binary("sub", a, e.binary("mul", q, safe))
        v = e.select(zero, a, r)
    lo.set(i.operands[0], lo.with_shadow(v, a, b), i)


def minmax(lo: Lowering, i: Instruction) -> None:
    """`min`, `max` of integers and floats (9.7.1.12, 9.7.3.11): the number wins over NaN."""
    t = type_of(i)
    low = i.op == "min"
    e = lo.e
    if t.startswith(("f", "bf")):
        n = len(i.operands) - 1
        floating(lo, i, t, lambda lo, i, a: _fold(lo, i, a, low), n)
        return
    if t in ("u16x2", "s16x2"):
        raise Unsupported(i.text)
    el = ELEMENT[t]
    a, b = lo.read(i.operands[1], el, signed(t)), lo.read(i.operands[2], el, signed(t))
    v = e.intrinsic(("s" if signed(t) else "u") + i.op, el, a, b)
    if "relu" in i.mods:
        v = e.intrinsic("smax", el, v, e.const(el, 0))
    lo.set(i.operands[0], lo.with_shadow(v, a, b), i)


def _fold(lo: Lowering, i: Instruction, a: list[V], low: bool) -> V:
    v = _float_minmax(lo, i, a[0], a[1], low)
    return v if len(a) == 2 else _float_minmax(lo, i, v, a[2], low)


def _float_minmax(lo: Lowering, i: Instruction, a: V, b: V, low: bool) -> V:
    e = lo.e
    sign = None
    t = INT_OF_FLOAT[a.t]
    if "xorsign" in i.mods:
        top = e.const(t, 1 << (BITS[t] - 1))
        sign = e.binary("and", e.binary("xor", e.bitcast(a, t), e.bitcast(b, t)), top)
        a, b = e.intrinsic("fabs", a.t, a), e.intrinsic("fabs", b.t, b)
    first = e.compare("fcmp olt" if low else "fcmp ogt", a, b)
    v = e.select(first, a, b)
    v = e.select(e.compare("fcmp uno", b, b), a, v)
    # -0 is below +0.
    both = e.binary("or" if low else "and", e.bitcast(a, t), e.bitcast(b, t))
    v = e.select(e.compare("fcmp oeq", a, b), e.bitcast(both, a.t), v)
    if "NaN" in i.mods:
        nan = e.compare("fcmp uno", a, b)
        v = e.select(nan, e.const(a.t, CANONICAL_NAN[a.t]), v)
    if sign is not None:
        v = e.bitcast(e.binary("or", e.bitcast(v, t), sign), v.t)
    return v


def negate(lo: Lowering, i: Instruction) -> None:
    """`neg`, `abs` (9.7.1.10, 9.7.1.11, 9.7.3.9, 9.7.3.10): sign bits only for floats."""
    t = type_of(i)
    e = lo.e
    if t.startswith(("f", "bf")):
        n = TYPE_BYTES[t]
        el = f"i{8 * n}"
        a = lo.read(i.operands[1], el)
        sign = {"f32": 1 << 31, "f64": 1 << 63}.get(t, 0x80008000 if n == 4 else 0x8000)
        v = e.bitcast(flush(lo, e.bitcast(a, "float")), el) if t == "f32" and "ftz" in i.mods else a
        if i.op == "neg":
            v = e.binary("xor", v, e.const(el, sign))
        else:
            v = e.binary("and", v, e.const(el, ~sign))
        if t in ("f32", "f64"):
            v = e.bitcast(canonical(lo, e.bitcast(v, ELEMENT[t])), el)
        lo.set(i.operands[0], lo.with_shadow(v, a), i)
        return
    el = ELEMENT[t]
    a = lo.read(i.operands[1], el, True)
    v = e.binary("sub", e.const(el, 0), a)
    if i.op == "abs":
        v = e.select(e.compare("icmp slt", a, e.const(el, 0)), v, a)
    lo.set(i.operands[0], lo.with_shadow(v, a), i)


def unary_float(lo: Lowering, i: Instruction) -> None:
    """`rcp sqrt rsqrt ex2 lg2 sin cos tanh` (9.7.3.12-9.7.3.22).

    Approximate reciprocals and roots are computed to nearest, inside NVIDIA's error bounds; the
    transcendental ones are the runtime's own polynomials, the same on every machine.
    """
    t = type_of(i)

    def fn(lo: Lowering, i: Instruction, a: list[V]) -> V:
        e = lo.e
        x = a[0]
        if x.t == "double" and "approx" in i.mods and "ftz" in i.mods:
            return runtime_math(lo, f"vg_{i.op}_approx_ftz_f64_v32", "double", [x])
        one = e.const(x.t, {"float": 0x3F800000, "double": 0x3FF0000000000000}[x.t])
        if i.op == "rcp":
            return _directed(lo, i, "div", t, [one, x]) or e.binary("fdiv", one, x)
        if i.op == "sqrt":
            return _directed(lo, i, "sqrt", t, [x]) or e.intrinsic("sqrt", x.t, x)
        if i.op == "rsqrt":
            if x.t == "double":
                return e.binary("fdiv", one, e.intrinsic("sqrt", "double", x))
            wide = e.intrinsic("sqrt", "double", e.cast("fpext", x, "double"))
            r = e.binary("fdiv", e.const("double", 0x3FF0000000000000), wide)
            return e.cast("fptrunc", r, "float")
        return runtime_math(lo, f"vg_{i.op}f_v32", "float", [x])

    floating(lo, i, t, fn, 1)


def testp(lo: Lowering, i: Instruction) -> None:
    """`testp` (9.7.3.1)."""
    t = type_of(i)
    e = lo.e
    el = ELEMENT[t]
    x = lo.read(i.operands[1], el)
    n = INT_OF_FLOAT[el]
    mantissa = {"float": 23, "double": 52}[el]
    bits = e.binary("and", e.bitcast(x, n), e.const(n, (1 << (BITS[n] - 1)) - 1))
    inf = e.const(n, ((1 << (BITS[n] - 1 - mantissa)) - 1) << mantissa)
    least = e.const(n, 1 << mantissa)
    kind = i.mods[0]
    if kind == "finite":
        v = e.compare("icmp ult", bits, inf)
    elif kind == "infinite":
        v = e.compare("icmp eq", bits, inf)
    elif kind == "number":
        v = e.compare("icmp ule", bits, inf)
    elif kind == "notanumber":
        v = e.compare("icmp ugt", bits, inf)
    elif kind == "normal":
        a = e.compare("icmp uge", bits, least)
        v = e.binary("and", a, e.compare("icmp ult", bits, inf))
    elif kind == "subnormal":
        a = e.compare("icmp ult", bits, least)
        v = e.binary("and", a, e.compare("icmp ne", bits, e.const(n, 0)))
    else:
        raise Unsupported(i.text)
    lo.set(i.operands[0], lo.with_shadow(v, x), i)


def copysign(lo: Lowering, i: Instruction) -> None:
    """`copysign d, a, b`: the sign of a on b (9.7.3.2)."""
    e = lo.e
    n = INT_OF_FLOAT[ELEMENT[type_of(i)]]
    a, b = lo.read(i.operands[1], n), lo.read(i.operands[2], n)
    top = 1 << (BITS[n] - 1)
    v = e.binary("or", e.binary("and", a, e.const(n, top)), e.binary("and", b, e.const(n, top - 1)))
    lo.set(i.operands[0], lo.with_shadow(v, a, b), i)
