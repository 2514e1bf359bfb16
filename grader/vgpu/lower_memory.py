"""Loads, stores, atomics and asynchronous copies (PTX ISA 9.7.9, 9.7.13).

Addresses and values travel through the warp's scratch area; the runtime checks, counts and moves
them. Element k of a vector access lies at byte `32 * k * element size` of the area.
"""

from __future__ import annotations

from grader.vgpu import layout as L
from grader.vgpu.copied import computed
from grader.vgpu.emit import BITS, INT_OF_BYTES, Shadow, V
from grader.vgpu.lower import Lowering
from grader.vgpu.lower_arith import signed, type_of
from grader.vgpu.lower_calls import param_variable
from grader.vgpu.program import Unsupported
from grader.vgpu.ptx import (
    TYPE_BYTES,
    Addr,
    Imm,
    Instruction,
    Operand,
    Reg,
    Sink,
    Sym,
    Variable,
    Vec,
)

# Rows of the scratch area (128 bytes each).
SHADOW_ROW = 56
SECOND = 512
RESULT = 1024

VOLATILE, RELAXED, ACQUIRE, RELEASE, CTA, GPU, SYS, NC, BYPASS_L1 = (1 << k for k in range(9))
COMPUTED = 1 << 9
"""Of a vector store: element 0 is a value of its own; the next bits are those of the others."""
SPACES = ("global", "shared", "local", "const", "param")
ATOM_OPS = {
    "add": 0, "min": 1, "max": 2, "and": 3, "or": 4, "xor": 5, "exch": 6, "cas": 7, "inc": 8,
    "dec": 9,
}  # fmt: skip
ATOM_TYPES = {
    "b32": 0, "u32": 0, "s32": 1, "b64": 2, "u64": 2, "s64": 3, "f32": 4, "f64": 5, "f16": 6,
    "bf16": 7, "f16x2": 8, "bf16x2": 9, "b16": 10, "u16": 10, "s16": 10, "b128": 11,
}  # fmt: skip


def space_of(i: Instruction) -> str:
    """The state space among the modifiers, or generic."""
    for m in i.mods:
        head = m.split("::")[0]
        if head in SPACES:
            return head
    return "generic"


def flags_of(i: Instruction) -> int:
    """Ordering and caching flags for the runtime."""
    flags = 0
    for m in i.mods:
        flags |= {
            "volatile": VOLATILE, "relaxed": RELAXED, "acquire": ACQUIRE, "release": RELEASE,
            "acq_rel": ACQUIRE | RELEASE, "cta": CTA, "gpu": GPU, "sys": SYS, "nc": NC,
            "cluster": CTA, "mmio": VOLATILE, "cg": BYPASS_L1, "cv": VOLATILE,
        }.get(m, 0)  # fmt: skip
    return flags


def address(lo: Lowering, i: Instruction, o: Operand, space: str) -> V:
    """The byte addresses of an operand inside its space, one per lane, as i64."""
    e = lo.e
    if isinstance(o, Reg):
        o = Addr(o)
    if not isinstance(o, Addr):
        raise Unsupported(f"address operand of {i.text}")
    base = o.base
    if isinstance(base, Imm):
        return e.const("i64", base.bits + o.offset)
    if isinstance(base, Sym):
        if lo.body.recursive and base.name in lo.frame.local:
            from grader.vgpu.lower_convert import _recursive_local

            return _recursive_local(lo, Sym(base.name, o.offset), "i64")
        value = lo.symbol(Sym(base.name, o.offset))
        if space == "generic":
            if base.name in lo.frame.shared:
                value += L.SHARED_BASE
            elif base.name in lo.frame.local:
                value += L.LOCAL_BASE
        return e.const("i64", value)
    at = lo.stack_offset(base.name, o.offset)
    if at is not None:
        return e.const("i64", at)
    v = lo.reg(base.name)
    if v.t == "pred":
        raise Unsupported("a predicate as an address")
    if BITS[v.t] < 64:
        moved = e.binary("add", v, e.const(v.t, o.offset)) if o.offset else v
        wide = e.resize(moved, "i64")
    else:
        wide = e.binary("add", v, e.const("i64", o.offset)) if o.offset else v
    return V("i64", wide.n, wide.u, v.s)


def put_address(lo: Lowering, i: Instruction, v: V, offset: int = L.W_ADDR) -> None:
    """Hand addresses to the runtime; an undefined one is a fault."""
    lo.use(v, i, "address", lo.active(i) if lo.shadow and v.s else None)
    lo.e.do(f"store {lo.e.vector(v).full}, ptr {lo.ptr(offset)}, align 64")


def put_bytes(lo: Lowering, offset: int, v: V) -> None:
    """Store a value at a byte offset of the scratch area."""
    v = lo.e.vector(v)
    align = min(64, 32 * BITS[v.t] // 8)
    lo.e.do(f"store {v.full}, ptr {lo.ptr(L.W_SCRATCH + offset)}, align {align}")


def get_bytes(lo: Lowering, offset: int, t: str) -> V:
    """Load a value from a byte offset of the scratch area."""
    at = lo.ptr(L.W_SCRATCH + offset)
    return V(t, lo.e.op(f"load <32 x {t}>, ptr {at}, align {min(64, 32 * BITS[t] // 8)}"))


def vector_of(i: Instruction) -> int:
    return next((int(m[1:]) for m in i.mods if m in ("v2", "v4", "v8")), 1)


def elements(i: Instruction, o: Operand) -> tuple[Operand, ...]:
    """The registers of a load or the values of a store: as many as the instruction's vector."""
    items = o.items if isinstance(o, Vec) else (o,)
    if len(items) != vector_of(i):
        raise Unsupported(f"{i.text} with {len(items)} registers")
    return items


# -- parameters ---------------------------------------------------------------------------------


def _param_symbol(i: Instruction, o: Operand) -> Sym | None:
    if space_of(i) == "param" and isinstance(o, Addr) and isinstance(o.base, Sym):
        return Sym(o.base.name, o.offset)
    return None


def row_read(lo: Lowering, name: str, offset: int, n: int) -> V:
    """`n` bytes of a parameter that is kept in rows of the frame, one value per lane."""
    e = lo.e
    slot = lo.frame.param_slots[lo.body.function.name, name]
    if offset % min(n, 4):
        raise Unsupported("an unaligned parameter")
    word = offset // 4

    def row(k: int) -> V:
        at = lo.ptr(slot + 128 * k)
        return V(
            "i32", e.op(f"load <32 x i32>, ptr {at}, align 64"), False, _row_shadow(lo, name, k)
        )

    if n == 8:
        low, high = row(word), row(word + 1)
        shifted = e.binary("shl", e.resize(high, "i64"), e.const("i64", 32))
        v = e.binary("or", e.resize(low, "i64"), shifted)
        s = None
        if lo.shadow:
            index = ", ".join(f"i32 {k}" for k in range(8))
            s = Shadow(
                e.op(
                    f"shufflevector <4 x i32> {lo.bytes_of(low.s, 4)}, "
                    f"<4 x i32> {lo.bytes_of(high.s, 4)}, <8 x i32> <{index}>"
                ),
                8,
            )
        return V("i64", v.n, False, s)
    v = row(word)
    if n == 4:
        return v
    at = offset % 4
    part = e.resize(e.binary("lshr", v, e.const("i32", 8 * at)), INT_OF_BYTES[n])
    return V(part.t, part.n, False, lo.slice_shadow(v.s, at, n))


def _row_shadow(lo: Lowering, name: str, k: int) -> Shadow | None:
    if not lo.shadow:
        return None
    at = lo.ptr(lo.frame.shadow_slots[lo.body.function.name, name] + 16 * k)
    return Shadow(lo.e.op(f"load <4 x i32>, ptr {at}, align 16"), 4)


def row_write(lo: Lowering, i: Instruction, name: str, offset: int, v: V) -> None:
    """Write a value into a parameter that is kept in rows of the frame."""
    e = lo.e
    n = BITS[v.t] // 8
    if n == 8:
        low = e.resize(v, "i32")
        high = e.resize(e.binary("lshr", v, e.const("i64", 32)), "i32")
        row_write(lo, i, name, offset, V("i32", low.n, low.u, lo.slice_shadow(v.s, 0, 4)))
        row_write(lo, i, name, offset + 4, V("i32", high.n, high.u, lo.slice_shadow(v.s, 4, 4)))
        return
    f = lo.body.function.name
    at = lo.ptr(lo.frame.param_slots[f, name] + 128 * (offset // 4))
    old = V("i32", e.op(f"load <32 x i32>, ptr {at}, align 64"))
    new = v
    if n < 4:
        bits = 8 * (offset % 4)
        ones = ((1 << 8 * n) - 1) << bits
        kept = e.binary("and", old, e.const("i32", ~ones))
        new = e.binary("or", kept, e.binary("shl", e.resize(v, "i32"), e.const("i32", bits)))
    lanes = lo.lanes
    if i.guard is not None:
        lanes = e.op(f"and <32 x i1> {lanes}, {lo.bools(lo.guard_mask(i.guard)).n}")
    full = e.vector(new)
    n_ = e.op(f"select <32 x i1> {lanes}, {full.full}, {old.full}")
    e.do(f"store <32 x i32> {n_}, ptr {at}, align 64")
    if lo.shadow:
        place = lo.ptr(lo.frame.shadow_slots[f, name] + 16 * (offset // 4))
        before = Shadow(e.op(f"load <4 x i32>, ptr {place}, align 16"), 4)
        piece = lo.bytes_of(v.s, 4) if n == 4 else _widen(lo, v.s, n, offset % 4, before)
        after = lo._blend_shadow(
            V("i32", "", False, Shadow(piece, 4)), V("i32", "", False, before), lo.active(i)
        )
        e.do(f"store <4 x i32> {after.n if after else 'zeroinitializer'}, ptr {place}, align 16")


def _widen(lo: Lowering, s: Shadow | None, n: int, at: int, old: Shadow) -> str:
    """The shadow of n bytes placed at byte `at` of a word whose other bytes stay."""
    out = old.n
    for k in range(n):
        piece = lo.slice_shadow(s, k, 1) if s is not None and s.bytes else s
        name = piece.n if piece is not None else "0"
        out = lo.e.op(f"insertelement <4 x i32> {out}, i32 {name}, i32 {at + k}")
    return out


def _kernel_param(lo: Lowering, sym: Sym) -> bool:
    return lo.body.function.entry and sym.name in lo.frame.kernel_params


def _inside(i: Instruction, sym: Sym, v: Variable, size: int) -> None:
    """Refuse bytes beside a parameter: its offsets are constants, so no run has to look."""
    if sym.offset < 0 or sym.offset + size > v.size_bytes:
        raise Unsupported(f"{i.text}: {v.name} has {v.size_bytes} bytes")


def _load_param(lo: Lowering, i: Instruction, sym: Sym) -> None:
    e = lo.e
    t = type_of(i)
    n = TYPE_BYTES[t]
    targets = elements(i, i.operands[0])
    _inside(i, sym, param_variable(lo, sym.name), n * len(targets))
    for k, target in enumerate(targets):
        if isinstance(target, Sink):
            continue
        if _kernel_param(lo, sym):
            at = lo.frame.kernel_params[sym.name] + sym.offset + n * k
            place = e.op(f"getelementptr i8, ptr %params, i64 {at}")
            v = V(INT_OF_BYTES[n], e.op(f"load {INT_OF_BYTES[n]}, ptr {place}, align 1"), True)
        else:
            v = row_read(lo, sym.name, sym.offset + n * k, n)
        lo.set(target, v, i, signed(t))


def _store_param(lo: Lowering, i: Instruction, sym: Sym) -> None:
    n = TYPE_BYTES[type_of(i)]
    sources = elements(i, i.operands[1])
    _inside(i, sym, param_variable(lo, sym.name), n * len(sources))
    for k, source in enumerate(sources):
        v = store_value(lo, source, INT_OF_BYTES[n], type_of(i))
        row_write(lo, i, sym.name, sym.offset + n * k, v)


# -- loads and stores ---------------------------------------------------------------------------


def store_value(lo: Lowering, o: Operand, t: str, ptx_type: str) -> V:
    if isinstance(o, Imm) and ptx_type in ("f32", "f64"):
        return lo.e.bitcast(lo.read(o, {"f32": "float", "f64": "double"}[ptx_type]), t)
    return lo.read(o, t)


def ld(lo: Lowering, i: Instruction) -> None:
    """`ld`, `ldu`."""
    space = space_of(i)
    sym = _param_symbol(i, i.operands[1])
    if sym is not None and (
        _kernel_param(lo, sym) or (lo.body.function.name, sym.name) in lo.frame.param_slots
    ):
        _load_param(lo, i, sym)
        return
    t = type_of(i)
    n, vector = TYPE_BYTES[t], vector_of(i)
    if t == "b128" or n * vector > 16:
        raise Unsupported(i.text)
    put_address(lo, i, address(lo, i, i.operands[1], space))
    site = lo.site(i, "load", space=space, elem_bytes=n, vector=vector, flags=flags_of(i))
    lo.runtime("rt_load", site, lo.active(i))
    targets = elements(i, i.operands[0])
    values = []
    for k, target in enumerate(targets):
        v = get_bytes(lo, 32 * n * k, INT_OF_BYTES[n])
        values.append((target, V(v.t, v.n, v.u, loaded_shadow(lo, n, k))))
    for target, v in values:
        lo.set(target, v, i, signed(t))


def loaded_shadow(lo: Lowering, n: int, k: int) -> Shadow | None:
    """Which bytes of element `k` (of `n` bytes) the runtime found undefined."""
    if not lo.shadow:
        return None
    at = lo.ptr(L.W_SCRATCH + 128 * SHADOW_ROW + 4 * n * k)
    if n == 1:
        return Shadow(lo.e.op(f"load i32, ptr {at}"))
    return Shadow(lo.e.op(f"load <{n} x i32>, ptr {at}, align 4"), n)


def st(lo: Lowering, i: Instruction) -> None:
    """`st`."""
    space = space_of(i)
    sym = _param_symbol(i, i.operands[0])
    if sym is not None and (lo.body.function.name, sym.name) in lo.frame.param_slots:
        _store_param(lo, i, sym)
        return
    t = type_of(i)
    n, vector = TYPE_BYTES[t], vector_of(i)
    if t == "b128" or n * vector > 16 or space == "param":
        raise Unsupported(i.text)
    put_address(lo, i, address(lo, i, i.operands[0], space))
    sources = elements(i, i.operands[1])
    for k, source in enumerate(sources):
        v = store_value(lo, source, INT_OF_BYTES[n], t)
        put_bytes(lo, 32 * n * k, v)
        store_shadow(lo, v, n, k)
    flags = flags_of(i)
    if lo.shadow and vector > 1:
        flags |= sum(COMPUTED << k for k, o in enumerate(sources) if computed(o, lo.definitions))
    site = lo.site(i, "store", space=space, elem_bytes=n, vector=vector, flags=flags)
    lo.runtime("rt_store", site, lo.active(i))


def store_shadow(lo: Lowering, v: V, n: int, k: int) -> None:
    """Tell the runtime which bytes of element `k` (of `n` bytes) are undefined."""
    if not lo.shadow:
        return
    at = lo.ptr(L.W_SCRATCH + 128 * SHADOW_ROW + 4 * n * k)
    if n == 1:
        lo.e.do(f"store i32 {lo.any(v.s) or 0}, ptr {at}")
    else:
        lo.e.do(f"store <{n} x i32> {lo.bytes_of(v.s, n)}, ptr {at}, align 4")


def atom(lo: Lowering, i: Instruction) -> None:
    """`atom` and `red`: the runtime serialises the lanes in lane order."""
    space = space_of(i)
    t = type_of(i)
    op = next((m for m in i.mods if m in ATOM_OPS), None)
    if op is None or t not in ATOM_TYPES or t == "b128":
        raise Unsupported(i.text)
    n = TYPE_BYTES[t]
    el = INT_OF_BYTES[n]
    result = i.op == "atom"
    operands = list(i.operands[1:] if result else i.operands)
    put_address(lo, i, address(lo, i, operands[0], space))
    vector = vector_of(i)
    sources = []
    for k, o in enumerate(operands[1].items if isinstance(operands[1], Vec) else operands[1:2]):
        sources.append(store_value(lo, o, el, t))
        put_bytes(lo, 32 * n * k, sources[-1])
    if len(sources) != vector:
        raise Unsupported(i.text)
    if op == "cas":
        c = store_value(lo, operands[2], el, t)
        put_bytes(lo, SECOND, c)
        sources.append(c)
    joined = lo.join(*sources)
    if lo.shadow:
        lo.e.do(
            f"store i32 {joined.n if joined else 0}, ptr {lo.ptr(L.W_SCRATCH + 128 * SHADOW_ROW)}"
        )
    site = lo.site(
        i,
        "atom",
        space=space,
        elem_bytes=n,
        vector=ATOM_OPS[op] | ATOM_TYPES[t] << 4 | (256 if result else 0) | vector << 12,
        flags=flags_of(i),
    )
    lo.runtime("rt_atom", site, lo.active(i))
    if result:
        s = None
        if lo.shadow:
            s = Shadow(lo.load_field(L.W_SCRATCH + 128 * SHADOW_ROW, "i32"))
        target = i.operands[0]
        for k, o in enumerate(target.items if isinstance(target, Vec) else [target]):
            v = get_bytes(lo, RESULT + 32 * n * k, el)
            lo.set(o, V(v.t, v.n, v.u, s), i)


def cp(lo: Lowering, i: Instruction) -> None:
    """`cp.async` and its groups; the bulk and tensor forms are not supported."""
    if i.mods[:1] != ("async",) or any(
        m.startswith(("bulk", "reduce", "mbarrier")) for m in i.mods
    ):
        if i.mods[:3] == ("async", "mbarrier", "arrive"):
            put_address(lo, i, address(lo, i, i.operands[0], space_of(i)))
            site = lo.site(i, "mbarrier", space=space_of(i), elem_bytes=8, vector="noinc" in i.mods)
            lo.runtime("rt_cp_arrive", site, lo.active(i))
            return
        raise Unsupported(i.text)
    if "commit_group" in i.mods:
        lo.runtime("rt_cp_commit", lo.site(i, "cp_commit"), lo.active(i))
        return
    if "wait_group" in i.mods or "wait_all" in i.mods:
        count = 0
        if "wait_group" in i.mods and i.operands and isinstance(i.operands[0], Imm):
            count = i.operands[0].bits
        site = lo.site(i, "cp_wait", vector=count, flags=1 if "wait_all" in i.mods else 0)
        lo.runtime("rt_cp_wait", site, lo.active(i))
        return
    operands = list(i.operands)
    put_address(lo, i, address(lo, i, operands[0], "shared"))
    put_address(lo, i, address(lo, i, operands[1], "global"), L.W_SCRATCH)
    size = operands[2]
    if not isinstance(size, Imm):
        raise Unsupported(f"{i.text} with a variable size")
    if size.bits not in ((16,) if "cg" in i.mods else (4, 8, 16)):
        raise Unsupported(f"{i.text} of {size.bits} bytes")
    extra = operands[3] if len(operands) > 3 else None
    if any("cache_hint" in m for m in i.mods) and len(operands) == 4:
        extra = None
    source_size = V("i32", str(size.bits), True)
    if extra is not None:
        is_pred = isinstance(extra, Reg) and lo.register_type(extra.name) == "pred"
        if is_pred:
            ignored = lo.bools(lo.read(extra, "pred"))
            source_size = lo.e.select(ignored, lo.e.const("i32", 0), source_size)
        else:
            source_size = lo.read(extra, "i32")
    put_bytes(lo, SECOND, source_size)
    site = lo.site(i, "cp_async", space="shared", elem_bytes=size.bits, flags=flags_of(i))
    lo.runtime("rt_cp_async", site, lo.active(i))


def nothing(lo: Lowering, i: Instruction) -> None:
    """Hints without an effect: prefetches, policies of caches, discards."""


def createpolicy(lo: Lowering, i: Instruction) -> None:
    """`createpolicy`: a cache policy is a number nobody looks into."""
    lo.set(i.operands[0], V("i64", "0", True), i)
