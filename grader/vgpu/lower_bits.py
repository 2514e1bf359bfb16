"""Logic, shifts, bit fields and byte selection (PTX ISA 9.7.1, 9.7.8), on 32 lanes at a time."""

from __future__ import annotations

from grader.vgpu.emit import BITS, V
from grader.vgpu.lower import ELEMENT, Lowering
from grader.vgpu.lower_arith import runtime_math, signed, type_of, types_of
from grader.vgpu.program import Unsupported
from grader.vgpu.ptx import Imm, Instruction, Reg


def logic(lo: Lowering, i: Instruction) -> None:
    """`and or xor not cnot` (9.7.8), on predicates too."""
    t = type_of(i)
    e = lo.e
    if t == "pred":
        a = lo.read(i.operands[1], "pred")
        if i.op == "not":
            v = V("pred", e.op(f"xor i32 {a.n}, -1"), True, a.s)
        else:
            b = lo.read(i.operands[2], "pred")
            v = lo.with_shadow(V("pred", e.op(f"{i.op} i32 {a.n}, {b.n}"), True), a, b)
        lo.set(i.operands[0], v, i)
        return
    el = ELEMENT[t]
    a = lo.read(i.operands[1], el)
    if i.op == "not":
        lo.set(i.operands[0], lo.with_shadow(e.binary("xor", a, e.const(el, -1)), a), i)
    elif i.op == "cnot":
        zero = e.compare("icmp eq", a, e.const(el, 0))
        lo.set(i.operands[0], lo.with_shadow(e.resize(zero, el), a), i)
    else:
        b = lo.read(i.operands[2], el)
        v = e.binary(i.op, a, b)
        lo.set(i.operands[0], V(v.t, v.n, v.u, _logic_shadow(lo, i, a, b)), i)


def _logic_shadow(lo: Lowering, i: Instruction, a: V, b: V):  # type: ignore[no-untyped-def]
    """Byte by byte; a constant byte of an `and` (or `or`) that decides the result defines it."""
    from grader.vgpu.emit import Shadow

    if not lo.shadow or (a.s is None and b.s is None):
        return None
    n = BITS[a.t] // 8
    if n < 2:
        return lo.join(a, b)
    shifted = _shifted(lo, i, n)
    if shifted is not None:
        return _field_shadow(lo, *shifted)
    s = lo.e.op(f"or <{n} x i32> {lo.bytes_of(a.s, n)}, {lo.bytes_of(b.s, n)}")
    insertion = _inserts_bits(lo, i)
    for o in i.operands[1:3]:
        if isinstance(o, Imm) and i.op in ("and", "or"):
            decided = 0 if i.op == "and" else 0xFF
            parts = [o.bits >> (8 * k) & 0xFF for k in range(n)]
            keep = [0 if p == decided or (insertion and p != 0xFF) else -1 for p in parts]
            mask = ", ".join(f"i32 {k}" for k in keep)
            s = lo.e.op(f"and <{n} x i32> {s}, <{mask}>")
    return Shadow(s, n)


def _shifted(lo: Lowering, i: Instruction, size: int) -> tuple[V, int, int] | None:
    """For `(x >> at) & mask` with constants: x, at and mask."""
    mask = i.operands[2]
    if i.op != "and" or not isinstance(mask, Imm):
        return None
    block = lo.block.instructions
    before = block[: next((k for k, j in enumerate(block) if j is i), 0)]
    made = [k for k, j in enumerate(before) if j.operands and j.operands[0] == i.operands[1]]
    if not made:
        return None
    shift = before[made[-1]]
    since = before[made[-1] :]
    if shift.op != "shr" or shift.guard is not None or not isinstance(shift.operands[2], Imm):
        return None
    source, at, bits = shift.operands[1], shift.operands[2].bits, mask.bits & (1 << 8 * size) - 1
    if at >= 8 * size or bits >> (8 * size - at) or not isinstance(source, Reg):
        return None
    if ELEMENT[type_of(shift)] != ELEMENT[type_of(i)]:
        return None
    if any(j.operands and j.operands[0] == source for j in since):
        return None
    return lo.read(source, ELEMENT[type_of(i)]), at, bits


def _field_shadow(lo: Lowering, a: V, at: int, mask: int):  # type: ignore[no-untyped-def]
    """The shadow of `(a >> at) & mask`: each byte has that of the bytes its bits come from."""
    from grader.vgpu.emit import Shadow

    size = BITS[a.t] // 8
    if a.s is None:
        return None
    whole, rest = divmod(at, 8)
    parts = [(mask >> 8 * k & 0xFF) << rest for k in range(size)]
    near = [k + whole if p & 0xFF else size for k, p in enumerate(parts)]
    far = [k + whole + 1 if p >> 8 else size for k, p in enumerate(parts)]
    rows = [
        lo.e.op(
            f"shufflevector <{size} x i32> {lo.bytes_of(a.s, size)}, <{size} x i32> "
            f"zeroinitializer, <{size} x i32> <{', '.join(f'i32 {min(k, size)}' for k in row)}>"
        )
        for row in (near, far)
    ]
    return Shadow(lo.e.op(f"or <{size} x i32> {', '.join(rows)}"), size)


def _inserts_bits(lo: Lowering, i: Instruction) -> bool:
    """Whether an `and` makes room for a bit-field of a thread's own object: load, `and`, often
    `or`, store to the same place. Undefined values are known by the byte, so the byte counts as
    set when its first field is."""
    if i.op != "and" or not isinstance(i.operands[2], Imm):
        return False
    block = lo.block.instructions
    loads = (j for j in block if j.op == "ld" and j.operands[0] == i.operands[1])
    load = next(loads, None)
    if load is None or {"global", "shared", "const", "param"} & set(load.mods):
        return False
    made = [i.operands[0]]
    made += [j.operands[0] for j in block if j.op == "or" and made[0] in j.operands[1:]]
    return any(
        j.op == "st" and j.operands[0] == load.operands[1] and j.operands[1] in made for j in block
    )


def lop3(lo: Lowering, i: Instruction) -> None:
    """`lop3.b32 d, a, b, c, lut` (9.7.8.6): the sum of the table's minterms."""
    if i.mods[0] != "b32":
        raise Unsupported(i.text)
    e = lo.e
    values = [lo.read(o, "i32") for o in i.operands[1:4]]
    table = i.operands[4]
    if not isinstance(table, Imm):
        raise Unsupported("lop3 without a constant table")
    inverse = [e.binary("xor", v, e.const("i32", -1)) for v in values]
    total: V | None = None
    for k in range(8):
        if table.bits >> k & 1:
            chosen = [values[j] if k >> (2 - j) & 1 else inverse[j] for j in range(3)]
            term = e.binary("and", e.binary("and", chosen[0], chosen[1]), chosen[2])
            total = term if total is None else e.binary("or", total, term)
    lo.set(i.operands[0], lo.with_shadow(total or e.const("i32", 0), *values), i)


def shift(lo: Lowering, i: Instruction) -> None:
    """`shl`, `shr` (9.7.8.7, 9.7.8.8): amounts past the width give zero, or the sign."""
    t = type_of(i)
    e = lo.e
    el = ELEMENT[t]
    width = BITS[el]
    a, n = lo.read(i.operands[1], el, signed(t)), lo.read(i.operands[2], "i32")
    amount = e.resize(e.intrinsic("umin", "i32", n, e.const("i32", width)), el)
    limit = e.const(el, width - 1)
    safe = e.intrinsic("umin", el, amount, limit)
    over = e.compare("icmp ugt", amount, limit)
    if i.op == "shr" and signed(t):
        v = e.binary("ashr", a, safe)
    else:
        op = "shl" if i.op == "shl" else "lshr"
        v = e.select(over, e.const(el, 0), e.binary(op, a, safe))
    lo.set(i.operands[0], V(v.t, v.n, v.u, _shift_shadow(lo, i, a, n)), i)


def _shift_shadow(lo: Lowering, i: Instruction, a: V, n: V):  # type: ignore[no-untyped-def]
    """A constant amount moves the shadow by bytes, or over two neighbours; others smear it."""
    from grader.vgpu.emit import Shadow

    o = i.operands[2]
    if not lo.shadow or (a.s is None and n.s is None):
        return None
    size = BITS[a.t] // 8
    if not isinstance(o, Imm) or a.s is None or a.s.bytes != size or size < 2:
        return lo.join(a, n)
    whole, rest = divmod(min(o.bits, 8 * size), 8)
    step = -1 if i.op == "shl" else 1
    arithmetic = i.op == "shr" and i.mods[-1].startswith("s")
    moved = []
    for by in (whole, whole + 1)[: 2 if rest else 1]:
        index = [k + step * by for k in range(size)]
        if arithmetic:
            index = [min(k, size - 1) for k in index]
        picks = ", ".join(f"i32 {k if 0 <= k < size else size}" for k in index)
        moved.append(
            lo.e.op(
                f"shufflevector <{size} x i32> {a.s.n}, <{size} x i32> zeroinitializer, "
                f"<{size} x i32> <{picks}>"
            )
        )
    return Shadow(moved[0] if not rest else lo.e.op(f"or <{size} x i32> {', '.join(moved)}"), size)


def funnel(lo: Lowering, i: Instruction) -> None:
    """`shf.{l,r}.{wrap,clamp}.b32 d, a, b, c` on the 64-bit value b:a (9.7.8.9)."""
    e = lo.e
    a, b, c = (lo.read(o, "i32") for o in i.operands[1:4])
    wide = e.binary(
        "or", e.binary("shl", e.resize(b, "i64"), e.const("i64", 32)), e.resize(a, "i64")
    )
    if "wrap" in i.mods:
        n = e.binary("and", c, e.const("i32", 31))
    else:
        n = e.intrinsic("umin", "i32", c, e.const("i32", 32))
    n64 = e.resize(n, "i64")
    if "l" in i.mods:
        v = e.binary("lshr", e.binary("shl", wide, n64), e.const("i64", 32))
    else:
        v = e.binary("lshr", wide, n64)
    lo.set(i.operands[0], lo.with_shadow(e.resize(v, "i32"), a, b, c), i)


def count_bits(lo: Lowering, i: Instruction) -> None:
    """`popc`, `clz`, `brev` (9.7.1.13-9.7.1.16)."""
    e = lo.e
    el = ELEMENT[type_of(i)]
    a = lo.read(i.operands[1], el)
    if i.op == "popc":
        v = e.resize(e.intrinsic("ctpop", el, a), "i32")
    elif i.op == "clz":
        v = e.resize(e.intrinsic("ctlz", el, a, extra="i1 false"), "i32")
    else:
        v = e.intrinsic("bitreverse", el, a)
    lo.set(i.operands[0], lo.with_shadow(v, a), i)


def bfind(lo: Lowering, i: Instruction) -> None:
    """`bfind[.shiftamt]` (9.7.1.15): the highest bit that differs from the sign, or -1."""
    e = lo.e
    t = type_of(i)
    el = ELEMENT[t]
    width = BITS[el]
    a = lo.read(i.operands[1], el)
    x = a
    if signed(t):
        x = e.binary("xor", a, e.binary("ashr", a, e.const(el, width - 1)))
    lead = e.resize(e.intrinsic("ctlz", el, x, extra="i1 false"), "i32")
    none = e.compare("icmp eq", x, e.const(el, 0))
    v = lead if "shiftamt" in i.mods else e.binary("sub", e.const("i32", width - 1), lead)
    v = e.select(none, e.const("i32", -1), v)
    lo.set(i.operands[0], lo.with_shadow(v, a), i)


def _low_ones(lo: Lowering, n: V, el: str) -> V:
    """A mask of the n low bits, n <= width."""
    e = lo.e
    width = BITS[el]
    all_ = e.compare("icmp uge", n, e.const(el, width))
    safe = e.intrinsic("umin", el, n, e.const(el, width - 1))
    ones = e.binary("sub", e.binary("shl", e.const(el, 1), safe), e.const(el, 1))
    return e.select(all_, e.const(el, -1), ones)


def bfe(lo: Lowering, i: Instruction) -> None:
    """`bfe d, a, pos, len` (9.7.1.17); only the low 8 bits of pos and len count."""
    e = lo.e
    t = type_of(i)
    el = ELEMENT[t]
    width = BITS[el]
    a = lo.read(i.operands[1], el)
    p32, n32 = lo.read(i.operands[2], "i32"), lo.read(i.operands[3], "i32")
    low8 = e.const("i32", 255)
    pos, n = (e.resize(e.binary("and", v, low8), el) for v in (p32, n32))
    safe = e.intrinsic("umin", el, pos, e.const(el, width - 1))
    past = e.compare("icmp uge", pos, e.const(el, width))
    moved = e.select(past, e.const(el, 0), e.binary("lshr", a, safe))
    v = e.binary("and", moved, _low_ones(lo, n, el))
    if signed(t):
        # The sign is bit min(pos + len - 1, width - 1) of a.
        last = e.binary("sub", e.binary("add", pos, n), e.const(el, 1))
        at = e.intrinsic("umin", el, last, e.const(el, width - 1))
        bit = e.binary("and", e.binary("lshr", a, at), e.const(el, 1))
        negative = e.compare("icmp ne", bit, e.const(el, 0))
        room = e.binary("sub", e.const(el, width), safe)
        have = e.intrinsic("umin", el, n, e.select(past, e.const(el, 0), room))
        high = e.binary("xor", _low_ones(lo, have, el), e.const(el, -1))
        v = e.select(negative, e.binary("or", v, high), v)
        v = e.select(e.compare("icmp eq", n, e.const(el, 0)), e.const(el, 0), v)
    place, length = i.operands[2:4]
    if lo.shadow and isinstance(place, Imm) and isinstance(length, Imm):
        ones = ((1 << (length.bits & 255)) - 1) & ((1 << width) - 1 >> min(place.bits & 255, width))
        v = V(v.t, v.n, v.u, _field_shadow(lo, a, min(place.bits & 255, width - 1), ones))
        lo.set(i.operands[0], lo.with_shadow(v, v) if signed(t) else v, i)
        return
    lo.set(i.operands[0], lo.with_shadow(v, a, p32, n32), i)


def bfi(lo: Lowering, i: Instruction) -> None:
    """`bfi d, a, b, pos, len`: insert a into b (9.7.1.18)."""
    e = lo.e
    el = ELEMENT[type_of(i)]
    width = BITS[el]
    a, b = lo.read(i.operands[1], el), lo.read(i.operands[2], el)
    p32, n32 = lo.read(i.operands[3], "i32"), lo.read(i.operands[4], "i32")
    low8 = e.const("i32", 255)
    pos, n = (e.resize(e.binary("and", v, low8), el) for v in (p32, n32))
    safe = e.intrinsic("umin", el, pos, e.const(el, width - 1))
    mask = e.binary("shl", _low_ones(lo, n, el), safe)
    past = e.compare("icmp uge", pos, e.const(el, width))
    mask = e.select(past, e.const(el, 0), mask)
    kept = e.binary("and", b, e.binary("xor", mask, e.const(el, -1)))
    v = e.binary("or", e.binary("and", e.binary("shl", a, safe), mask), kept)
    lo.set(i.operands[0], lo.with_shadow(v, a, b, p32, n32), i)


def bmsk(lo: Lowering, i: Instruction) -> None:
    """`bmsk.{clamp,wrap}.b32 d, pos, len` (9.7.1.20)."""
    e = lo.e
    a, b = lo.read(i.operands[1], "i32"), lo.read(i.operands[2], "i32")
    if "wrap" in i.mods:
        thirty_one = e.const("i32", 31)
        pos, n = e.binary("and", a, thirty_one), e.binary("and", b, thirty_one)
    else:
        pos = e.intrinsic("umin", "i32", a, e.const("i32", 32))
        n = e.intrinsic("umin", "i32", b, e.const("i32", 32))
    ones = e.resize(_low_ones(lo, n, "i32"), "i64")
    v = e.resize(e.binary("shl", ones, e.resize(pos, "i64")), "i32")
    lo.set(i.operands[0], lo.with_shadow(v, a, b), i)


def prmt(lo: Lowering, i: Instruction) -> None:
    """`prmt.b32{.mode} d, a, b, c` (9.7.8.10)."""
    e = lo.e
    a, b, c = (lo.read(o, "i32") for o in i.operands[1:4])
    wide = e.binary(
        "or", e.binary("shl", e.resize(b, "i64"), e.const("i64", 32)), e.resize(a, "i64")
    )
    mode = i.mods[1] if len(i.mods) > 1 else ""
    total: V | None = None
    for k in range(4):
        if mode == "":
            nibble = e.binary("lshr", c, e.const("i32", 4 * k))
            index = e.binary("and", nibble, e.const("i32", 7))
            replicate = e.binary("and", nibble, e.const("i32", 8))
        else:
            n = e.binary("and", c, e.const("i32", 3))
            k_v = e.const("i32", k)
            if mode == "f4e":
                index = e.binary("add", n, k_v)
            elif mode == "b4e":
                seven = e.const("i32", 7)
                index = e.binary("and", e.binary("sub", n, k_v), seven)
            elif mode == "rc8":
                index = n
            elif mode == "ecl":
                index = e.intrinsic("umax", "i32", n, k_v)
            elif mode == "ecr":
                index = e.intrinsic("umin", "i32", n, k_v)
            elif mode == "rc16":
                index = e.const("i32", k & 1)
                twice = e.binary("shl", e.binary("and", n, e.const("i32", 1)), e.const("i32", 1))
                index = e.binary("add", twice, index)
            else:
                raise Unsupported(i.text)
            replicate = e.const("i32", 0)
        amount = e.resize(e.binary("shl", index, e.const("i32", 3)), "i64")
        byte = e.resize(e.binary("lshr", wide, amount), "i8")
        spread = e.binary("ashr", byte, e.const("i8", 7))
        sign = e.compare("icmp ne", replicate, e.const("i32", 0))
        byte = e.select(sign, spread, byte)
        placed = e.binary("shl", e.resize(byte, "i32"), e.const("i32", 8 * k))
        total = placed if total is None else e.binary("or", total, placed)
    assert total is not None
    lo.set(i.operands[0], V("i32", total.n, total.u, _prmt_shadow(lo, i, a, b, c)), i)


def _prmt_shadow(lo: Lowering, i: Instruction, a: V, b: V, c: V):  # type: ignore[no-untyped-def]
    from grader.vgpu.emit import Shadow

    if not lo.shadow or (a.s is None and b.s is None and c.s is None):
        return None
    o = i.operands[3]
    if isinstance(o, Imm) and len(i.mods) == 1:
        picks = ", ".join(f"i32 {o.bits >> (4 * k) & 7}" for k in range(4))
        return Shadow(
            lo.e.op(
                f"shufflevector <4 x i32> {lo.bytes_of(a.s, 4)}, <4 x i32> {lo.bytes_of(b.s, 4)}, "
                f"<4 x i32> <{picks}>"
            ),
            4,
        )
    return lo.join(a, b, c)


def fns(lo: Lowering, i: Instruction) -> None:
    """`fns.b32 d, mask, base, offset`: the n-th set bit (9.7.1.21)."""
    values = [lo.read(o, "i32") for o in i.operands[1:4]]
    lo.set(i.operands[0], lo.with_shadow(runtime_math(lo, "rt_fns", "i32", values), *values), i)


def sad(lo: Lowering, i: Instruction) -> None:
    """`sad d, a, b, c`: c + |a - b| (9.7.1.7)."""
    e = lo.e
    t = type_of(i)
    el = ELEMENT[t]
    a, b, c = (lo.read(o, el, signed(t)) for o in i.operands[1:4])
    less = e.compare("icmp slt" if signed(t) else "icmp ult", a, b)
    d = e.select(less, e.binary("sub", b, a), e.binary("sub", a, b))
    lo.set(i.operands[0], lo.with_shadow(e.binary("add", c, d), a, b, c), i)


def dot(lo: Lowering, i: Instruction) -> None:
    """`dp4a`, `dp2a` (9.7.1.23, 9.7.1.24)."""
    e = lo.e
    ta, tb = types_of(i)[:2]
    a, b, c = (lo.read(o, "i32") for o in i.operands[1:4])
    total = c
    high = "hi" in i.mods
    for k in range(4 if i.op == "dp4a" else 2):
        if i.op == "dp4a":
            x = _field(lo, a, 8 * k, "i8", signed(ta))
            y = _field(lo, b, 8 * k, "i8", signed(tb))
        else:
            x = _field(lo, a, 16 * k, "i16", signed(ta))
            y = _field(lo, b, 8 * k + (16 if high else 0), "i8", signed(tb))
        total = e.binary("add", total, e.binary("mul", x, y))
    lo.set(i.operands[0], lo.with_shadow(total, a, b, c), i)


def _field(lo: Lowering, v: V, at: int, t: str, s: bool) -> V:
    e = lo.e
    moved = e.binary("lshr", v, e.const("i32", at)) if at else v
    return e.resize(e.resize(moved, t), "i32", s)


def video(lo: Lowering, i: Instruction) -> None:
    """`vabsdiff4` without secondary operation or accumulation beyond plain add (9.7.17)."""
    if i.op != "vabsdiff4" or any(m in ("sat", "min", "max") for m in i.mods):
        raise Unsupported(i.text)
    e = lo.e
    s = signed(types_of(i)[1])
    a, b, c = (lo.read(o, "i32") for o in i.operands[1:4])
    packed: V | None = None
    for k in range(4):
        x, y = _field(lo, a, 8 * k, "i8", s), _field(lo, b, 8 * k, "i8", s)
        less = e.compare("icmp slt" if s else "icmp ult", x, y)
        d = e.select(less, e.binary("sub", y, x), e.binary("sub", x, y))
        if "add" in i.mods:
            packed = d if packed is None else e.binary("add", packed, d)
        else:
            d = e.binary("and", d, e.const("i32", 255))
            d = e.binary("shl", d, e.const("i32", 8 * k))
            packed = d if packed is None else e.binary("or", packed, d)
    assert packed is not None
    if "add" in i.mods:
        packed = e.binary("add", packed, c)
    lo.set(i.operands[0], lo.with_shadow(packed, a, b, c), i)
