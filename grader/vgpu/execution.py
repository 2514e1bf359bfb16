"""The C records of one launch, filled from a kernel, its memory and its geometry."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from grader.vgpu import layout as L
from grader.vgpu.cost import A100
from grader.vgpu.limits import LaunchError, Limits
from grader.vgpu.lower import Lowered
from grader.vgpu.lower_memory import SPACES
from grader.vgpu.memory import (
    IS_CONST,
    IS_FREED,
    IS_HEAP,
    READ_ONLY,
    TRACK,
    CBuffer,
    Memory,
    Storage,
    aligned,
)
from grader.vgpu.module import Kernel, Translated
from grader.vgpu.postdominance import after
from grader.vgpu.program import Unsupported
from grader.vgpu.ptx import TYPE_BYTES, Imm, Ptx, Variable
from grader.vgpu.runtime_records import STAT_FIELDS, CCallSite, CFault, CLaunch, CSite

QUANTUM = 20_000
MAX_FAULTS = 512
MAX_CALL_SITES = 4096
TEXT_BYTES = 1 << 20
ARRAYS = 4096
NOT_HERE = 0xFFFFFFFF
"""In the place of a function's first block: the kernel does not reach it."""

LOCAL_BYTES = 512 << 10  # per thread (CUDA guide, compute capability 8.0)
VARIABLE_BYTES = 512 << 20  # of `.global` and `.const` variables, in the host's memory
L1_BYTES = 192 << 10  # of a multiprocessor, its blocks' shared memory included
MET = 1 << 14  # MET_BITS of runtime/engine.h
L2_LINES = 1 << 18  # 32 MiB of 128-byte lines; of an A100's 40 MiB


class Execution:
    """The C records of one launch, and everything that must outlive it."""

    def __init__(
        self,
        kernel: Kernel,
        translated: Translated,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        params: npt.NDArray[np.uint8],
        memory: Memory,
        shared: int,
        limits: Limits,
        shadow: bool,
    ) -> None:
        self.kernel = kernel
        self.translated = translated
        self.memory = memory
        self.grid, self.block = grid, block
        lowered = translated.lowered
        self.variables = module_variables(kernel, memory)
        self.c = CLaunch()
        c = self.c
        self._slots(lowered)
        self._sites(lowered)
        self._arrays(lowered, shared, limits)
        c.table = translated.code.table
        c.nblocks = len(lowered.block_chunks)
        self.params = params
        c.params, c.params_size = params.ctypes.data, params.size
        c.grid, c.block = (ctypes.c_uint32 * 3)(*grid), (ctypes.c_uint32 * 3)(*block)
        firsts = {name: body.first for name, body in kernel.program.bodies.items()}
        self.functions = np.array(
            [firsts.get(name, NOT_HERE) for name in kernel.module.ptx.functions], np.uint32
        )
        c.functions, c.nfunctions = self.functions.ctypes.data, self.functions.size
        c.register_bytes, c.zero_bytes = lowered.register_bytes, lowered.zero_bytes
        c.checks = shadow
        threads = math.prod(block)
        per_sm = max(
            1,
            min(
                limits.blocks_per_multiprocessor,
                limits.threads_per_multiprocessor // (-(-threads // 32) * 32),
                limits.shared_bytes // max(c.shared_bytes, 1),
            ),
        )
        c.resident = per_sm * limits.multiprocessors
        beside = min(per_sm, -(-math.prod(grid) // limits.multiprocessors))
        c.l1_mask = (
            1 << (max(L1_BYTES // beside - c.shared_bytes, 128) // 128).bit_length() - 1
        ) - 1
        c.quantum = QUANTUM
        c.latencies = (ctypes.c_uint32 * 5)(
            A100.shared_latency, A100.l1_latency, A100.l2_latency, A100.dram_latency,
            A100.barrier_latency,
        )  # fmt: skip
        if shadow:
            offsets, flat = after(kernel.program)
            self.pd_offsets = np.array(offsets, np.uint32)
            self.pd_list = np.array(flat or [0], np.uint32)
            c.pd_offsets, c.pd_list = self.pd_offsets.ctypes.data, self.pd_list.ctypes.data
        self.faults = (CFault * MAX_FAULTS)()
        c.faults, c.max_faults = ctypes.addressof(self.faults), MAX_FAULTS
        self.call_sites = (CCallSite * MAX_CALL_SITES)()
        c.call_sites = ctypes.addressof(self.call_sites)
        self.checked_reads = np.zeros(max(len(lowered.sites), 1), np.uint8)
        c.checked_reads = self.checked_reads.ctypes.data
        self.text = np.zeros(TEXT_BYTES, np.uint8)
        c.text, c.text_capacity = self.text.ctypes.data, TEXT_BYTES
        self.counters = np.zeros((c.nblocks, 3), np.uint64)
        c.counters = self.counters.ctypes.data
        self.met = np.zeros(MET, np.uint32)
        c.met = self.met.ctypes.data
        self.l2 = np.zeros(L2_LINES, np.uint64)
        c.l2_tags, c.l2_lines = self.l2.ctypes.data, L2_LINES

    def _slots(self, lowered: Lowered) -> None:
        c = self.c
        allocates = any(site.kind == "malloc" for site in lowered.sites)
        blocks = L.HEAP_BLOCKS if allocates else 0
        first = self.memory.next_slot() + 1
        self.workspace = Storage(first - 1, aligned(64), "grid workspace", 4, TRACK)
        # Grid synchronisation orders by what it does there; it is not itself a race.
        self.workspace.record.shadow.size = 0
        self.slots = (ctypes.POINTER(CBuffer) * (first + blocks))()
        for storage in (*self.variables, *self.memory.buffers, self.workspace):
            self.slots[storage.slot] = ctypes.pointer(storage.record)
        c.slots, c.nslots = ctypes.addressof(self.slots), len(self.slots)
        c.grid_workspace = self.workspace.address
        self.heap = (CBuffer * blocks)()
        c.heap, c.heap_slot, c.heap_capacity = ctypes.addressof(self.heap), first, blocks
        c.heap_limit = L.HEAP_BYTES - self.memory.heap_bytes()
        c.heap_block_bytes = L.HEAP_BLOCK_BYTES
        self.heap_sites = (ctypes.c_uint32 * blocks)()
        c.heap_sites = ctypes.addressof(self.heap_sites)

    def keep_heap(self, line_of: Callable[[int], int | None]) -> None:
        """What kernels allocated and did not free lives on: other launches may use and free it.

        `line_of` says where a site stands.
        """
        for k in range(self.c.nheap):
            block = self.heap[k]
            if not block.host or block.flags & IS_FREED:
                continue
            line = line_of(self.heap_sites[k])
            name = f"memory allocated at line {line}" if line else "memory allocated in a kernel"
            data = aligned(block.size)
            ctypes.memmove(data.ctypes.data, block.host, block.size)
            storage = Storage(self.c.heap_slot + k, data, name, 1, IS_HEAP)
            storage.undefined()
            storage.track_writes()
            assert storage.init is not None, "made by the lines before"
            # Without the checks for undefined values it is known what was written.
            known = block.shadow.init or block.written
            ctypes.memmove(storage.init.ctypes.data, known, block.size)
            self.memory.keep(storage)

    def _sites(self, lowered: Lowered) -> None:
        c = self.c
        spaces = {"generic": 0, **{name: k + 1 for k, name in enumerate(SPACES)}}
        self.sites = (CSite * (len(lowered.sites) + 1))()
        for k, s in enumerate(lowered.sites):
            self.sites[k] = CSite(
                spaces[s.space], s.elem_bytes, s.flags, s.vector, max(s.block, 0), s.wait
            )
        self.stats = np.zeros((len(lowered.sites) + 1, len(STAT_FIELDS)), np.uint64)
        c.sites, c.nsites = ctypes.addressof(self.sites), len(lowered.sites)
        c.stats = self.stats.ctypes.data

    def _arrays(self, lowered: Lowered, shared: int, limits: Limits) -> None:
        c = self.c
        self.shared_arrays = np.zeros((ARRAYS, 2), np.uint32)
        self.local_arrays = np.zeros((ARRAYS, 2), np.uint32)
        at = 0
        for offset, v in sorted(lowered.shared.values(), key=lambda x: x[0]):
            index = offset // L.ARRAY_STRIDE
            if v.extern or v.count == 0:
                continue
            at = (at + v.align - 1) // v.align * v.align
            self.shared_arrays[index] = v.size_bytes, at
            at += v.size_bytes
        static = at
        if static > limits.static_shared_bytes:
            raise LaunchError(
                f"{static} bytes of static shared memory, more than the limit of "
                f"{limits.static_shared_bytes}"
            )
        at = (at + 127) // 128 * 128
        self.shared_arrays[4000] = shared, at
        at += shared
        if static + shared > limits.shared_bytes:
            raise LaunchError(
                f"{static + shared} bytes of shared memory, more than the limit of "
                f"{limits.shared_bytes} (cudaErrorInvalidValue)"
            )
        c.shared_bytes, c.dynamic_shared = at, shared
        c.shared_arrays, c.nshared = self.shared_arrays.ctypes.data, ARRAYS
        self._locals(lowered)

    def _locals(self, lowered: Lowered) -> None:
        c = self.c
        at = 0
        recursive = {
            v for b in self.kernel.program.bodies.values() if b.recursive
            for v in b.function.variables
        }  # fmt: skip
        for offset, v in sorted(lowered.local.values(), key=lambda x: x[0]):
            index = offset // L.ARRAY_STRIDE
            size = v.size_bytes
            if v.name in recursive:
                size = min((size + 15) // 16 * 16 * 256, L.ARRAY_STRIDE - L.ARRAY_START)
            at = (at + 15) // 16 * 16
            self.local_arrays[index] = size, at
            at += size
            if v.name not in recursive and at > LOCAL_BYTES:
                raise LaunchError(
                    f"{at} bytes of local memory per thread, more than the limit of {LOCAL_BYTES}"
                )
        c.local_bytes = (at + 15) // 16 * 16
        c.local_arrays, c.nlocal = self.local_arrays.ctypes.data, ARRAYS


def module_variables(kernel: Kernel, memory: Memory) -> list[Storage]:
    """The module's `.global` and `.const` variables in this memory, made at first use."""
    key = id(kernel.module)
    if key not in memory.variables:
        ptx = kernel.module.ptx
        made = []
        total = sum(v.size_bytes for v in ptx.variables.values() if v.space != "shared")
        if total > VARIABLE_BYTES:
            raise Unsupported(
                f"the module's variables take {total} bytes; the virtual GPU has room for "
                f"{VARIABLE_BYTES}"
            )
        addresses = {name: L.variable_address(k) for k, name in enumerate(ptx.variables)}
        for k, v in enumerate(ptx.variables.values()):
            if v.space == "shared":
                continue
            data = _initial(v, addresses, ptx)
            flags = IS_CONST | READ_ONLY if v.space == "const" else TRACK
            storage = Storage(L.FIRST_VARIABLE_SLOT + k, data, v.name, TYPE_BYTES[v.type], flags)
            made.append(storage)
        memory.variables[key] = made
        memory.keep_alive.append(kernel.module)
    return memory.variables[key]


def _initial(v: Variable, addresses: dict[str, int], ptx: Ptx) -> npt.NDArray[np.uint8]:
    width = TYPE_BYTES[v.type]
    data = aligned(max(v.size_bytes, 1))[: v.size_bytes]
    at = 0
    for e in v.init or ():
        if isinstance(e, Imm):
            bits = e.bits
            if e.kind == "f64" and v.type == "f32":
                value = struct.unpack("<d", struct.pack("<Q", bits))[0]
                bits = struct.unpack("<I", struct.pack("<f", value))[0]
            raw = (bits & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        else:
            raw = _address_of(e.name, e.offset, addresses, ptx).to_bytes(8, "little")
            raw = raw[: max(width, 8)] if width >= 8 else raw
        if at + len(raw) > data.size:
            break
        data[at : at + len(raw)] = np.frombuffer(raw, np.uint8)
        at += len(raw)
    return data


def _address_of(name: str, offset: int, addresses: dict[str, int], ptx: Ptx) -> int:
    if name in addresses:
        return addresses[name] + offset
    return L.function_address(list(ptx.functions).index(name)) if name in ptx.functions else 0
