"""The program of one kernel: its functions cut into basic blocks, numbered and analysed.

A block ends at a branch, a call, a return, and before and after everything that makes lanes or
warps wait, because a wait is a return to the scheduler with all state in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from grader.vgpu.ptx import (
    Addr,
    Function,
    Imm,
    Instruction,
    Label,
    NotReg,
    Operand,
    Pair,
    Ptx,
    Reg,
    Sym,
    Variable,
    Vec,
)

MOST_INSTRUCTIONS = 40_000
"""Of a kernel with its functions. Each costs up to 1.4 ms to translate, and a grade translates a
kernel three times (with and without checks, and unoptimised) in less than 300 s."""

# Instructions that need all lanes their mask names: each begins a block of its own.
WARP_SYNC = {"shfl", "vote", "match", "redux", "mma", "wmma", "ldmatrix", "stmatrix", "elect"}
# Instructions after which the scheduler decides what goes on.
LEAVES = {"ret", "exit", "trap", "bra", "brx", "call", "brkpt"}
# Functions the runtime serves itself: a call to one is an ordinary instruction.
SERVED = {"vprintf", "__assertfail", "malloc", "free", "memcpy", "memset"}

PURE = {
    "mov", "add", "sub", "mul", "mad", "fma", "div", "rem", "min", "max", "abs", "neg", "and",
    "or", "xor", "not", "shl", "shr", "shf", "cvt", "cvta", "setp", "selp", "set", "slct", "bfe",
    "bfi", "prmt", "popc", "clz", "brev", "bfind", "lop3", "rcp", "sqrt", "rsqrt", "isspacep",
    "cnot", "sad", "copysign", "testp", "bmsk", "ex2", "lg2", "sin", "cos", "tanh",
}  # fmt: skip

UNIFORM_SPECIAL = {
    "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%ntid.x",
    "%ntid.y", "%ntid.z", "%nwarpid", "%smid", "%nsmid", "%gridid", "%dynamic_smem_size",
    "%total_smem_size", "%warpid", "%reserved_smem_offset_0", "%reserved_smem_offset_1",
    "%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap",
    "%aggr_smem_size", "%current_graph_exec", "%envreg1", "%envreg2",
    "%envreg8", "%envreg9", "%envreg10",
}  # fmt: skip


class Unsupported(Exception):
    """Something the engine cannot run; raised only where not even execution can decide."""


def is_barrier(i: Instruction) -> bool:
    """`bar`/`barrier` forms that wait (not arrive), and `bar.warp.sync`."""
    return i.op in ("bar", "barrier") and "arrive" not in i.mods


def is_warp_sync(i: Instruction) -> bool:
    """Instructions that wait for the lanes of a member mask."""
    if i.op in ("bar", "barrier"):
        return "warp" in i.mods
    return i.op in WARP_SYNC and not (i.op in ("shfl", "vote") and "sync" not in i.mods)


def served(name: str) -> bool:
    """Whether the runtime serves calls to this function."""
    return name in SERVED


@dataclass(slots=True)
class Block:
    """A basic block. `branch` ends it: (predicate or None, taken id, fall-through id)."""

    id: int
    function: str
    instructions: list[Instruction] = field(default_factory=list)
    terminator: Instruction | None = None
    guard: Reg | NotReg | None = None
    target: int = -1
    follow: int = -1
    targets: tuple[int, ...] = ()
    resume: Instruction | None = None
    live_out: int = 0

    @property
    def successors(self) -> tuple[int, ...]:
        """Ids of the blocks of the same function that may come next."""
        return tuple(s for s in {self.target, self.follow, *self.targets} if s >= 0)


@dataclass(slots=True)
class Body:
    """A function of the program with its blocks and what the analyses found."""

    function: Function
    first: int = 0
    blocks: list[Block] = field(default_factory=list)
    recursive: bool = False
    registers: list[str] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    entry_live: int = 0
    invariant: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Program:
    """Everything a kernel can reach. Callees are numbered before callers, so that under
    lowest-block-first scheduling lanes inside a call come back before others go on."""

    kernel: Function
    bodies: dict[str, Body] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    indirect: bool = False
    addressed: tuple[str, ...] = ()


def registers_of(operand: Operand) -> list[str]:
    """Names of the registers an operand mentions."""
    if isinstance(operand, (Reg, NotReg)):
        return [operand.name]
    if isinstance(operand, Addr):
        base = [operand.base.name] if isinstance(operand.base, Reg) else []
        return base + [r for o in operand.coordinates for r in registers_of(o)]
    if isinstance(operand, Vec):
        return [r for o in operand.items for r in registers_of(o)]
    if isinstance(operand, Pair):
        return registers_of(operand.first) + registers_of(operand.second)
    return []


_NO_RESULT = {
    "st", "bra", "brx", "ret", "exit", "trap", "bar", "barrier", "membar", "fence", "red",
    "prefetch", "prefetchu", "brkpt", "pmevent", "nanosleep", "discard", "applypriority",
    "stmatrix", "sust", "setmaxnreg", "griddepcontrol", "multimem", "tensormap",
}  # fmt: skip


def has_result(i: Instruction) -> bool:
    """Whether the first operand is written."""
    if i.op in ("bar", "barrier"):
        return "red" in i.mods
    if i.op == "cp":
        return False
    if i.op == "wmma":
        return "store" not in i.mods
    if i.op == "mbarrier":
        words = set(i.mods)
        return bool(words & {"test_wait", "try_wait", "pending_count"}) or "arrive" in words
    return i.op not in _NO_RESULT and i.op != "call"


def defs_uses(i: Instruction) -> tuple[list[str], list[str]]:
    """Registers written and registers read by an instruction, its guard among the latter."""
    uses = [i.guard.name] if i.guard is not None else []
    defs: list[str] = []
    operands = i.operands
    if has_result(i) and operands:
        defs = registers_of(operands[0]) if not isinstance(operands[0], Addr) else []
        rest = operands[1:] if defs or not isinstance(operands[0], Addr) else operands
    else:
        rest = operands
    for o in rest:
        uses += registers_of(o)
    return defs, uses


def build(ptx: Ptx, kernel: str) -> Program:
    """Cut the kernel and everything it can call into blocks and analyse them.

    Raises Unsupported for more than MOST_INSTRUCTIONS.
    """
    program = Program(ptx.functions[kernel])
    order = _reachable(ptx, program, kernel)
    count = sum(isinstance(i, Instruction) for name in order for i in ptx.functions[name].body)
    if count > MOST_INSTRUCTIONS:
        raise Unsupported(
            f"a kernel of {count:,} PTX instructions, those of its functions included; the virtual "
            f"GPU translates {MOST_INSTRUCTIONS:,}"
        )
    for name in order:
        body = Body(ptx.functions[name], first=len(program.blocks))
        program.bodies[name] = body
        _cut(program, body)
    _mark_recursion(program)
    for body in program.bodies.values():
        _liveness(body)
        _invariants(body)
    return program


def _callees(f: Function) -> tuple[list[str], bool]:
    direct, indirect = [], False
    for i in f.body:
        if isinstance(i, Instruction) and i.op == "call":
            target = call_target(i)
            if isinstance(target, Sym):
                direct.append(target.name)
            else:
                indirect = True
    return direct, indirect


def call_target(i: Instruction) -> Operand:
    first = i.operands[0]
    return i.operands[1] if isinstance(first, Vec) else first


def _addressed_functions(ptx: Ptx) -> tuple[str, ...]:
    """Functions whose address is taken, in code or in an initialiser."""
    found: dict[str, None] = {}
    for f in ptx.functions.values():
        for i in f.body:
            if not isinstance(i, Instruction):
                continue
            for o in i.operands:
                if isinstance(o, Sym) and o.name in ptx.functions:
                    if i.op == "call" and o is call_target(i):
                        continue
                    found[o.name] = None
                    break
    for v in ptx.variables.values():
        for e in v.init or ():
            if not isinstance(e, Imm) and e.name in ptx.functions:
                found[e.name] = None
    return tuple(n for n in found if ptx.functions[n].defined)


def _reachable(ptx: Ptx, program: Program, kernel: str) -> list[str]:
    """Callees first (post-order of the call graph)."""
    order: list[str] = []
    state: dict[str, int] = {}
    stack: list[tuple[str, int]] = [(kernel, 0)]
    while stack:
        name, step = stack.pop()
        if step == 1:
            state[name] = 2
            order.append(name)
            continue
        if name in state:
            continue
        state[name] = 1
        stack.append((name, 1))
        direct, indirect = _callees(ptx.functions[name])
        if indirect:
            program.indirect = True
            if not program.addressed:
                program.addressed = _addressed_functions(ptx)
            direct += program.addressed
        for callee in reversed(direct):
            f = ptx.functions.get(callee)
            if f is not None and f.defined and callee not in state:
                stack.append((callee, 0))
    return order


def _mark_recursion(program: Program) -> None:
    """A function is recursive when it can reach itself."""
    edges: dict[str, set[str]] = {}
    for name, body in program.bodies.items():
        direct, indirect = _callees(body.function)
        edges[name] = {c for c in direct if c in program.bodies}
        if indirect:
            edges[name] |= set(program.addressed) & set(program.bodies)
    for name, body in program.bodies.items():
        seen: set[str] = set()
        todo = list(edges[name])
        while todo:
            c = todo.pop()
            if c not in seen:
                seen.add(c)
                todo += edges[c]
        body.recursive = name in seen


def _cut(program: Program, body: Body) -> None:
    f = body.function
    labels: dict[str, int] = {}
    blocks = body.blocks
    fixups: list[tuple[Block, Instruction]] = []

    def new() -> Block:
        block = Block(len(program.blocks), f.name)
        program.blocks.append(block)
        blocks.append(block)
        return block

    current = new()
    open_ = True  # whether `current` can fall through to what comes next

    def fresh() -> None:
        nonlocal current, open_
        block = new()
        if open_ and current.follow < 0:
            current.follow = block.id
        current, open_ = block, True

    for item in f.body:
        if isinstance(item, Label):
            if (
                current.instructions
                or not open_
                or current.terminator is not None
                or current.resume is not None
            ):
                fresh()
            labels[item.name] = current.id
            continue
        if current.terminator is not None:
            fresh()
        i = item
        target = call_target(i) if i.op == "call" else None
        plain_call = isinstance(target, Sym) and served(target.name)
        waits = is_barrier(i) or is_warp_sync(i)
        leaves = i.op in LEAVES and not plain_call
        if not waits and not leaves:
            current.instructions.append(i)
            continue
        if i.op == "bra":
            current.terminator, current.guard = i, i.guard
            fixups.append((current, i))
            open_ = i.guard is not None
            continue
        if i.guard is not None:
            # Lanes whose guard is false step over: a branch around the instruction.
            skipping = current
            skipping.terminator = Instruction("bra", (), (), None, i.loc, i.line)
            skipping.guard = _negated(i.guard)
            fresh()
            skipping.follow = current.id
            unguarded = Instruction(i.op, i.mods, i.operands, None, i.loc, i.line)
        else:
            skipping = None
            unguarded = i
            if is_warp_sync(i) and current.instructions:
                fresh()
        if is_warp_sync(i):
            current.instructions.append(unguarded)
            if skipping is not None:
                fresh()
                skipping.target = current.id
            continue
        current.terminator = unguarded
        if i.op == "brx":
            fixups.append((current, unguarded))
        open_ = i.op not in ("ret", "exit", "trap", "brx")
        if skipping is not None or open_:
            fresh_from = current
            fresh()
            if fresh_from.follow < 0 and i.op not in ("ret", "exit", "trap", "brx"):
                fresh_from.follow = current.id
            if i.op == "call" or (is_barrier(i) and "red" in i.mods):
                current.resume = unguarded
                if skipping is not None:
                    # Lanes that stepped over the call must not pick up its results.
                    fresh()
            if skipping is not None:
                skipping.target = current.id
    if open_ and (current.terminator is None or current.follow < 0):
        # Falling off the end is a return.
        last = current
        if last.terminator is None:
            last.terminator = Instruction("ret", (), (), None, None, 0)
        else:
            fresh()
            current.terminator = Instruction("ret", (), (), None, None, 0)
    for block, i in fixups:
        if i.op == "bra":
            name = i.operands[0]
            if not isinstance(name, Sym) or name.name not in labels:
                raise Unsupported(f"branch to an unknown label: {i.text}")
            block.target = labels[name.name]
        else:
            table = i.operands[1] if len(i.operands) > 1 else None
            if not isinstance(table, Sym) or table.name not in f.tables:
                raise Unsupported("brx.idx without a target list")
            block.targets = tuple(labels[n] for n in f.tables[table.name])


def _negated(guard: Reg | NotReg) -> Reg | NotReg:
    return NotReg(guard.name) if isinstance(guard, Reg) else Reg(guard.name)


def _liveness(body: Body) -> None:
    """Backward data flow over bit sets; a guarded definition does not kill."""
    for name in body.function.registers:
        body.index[name] = len(body.registers)
        body.registers.append(name)
    index = body.index
    gen: dict[int, int] = {}
    kill: dict[int, int] = {}
    for block in body.blocks:
        g = k = 0
        items = list(block.instructions)
        if block.terminator is not None:
            items.append(block.terminator)
        for i in items:
            defs, uses = defs_uses(i)
            for u in uses:
                bit = 1 << index[u] if u in index else 0
                if not k & bit:
                    g |= bit
            if i.guard is None:
                for d in defs:
                    if d in index:
                        k |= 1 << index[d]
            else:
                for d in defs:
                    bit = 1 << index[d] if d in index else 0
                    if not k & bit:
                        g |= bit
        if block.guard is not None and block.guard.name in index:
            bit = 1 << index[block.guard.name]
            if not k & bit:
                g |= bit
        gen[block.id], kill[block.id] = g, k
    by_id = {b.id: b for b in body.blocks}
    live_in = dict.fromkeys(by_id, 0)
    predecessors: dict[int, list[int]] = {b: [] for b in by_id}
    for b in body.blocks:
        for s in b.successors:
            predecessors[s].append(b.id)
    todo = [b.id for b in body.blocks]
    queued = set(todo)
    while todo:
        at = todo.pop()
        queued.discard(at)
        block = by_id[at]
        out = 0
        for s in block.successors:
            out |= live_in[s]
        block.live_out = out
        new = gen[at] | (out & ~kill[at])
        if new != live_in[at]:
            live_in[at] = new
            for p in predecessors[at]:
                if p not in queued:
                    queued.add(p)
                    todo.append(p)
    body.entry_live = live_in[body.first] if body.blocks else 0


def _invariants(body: Body) -> None:
    """Registers that hold the same value in every lane whenever they are defined.

    A register qualifies when it has one unguarded definition by a pure instruction whose operands
    are constants, parameters of the kernel, block-wide special registers or invariant themselves;
    such a definition gives the same value however often and under whatever mask it runs.
    """
    definitions: dict[str, list[Instruction]] = {}
    for block in body.blocks:
        for i in block.instructions:
            for d in defs_uses(i)[0]:
                definitions.setdefault(d, []).append(i)
    kernel = body.function.entry
    params = {p.name for p in body.function.params}
    candidates = set()
    for name, made in definitions.items():
        i = made[0]
        if len(made) > 1 or i.guard is not None:
            continue
        is_param_load = (
            kernel
            and i.op == "ld"
            and i.mods[:1] == ("param",)
            and isinstance(i.operands[1], Addr)
            and isinstance(i.operands[1].base, Sym)
            and i.operands[1].base.name in params
        )
        if is_param_load or (i.op in PURE and not isinstance(i.operands[0], Pair)):
            candidates.add(name)

    def steady(i: Instruction) -> bool:
        for u in defs_uses(i)[1]:
            if u in body.function.registers:
                if u not in candidates:
                    return False
            elif u not in UNIFORM_SPECIAL:
                return False
        if body.recursive and any(
            isinstance(o, Sym) and o.name in body.function.variables for o in i.operands
        ):
            return False
        return not (not kernel and any(isinstance(o, Sym) and o.name in params for o in i.operands))

    users: dict[str, list[str]] = {}
    for name in candidates:
        for used in defs_uses(definitions[name][0])[1]:
            users.setdefault(used, []).append(name)
    todo = [name for name in candidates if not steady(definitions[name][0])]
    while todo:
        name = todo.pop()
        if name in candidates:
            candidates.discard(name)
            todo += users.get(name, ())
    # An invariant read on a path without its definition would be undefined anyway, but it must
    # read as the same undefined value everywhere: keep entry-live registers per lane.
    for name in list(candidates):
        if body.entry_live >> body.index.get(name, 0) & 1 and name in body.index:
            candidates.discard(name)
    body.invariant = candidates


def variable_of(program: Program, body: Body, ptx: Ptx, name: str) -> Variable | None:
    """The variable a symbol means inside `body`, module variables last."""
    return body.function.variables.get(name) or ptx.variables.get(name)
