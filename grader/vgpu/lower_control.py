"""Control flow: counting blocks, waiting for a warp's lanes, branches, calls and exits."""

from __future__ import annotations

from grader.vgpu import layout as L
from grader.vgpu import lower_calls as calls
from grader.vgpu.emit import V
from grader.vgpu.lower import Lowering, Values
from grader.vgpu.lower_sync import barrier, member_mask
from grader.vgpu.program import Block, Unsupported, is_barrier
from grader.vgpu.ptx import Imm, Instruction


def count(lo: Lowering, block: Block) -> None:
    e = lo.e
    at = e.op(f"getelementptr i8, ptr %counters, i64 {L.COUNTER_BYTES * block.id}")
    n = e.op(f"load i64, ptr {at}")
    e.do(f"store i64 {e.op(f'add i64 {n}, 1')}, ptr {at}")
    lanes_at = e.op(f"getelementptr i8, ptr {at}, i64 8")
    e.declare("llvm.ctpop.i32", "i32 (i32)")
    ones = e.op(f"zext i32 {e.op(f'call i32 @llvm.ctpop.i32(i32 {lo.mask})')} to i64")
    lanes = e.op(f"load i64, ptr {lanes_at}")
    e.do(f"store i64 {e.op(f'add i64 {lanes}, {ones}')}, ptr {lanes_at}")
    cost = len(block.instructions) + 1
    budget_at = lo.ptr(L.W_BUDGET)
    budget = e.op(f"load i64, ptr {budget_at}")
    e.do(f"store i64 {e.op(f'sub i64 {budget}, {cost}')}, ptr {budget_at}")
    _time(lo, block)
    if lo.shadow:
        v_at = e.op(f"getelementptr i32, ptr %visited, i64 {block.id}")
        v = e.op(f"load i32, ptr {v_at}")
        e.do(f"store i32 {e.op(f'or i32 {v}, {lo.mask}')}, ptr {v_at}")


def _time(lo: Lowering, block: Block) -> None:
    """The block's own clocks, and what the loads of its last run were waited for."""
    e = lo.e
    timing = lo.timings[block.id]
    if timing.arrives:
        e.declare("rt_arrived", "void (ptr)")
        e.do("call void @rt_arrived(ptr %w)")
    at = lo.ptr(L.W_CHAIN)
    chain = e.op(f"load i64, ptr {at}")
    if timing.awaits:
        waits = lo.ptr(L.W_WAIT)
        each = e.op(f"load <8 x i32>, ptr {waits}, align 32")
        e.declare("llvm.vector.reduce.add.v8i32", "i32 (<8 x i32>)")
        waited = e.op(f"call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> {each})")
        e.do(f"store <8 x i32> zeroinitializer, ptr {waits}, align 32")
        chain = e.op(f"add i64 {chain}, {e.op(f'zext i32 {waited} to i64')}")
    e.do(f"store i64 {e.op(f'add i64 {chain}, {timing.clocks}')}, ptr {at}")


def await_warp(lo: Lowering, i: Instruction) -> None:
    """Wait until the lanes the member mask names have arrived."""
    e = lo.e
    site = lo.site(i, "warp_sync")
    operand = member_mask(i)
    everyone = operand is None or (
        isinstance(operand, Imm) and operand.bits & 0xFFFFFFFF == 0xFFFFFFFF
    )
    if operand is not None:
        lo.put(63, lo.read(operand, "i32"))
    else:
        lo.put(63, V("i32", "-1", True))
    live = lo.load_field(L.W_LIVE, "i32")
    go, slow, give_up = lo.new_label("go"), lo.new_label("slow"), lo.new_label("wait")
    if everyone:
        same = e.op(f"icmp eq i32 {live}, {lo.mask}")
        e.do(f"br i1 {same}, label %{go}, label %{slow}")
    else:
        e.do(f"br label %{slow}")
    e.label(slow)
    e.do(f"store i32 {lo.block.id}, ptr {lo.ptr(L.W_NEXT)}")
    m = lo.runtime("rt_warp_sync", site, result="i32")
    e.do(f"store i32 {m}, ptr %mvar")
    # The runtime may have let waiting lanes in, so what is pending has changed.
    e.do(f"store i32 {lo.load_field(L.W_PEND, 'i32')}, ptr %pend")
    none = e.op(f"icmp eq i32 {m}, 0")
    e.do(f"br i1 {none}, label %{give_up}, label %{go}")
    e.label(give_up)
    e.do("ret void")
    e.label(go)
    lo.mask, lo.mask_vector = e.op("load i32, ptr %mvar"), ""
    lo.values = Values()


def terminate(lo: Lowering, block: Block) -> None:
    i = block.terminator
    e = lo.e
    if i is None or (i.op == "bra" and block.guard is None):
        lo.write_back()
        _edge(lo, block.follow if i is None else block.target)
        return
    lo.loc = i.loc
    if i.op == "bra":
        g = lo.guard_mask(block.guard)  # type: ignore[arg-type]
        lo.use(g, i, "branch")
        lo.write_back()
        _branch(lo, block, g)
    elif i.op in ("exit", "ret") and (i.op == "exit" or lo.body.function.entry):
        _exit(lo, i)
    elif i.op == "ret":
        calls.leave(lo, i)
    elif i.op in ("trap", "brkpt"):
        lo.runtime("rt_trap", lo.site(i, "trap"))
        e.do("ret void")
    elif i.op == "call":
        calls.call(lo, i, block)
    elif i.op == "brx":
        index = lo.read(i.operands[0], "i32")
        lo.use(index, i, "branch")
        lo.put(0, index)
        lo.write_back()
        _table_branch(lo, block)
    elif is_barrier(i):
        barrier(lo, i)
        lo.write_back()
        set_pc(lo, block.follow)
        e.do("ret void")
    else:
        raise Unsupported(f"terminator {i.text}")


def _exit(lo: Lowering, i: Instruction) -> None:
    e = lo.e
    lo.runtime("rt_exit", lo.site(i, "exit"))
    e.do("ret void")


def _edge(lo: Lowering, target: int) -> None:
    """Go on at `target` with the current mask, directly where lowest-first allows it."""
    e = lo.e
    if target not in lo.inside:
        set_pc(lo, target)
        e.do("ret void")
        return
    lo.yields.add(target)
    if target <= lo.block.id:
        on = lo.new_label("e")
        budget = lo.load_field(L.W_BUDGET, "i64")
        spent = e.op(f"icmp slt i64 {budget}, 0")
        e.do(f"br i1 {spent}, label %yield{target}, label %{on}")
        e.label(on)
    pend = e.op("load i32, ptr %pend")
    direct = e.op(f"icmp ult i32 {target}, {pend}")
    e.do(f"br i1 {direct}, label %bb{target}, label %yield{target}")


def _branch(lo: Lowering, block: Block, g: V) -> None:
    e = lo.e
    target, follow = block.target, block.follow
    if target == follow:
        _edge(lo, target)
        return
    taken = e.op(f"and i32 {lo.mask}, {g.n}")
    inverse = e.op(f"xor i32 {taken}, {lo.mask}")
    all_, not_all, none, split = (lo.new_label("b") for _ in range(4))
    e.do(f"br i1 {e.op(f'icmp eq i32 {inverse}, 0')}, label %{all_}, label %{not_all}")
    e.label(all_)
    mv = lo.mask_vector
    lo.mask_vector = ""
    _edge(lo, target)
    e.label(not_all)
    e.do(f"br i1 {e.op(f'icmp eq i32 {taken}, 0')}, label %{none}, label %{split}")
    e.label(none)
    lo.mask_vector = ""
    _edge(lo, follow)
    e.label(split)
    lo.mask_vector = mv
    at = e.op(f"getelementptr i8, ptr %counters, i64 {L.COUNTER_BYTES * block.id + 16}")
    n = e.op(f"load i64, ptr {at}")
    e.do(f"store i64 {e.op(f'add i64 {n}, 1')}, ptr {at}")
    low_mask, high_mask = (taken, inverse) if target < follow else (inverse, taken)
    low, high = min(target, follow), max(target, follow)
    whole = lo.mask
    lo.mask, lo.mask_vector = high_mask, ""
    set_pc(lo, high)
    pend = e.op("load i32, ptr %pend")
    e.declare("llvm.umin.i32", "i32 (i32, i32)")
    e.do(f"store i32 {e.op(f'call i32 @llvm.umin.i32(i32 {pend}, i32 {high})')}, ptr %pend")
    e.do(f"store i32 {low_mask}, ptr %mvar")
    lo.mask, lo.mask_vector = low_mask, ""
    _edge(lo, low)
    lo.mask, lo.mask_vector = whole, ""


def _table_branch(lo: Lowering, block: Block) -> None:
    e = lo.e
    # Each lane's target is looked up by the runtime, which then dispatches.
    name = lo.table(f"targets{block.id}", "i32", block.targets)
    e.declare("rt_table_branch", "void (ptr, i32, ptr, i32)")
    e.do(f"call void @rt_table_branch(ptr %w, i32 {lo.mask}, ptr {name}, i32 {len(block.targets)})")
    e.do("ret void")


def set_pc(lo: Lowering, target: int) -> None:
    e = lo.e
    at = lo.ptr(L.W_PC)
    old = e.op(f"load <32 x i32>, ptr {at}, align 64")
    splat = f"<32 x i32> splat (i32 {target})"
    new = e.op(f"select <32 x i1> {lo.lanes}, {splat}, <32 x i32> {old}")
    e.do(f"store <32 x i32> {new}, ptr {at}, align 64")
