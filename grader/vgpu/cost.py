"""Modelled time of a launch: exact counts against one GPU's public figures.

A roofline over every unit a kernel can be bound by: each unit's work divided by its rate, and the
largest of these is the time. docs/cost-model.md explains each formula; the figures are those of
NVIDIA's A100 whitepaper (GA100, SXM4 40 GB). It orders kernels of one compiler, it does not
predict a stopwatch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """Rates of a GPU: per clock and multiprocessor, where not said otherwise."""

    name: str
    multiprocessors: int
    clock_hz: float
    dram_bytes_per_second: float
    l2_bytes_per_clock: float  # of the whole GPU
    l2_slices: float
    l1_lines: float
    warp_instructions: float
    float_instructions: float
    double_instructions: float
    special_instructions: float
    memory_requests: float
    shared_wavefronts: float
    atomic_steps: float
    warps: int
    blocks: int
    registers: int
    shared_bytes: int
    alu_latency: int  # clocks until a dependent instruction
    special_latency: int
    shuffle_latency: int
    tensor_latency: int
    shared_latency: int
    l1_latency: int
    l2_latency: int
    dram_latency: int
    barrier_latency: int
    launch_seconds: float

    @property
    def peak_flops(self) -> float:
        """FP32 operations per second: a multiply-add in every lane counts two."""
        return 2 * 32 * self.float_instructions * self.multiprocessors * self.clock_hz


A100 = Gpu(
    name="A100",
    multiprocessors=108,
    clock_hz=1.41e9,
    dram_bytes_per_second=1.555e12,
    l2_bytes_per_clock=2560.0,
    l2_slices=80.0,
    l1_lines=1.0,
    warp_instructions=4.0,
    float_instructions=2.0,
    double_instructions=1.0,
    special_instructions=0.5,
    memory_requests=1.0,
    shared_wavefronts=1.0,
    atomic_steps=0.5,
    warps=64,
    blocks=32,
    registers=65536,
    shared_bytes=164 * 1024,
    alu_latency=4,
    special_latency=18,
    shuffle_latency=23,
    tensor_latency=25,
    shared_latency=29,
    l1_latency=33,
    l2_latency=200,
    dram_latency=470,
    barrier_latency=20,
    launch_seconds=2.0e-6,
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Modelled time of one launch, the unit that bounds it, and the time of each unit alone."""

    nanoseconds: float
    bound: str
    parts: dict[str, float]


def estimate(
    counts: Mapping[str, float], *, registers: int | None = None, gpu: Gpu = A100
) -> Estimate:
    """The modelled time of a launch with these counts (`Metrics.counts`).

    `registers` per thread limit how many blocks are resident; without them only threads, blocks
    and shared memory do. `parts` are nanoseconds; `launch` is added to the largest of the others.
    """

    def count(name: str) -> float:
        return counts.get(name, 0.0)

    blocks = max(1.0, count("blocks"))
    # The last wave of blocks leaves multiprocessors idle.
    busy = blocks / -(-blocks // gpu.multiprocessors)
    clocks = {
        "issue": count("warp_instructions") / (gpu.warp_instructions * busy),
        "float": count("instructions_float") / (gpu.float_instructions * busy),
        "double": count("instructions_double") / (gpu.double_instructions * busy),
        "special": count("instructions_special") / (gpu.special_instructions * busy),
        "memory requests": _requests(counts) / (gpu.memory_requests * busy),
        "L1": _lines(counts) / (gpu.l1_lines * busy),
        "shared": count("shared_wavefronts") / (gpu.shared_wavefronts * busy),
        "L2": 32 * _l2_sectors(counts) / gpu.l2_bytes_per_clock,
        "DRAM": count("dram_bytes") / gpu.dram_bytes_per_second * gpu.clock_hz,
        "atomics": max(
            count("atomic_serialisation") / (gpu.atomic_steps * busy),
            count("global_atomics") / gpu.l2_slices,
            count("atomics_on_one_address"),  # all in one slice
        ),
        "latency": _latency(counts, registers, gpu),
    }
    parts = {name: 1e9 * value / gpu.clock_hz for name, value in clocks.items()}
    bound = max(parts, key=lambda name: parts[name])
    launch = 1e9 * gpu.launch_seconds
    return Estimate(parts[bound] + launch, bound, {**parts, "launch": launch})


def resident_blocks(counts: Mapping[str, float], registers: int | None, gpu: Gpu = A100) -> int:
    """How many blocks of a launch one multiprocessor holds at a time: theoretical occupancy."""
    threads = max(1.0, counts.get("threads_per_block", 1.0))
    warps = -(-threads // 32)
    most = min(gpu.blocks, gpu.warps // warps)
    shared = counts.get("shared_bytes_per_block", 0.0)
    if shared:
        most = min(most, gpu.shared_bytes // (shared + 1024))  # 1 KiB is the system's own
    if registers:
        most = min(most, gpu.registers // (32 * warps * (-(-registers // 8) * 8)))
    return max(1, int(most))


def _requests(counts: Mapping[str, float]) -> float:
    names = ("global_load_requests", "global_store_requests", "shared_requests", "local_requests",
             "atomic_requests")  # fmt: skip
    return sum(counts.get(name, 0.0) for name in names)


def _lines(counts: Mapping[str, float]) -> float:
    """Lines of 128 bytes that L1 looks up: four needed sectors share one, and a sector that a
    better order would not have needed is taken to lie on a line of its own."""
    sectors = counts.get("global_sectors", 0.0)
    ideal = min(sectors, counts.get("global_sectors_ideal", 0.0))
    return ideal / 4 + (sectors - ideal)


def _l2_sectors(counts: Mapping[str, float]) -> float:
    """Sectors at the rate of reads: L2 takes writes at half of it."""
    moved = counts.get("l2_sectors", 0.0)
    return moved + min(moved, counts.get("global_store_sectors", 0.0))


def _latency(counts: Mapping[str, float], registers: int | None, gpu: Gpu) -> float:
    """Clocks of the longest chain of waits: that of one block, or of those that must queue."""
    slots = gpu.multiprocessors * resident_blocks(counts, registers, gpu)
    return max(counts.get("longest_chain", 0.0), counts.get("chains", 0.0) / slots)
