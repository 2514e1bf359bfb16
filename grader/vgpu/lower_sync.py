"""Barriers, warp operations, tensor fragments and served calls (PTX ISA 9.7.13-9.7.14)."""

from __future__ import annotations

from grader.vgpu import layout as L
from grader.vgpu.emit import INT_OF_BYTES, Shadow, V
from grader.vgpu.lower import Lowering
from grader.vgpu.lower_arith import type_of
from grader.vgpu.lower_calls import param_variable, parts, served_target
from grader.vgpu.lower_memory import (
    SECOND,
    SHADOW_ROW,
    address,
    flags_of,
    get_bytes,
    loaded_shadow,
    put_address,
    put_bytes,
    row_read,
    row_write,
    space_of,
    store_shadow,
)
from grader.vgpu.program import Unsupported
from grader.vgpu.ptx import TYPE_BYTES, Imm, Instruction, NotReg, Operand, Pair, Sink, Sym, Vec
from grader.vgpu.tensor import mma_function, wmma_function, wmma_memory

SHUFFLE = {"up": 0, "down": 1, "bfly": 2, "idx": 3}
FENCE_SCOPE = {"cta": 1, "gl": 2, "gpu": 2, "sys": 3, "cluster": 1}
BAR_SYNC, BAR_ARRIVE, BAR_RED_AND, BAR_RED_OR, BAR_RED_POPC = range(5)
NOT_GLOBAL, NOT_SHARED, EVERY_THREAD = 16, 32, 64


def member_mask(i: Instruction) -> Operand | None:
    """The operand that names the lanes of a warp operation; None where all lanes are meant."""
    if i.op in ("bar", "barrier"):
        return i.operands[0] if i.operands else None
    if i.op in ("shfl", "vote", "match", "redux", "elect"):
        return i.operands[-1]
    return None


def barrier_flags(i: Instruction) -> int:
    """What `.pragma "vgpu.barrier [every_thread] [global] [shared]"` in front of a barrier says.

    The barrier orders only the memory it names; with `every_thread` a thread that returned before
    it is an error. Without the pragma a barrier is CUDA's: it orders everything.
    """
    if not i.pragma:
        return 0
    return (
        EVERY_THREAD * ("every_thread" in i.pragma)
        + NOT_GLOBAL * ("global" not in i.pragma)
        + NOT_SHARED * ("shared" not in i.pragma)
    )


def barrier(lo: Lowering, i: Instruction) -> None:
    """`bar.sync`, `bar.red`, `barrier.sync`: the lanes wait; the scheduler wakes them."""
    if "cluster" in i.mods:
        lo.unsupported(i, f"instruction {i.text}")
        return
    kind = BAR_SYNC
    operands = list(i.operands)
    if "red" in i.mods:
        kind = BAR_RED_AND if "and" in i.mods else BAR_RED_OR if "or" in i.mods else BAR_RED_POPC
        operands = operands[1:]
        p = operands.pop()
        lo.put(2, V("i32", lo.read(p, "pred").n, True))
    if not operands:
        operands = [Imm(0)]
    lo.put(0, lo.read(operands[0], "i32"))
    count = lo.read(operands[1], "i32") if len(operands) > 1 else V("i32", "-1", True)
    lo.put(1, count)
    lo.runtime("rt_barrier", lo.site(i, "barrier", vector=kind + barrier_flags(i)))


def bar(lo: Lowering, i: Instruction) -> None:
    """`bar.warp.sync` (the wait came before) and `bar.arrive` (which does not wait)."""
    if "warp" in i.mods:
        if lo.shadow:
            lo.runtime("rt_warp_ordered", lo.site(i, "warp_barrier", vector=barrier_flags(i)))
        return
    if "cluster" in i.mods:
        raise Unsupported(i.text)
    lo.put(0, lo.read(i.operands[0], "i32"))
    count = lo.read(i.operands[1], "i32") if len(i.operands) > 1 else V("i32", "-1", True)
    lo.put(1, count)
    lo.runtime("rt_barrier", lo.site(i, "barrier", vector=BAR_ARRIVE), lo.active(i))


def take_barrier_result(lo: Lowering, i: Instruction) -> None:
    """First code after `bar.red`: the reduced predicate or count."""
    v = V("i32", lo.load_field(L.W_RESULT, "i32"), True)
    if "popc" in i.mods:
        lo.set(i.operands[0], v, i)
    else:
        lo.set(i.operands[0], V("pred", v.n, True), i)


def fence(lo: Lowering, i: Instruction) -> None:
    """`membar`, `fence`: order, which only the race check sees."""
    if not lo.shadow or "proxy" in i.mods[0]:
        return
    scope = max((FENCE_SCOPE[m] for m in i.mods if m in FENCE_SCOPE), default=2)
    lo.runtime("rt_fence", lo.site(i, "fence", vector=scope), lo.active(i))


def shfl(lo: Lowering, i: Instruction) -> None:
    """`shfl.sync.mode.b32 d|p, a, b, c, membermask` (9.7.9.6)."""
    mode = next((m for m in i.mods if m in SHUFFLE), None)
    if mode is None:
        raise Unsupported(i.text)
    a = lo.read(i.operands[1], "i32")
    lo.put(0, a)
    lo.put(1, lo.read(i.operands[2], "i32"))
    lo.put(2, lo.read(i.operands[3], "i32"))
    if lo.shadow:
        lo.e.do(f"store i32 {lo.any(a.s) or 0}, ptr {lo.ptr(L.W_SCRATCH + 128 * SHADOW_ROW)}")
    p = lo.runtime("rt_shfl", lo.site(i, "shfl", vector=SHUFFLE[mode]), result="i32")
    v = lo.get(4, "i32")
    s = None
    if lo.shadow:
        s = Shadow(lo.load_field(L.W_SCRATCH + 128 * SHADOW_ROW, "i32"))
    target = i.operands[0]
    first, second = (target.first, target.second) if isinstance(target, Pair) else (target, Sink())
    lo.set(first, V(v.t, v.n, v.u, s), i)
    lo.set(second, V("pred", p, True), i)


def vote(lo: Lowering, i: Instruction) -> None:
    """`vote.sync.{all,any,uni,ballot}` (9.7.13.9)."""
    e = lo.e
    p = lo.read(i.operands[1], "pred")
    lo.use(p, i, "branch")
    yes = e.op(f"and i32 {p.n}, {lo.mask}")
    if "ballot" in i.mods:
        lo.set(i.operands[0], V("i32", yes, True), i)
        return
    all_ = V("i1", e.op(f"icmp eq i32 {yes}, {lo.mask}"), True)
    none = V("i1", e.op(f"icmp eq i32 {yes}, 0"), True)
    if "all" in i.mods:
        r = all_
    elif "any" in i.mods:
        r = V("i1", e.op(f"xor i1 {none.n}, true"), True)
    else:
        r = e.binary("or", all_, none)
    lo.set(i.operands[0], lo.mask_of(r), i)


def activemask(lo: Lowering, i: Instruction) -> None:
    """`activemask.b32`."""
    lo.set(i.operands[0], V("i32", lo.mask, True), i)


def match(lo: Lowering, i: Instruction) -> None:
    """`match.{any,all}.sync.{b32,b64}` (9.7.13.11)."""
    t = f"i{8 * TYPE_BYTES[type_of(i)]}"
    a = lo.read(i.operands[1], t)
    put_bytes(lo, 0, a)
    kind = ("all" in i.mods) * 2 + (t == "i64")
    p = lo.runtime("rt_match", lo.site(i, "match", vector=kind), result="i32")
    target = i.operands[0]
    first, second = (target.first, target.second) if isinstance(target, Pair) else (target, Sink())
    lo.set(first, lo.with_shadow(lo.get(4, "i32"), a), i)
    lo.set(second, V("pred", p, True), i)


def redux(lo: Lowering, i: Instruction) -> None:
    """`redux.sync.op.type` (9.7.13.12), f32 min and max included."""
    op = next(m for m in i.mods if m in ("add", "min", "max", "and", "or", "xor"))
    kinds = {"add": 0, "min": 1, "max": 2, "and": 3, "or": 4, "xor": 5}
    t = type_of(i)
    a = lo.read(i.operands[1], "i32")
    lo.put(0, a)
    if lo.shadow:
        lo.use(a, i, "branch")
    kind = kinds[op] | (16 if t == "s32" else 0)
    if t == "f32":
        kind |= 32 | (64 if "abs" in i.mods else 0) | (128 if "NaN" in i.mods else 0)
    r = lo.runtime("rt_redux", lo.site(i, "redux", vector=kind), result="i32")
    lo.set(i.operands[0], V("i32", r, True), i)


def elect(lo: Lowering, i: Instruction) -> None:
    """`elect.sync d|p, membermask`: the lowest active lane."""
    e = lo.e
    low = e.op(f"and i32 {lo.mask}, {e.op(f'sub i32 0, {lo.mask}')}")
    e.declare("llvm.cttz.i32", "i32 (i32, i1)")
    target = i.operands[0]
    first, second = (target.first, target.second) if isinstance(target, Pair) else (target, Sink())
    lane = e.op(f"call i32 @llvm.cttz.i32(i32 {lo.mask}, i1 false)")
    lo.set(first, V("i32", lane, True), i)
    lo.set(second, V("pred", low, True), i)


# -- tensor fragments ---------------------------------------------------------------------------


def _items(o: Operand) -> tuple[Operand, ...]:
    return o.items if isinstance(o, Vec) else (o,)


def _tensor(lo: Lowering, i: Instruction, name: str, inputs: list[Operand], outputs: Vec) -> None:
    """Call `name(d, inputs…)` of the runtime over arrays [register][lane] of 32-bit words."""
    e = lo.e
    places = []
    row = 8
    for group in inputs:
        at = lo.ptr(L.W_SCRATCH + 128 * row)
        for o in _items(group):
            wide = _register_bits(lo, o)
            v = lo.read(o, wide)
            lo.use(v, i, "branch")
            put_bytes(lo, 128 * row, v)
            row += 1 if wide == "i32" else 2
        places.append(at)
    dst = lo.ptr(L.W_SCRATCH)
    e.declare(name, "void (" + ", ".join(["ptr"] * (len(places) + 1)) + ")")
    e.do(f"call void @{name}({', '.join(f'ptr {p}' for p in [dst, *places])})")
    row = 0
    values = []
    for o in outputs.items:
        wide = _register_bits(lo, o)
        values.append((o, get_bytes(lo, 128 * row, wide)))
        row += 1 if wide == "i32" else 2
    for o, v in values:
        lo.set(o, v, i)
    lo.runtime("rt_tensor", lo.site(i, "tensor"))


def _register_bits(lo: Lowering, o: Operand) -> str:
    if isinstance(o, Imm):
        return "i32"
    if isinstance(o, (Sym, Sink, NotReg, Pair, Vec)) or not hasattr(o, "name"):
        raise Unsupported("fragment operand")
    n = TYPE_BYTES[lo.register_type(o.name)]
    return INT_OF_BYTES[max(n, 4)]


def mma(lo: Lowering, i: Instruction) -> None:
    """`mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype` (9.7.14)."""
    name = mma_function(i)
    d, *inputs = i.operands[:4]
    _tensor(lo, i, name, inputs, Vec(_items(d)))


def ldmatrix(lo: Lowering, i: Instruction) -> None:
    """`ldmatrix` and `stmatrix`: rows of eight 16-bit elements, row addresses from lanes."""
    store = i.op == "stmatrix"
    number = next((int(m[1:]) for m in i.mods if m in ("x1", "x2", "x4")), 0)
    if "m8n8" not in i.mods or "b16" not in i.mods or not number:
        raise Unsupported(i.text)
    where, regs = (i.operands[0], i.operands[1]) if store else (i.operands[1], i.operands[0])
    put_address(lo, i, address(lo, i, where, space_of(i)))
    site = lo.site(
        i,
        "stmatrix" if store else "ldmatrix",
        space="shared",
        elem_bytes=16,
        vector=number | ("trans" in i.mods) * 16,
        flags=flags_of(i),
    )
    if store:
        for k, o in enumerate(_items(regs)):
            v = lo.read(o, "i32")
            lo.put(8 + k, v)
            store_shadow(lo, v, 4, k)
        lo.runtime("rt_stmatrix", site)
        return
    lo.runtime("rt_ldmatrix", site)
    values = [lo.get(8 + k, "i32") for k in range(number)]
    shadows = [loaded_shadow(lo, 4, k) for k in range(number)]
    for o, v, s in zip(_items(regs), values, shadows, strict=True):
        lo.set(o, V(v.t, v.n, v.u, s), i)


def movmatrix(lo: Lowering, i: Instruction) -> None:
    """`movmatrix.sync.aligned.m8n8.trans.b16`: the transpose of a fragment."""
    _tensor(lo, i, "vg_movmatrix", [i.operands[1]], Vec((i.operands[0],)))


def wmma(lo: Lowering, i: Instruction) -> None:
    """`wmma.load`, `wmma.store`, `wmma.mma` (9.7.14.3-9.7.14.5)."""
    if "mma" in i.mods:
        d, *inputs = i.operands[:4]
        _tensor(lo, i, wmma_function(i), inputs, Vec(_items(d)))
        return
    wmma_memory(lo, i)


# -- mbarrier -----------------------------------------------------------------------------------

MBARRIER = {
    "init": 0, "inval": 1, "arrive": 2, "arrive_drop": 3, "test_wait": 4, "try_wait": 5,
    "pending_count": 6, "expect_tx": 7,
}  # fmt: skip


def mbarrier(lo: Lowering, i: Instruction) -> None:
    """`mbarrier.*` on a 64-bit object in shared memory (9.7.13.15)."""
    op = next((m for m in i.mods if m in MBARRIER), None)
    if op is None or "expect_tx" in i.mods or "complete_tx" in i.mods:
        raise Unsupported(i.text)
    result = i.operands[0] if op not in ("init", "inval") else None
    operands = list(i.operands[1:] if result is not None else i.operands)
    if op == "pending_count":
        state = lo.read(operands[0], "i64")
        low = lo.e.binary("lshr", state, lo.e.const("i64", 32))
        masked = lo.e.binary("and", low, lo.e.const("i64", 0xFFFFF))
        assert result is not None
        lo.set(result, lo.e.resize(masked, "i32"), i)
        return
    if result is not None and not operands:
        operands, result = [result], None
    put_address(lo, i, address(lo, i, operands[0], space_of(i)))
    parity = "parity" in i.mods
    if op in ("test_wait", "try_wait"):
        state = lo.read(operands[1], "i32" if parity else "i64")
        put_bytes(lo, 0, lo.e.resize(state, "i64"))
    elif len(operands) > 1:
        put_bytes(lo, 0, lo.e.resize(lo.read(operands[1], "i32"), "i64"))
    else:
        put_bytes(lo, 0, V("i64", "1", True))
    site = lo.site(
        i, "mbarrier", space=space_of(i), elem_bytes=8, vector=MBARRIER[op] | parity * 16,
        flags=flags_of(i),
    )  # fmt: skip
    p = lo.runtime("rt_mbarrier", site, lo.active(i), result="i32")
    if result is None or isinstance(result, Sink):
        return
    if op in ("test_wait", "try_wait"):
        lo.set(result, V("pred", p, True), i)
    else:
        lo.set(result, get_bytes(lo, SECOND, "i64"), i)


# -- served calls -------------------------------------------------------------------------------


def _argument(lo: Lowering, o: Operand) -> V:
    """A call argument as an integer of its size."""
    if not isinstance(o, Sym):
        raise Unsupported("a register as a call argument")
    v = param_variable(lo, o.name)
    n = v.size_bytes
    if n not in (1, 2, 4, 8):
        raise Unsupported("a structure passed to a served function")
    return row_read(lo, o.name, 0, n)


def _fail(lo: Lowering, i: Instruction) -> None:
    """A failed assertion ends its warp there: compilers take what follows as never reached."""
    mask = lo.active(i)
    lo.runtime("rt_assert", lo.site(i, "assert"), mask)
    over, on = lo.new_label("over"), lo.new_label("on")
    none = lo.e.op(f"icmp eq i32 {mask}, 0")
    lo.e.do(f"br i1 {none}, label %{on}, label %{over}")
    lo.e.label(over)
    lo.e.do("ret void")
    lo.e.label(on)


def call(lo: Lowering, i: Instruction) -> None:
    """Calls the runtime serves: printf, assert, malloc and free."""
    name = served_target(i)
    results, _target, arguments = parts(i)
    args = [_argument(lo, o) for o in arguments]
    if name == "vprintf":
        put_bytes(lo, 0, args[0])
        put_bytes(lo, SECOND, args[1])
        lo.runtime("rt_printf", lo.site(i, "printf"), lo.active(i))
        out: V | None = V("i32", "0", True)
    elif name == "__assertfail":
        put_bytes(lo, 0, args[0])
        _fail(lo, i)
        out = None
    elif name in ("malloc", "free"):
        put_bytes(lo, 0, lo.e.resize(args[0], "i64"))
        lo.runtime(f"rt_{name}", lo.site(i, name), lo.active(i))
        out = get_bytes(lo, SECOND, "i64") if name == "malloc" else None
    else:
        raise Unsupported(f"call of {name}")
    if results and out is not None and isinstance(results[0], Sym):
        row_write(lo, i, results[0].name, 0, out)
