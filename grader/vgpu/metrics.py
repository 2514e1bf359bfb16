"""Exact counts of a launch, from the runtime's counters per block and per site.

Instructions of a block run together, so one counter per block gives every instruction's count;
memory sites are counted one by one. docs/cost-model.md says what each name means.
"""

from __future__ import annotations

from collections import defaultdict

from grader.vgpu.execution import Execution
from grader.vgpu.findings import own_files, source
from grader.vgpu.latency import SPECIAL
from grader.vgpu.lower import Site
from grader.vgpu.ptx import TYPE_BYTES, Instruction, Loc
from grader.vgpu.records import Metrics
from grader.vgpu.runtime_records import STAT_FIELDS

MEMORY = {"ld", "st", "atom", "red", "cp", "ldu", "ldmatrix", "stmatrix", "prefetch"}
CONTROL = {"bra", "brx", "ret", "exit", "call", "trap"}
SYNC = {"bar", "barrier", "membar", "fence", "shfl", "vote", "match", "redux", "activemask",
        "mbarrier"}  # fmt: skip
FLOPS = {"add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2, "div": 1, "min": 1, "max": 1,
         "rcp": 1, "sqrt": 1, "rsqrt": 1, "ex2": 1, "lg2": 1, "sin": 1, "cos": 1,
         "tanh": 1}  # fmt: skip


def classify(i: Instruction) -> str:
    """The class an instruction counts in."""
    if i.op in ("mma", "wmma"):
        return "tensor"
    if i.op in MEMORY:
        return "memory"
    if i.op in CONTROL:
        return "control"
    if i.op in SYNC:
        return "sync"
    if i.op in SPECIAL:
        return "special"
    kind = next((m for m in reversed(i.mods) if m in TYPE_BYTES), "")
    if i.op in ("mov", "selp", "cvta", "and", "or", "xor", "shl", "shr"):
        return "int"
    return {"f32": "float", "f64": "double"}.get(kind, "half" if "f16" in kind else "int")


def flops(i: Instruction) -> int:
    """Floating-point operations of one lane."""
    if i.op in ("mma", "wmma"):
        return _tensor_flops(i)
    kind = next((m for m in reversed(i.mods) if m in TYPE_BYTES), "")
    if "f" not in kind:
        return 0
    return FLOPS.get(i.op, 0) * (2 if kind.endswith("x2") else 1)


def _tensor_flops(i: Instruction) -> int:
    import re

    for m in i.mods:
        shape = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", m)
        if shape and "load" not in i.mods and "store" not in i.mods:
            a, b, k = (int(x) for x in shape.groups())
            return 2 * a * b * k // 32
    return 0


Counts = dict[str, float]


def collect(execution: Execution) -> Metrics:
    """All counts of the launch `execution` describes."""
    ptx = execution.kernel.module.ptx
    own = own_files(ptx, execution.kernel.name)
    total: Counts = defaultdict(float)
    lines: dict[tuple[str | None, int], Counts] = defaultdict(lambda: defaultdict(float))

    def at(loc: Loc | None) -> Counts | None:
        found = source(loc, own)
        return None if found is None else lines[ptx.files.get(found.file), found.line]

    def add(loc: Loc | None, name: str, value: float) -> None:
        if value:
            total[name] += value
            row = at(loc)
            if row is not None:
                row[name] += value

    for block, (runs, lanes, divergent) in zip(
        execution.kernel.program.blocks, execution.counters.tolist(), strict=True
    ):
        if not runs:
            continue
        items = [*block.instructions]
        if block.terminator is not None:
            items.append(block.terminator)
        for i in items:
            add(i.loc, "warp_instructions", runs)
            add(i.loc, "lane_instructions", lanes)
            add(i.loc, f"instructions_{classify(i)}", runs)
            add(i.loc, "flops", lanes * flops(i))
        end = block.terminator
        if end is not None and (block.guard is not None or end.op == "brx"):
            add(end.loc, "branches", runs)
            add(end.loc, "divergent_branches", divergent)
    for site, row in zip(
        execution.translated.lowered.sites, execution.stats.tolist(), strict=False
    ):
        stat = dict(zip(STAT_FIELDS, row, strict=True))
        for name, value in _site_counts(site, stat).items():
            add(site.instruction.loc, name, value)
    c = execution.c
    total["barriers"] = c.barriers
    total["dram_read_bytes"] = 32 * c.dram_read_sectors
    total["dram_write_bytes"] = 32 * c.dram_write_sectors
    total["dram_bytes"] = 32 * (c.dram_read_sectors + c.dram_write_sectors)
    total["l2_hit_sectors"] = c.l2_hits
    total["atomics_on_one_address"] = c.most_met
    total["chains"] = c.chains
    total["longest_chain"] = c.longest_chain
    total["blocks"] = execution.grid[0] * execution.grid[1] * execution.grid[2]
    total["threads_per_block"] = execution.block[0] * execution.block[1] * execution.block[2]
    total["shared_bytes_per_block"] = c.shared_bytes
    total["executed"] = c.instructions
    return Metrics(
        {k: float(v) for k, v in sorted(total.items())},
        {
            k: dict(sorted(v.items()))
            for k, v in sorted(lines.items(), key=lambda x: (x[0][0] or "", x[0][1]))
        },
    )


_MEMORY = frozenset(
    ("load", "store", "atom", "cp_async", "ldmatrix", "stmatrix", "tex", "surface_load",
     "surface_store")
)  # fmt: skip


def _site_counts(site: Site, s: dict[str, int]) -> Counts:
    if site.kind not in _MEMORY:
        return {}
    if not s["requests"]:
        return {}
    out: Counts = {}
    if site.kind == "atom":
        out["atomics"] = s["lanes"]
        out["atomic_requests"] = s["requests"]
        out["atomic_serialisation"] = s["serial"]
        if s["sectors"] or not s["wavefronts"]:
            out["global_atomics"] = s["lanes"]
    # A generic address may lie in shared memory at one time and in global memory at another.
    if s["wavefronts"]:
        out["shared_requests"] = s["shared_requests"]
        out["shared_wavefronts"] = s["wavefronts"]
        out["shared_wavefronts_ideal"] = s["ideal_wavefronts"]
    if site.space == "local":
        out["local_requests"] = s["requests"]
        out["local_sectors"] = s["sectors"]
    elif s["sectors"]:
        write = site.kind in ("store", "surface_store")
        requests = s["requests"] - s["shared_requests"]
        out["global_store_requests" if write else "global_load_requests"] = requests
        out["global_sectors"] = s["sectors"]
        out["global_store_sectors" if write else "global_load_sectors"] = s["sectors"]
        out["global_sectors_ideal"] = s["ideal"]
        out["global_bytes_useful"] = s["bytes"]
        out["global_bytes_moved"] = 32 * s["sectors"]
        out["l1_hit_sectors"] = s["l1_hits"]
        out["l2_sectors"] = s["l2_sectors"]
        out["line_dram_bytes"] = 32 * s["dram_sectors"]
    elif s["distinct"] and not s["wavefronts"]:
        out["const_requests"] = s["requests"]
        out["const_distinct"] = s["distinct"]
    return out
