"""Calls as explicit continuations: lanes carry return blocks, arguments travel by lane.

A `.param` variable of a device function or a call sequence is a row of 32 words per four bytes,
so that every lane has its own; a call copies rows through one argument area.
"""

from __future__ import annotations

from grader.vgpu import layout as L
from grader.vgpu.emit import V
from grader.vgpu.frame import words
from grader.vgpu.lower import Lowering
from grader.vgpu.program import Block, Unsupported, call_target
from grader.vgpu.ptx import TYPE_BYTES, Instruction, Operand, Reg, Sym, Variable, Vec


def parts(i: Instruction) -> tuple[tuple[Operand, ...], Operand, tuple[Operand, ...]]:
    """Results, target and arguments of a call."""
    operands = list(i.operands)
    results: tuple[Operand, ...] = ()
    if isinstance(operands[0], Vec):
        results = operands.pop(0).items  # type: ignore[union-attr]
    target = operands.pop(0)
    arguments: tuple[Operand, ...] = ()
    if operands and isinstance(operands[0], Vec):
        arguments = operands[0].items
    return results, target, arguments


def _copy(lo: Lowering, source: int, target: int, count: int) -> None:
    """Copy `count` rows of words in the active lanes."""
    e = lo.e
    for k in range(count):
        new = e.op(f"load <32 x i32>, ptr {lo.ptr(source + 128 * k)}, align 64")
        at = lo.ptr(target + 128 * k)
        old = e.op(f"load <32 x i32>, ptr {at}, align 64")
        n = e.op(f"select <32 x i1> {lo.lanes}, <32 x i32> {new}, <32 x i32> {old}")
        e.do(f"store <32 x i32> {n}, ptr {at}, align 64")


def _copy_shadow(lo: Lowering, source: int, target: int, count: int) -> None:
    if not lo.shadow:
        return
    e = lo.e
    one = e.op(f"insertelement <4 x i32> poison, i32 {lo.mask}, i32 0")
    m = e.op(f"shufflevector <4 x i32> {one}, <4 x i32> poison, <4 x i32> zeroinitializer")
    inverse = e.op(f"xor <4 x i32> {m}, splat (i32 -1)")
    for k in range(count):
        new = e.op(f"load <4 x i32>, ptr {lo.ptr(source + 16 * k)}, align 16")
        at = lo.ptr(target + 16 * k)
        old = e.op(f"load <4 x i32>, ptr {at}, align 16")
        a = e.op(f"and <4 x i32> {new}, {m}")
        b = e.op(f"and <4 x i32> {old}, {inverse}")
        e.do(f"store <4 x i32> {e.op(f'or <4 x i32> {a}, {b}')}, ptr {at}, align 16")


def _move(lo: Lowering, names: list[str], outward: bool) -> None:
    """Copy variables to the argument area, or back."""
    f = lo.body.function
    at = 0
    for name in names:
        v = param_variable(lo, name)
        slot = lo.frame.param_slots[f.name, name]
        n = (v.size_bytes + 3) // 4
        if at + words(v) > lo.frame.argument_words:
            raise Unsupported(f"a call with {v.name}, more than any function takes or returns")
        area = lo.frame.argument_area + 128 * at
        _copy(lo, slot if outward else area, area if outward else slot, n)
        if lo.shadow:
            s = lo.frame.shadow_slots[f.name, name]
            sa = lo.frame.argument_shadow + 16 * at
            _copy_shadow(lo, s if outward else sa, sa if outward else s, n)
        at += words(v)


def param_variable(lo: Lowering, name: str) -> Variable:
    """The parameter or return value of the current function with this name."""
    f = lo.body.function
    for v in (*f.params, *f.returns):
        if v.name == name:
            return v
    local = f.variables.get(name)
    if local is None or local.space != "param":
        raise Unsupported(f"unknown parameter {name}")
    return local


def _names(operands: tuple[Operand, ...]) -> list[str]:
    out = []
    for o in operands:
        if not isinstance(o, Sym):
            raise Unsupported("a register as a call argument")
        out.append(o.name)
    return out


def prologue(lo: Lowering) -> None:
    """First code of a device function: take the arguments, count the depth of recursion."""
    _move(lo, [v.name for v in lo.body.function.params], outward=False)
    _depth(lo, 1)
    f = lo.body.function
    live = [r for r, bit in lo.body.index.items() if lo.body.entry_live >> bit & 1]
    for name in live:
        # Registers that may be read undefined: zero in every fresh call.
        slot = lo.frame.slots.get((f.name, name))
        if slot is not None:
            pred = lo.register_type(name) == "pred"
            t = "pred" if pred else f"i{8 * TYPE_BYTES[lo.register_type(name)]}"
            lo.values[name] = V(t, "0", True, lo.undefined())
            lo.dirty[name] = None


def _depth(lo: Lowering, by: int) -> None:
    slot = lo.frame.depth_slots.get(lo.body.function.name)
    if slot is None:
        return
    e = lo.e
    at = lo.ptr(slot)
    old = e.op(f"load <32 x i32>, ptr {at}, align 64")
    new = e.op(f"add <32 x i32> {old}, splat (i32 {by})")
    n = e.op(f"select <32 x i1> {lo.lanes}, <32 x i32> {new}, <32 x i32> {old}")
    e.do(f"store <32 x i32> {n}, ptr {at}, align 64")


def leave(lo: Lowering, i: Instruction) -> None:
    """`ret` of a device function: results out, lanes back to their callers."""
    del i
    _move(lo, [v.name for v in lo.body.function.returns], outward=True)
    _depth(lo, -1)
    lo.e.declare("rt_return", "void (ptr, i32)")
    lo.e.do(f"call void @rt_return(ptr %w, i32 {lo.mask})")
    lo.e.do("ret void")


def call(lo: Lowering, i: Instruction, block: Block) -> None:
    """Arguments out, return block pushed, lanes on to the callee's first block."""
    results, target, arguments = parts(i)
    del results
    e = lo.e
    if isinstance(target, Sym) and target.name not in lo.program.bodies:
        lo.runtime("rt_unsupported", lo.site(i, f"unsupported: call of {target.name}"))
        e.do("ret void")
        return
    _move(lo, _names(arguments), outward=True)
    indirect = None
    if isinstance(target, Reg):
        indirect = lo.read(target, "i64")
        lo.use(indirect, i, "branch")
        lo.put(0, indirect)
    lo.write_back()
    table, count = "null", 0
    if lo.body.recursive:
        table, count = _frame_table(lo)
    e.declare("rt_call", "void (ptr, i32, i32, i32, ptr, i32)")
    site = lo.site(i, "call")
    callee = lo.program.bodies[target.name].first if isinstance(target, Sym) else -1
    e.do(f"store i32 {site}, ptr {lo.ptr(L.W_EVENT)}")
    e.do(
        f"call void @rt_call(ptr %w, i32 {lo.mask}, i32 {callee}, i32 {block.follow}, "
        f"ptr {table}, i32 {count})"
    )
    e.do("ret void")


def _frame_table(lo: Lowering) -> tuple[str, int]:
    """What a recursive function must find unchanged after a call: (offset, bytes) pairs."""
    name = lo.body.function.name
    flat: list[int] = []
    for (f, reg), slot in lo.frame.slots.items():
        if f != name:
            continue
        type_ = lo.body.function.registers[reg]
        if type_ == "pred":
            flat += [slot, 0]
        elif reg not in lo.body.invariant:
            flat += [slot, TYPE_BYTES[type_]]
        if lo.shadow and (f, reg) in lo.frame.shadow_slots:
            n = 1 if type_ == "pred" else TYPE_BYTES[type_]
            for k in range(n):
                flat += [lo.frame.shadow_slots[f, reg] + 4 * k, 0]
    for (f, var), slot in lo.frame.param_slots.items():
        if f == name:
            v = param_variable(lo, var)
            for k in range((v.size_bytes + 3) // 4):
                flat += [slot + 128 * k, 4]
    return lo.table(f"frame_{lo.program.bodies[name].first}", "i32", flat), len(flat) // 2


def resume(lo: Lowering, i: Instruction) -> None:
    """First code after a call: take the results."""
    _move(lo, _names(parts(i)[0]), outward=False)


def served_target(i: Instruction) -> str:
    """Name of a function the runtime serves."""
    target = call_target(i)
    assert isinstance(target, Sym)
    return target.name
