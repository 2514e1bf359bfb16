"""Lower a program's blocks to LLVM IR text: one function per chunk of blocks.

A warp's registers are slots of 32 lanes in memory (values that are the same in all lanes stay
scalar); inside a block they are SSA values, written back under the active mask when they live on.
Instruction families are small functions in `lower_*.py`, found by opcode in `OPCODES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from grader.vgpu import layout as L
from grader.vgpu import lower_calls as calls
from grader.vgpu.debug_info import local_variables
from grader.vgpu.emit import BITS, INT_OF_BYTES, INT_OF_FLOAT, Emitter, Shadow, V
from grader.vgpu.program import (
    UNIFORM_SPECIAL,
    Block,
    Body,
    Program,
    Unsupported,
    is_barrier,
    is_warp_sync,
    registers_of,
)
from grader.vgpu.ptx import (
    TYPE_BYTES,
    Imm,
    Instruction,
    Loc,
    NotReg,
    Operand,
    Pair,
    Ptx,
    Reg,
    Sink,
    Sym,
    Variable,
    Vec,
)

CHUNK_INSTRUCTIONS = 400

ELEMENT = {
    "pred": "i1", "b8": "i8", "u8": "i8", "s8": "i8", "b16": "i16", "u16": "i16", "s16": "i16",
    "b32": "i32", "u32": "i32", "s32": "i32", "b64": "i64", "u64": "i64", "s64": "i64",
    "f16": "half", "bf16": "i16", "f32": "float", "f64": "double", "f16x2": "i32",
    "bf16x2": "i32", "tf32": "i32", "b128": "i128",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Site:
    """An instruction the runtime hears about: memory, order, traps. `kind` is its family."""

    instruction: Instruction
    kind: str
    space: str = "generic"
    elem_bytes: int = 0
    vector: int = 1
    flags: int = 0
    function: str = ""
    block: int = -1


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
        self.values: dict[str, V] = {}
        self.dirty: set[str] = set()
        self.slots: dict[tuple[str, str], int] = {}
        self.shadow_slots: dict[tuple[str, str], int] = {}
        self.param_slots: dict[tuple[str, str], int] = {}
        self.next_slot = L.W_REGS
        self.variables = {name: k for k, name in enumerate(ptx.variables)}
        self.shared: dict[str, tuple[int, Variable]] = {}
        self.local: dict[str, tuple[int, Variable]] = {}
        self.debug = local_variables(ptx)
        self.pieces: dict[str, list[tuple[int, int, int]]] = {}
        self.mask = ""
        self.mask_vector = ""
        self.loc: Loc | None = None
        self.temp_labels = 0
        self.zero_end = L.W_REGS
        self.kernel_params: dict[str, int] = {}
        self.tables: dict[str, str] = {}
        self.depth_slots: dict[str, int] = {}
        self._layout()

    # -- layout -------------------------------------------------------------------------------

    def _layout(self) -> None:
        """Place registers, parameters, shared arrays and local depots."""
        offset = 0
        for p in self.program.kernel.params:
            size = p.size_bytes
            offset = (offset + p.align - 1) // p.align * p.align
            self.kernel_params[p.name] = offset
            offset += size
        # What may be read before it is written comes first and is cleared when a warp starts.
        late: list[tuple[str, str, str, bool]] = []
        for name, body in self.program.bodies.items():
            needed = body.entry_live
            for block in body.blocks:
                needed |= block.live_out
            for reg, bit in body.index.items():
                if not needed >> bit & 1:
                    continue
                type_ = body.function.registers[reg]
                early = bool(body.entry_live >> bit & 1)
                item = (name, reg, type_, early)
                if early:
                    self._slot(*item[:3])
                else:
                    late.append(item)
        self.zero_end = self.next_slot
        for name, reg, type_, _early in late:
            self._slot(name, reg, type_)
        for name, body in self.program.bodies.items():
            f = body.function
            variables = list(f.variables.values())
            if not f.entry:
                variables += [*f.params, *f.returns]
            for v in variables:
                if v.space == "param":
                    self.param_slots[name, v.name] = self._space((v.size_bytes + 3) // 4 * 128)
                    if self.shadow:
                        self.shadow_slots[name, v.name] = self._space(
                            (v.size_bytes + 3) // 4 * 16, 16
                        )
                elif v.space == "local":
                    self.local[v.name] = (L.array_offset(len(self.local)), v)
                    self._split_depot(v, body.recursive)
                elif v.space == "shared" and not v.extern:
                    self.shared[v.name] = (L.array_offset(len(self.shared)), v)
        words = 0
        for body in self.program.bodies.values():
            f = body.function
            words = max(words, sum(calls.words(v) for v in f.params))
            words = max(words, sum(calls.words(v) for v in f.returns))
            if body.recursive:
                self.depth_slots[f.name] = self._space(128)
        self.argument_area = self._space(128 * max(words, 1))
        self.argument_shadow = self._space(16 * max(words, 1)) if self.shadow else 0
        externs = [v for v in self.ptx.variables.values() if v.space == "shared"]
        for v in externs:
            if v.extern or v.count == 0:
                self.shared[v.name] = (L.array_offset(4000), v)
            else:
                self.shared[v.name] = (L.array_offset(len(self.shared)), v)

    def _split_depot(self, depot: Variable, recursive: bool) -> None:
        """Give each array of a depot a place of its own, where debug information knows them."""
        if recursive:
            return
        for v in self.debug.get(depot.name, ()):
            if v.offset + v.size > depot.size_bytes:
                continue
            at = L.array_offset(len(self.local))
            key = f"{depot.name}+{v.offset}.{v.name}"
            self.local[key] = (at, Variable(key, "local", "b8", depot.align, (v.size,)))
            self.pieces.setdefault(depot.name, []).append((v.offset, v.size, at))

    def local_offset(self, base: int, offset: int) -> int:
        """Where byte `offset` of the depot at window offset `base` lies: in its array, if known."""
        for depot, pieces in self.pieces.items():
            if self.local[depot][0] != base:
                continue
            for start, size, at in pieces:
                if start <= offset < start + size:
                    return at + offset - start
        return base + offset

    def stack_offset(self, name: str, offset: int) -> int | None:
        """The generic (%SP) or window (%SPL) address of a constant offset into the depot."""
        if name not in ("%SP", "%SPL") or self.body.recursive:
            return None
        depot = next(
            (v.name for v in self.body.function.variables.values() if v.name in self.pieces), None
        )
        if depot is None:
            return None
        at = self.local_offset(self.local[depot][0], offset)
        return at + (L.LOCAL_BASE if name == "%SP" else 0)

    def _space(self, size: int, align: int = 64) -> int:
        self.next_slot = (self.next_slot + align - 1) // align * align
        at = self.next_slot
        self.next_slot += size
        return at

    def _slot(self, function: str, reg: str, type_: str) -> None:
        body = self.program.bodies[function]
        if type_ == "pred":
            self.slots[function, reg] = self._space(4, 4)
        elif reg in body.invariant:
            self.slots[function, reg] = self._space(8, 8)
            return
        else:
            self.slots[function, reg] = self._space(TYPE_BYTES[type_] * 32)
        if self.shadow:
            n = 0 if type_ == "pred" else TYPE_BYTES[type_]
            self.shadow_slots[function, reg] = self._space(4 * max(n, 1), 4 * max(n, 1))

    # -- sites --------------------------------------------------------------------------------

    def site(self, i: Instruction, kind: str, **more: object) -> int:
        """Register an instruction with the runtime; returns its id."""
        self.sites.append(
            Site(i, kind, function=self.block.function, block=self.block.id, **more)  # type: ignore[arg-type]
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
            v = self.special(name)
            if name in UNIFORM_SPECIAL or name.startswith(("%tid", "%laneid", "%lanemask")):
                self.values[name] = v
            return v
        type_ = self.register_type(name)
        slot = self.slots.get((self.body.function.name, name))
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
        slot = self.shadow_slots.get((self.body.function.name, name))
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
        self.dirty.add(name)

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

    def _write_back(self) -> None:
        """Store what lives on into its slots, under the active mask."""
        f = self.body.function.name
        for name in sorted(self.dirty):
            slot = self.slots.get((f, name))
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
        slot = self.shadow_slots.get((self.body.function.name, name))
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
            return self.e.const(t, self.immediate(o, t))
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

    @staticmethod
    def immediate(o: Imm, t: str) -> int:
        """Bits of a constant in the type an instruction wants."""
        import struct

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

    def symbol(self, o: Sym) -> int:
        """Address a symbol stands for: a window offset for shared and local, else generic."""
        name = o.name
        f = self.body.function
        if name in f.variables or name in self.shared or name in self.local:
            if name in self.shared:
                return self.shared[name][0] + o.offset
            if name in self.local:
                return self.local[name][0] + o.offset
        if name in self.variables:
            return L.variable_address(self.variables[name]) + o.offset
        if name in self.kernel_params and f.entry:
            return self.kernel_params[name] + o.offset
        if name in self.program.bodies:
            return L.FUNCTION_BASE + self.program.bodies[name].first
        if name in self.ptx.functions:
            return L.FUNCTION_BASE + (1 << 24) + list(self.ptx.functions).index(name)
        raise Unsupported(f"unknown symbol {name}")

    def special(self, name: str) -> V:
        """A special register (PTX ISA chapter 10) as an i32 or i64 value."""
        e = self.e
        axis = {"x": 0, "y": 1, "z": 2}
        base, _, part = name.partition(".")
        if base in ("%tid", "%ctaid", "%ntid", "%nctaid") and part in axis:
            k = axis[part]
            if base == "%tid":
                n = e.op(f"load <32 x i32>, ptr {self.ptr(L.W_TID + 128 * k)}, align 64")
                return V("i32", n)
            field_ = {"%ctaid": L.W_CTAID, "%ntid": L.W_NTID, "%nctaid": L.W_NCTAID}[base]
            return V("i32", self.load_field(field_ + 4 * k, "i32"), True)
        if base in ("%tid", "%ctaid", "%ntid", "%nctaid") and not part:
            return self.special(f"{base}.x")
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
            return V("i32", self.load_field(scalar, "i32"), True)
        if name in ("%clock", "%clock_hi"):
            wide = self._clock()
            if name == "%clock_hi":
                wide = e.op(f"lshr i64 {wide}, 32")
            return V("i32", e.op(f"trunc i64 {wide} to i32"), True)
        if name in ("%clock64", "%globaltimer"):
            return V("i64", self._clock(), True)
        if name in ("%globaltimer_lo", "%globaltimer_hi"):
            return V("i32", e.op(f"trunc i64 {self._clock()} to i32"), True)
        constants = {"%nsmid": 108, "%gridid": 1, "%reserved_smem_offset_1": 0}
        if name in constants:
            return e.const("i32" if name != "%gridid" else "i64", constants[name])
        if name.startswith("%envreg") and name in UNIFORM_SPECIAL:
            e.declare("rt_envreg", "i32 (ptr, i32)")
            return V("i32", e.op(f"call i32 @rt_envreg(ptr %w, i32 {name[7:]})"), True)
        if name == "%is_explicit_cluster":
            return V("pred", "0", True)
        raise Unsupported(f"special register {name}")

    def _clock(self) -> str:
        self.e.declare("rt_clock", "i64 (ptr)")
        return self.e.op("call i64 @rt_clock(ptr %w)")

    # -- blocks -------------------------------------------------------------------------------

    def chunks(self) -> list[list[Block]]:
        """Blocks grouped into functions small enough for LLVM's per-function passes."""
        out: list[list[Block]] = []
        size = 0
        function = ""
        for block in self.program.blocks:
            n = len(block.instructions) + 1
            if not out or block.function != function or size + n > CHUNK_INSTRUCTIONS:
                out.append([])
                size = 0
            out[-1].append(block)
            function, size = block.function, size + n
        return out

    def run(self) -> Lowered:
        """Lower everything."""
        text: list[str] = []
        chunk_of = [0] * len(self.program.blocks)
        costs = [0] * len(self.program.blocks)
        for k, chunk in enumerate(self.chunks()):
            for block in chunk:
                chunk_of[block.id] = k
                costs[block.id] = len(block.instructions) + (block.terminator is not None)
            text.append(self._chunk(k, chunk))
        n = k + 1
        table = ", ".join(f"ptr @chunk{c}" for c in chunk_of)
        text.append(f"@block_table = constant [{len(chunk_of)} x ptr] [{table}]")
        text += self.tables.values()
        for name, signature in sorted(self.e.declared.items()):
            ret, _, args = signature.partition(" (")
            text.append(f"declare {ret} @{name}({args}")
        return Lowered(
            "\n".join(text),
            self.sites,
            chunk_of,
            n,
            self.next_slot - L.W_REGS,
            self.zero_end - L.W_REGS,
            costs,
            shared=self.shared,
            local=self.local,
        )

    def _chunk(self, number: int, chunk: list[Block]) -> str:
        e = self.e
        e.lines, e.count = [], 0
        self.inside = {b.id for b in chunk}
        self.yields: set[int] = set()
        self.body = self.program.bodies[chunk[0].function]
        e.label("entry")
        e.do("%mvar = alloca i32")
        e.do("%pend = alloca i32")
        e.do(f"store i32 {self.load_field(L.W_MASK, 'i32')}, ptr %mvar")
        e.do(f"store i32 {self.load_field(L.W_PEND, 'i32')}, ptr %pend")
        first = self.load_field(L.W_NEXT, "i32")
        e.do(f"%counters = load ptr, ptr {self.ptr(L.W_COUNTERS)}")
        e.do(f"%params = load ptr, ptr {self.ptr(L.W_PARAMS)}")
        if self.shadow:
            e.do(f"%visited = load ptr, ptr {self.ptr(L.W_VISITED)}")
        cases = " ".join(f"i32 {b.id}, label %bb{b.id}" for b in chunk)
        e.do(f"switch i32 {first}, label %stray [{cases}]")
        e.label("stray")
        e.do("unreachable")
        for block in chunk:
            self._block(block)
        for target in sorted(self.yields):
            e.label(f"yield{target}")
            self.mask, self.mask_vector = e.op("load i32, ptr %mvar"), ""
            self._set_pc(target)
            e.do("ret void")
        return f"define void @chunk{number}(ptr noalias %w) {{\n" + "\n".join(e.lines) + "\n}\n"

    def _set_pc(self, target: int) -> None:
        e = self.e
        at = self.ptr(L.W_PC)
        old = e.op(f"load <32 x i32>, ptr {at}, align 64")
        splat = f"<32 x i32> splat (i32 {target})"
        new = e.op(f"select <32 x i1> {self.lanes}, {splat}, <32 x i32> {old}")
        e.do(f"store <32 x i32> {new}, ptr {at}, align 64")

    def _block(self, block: Block) -> None:
        e = self.e
        self.block = block
        self.values, self.dirty = {}, set()
        e.label(f"bb{block.id}")
        self.mask, self.mask_vector = e.op("load i32, ptr %mvar"), ""
        head = block.instructions[0] if block.instructions else None
        if head is not None and is_warp_sync(head):
            self._await_warp(head)
        self._count(block)
        if block.id == self.body.first and not self.body.function.entry:
            calls.prologue(self)
        if block.resume is not None:
            self._resume(block.resume)
        for i in block.instructions:
            self.instruction(i)
        self._terminate(block)

    def _resume(self, i: Instruction) -> None:
        """First code after a wait that gives something back."""
        if i.op == "call":
            calls.resume(self, i)
            return
        from grader.vgpu.lower_sync import take_barrier_result

        take_barrier_result(self, i)

    def _count(self, block: Block) -> None:
        e = self.e
        at = e.op(f"getelementptr i8, ptr %counters, i64 {L.COUNTER_BYTES * block.id}")
        n = e.op(f"load i64, ptr {at}")
        e.do(f"store i64 {e.op(f'add i64 {n}, 1')}, ptr {at}")
        lanes_at = e.op(f"getelementptr i8, ptr {at}, i64 8")
        e.declare("llvm.ctpop.i32", "i32 (i32)")
        ones = e.op(f"zext i32 {e.op(f'call i32 @llvm.ctpop.i32(i32 {self.mask})')} to i64")
        lanes = e.op(f"load i64, ptr {lanes_at}")
        e.do(f"store i64 {e.op(f'add i64 {lanes}, {ones}')}, ptr {lanes_at}")
        cost = len(block.instructions) + 1
        budget_at = self.ptr(L.W_BUDGET)
        budget = e.op(f"load i64, ptr {budget_at}")
        e.do(f"store i64 {e.op(f'sub i64 {budget}, {cost}')}, ptr {budget_at}")
        if self.shadow:
            v_at = e.op(f"getelementptr i32, ptr %visited, i64 {block.id}")
            v = e.op(f"load i32, ptr {v_at}")
            e.do(f"store i32 {e.op(f'or i32 {v}, {self.mask}')}, ptr {v_at}")

    def _await_warp(self, i: Instruction) -> None:
        """Wait until the lanes the member mask names have arrived."""
        from grader.vgpu.lower_sync import member_mask

        e = self.e
        site = self.site(i, "warp_sync")
        operand = member_mask(i)
        everyone = operand is None or (
            isinstance(operand, Imm) and operand.bits & 0xFFFFFFFF == 0xFFFFFFFF
        )
        if operand is not None:
            self.put(63, self.read(operand, "i32"))
        else:
            self.put(63, V("i32", "-1", True))
        live = self.load_field(L.W_LIVE, "i32")
        go, slow, give_up = self.new_label("go"), self.new_label("slow"), self.new_label("wait")
        if everyone:
            same = e.op(f"icmp eq i32 {live}, {self.mask}")
            e.do(f"br i1 {same}, label %{go}, label %{slow}")
        else:
            e.do(f"br label %{slow}")
        e.label(slow)
        e.do(f"store i32 {block_id(self)}, ptr {self.ptr(L.W_NEXT)}")
        m = self.runtime("rt_warp_sync", site, result="i32")
        e.do(f"store i32 {m}, ptr %mvar")
        # The runtime may have let waiting lanes in, so what is pending has changed.
        e.do(f"store i32 {self.load_field(L.W_PEND, 'i32')}, ptr %pend")
        none = e.op(f"icmp eq i32 {m}, 0")
        e.do(f"br i1 {none}, label %{give_up}, label %{go}")
        e.label(give_up)
        e.do("ret void")
        e.label(go)
        self.mask, self.mask_vector = e.op("load i32, ptr %mvar"), ""
        self.values = {}

    def instruction(self, i: Instruction) -> None:
        """Lower one instruction that is not a terminator."""
        from grader.vgpu.opcodes import OPCODES

        self.loc = i.loc
        lower = OPCODES.get(i.op)
        saved = len(self.e.lines), self.e.count, len(self.sites), self.temp_labels
        kept = dict(self.values), set(self.dirty), self.mask_vector
        try:
            if lower is None:
                raise Unsupported(f"instruction {i.text}")
            try:
                lower(self, i)
            except (IndexError, KeyError, ValueError, StopIteration) as error:
                # Operands or types that no form of the instruction has.
                raise Unsupported(f"this form of {i.text}") from error
        except Unsupported as why:
            # Unsupported counts only when executed: drop the half-made code and report at run time.
            del self.e.lines[saved[0] :]
            self.e.count = saved[1]
            del self.sites[saved[2] :]
            self.temp_labels = saved[3]
            self.values, self.dirty, self.mask_vector = kept[0], kept[1], kept[2]
            self.unsupported(i, str(why))

    def unsupported(self, i: Instruction, why: str) -> None:
        """End the launch if lanes execute this."""
        self.runtime("rt_unsupported", self.site(i, f"unsupported: {why}"), self.active(i))

    # -- terminators --------------------------------------------------------------------------

    def _terminate(self, block: Block) -> None:
        i = block.terminator
        e = self.e
        if i is None or (i.op == "bra" and block.guard is None):
            self._write_back()
            self._edge(block.follow if i is None else block.target)
            return
        self.loc = i.loc
        if i.op == "bra":
            g = self.guard_mask(block.guard)  # type: ignore[arg-type]
            self.use(g, i, "branch")
            self._write_back()
            self._branch(block, g)
        elif i.op in ("exit", "ret") and (i.op == "exit" or self.body.function.entry):
            self._exit(i)
        elif i.op == "ret":
            calls.leave(self, i)
        elif i.op in ("trap", "brkpt"):
            self.runtime("rt_trap", self.site(i, "trap"))
            e.do("ret void")
        elif i.op == "call":
            calls.call(self, i, block)
        elif i.op == "brx":
            index = self.read(i.operands[0], "i32")
            self.use(index, i, "branch")
            self.put(0, index)
            self._write_back()
            self._table_branch(block)
        elif is_barrier(i):
            from grader.vgpu.lower_sync import barrier

            barrier(self, i)
            self._write_back()
            self._set_pc(block.follow)
            e.do("ret void")
        else:
            raise Unsupported(f"terminator {i.text}")

    def _exit(self, i: Instruction) -> None:
        e = self.e
        self.runtime("rt_exit", self.site(i, "exit"))
        e.do("ret void")

    def _edge(self, target: int) -> None:
        """Go on at `target` with the current mask, directly where lowest-first allows it."""
        e = self.e
        if target not in self.inside:
            self._set_pc(target)
            e.do("ret void")
            return
        self.yields.add(target)
        if target <= self.block.id:
            on = self.new_label("e")
            budget = self.load_field(L.W_BUDGET, "i64")
            spent = e.op(f"icmp slt i64 {budget}, 0")
            e.do(f"br i1 {spent}, label %yield{target}, label %{on}")
            e.label(on)
        pend = e.op("load i32, ptr %pend")
        direct = e.op(f"icmp ult i32 {target}, {pend}")
        e.do(f"br i1 {direct}, label %bb{target}, label %yield{target}")

    def _branch(self, block: Block, g: V) -> None:
        e = self.e
        target, follow = block.target, block.follow
        if target == follow:
            self._edge(target)
            return
        taken = e.op(f"and i32 {self.mask}, {g.n}")
        inverse = e.op(f"xor i32 {taken}, {self.mask}")
        all_, not_all, none, split = (self.new_label("b") for _ in range(4))
        e.do(f"br i1 {e.op(f'icmp eq i32 {inverse}, 0')}, label %{all_}, label %{not_all}")
        e.label(all_)
        mv = self.mask_vector
        self.mask_vector = ""
        self._edge(target)
        e.label(not_all)
        e.do(f"br i1 {e.op(f'icmp eq i32 {taken}, 0')}, label %{none}, label %{split}")
        e.label(none)
        self.mask_vector = ""
        self._edge(follow)
        e.label(split)
        self.mask_vector = mv
        at = e.op(f"getelementptr i8, ptr %counters, i64 {L.COUNTER_BYTES * block.id + 16}")
        n = e.op(f"load i64, ptr {at}")
        e.do(f"store i64 {e.op(f'add i64 {n}, 1')}, ptr {at}")
        low_mask, high_mask = (taken, inverse) if target < follow else (inverse, taken)
        low, high = min(target, follow), max(target, follow)
        whole = self.mask
        self.mask, self.mask_vector = high_mask, ""
        self._set_pc(high)
        pend = e.op("load i32, ptr %pend")
        e.declare("llvm.umin.i32", "i32 (i32, i32)")
        e.do(f"store i32 {e.op(f'call i32 @llvm.umin.i32(i32 {pend}, i32 {high})')}, ptr %pend")
        e.do(f"store i32 {low_mask}, ptr %mvar")
        self.mask, self.mask_vector = low_mask, ""
        self._edge(low)
        self.mask, self.mask_vector = whole, ""

    def _table_branch(self, block: Block) -> None:
        e = self.e
        # Each lane's target is looked up by the runtime, which then dispatches.
        name = self.table(f"targets{block.id}", "i32", block.targets)
        e.declare("rt_table_branch", "void (ptr, i32, ptr, i32)")
        e.do(
            f"call void @rt_table_branch(ptr %w, i32 {self.mask}, ptr {name}, "
            f"i32 {len(block.targets)})"
        )
        e.do("ret void")

    def table(self, name: str, t: str, values: Sequence[int]) -> str:
        """A constant array; returns its global name."""
        items = ", ".join(f"{t} {v}" for v in values)
        self.tables[name] = f"@{name} = private constant [{len(values)} x {t}] [{items}]"
        return f"@{name}"


def block_id(lowering: Lowering) -> int:
    """Id of the block being lowered."""
    return lowering.block.id


def _s32(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


OpFunction = Callable[[Lowering, Instruction], None]
__all__ = ["ELEMENT", "Lowered", "Lowering", "OpFunction", "Pair", "Site", "Vec", "registers_of"]
