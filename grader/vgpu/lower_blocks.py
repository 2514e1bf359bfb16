"""Lower a program's blocks to LLVM IR text: one function per chunk of blocks."""

from __future__ import annotations

from grader.vgpu import layout as L
from grader.vgpu import lower_calls as calls
from grader.vgpu import lower_control as control
from grader.vgpu.lower import Lowered, Lowering, Values
from grader.vgpu.lower_sync import take_barrier_result
from grader.vgpu.opcodes import OPCODES
from grader.vgpu.program import Block, Program, Unsupported, is_warp_sync
from grader.vgpu.ptx import Instruction, Ptx

CHUNK_INSTRUCTIONS = 400  # in one function: LLVM's passes take longer than in proportion


def lower(ptx: Ptx, program: Program, shadow: bool) -> Lowered:
    """Lower everything; `shadow` adds the bookkeeping of undefined values."""
    lo = Lowering(ptx, program, shadow)
    text: list[str] = []
    chunk_of = [0] * len(program.blocks)
    costs = [0] * len(program.blocks)
    chunks = _chunks(program)
    for k, chunk in enumerate(chunks):
        for block in chunk:
            chunk_of[block.id] = k
            costs[block.id] = len(block.instructions) + (block.terminator is not None)
        text.append(_chunk(lo, k, chunk))
    table = ", ".join(f"ptr @chunk{c}" for c in chunk_of)
    text.append(f"@block_table = constant [{len(chunk_of)} x ptr] [{table}]")
    text += lo.tables.values()
    for name, signature in sorted(lo.e.declared.items()):
        ret, _, args = signature.partition(" (")
        text.append(f"declare {ret} @{name}({args}")
    return Lowered(
        "\n".join(text),
        lo.sites,
        chunk_of,
        len(chunks),
        lo.frame.register_bytes,
        lo.frame.zero_end - L.W_REGS,
        costs,
        shared=lo.frame.shared,
        local=lo.frame.local,
    )


def _chunks(program: Program) -> list[list[Block]]:
    """Blocks grouped into functions small enough for LLVM's per-function passes."""
    out: list[list[Block]] = []
    size = 0
    function = ""
    for block in program.blocks:
        n = len(block.instructions) + 1
        if not out or block.function != function or size + n > CHUNK_INSTRUCTIONS:
            out.append([])
            size = 0
        out[-1].append(block)
        function, size = block.function, size + n
    return out


def _chunk(lo: Lowering, number: int, chunk: list[Block]) -> str:
    e = lo.e
    e.lines, e.count = [], 0
    lo.inside = {b.id for b in chunk}
    lo.yields = set()
    lo.body = lo.program.bodies[chunk[0].function]
    e.label("entry")
    e.do("%mvar = alloca i32")
    e.do("%pend = alloca i32")
    e.do(f"store i32 {lo.load_field(L.W_MASK, 'i32')}, ptr %mvar")
    e.do(f"store i32 {lo.load_field(L.W_PEND, 'i32')}, ptr %pend")
    first = lo.load_field(L.W_NEXT, "i32")
    e.do(f"%counters = load ptr, ptr {lo.ptr(L.W_COUNTERS)}")
    e.do(f"%params = load ptr, ptr {lo.ptr(L.W_PARAMS)}")
    if lo.shadow:
        e.do(f"%visited = load ptr, ptr {lo.ptr(L.W_VISITED)}")
    cases = " ".join(f"i32 {b.id}, label %bb{b.id}" for b in chunk)
    e.do(f"switch i32 {first}, label %stray [{cases}]")
    e.label("stray")
    e.do("unreachable")
    for block in chunk:
        _block(lo, block)
    for target in sorted(lo.yields):
        e.label(f"yield{target}")
        lo.mask, lo.mask_vector = e.op("load i32, ptr %mvar"), ""
        control.set_pc(lo, target)
        e.do("ret void")
    return f"define void @chunk{number}(ptr noalias %w) {{\n" + "\n".join(e.lines) + "\n}\n"


def _block(lo: Lowering, block: Block) -> None:
    e = lo.e
    lo.block = block
    lo.values, lo.dirty = Values(), {}
    e.label(f"bb{block.id}")
    lo.mask, lo.mask_vector = e.op("load i32, ptr %mvar"), ""
    head = block.instructions[0] if block.instructions else None
    if head is not None and is_warp_sync(head):
        control.await_warp(lo, head)
    control.count(lo, block)
    if block.id == lo.body.first and not lo.body.function.entry:
        calls.prologue(lo)
    if block.resume is not None:
        _resume(lo, block.resume)
    for i in block.instructions:
        _instruction(lo, i)
    control.terminate(lo, block)


def _resume(lo: Lowering, i: Instruction) -> None:
    """First code after a wait that gives something back."""
    if i.op == "call":
        calls.resume(lo, i)
        return
    take_barrier_result(lo, i)


def _instruction(lo: Lowering, i: Instruction) -> None:
    """Lower one instruction that is not a terminator."""
    lo.loc = i.loc
    function = OPCODES.get(i.op)
    saved = len(lo.e.lines), lo.e.count, len(lo.sites), lo.temp_labels
    written, mask_vector = len(lo.dirty), lo.mask_vector
    lo.values.changed.clear()
    try:
        if function is None:
            raise Unsupported(f"instruction {i.text}")
        try:
            function(lo, i)
        except (IndexError, KeyError, ValueError, StopIteration) as error:
            # Operands or types that no form of the instruction has.
            raise Unsupported(f"this form of {i.text}") from error
    except Unsupported as why:
        # Unsupported counts only when executed: drop the half-made code and report at run time.
        del lo.e.lines[saved[0] :]
        lo.e.count = saved[1]
        del lo.sites[saved[2] :]
        lo.temp_labels = saved[3]
        lo.values.undo()
        while len(lo.dirty) > written:
            lo.dirty.popitem()
        lo.mask_vector = mask_vector
        lo.unsupported(i, str(why))
