"""What lowering one kernel to LLVM IR text has at hand: registers, masks, shadows, sites, tables.

A warp's registers are slots of 32 lanes in memory (values that are the same in all lanes stay
scalar); inside a block they are SSA values, written back under the active mask when they live on.
Instruction families are small functions in `lower_*.py`; `lower_blocks` calls them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from grader.vgpu import layout as L
from grader.vgpu.copied import Definitions, definitions
from grader.vgpu.emit import BITS, INT_OF_BYTES, INT_OF_FLOAT, Emitter, Shadow, V
from grader.vgpu.frame import Frame
from grader.vgpu.latency import timings
from grader.vgpu.program import (
    UNIFORM_SPECIAL,
    Block,
    Body,
    Program,
    Unsupported,
)
from grader.vgpu.ptx import (
    TYPE_BYTES,
    Imm,
    Instruction,
    Loc,
    NotReg,
    Operand,
    Ptx,
    Reg,
    Sink,
    Sym,
    Variable,
)

ELEMENT = {
    "pred": "i1", "b8": "i8", "u8": "i8", "s8": "i8", "b16": "i16", "u16": "i16", "s16": "i16",
    "b32": "i32", "u32": "i32", "s32": "i32", "b64": "i64", "u64": "i64", "s64": "i64",
    "f16": "half", "bf16": "i16", "f32": "float", "f64": "double", "f16x2": "i32",
    "bf16x2": "i32", "tf32": "i32", "b128": "i128",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Site:
    """An instruction the runtime hears about: memory, order, traps. `kind` is its family, `wait`
    how the warp waits for what it loads (latency.py)."""

    instruction: Instruction
    kind: str
    space: str = "generic"
    elem_bytes: int = 0
    vector: int = 1
    flags: int = 0
    function: str = ""
    block: int = -1
    wait: int = 0


@dataclass(slots=True)
class Lowered:
    """LLVM IR of one kernel and what the runtime must know about it."""

    ir: str
    sites: list[Site]
    block_chunks: list[int]
    chunks: int
    register_bytes: int
    zero_bytes: int
    block_costs: list[int]
    frame_bytes: dict[str, int] = field(default_factory=dict)
    shared: dict[str, tuple[int, Variable]] = field(default_factory=dict)
    local: dict[str, tuple[int, Variable]] = field(default_factory=dict)


class Values(dict[str, V]):
    """What registers hold inside a block; what one instruction changed can be taken back."""

    def __init__(self) -> None:
        super().__init__()
        self.changed: list[tuple[str, V | None]] = []

    def __setitem__(self, name: str, v: V) -> None:
        self.changed.append((name, self.get(name)))
        super().__setitem__(name, v)

    def undo(self) -> None:
        """Take back what was set since `changed` was cleared."""
        for name, old in reversed(self.changed):
            if old is None:
                del self[name]
            else:
                super().__setitem__(name, old)
        self.changed.clear()


class Lowering:
    """State of lowering one kernel."""

    def __init__(self, ptx: Ptx, program: Program, shadow: bool) -> None:
        self.ptx = ptx
        self.program = program
        self.shadow = shadow
        self.e = Emitter()
        self.sites: list[Site] = []
        self.body: Body = next(iter(program.bodies.values()))
        self.block: Block = program.blocks[0]
        self.inside: set[int] = set()  # blocks of the function that is being written
        self.yields: set[int] = set()  # blocks outside it that it leaves for
        self.values = Values()
        self.dirty: dict[str, None] = {}  # registers written in the block, in order
        self.variables = {name: k for k, name in enumerate(ptx.variables)}
        self.mask = ""
        self.mask_vector = ""
        self.loc: Loc | None = None
        self.temp_labels = 0
        self.tables: dict[str, str] = {}
        self.frame = Frame(ptx, program, shadow)
        self.timings = timings(program)
        self.defined: dict[str, Definitions] = {}

    def stack_offset(self, name: str, offset: int) -> int | None:
        """The generic (%SP) or window (%SPL) address of a constant offset into the depot."""
        if name not in ("%SP", "%SPL") or self.body.recursive:
            return None
        depot = next(
            (v.name for v in self.body.function.variables.values() if v.name in self.frame.pieces),
            None,
        )
        if depot is None:
            return None
        at = self.frame.local_offset(self.frame.local[depot][0], offset)
        return at + (L.LOCAL_BASE if name == "%SP" else 0)

    @property
    def definitions(self) -> Definitions:
        """What may write each register of the function that is being lowered."""
        name = self.body.function.name
        if name not in self.defined:
            self.defined[name] = definitions(self.body)
        return self.defined[name]

    # -- sites --------------------------------------------------------------------------------

    def site(self, i: Instruction, kind: str, **more: object) -> int:
        """Register an instruction with the runtime; returns its id."""
        block = self.block
        wait = self.timings[block.id].waits.get(id(i), 0)
        self.sites.append(
            Site(i, kind, function=block.function, block=block.id, wait=wait, **more)  # type: ignore[arg-type]
        )
        return len(self.sites) - 1

    # -- warp state ---------------------------------------------------------------------------

    def ptr(self, offset: int | str) -> str:
        """A pointer into the warp's state."""
        return self.e.op(f"getelementptr i8, ptr %w, i64 {offset}")

    def load_field(self, offset: int, t: str) -> str:
        """A scalar field of the warp's state."""
        return self.e.op(f"load {t}, ptr {self.ptr(offset)}")

    def runtime(self, name: str, site: int, mask: str | None = None, result: str = "void") -> str:
        """Call `name(w, mask, site)` of the runtime."""
        self.e.declare(name, f"{result} (ptr, i32, i32)")
        text = f"call {result} @{name}(ptr %w, i32 {mask or self.mask}, i32 {site})"
        if result == "void":
            self.e.do(text)
            return ""
        return self.e.op(text)

    def put(self, row: int, v: V) -> None:
        """Store a value to the scratch area, `row` counts 128-byte rows."""
        v = self.e.vector(v)
        self.e.do(f"store {v.full}, ptr {self.ptr(L.W_SCRATCH + 128 * row)}, align 64")

    def get(self, row: int, t: str) -> V:
        """Load a value from the scratch area."""
        n = self.e.op(f"load <32 x {t}>, ptr {self.ptr(L.W_SCRATCH + 128 * row)}, align 64")
        return V(t, n)

    @property
    def lanes(self) -> str:
        """The active mask as <32 x i1>."""
        if not self.mask_vector:
            self.mask_vector = self.e.op(f"bitcast i32 {self.mask} to <32 x i1>")
        return self.mask_vector

    # -- masks --------------------------------------------------------------------------------

    def mask_of(self, v: V) -> V:
        """An i1 value as a lane mask."""
        if v.u:
            return V("pred", self.e.op(f"sext i1 {v.n} to i32"), True, v.s)
        return V("pred", self.e.op(f"bitcast <32 x i1> {v.n} to i32"), True, v.s)

    def bools(self, v: V) -> V:
        """A lane mask as an i1 value."""
        return V("i1", self.e.op(f"bitcast i32 {v.n} to <32 x i1>"), False, v.s)

    def guard_mask(self, guard: Reg | NotReg) -> V:
        """The lane mask of a guard, negated when the guard is."""
        v = self.reg(guard.name)
        if isinstance(guard, NotReg):
            return V("pred", self.e.op(f"xor i32 {v.n}, -1"), True, v.s)
        return v

    def active(self, i: Instruction) -> str:
        """The lanes that execute `i`: the active mask, narrowed by its guard."""
        if i.guard is None:
            return self.mask
        g = self.guard_mask(i.guard)
        self.use(g, i, "branch")
        return self.e.op(f"and i32 {self.mask}, {g.n}")

    # -- shadows ------------------------------------------------------------------------------

    def any(self, s: Shadow | None) -> str | None:
        """A shadow as one lane mask."""
        if s is None or not s.bytes:
            return s.n if s else None
        full = f"llvm.vector.reduce.or.v{s.bytes}i32"
        self.e.declare(full, f"i32 (<{s.bytes} x i32>)")
        return self.e.op(f"call i32 @{full}(<{s.bytes} x i32> {s.n})")

    def join(self, *values: V) -> Shadow | None:
        """The shadow of a result that depends on every bit of its operands."""
        if not self.shadow:
            return None
        out: str | None = None
        for v in values:
            a = self.any(v.s)
            if a is not None:
                out = a if out is None else self.e.op(f"or i32 {out}, {a}")
        return None if out is None else Shadow(out)

    def with_shadow(self, v: V, *sources: V) -> V:
        """The value with the joined shadow of its sources."""
        if not self.shadow:
            return v
        return V(v.t, v.n, v.u, self.join(*sources))

    def bytes_of(self, s: Shadow | None, n: int) -> str:
        """A shadow as a vector of one lane mask per byte."""
        if s is None:
            return "zeroinitializer"
        if s.bytes == n:
            return s.n
        one = self.any(s)
        first = self.e.op(f"insertelement <{n} x i32> poison, i32 {one}, i32 0")
        return self.e.op(
            f"shufflevector <{n} x i32> {first}, <{n} x i32> poison, <{n} x i32> zeroinitializer"
        )

    def undefined(self) -> Shadow | None:
        """The shadow of something never written."""
        return Shadow("-1") if self.shadow else None

    def use(self, v: V, i: Instruction, what: str, mask: str | None = None) -> None:
        """Report lanes whose undefined value reaches a branch, an address or global memory."""
        if not self.shadow:
            return
        a = self.any(v.s)
        if a is None:
            return
        site = self.site(i, f"uninitialised_{what}")
        hit = self.e.op(f"and i32 {a}, {mask or self.mask}")
        self.e.declare("rt_uninitialised", "void (ptr, i32, i32)")
        cold, on = self.new_label("u"), self.new_label("v")
        zero = self.e.op(f"icmp eq i32 {hit}, 0")
        self.e.do(f"br i1 {zero}, label %{on}, label %{cold}")
        self.e.label(cold)
        self.e.do(f"call void @rt_uninitialised(ptr %w, i32 {hit}, i32 {site})")
        self.e.do(f"br label %{on}")
        self.e.label(on)

    def new_label(self, prefix: str) -> str:
        """A fresh LLVM label."""
        self.temp_labels += 1
        return f"{prefix}{self.temp_labels}"

    # -- registers ----------------------------------------------------------------------------

    def register_type(self, name: str) -> str:
        """Declared type of a register."""
        t = self.body.function.registers.get(name)
        if t is None:
            raise Unsupported(f"undeclared register {name}")
        return t

    def reg(self, name: str) -> V:
        """Current value of a register: an integer of its width, or a lane mask (`pred`)."""
        v = self.values.get(name)
        if v is not None:
            return v
        if name not in self.body.function.registers:
            v = special(self, name)
            if name in UNIFORM_SPECIAL or name.startswith(("%tid", "%laneid", "%lanemask")):
                self.values[name] = v
            return v
        type_ = self.register_type(name)
        slot = self.frame.slots.get((self.body.function.name, name))
        pred = type_ == "pred"
        t = "i32" if pred else INT_OF_BYTES[TYPE_BYTES[type_]]
        if slot is None:
            # Never defined on any path: an undefined register reads as zero.
            v = V("pred" if pred else t, "0", True, Shadow("-1") if self.shadow else None)
        elif pred:
            v = V("pred", self.load_field(slot, "i32"), True, self._shadow_of(name, 0))
        elif name in self.body.invariant:
            v = V(t, self.load_field(slot, t), True)
        else:
            n = self.e.op(f"load <32 x {t}>, ptr {self.ptr(slot)}, align 64")
            v = V(t, n, False, self._shadow_of(name, TYPE_BYTES[type_]))
        self.values[name] = v
        return v

    def _shadow_of(self, name: str, n: int) -> Shadow | None:
        slot = self.frame.shadow_slots.get((self.body.function.name, name))
        if slot is None:
            return None
        if n <= 1:
            return Shadow(self.load_field(slot, "i32"))
        return Shadow(self.e.op(f"load <{n} x i32>, ptr {self.ptr(slot)}, align {4 * n}"), n)

    def set(self, operand: Operand, v: V, i: Instruction, signed: bool = False) -> None:
        """Write a result; a guard keeps the old value where it is false."""
        if isinstance(operand, Sink):
            return
        if not isinstance(operand, Reg):
            raise Unsupported(f"result operand of {i.text}")
        name = operand.name
        type_ = self.register_type(name)
        if type_ == "pred":
            if v.t == "i1":
                v = self.mask_of(v)
        else:
            t = INT_OF_BYTES[TYPE_BYTES[type_]]
            if v.t in INT_OF_FLOAT:
                v = self.e.bitcast(v, INT_OF_FLOAT[v.t])
            if v.t != t:
                r = self.e.resize(v, t, signed)
                v = V(t, r.n, r.u, Shadow(self.any(v.s) or "0") if v.s else None)
        if i.guard is not None:
            g = self.guard_mask(i.guard)
            old = self.reg(name)
            if type_ == "pred":
                a = self.e.op(f"and i32 {v.n}, {g.n}")
                ng = self.e.op(f"xor i32 {g.n}, -1")
                b = self.e.op(f"and i32 {old.n}, {ng}")
                n = V("pred", self.e.op(f"or i32 {a}, {b}"), True)
            else:
                n = self.e.select(self.bools(g), v, old)
            v = V(n.t, n.n, n.u, self._blend_shadow(v, old, g.n) if self.shadow else None)
        self.values[name] = v
        self.dirty[name] = None

    def _blend_shadow(self, new: V, old: V, mask: str) -> Shadow | None:
        """The shadow after writing `new` over `old` in the lanes of `mask`."""
        if new.s is None and old.s is None:
            return None
        n = max(new.s.bytes if new.s else 0, old.s.bytes if old.s else 0)
        if n == 0:
            a = self.e.op(f"and i32 {new.s.n if new.s else 0}, {mask}")
            inv = self.e.op(f"xor i32 {mask}, -1")
            b = self.e.op(f"and i32 {old.s.n if old.s else 0}, {inv}")
            return Shadow(self.e.op(f"or i32 {a}, {b}"))
        m = self.bytes_of(Shadow(mask), n)
        a = self.e.op(f"and <{n} x i32> {self.bytes_of(new.s, n)}, {m}")
        inv = self.e.op(f"xor <{n} x i32> {m}, splat (i32 -1)")
        b = self.e.op(f"and <{n} x i32> {self.bytes_of(old.s, n)}, {inv}")
        return Shadow(self.e.op(f"or <{n} x i32> {a}, {b}"), n)

    def write_back(self) -> None:
        """Store what lives on into its slots, under the active mask."""
        f = self.body.function.name
        for name in sorted(self.dirty):
            slot = self.frame.slots.get((f, name))
            bit = self.body.index[name]
            if slot is None or not self.block.live_out >> bit & 1:
                continue
            v = self.values[name]
            type_ = self.register_type(name)
            at = self.ptr(slot)
            if name in self.body.invariant and type_ != "pred":
                one = v
                if not v.u:
                    one = V(v.t, self.e.op(f"extractelement {v.full}, i32 0"), True)
                self.e.do(f"store {one.full}, ptr {at}")
                continue
            if type_ == "pred":
                old = self.e.op(f"load i32, ptr {at}")
                a = self.e.op(f"and i32 {v.n}, {self.mask}")
                b = self.e.op(f"and i32 {old}, {self.inverse_mask}")
                self.e.do(f"store i32 {self.e.op(f'or i32 {a}, {b}')}, ptr {at}")
            else:
                full = self.e.vector(v)
                old = self.e.op(f"load {full.ty}, ptr {at}, align 64")
                new = self.e.op(f"select <32 x i1> {self.lanes}, {full.full}, {full.ty} {old}")
                self.e.do(f"store {full.ty} {new}, ptr {at}, align 64")
            if self.shadow:
                self._write_shadow(name, v, 0 if type_ == "pred" else TYPE_BYTES[type_])

    @property
    def inverse_mask(self) -> str:
        """The inactive lanes."""
        return self.e.op(f"xor i32 {self.mask}, -1")

    def _write_shadow(self, name: str, v: V, n: int) -> None:
        slot = self.frame.shadow_slots.get((self.body.function.name, name))
        if slot is None:
            return
        old = V(v.t, "", False, self._shadow_of(name, n))
        new = self._blend_shadow(v, old, self.mask)
        at = self.ptr(slot)
        if n <= 1:
            self.e.do(f"store i32 {new.n if new else 0}, ptr {at}")
        else:
            self.e.do(f"store <{n} x i32> {self.bytes_of(new, n)}, ptr {at}, align {4 * n}")

    # -- operands -----------------------------------------------------------------------------

    def read(self, o: Operand, t: str, signed: bool = False) -> V:
        """An operand as a value of LLVM element type `t` (or `pred`)."""
        if t in {"pred", "i1"}:
            if isinstance(o, Imm):
                v = V("pred", "-1" if o.bits else "0", True)
            elif isinstance(o, NotReg):
                r = self.reg(o.name)
                v = V("pred", self.e.op(f"xor i32 {r.n}, -1"), True, r.s)
            elif isinstance(o, Reg):
                v = self.reg(o.name)
            else:
                raise Unsupported("predicate operand")
            return v if t == "pred" else self.bools(v)
        if isinstance(o, Imm):
            return self.e.const(t, immediate(o, t))
        if isinstance(o, Reg):
            v = self.reg(o.name)
            if v.t == "pred":
                raise Unsupported(f"predicate {o.name} used as a number")
            i = INT_OF_FLOAT.get(t, t)
            if v.t != i:
                r = self.e.resize(v, i, signed)
                s = v.s
                if s is not None and s.bytes:
                    n = BITS[i] // 8
                    s = self.slice_shadow(s, 0, n) if n < s.bytes else Shadow(self.any(s) or "0")
                v = V(i, r.n, r.u, s)
            return self.e.bitcast(v, t)
        if isinstance(o, Sym):
            if o.name == "WARP_SZ":
                return self.e.const(t, L.LANES)
            return self.e.bitcast(self.e.const(INT_OF_FLOAT.get(t, t), self.symbol(o)), t)
        raise Unsupported("operand form")

    def slice_shadow(self, s: Shadow | None, first: int, n: int) -> Shadow | None:
        """The shadow of `n` bytes from byte `first`."""
        if s is None or not s.bytes:
            return s
        if n == 1:
            return Shadow(self.e.op(f"extractelement <{s.bytes} x i32> {s.n}, i32 {first}"))
        index = ", ".join(f"i32 {first + k}" for k in range(n))
        return Shadow(
            self.e.op(
                f"shufflevector <{s.bytes} x i32> {s.n}, <{s.bytes} x i32> poison, "
                f"<{n} x i32> <{index}>"
            ),
            n,
        )

    def symbol(self, o: Sym) -> int:
        """Address a symbol stands for: a window offset for shared and local, else generic."""
        name = o.name
        f = self.body.function
        if name in f.variables or name in self.frame.shared or name in self.frame.local:
            if name in self.frame.shared:
                return self.frame.shared[name][0] + o.offset
            if name in self.frame.local:
                return self.frame.local[name][0] + o.offset
        if name in self.variables:
            return L.variable_address(self.variables[name]) + o.offset
        if name in self.frame.kernel_params and f.entry:
            return self.frame.kernel_params[name] + o.offset
        if name in self.ptx.functions:
            return L.function_address(list(self.ptx.functions).index(name))
        raise Unsupported(f"unknown symbol {name}")

    def unsupported(self, i: Instruction, why: str) -> None:
        """End the launch if lanes execute this."""
        self.runtime("rt_unsupported", self.site(i, f"unsupported: {why}"), self.active(i))

    def table(self, name: str, t: str, values: Sequence[int]) -> str:
        """A constant array; returns its global name."""
        items = ", ".join(f"{t} {v}" for v in values)
        self.tables[name] = f"@{name} = private constant [{len(values)} x {t}] [{items}]"
        return f"@{name}"


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


OpFunction = Callable[[Lowering, Instruction], None]
