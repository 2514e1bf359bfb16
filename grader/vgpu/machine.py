"""Launch a kernel: arguments in, execution, faults and metrics out."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from grader.vgpu import layout as L
from grader.vgpu.findings import Reporter, demangle
from grader.vgpu.lower import Lowered
from grader.vgpu.lower_memory import SPACES
from grader.vgpu.memory import IS_CONST, TRACK, CBuffer, Memory, Pointer, Storage, aligned
from grader.vgpu.metrics import collect
from grader.vgpu.module import Kernel, Translated
from grader.vgpu.postdominance import after
from grader.vgpu.printing import format_text
from grader.vgpu.program import Unsupported
from grader.vgpu.ptx import TYPE_BYTES, Imm, Ptx, Variable
from grader.vgpu.records import Fault, Metrics

Argument = Pointer | npt.NDArray[np.generic] | np.generic | int | float | bytes
Ended = Literal["finished", "trap", "assertion", "fuel", "deadlock", "unsupported"]
ENDED: tuple[Ended, ...] = ("finished", "trap", "assertion", "fuel", "deadlock", "unsupported")

DEFAULT_FUEL = 400_000_000
QUANTUM = 20_000
HEAP_BUFFERS = 4096
MAX_FAULTS = 512
MAX_CALL_SITES = 4096
TEXT_BYTES = 1 << 20
ARRAYS = 4096
LOCAL_BYTES = 512 << 10  # per thread (CUDA guide, compute capability 8.0)
VARIABLE_BYTES = 512 << 20  # of `.global` and `.const` variables, in the host's memory


class LaunchError(Exception):
    """A launch CUDA would refuse: its message says what was expected and what was found."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one block and one grid may ask for (CUDA guide, compute capability 8.0)."""

    threads: int = 1024
    block: tuple[int, int, int] = (1024, 1024, 64)
    grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    shared_bytes: int = 163 * 1024
    static_shared_bytes: int = 48 * 1024
    multiprocessors: int = 108
    threads_per_multiprocessor: int = 2048
    blocks_per_multiprocessor: int = 32


@dataclass(frozen=True, slots=True)
class Launch:
    """How a launch ended, what was found and what was counted."""

    ended: Ended
    reason: str
    faults: tuple[Fault, ...]
    metrics: Metrics
    printed: str


class _Site(ctypes.Structure):
    _fields_ = (
        ("space", ctypes.c_uint8),
        ("elem_bytes", ctypes.c_uint8),
        ("flags", ctypes.c_uint16),
        ("vector", ctypes.c_uint32),
        ("block", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
    )


class CCallSite(ctypes.Structure):
    """`CallSite` of runtime/engine.h."""

    _fields_ = (
        ("site", ctypes.c_uint32),
        ("depth", ctypes.c_uint32),
        ("back", ctypes.c_uint32 * 12),
    )


class CFault(ctypes.Structure):
    """`Fault` of runtime/engine.h."""

    _fields_ = (
        *((name, ctypes.c_uint32) for name in (
            "kind", "severity", "site", "access", "space", "buffer", "size", "other_site",
            "other_access", "code",
        )),
        ("count", ctypes.c_uint64),
        ("address", ctypes.c_uint64),
        ("block", ctypes.c_uint32 * 3),
        ("thread", ctypes.c_uint32 * 3),
        ("other_block", ctypes.c_uint32),
        ("other_thread", ctypes.c_uint32),
        ("has_other", ctypes.c_uint32),
        ("lane_mask", ctypes.c_uint32),
        ("lanes", ctypes.c_uint64 * 32),
    )  # fmt: skip


_P, _U32, _U64, _I64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64


class CLaunch(ctypes.Structure):
    """`Launch` of runtime/engine.h."""

    _fields_ = (
        ("slots", _P), ("nslots", _U64), ("sites", _P), ("stats", _P), ("nsites", _U64),
        ("table", _P), ("nblocks", _U64), ("params", _P), ("params_size", _U64),
        ("grid", _U32 * 3), ("block", _U32 * 3),
        ("dynamic_shared", _U32), ("shared_bytes", _U32), ("local_bytes", _U32),
        ("register_bytes", _U32), ("zero_bytes", _U32), ("checks", _U32), ("reversed", _U32),
        ("resident", _U32),
        ("fuel", _I64), ("quantum", _I64),
        ("shared_arrays", _P), ("nshared", _U64), ("local_arrays", _P), ("nlocal", _U64),
        ("pd_offsets", _P), ("pd_list", _P),
        ("faults", _P), ("nfaults", _U64), ("max_faults", _U64),
        ("text", _P), ("text_size", _U64), ("text_capacity", _U64),
        ("counters", _P),
        ("ended", _U32), ("ended_site", _U32), ("ended_block", _U32 * 3),
        ("ended_thread", _U32 * 3),
        ("barriers", _U64), ("instructions", _U64),
        ("l2_tags", _P), ("l2_lines", _U64),
        ("heap_slot", _U64), ("heap_limit", _U64), ("heap", _P), ("nheap", _U64),
        ("heap_capacity", _U64), ("heap_next", _U64),
        ("l2_hits", _U64), ("dram_read_sectors", _U64), ("dram_write_sectors", _U64),
        ("stop", _U32), ("total_warps", _U32), ("threads_per_block", _U32), ("started", _U32),
        ("sync", _P), ("nsync", _U64), ("sync_capacity", _U64), ("grid_workspace", _U64),
        ("live_clock", _U64), ("arena", _P), ("arena_left", _U64), ("call_sites", _P),
        ("ncall_sites", _U64),
        ("exact", _U32 * 3), ("pad_exact", _U32), ("checked_reads", _P),
        ("lost_errors", _U64),
    )  # fmt: skip


STAT_FIELDS = (
    "requests", "lanes", "bytes", "sectors", "ideal", "wavefronts", "ideal_wavefronts", "serial",
    "l1_hits", "l2_sectors", "dram_sectors", "distinct",
)  # fmt: skip
L2_LINES = 1 << 18  # 32 MiB of 128-byte lines; of an A100's 40 MiB


def dim3(value: int | Sequence[int]) -> tuple[int, int, int]:
    """1 to 3 sizes as three."""
    sizes = (value,) if isinstance(value, int | np.integer) else tuple(value)
    if not 1 <= len(sizes) <= 3:
        raise LaunchError(f"expected 1 to 3 sizes, found {len(sizes)}")
    out = (*(int(s) for s in sizes), 1, 1)[:3]
    return out[0], out[1], out[2]


def launch(
    kernel: Kernel,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Argument],
    *,
    shared: int = 0,
    memory: Memory | None = None,
    checks: Literal["all", "bounds"] = "all",
    fuel: int | None = None,
    order: Literal["forward", "reversed"] = "forward",
    limits: Limits | None = None,
    threads: int | Sequence[int] | None = None,
) -> Launch:
    """Run `kernel` over `grid` x `block` threads, or those of them that lie within `threads`.

    `args` in parameter order: a `Pointer` of `memory`, an array (copied in, and copied back in
    place unless it is read-only), a NumPy scalar or number, or bytes for a structure; `shared` is
    dynamic shared memory in bytes. `checks` "bounds" leaves races and undefined values unchecked
    and runs faster; `fuel` bounds the warp instructions; `order` "reversed" runs blocks and warps
    last to first. `threads` is the exact grid of Metal's dispatchThreads: threads beyond it in the
    last blocks do not exist. Raises LaunchError for what CUDA would refuse.
    """
    limits = limits or Limits()
    g, b = dim3(grid), dim3(block)
    memory = memory or Memory()
    _check_geometry(kernel, g, b, limits)
    copies: list[tuple[npt.NDArray[np.generic], Pointer]] = []
    params = _pack(kernel, args, memory, copies)
    shadow = checks == "all"
    try:
        translated = kernel.translate(shadow)
    except Unsupported as why:
        return Launch("unsupported", str(why), (), Metrics(), "")
    try:
        frame = _Frame(kernel, translated, g, b, params, memory, shared, limits, shadow)
    except Unsupported as why:
        return Launch("unsupported", str(why), (), Metrics(), "")
    frame.c.fuel = DEFAULT_FUEL if fuel is None else fuel
    frame.c.reversed = order == "reversed"
    if threads is not None:
        frame.c.exact = (_U32 * 3)(*_exact(dim3(threads), g, b))
    translated.code.launch(ctypes.addressof(frame.c), kernel.program.bodies[kernel.name].first)
    for array, pointer in copies:
        array[...] = memory.read(pointer).view(array.dtype).reshape(array.shape)
    return frame.result()


def _exact(
    threads: tuple[int, int, int], g: tuple[int, int, int], b: tuple[int, int, int]
) -> tuple[int, int, int]:
    """`threads`, of which every block of the grid must hold some."""
    needed = tuple(-(-n // size) for n, size in zip(threads, b, strict=True))
    if needed != g:
        raise LaunchError(f"{threads} threads in blocks of {b} are {needed} blocks, not {g}")
    return threads


def _check_geometry(
    kernel: Kernel, g: tuple[int, int, int], b: tuple[int, int, int], limits: Limits
) -> None:
    for name, sizes, most in (("grid", g, limits.grid), ("block", b, limits.block)):
        for size, top, axis in zip(sizes, most, "xyz", strict=True):
            if size < 1:
                raise LaunchError(
                    f"{name}.{axis} is {size}: every size must be at least 1 "
                    "(cudaErrorInvalidConfiguration)"
                )
            if size > top:
                raise LaunchError(
                    f"{name}.{axis} is {size}, more than the limit of {top} "
                    "(cudaErrorInvalidConfiguration)"
                )
    threads = b[0] * b[1] * b[2]
    if threads > limits.threads:
        raise LaunchError(
            f"a block of {threads} threads, more than the limit of {limits.threads} "
            "(cudaErrorInvalidConfiguration)"
        )
    if kernel.most_threads is not None and threads > kernel.most_threads:
        raise LaunchError(
            f"a block of {threads} threads, more than the {kernel.most_threads} that "
            f"{demangle(kernel.name)} was compiled for (__launch_bounds__)"
        )
    if kernel.required_block not in (None, b):
        raise LaunchError(f"the kernel was compiled for blocks of {kernel.required_block}, not {b}")


def _pack(
    kernel: Kernel,
    args: Sequence[Argument],
    memory: Memory,
    copies: list[tuple[npt.NDArray[np.generic], Pointer]],
) -> npt.NDArray[np.uint8]:
    """The parameter block; arrays become buffers of `memory`."""
    params = kernel.parameters
    if len(args) != len(params):
        raise LaunchError(f"{kernel.name} takes {len(params)} arguments, {len(args)} were given")
    size = 0
    places = []
    for p in params:
        size = (size + p.align - 1) // p.align * p.align
        places.append(size)
        size += p.size_bytes
    data = aligned(max(size, 8))
    for k, (p, at, arg) in enumerate(zip(params, places, args, strict=True)):
        raw = _encode(k, p, arg, memory, copies)
        data[at : at + len(raw)] = np.frombuffer(raw, np.uint8)
    return data[:size] if size else data[:0]


def _encode(
    k: int,
    p: Variable,
    arg: Argument,
    memory: Memory,
    copies: list[tuple[npt.NDArray[np.generic], Pointer]],
) -> bytes:
    if isinstance(arg, np.ndarray) and arg.ndim == 0:
        arg = arg[()]
    if isinstance(arg, np.ndarray):
        pointer = memory.allocate(arg, name=f"argument {k}")
        if arg.flags.writeable:
            copies.append((arg, pointer))
        arg = pointer
    if isinstance(arg, Pointer):
        raw = struct.pack("<Q", arg.address)
    elif isinstance(arg, bytes):
        raw = arg
    elif isinstance(arg, np.generic):
        raw = arg.tobytes()
    elif isinstance(arg, bool | int) and not p.dims:
        width = TYPE_BYTES[p.type]
        if p.type in ("f32", "f64"):
            raw = struct.pack("<f" if width == 4 else "<d", arg)
        else:
            raw = (int(arg) & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    elif isinstance(arg, float):
        width = p.size_bytes
        raw = struct.pack("<f" if width == 4 else "<d", arg)
    else:
        raise LaunchError(f"argument {k} ({type(arg).__name__}) cannot be passed to {p.name}")
    if len(raw) != p.size_bytes:
        raise LaunchError(
            f"argument {k} has {len(raw)} bytes, but parameter {k} takes {p.size_bytes}"
        )
    return raw


class _Frame:
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
        self.variables = _variables(kernel, memory)
        self.c = CLaunch()
        c = self.c
        self._slots()
        self._sites(lowered)
        self._arrays(lowered, shared, limits)
        c.table = translated.code.table
        c.nblocks = len(lowered.block_chunks)
        self.params = params
        c.params, c.params_size = params.ctypes.data, params.size
        c.grid, c.block = (_U32 * 3)(*grid), (_U32 * 3)(*block)
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
        c.quantum = QUANTUM
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
        self.l2 = np.zeros(L2_LINES, np.uint64)
        c.l2_tags, c.l2_lines = self.l2.ctypes.data, L2_LINES

    def _slots(self) -> None:
        c = self.c
        first = L.FIRST_BUFFER_SLOT + len(self.memory.buffers) + 1
        self.workspace = Storage(first - 1, aligned(64), "grid workspace", 4, TRACK)
        # Grid synchronisation orders by what it does there; it is not itself a race.
        self.workspace.record.shadow.size = 0
        self.slots = (ctypes.POINTER(CBuffer) * (first + HEAP_BUFFERS))()
        for storage in (*self.variables, *self.memory.buffers, self.workspace):
            self.slots[storage.slot] = ctypes.pointer(storage.record)
        c.slots, c.nslots = ctypes.addressof(self.slots), len(self.slots)
        c.grid_workspace = self.workspace.address
        self.heap = (CBuffer * HEAP_BUFFERS)()
        c.heap, c.heap_slot, c.heap_capacity = ctypes.addressof(self.heap), first, HEAP_BUFFERS
        c.heap_limit = 8 << 20

    def _sites(self, lowered: Lowered) -> None:
        c = self.c
        spaces = {"generic": 0, **{name: k + 1 for k, name in enumerate(SPACES)}}
        self.sites = (_Site * (len(lowered.sites) + 1))()
        for k, s in enumerate(lowered.sites):
            self.sites[k] = _Site(
                spaces[s.space], s.elem_bytes, s.flags, s.vector, max(s.block, 0), 0
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

    def result(self) -> Launch:
        """Turn what the runtime recorded into records."""
        c = self.c
        reporter = Reporter(self)
        faults = reporter.faults()
        printed, assertion = format_text(self.text[: c.text_size].tobytes())
        ended = ENDED[c.ended]
        reason = reporter.reason(ended, assertion)
        if assertion is not None:
            faults = reporter.with_assertion(faults, assertion)
        elif c.lost_errors and all(fault.severity != "error" for fault in faults):
            # Those there was room for turned out to be none: what the others were is not known.
            ended, reason = "unsupported", f"more than {MAX_FAULTS} findings in one launch"
        metrics = collect(self)
        return Launch(ended, reason, faults, metrics, printed)


def _variables(kernel: Kernel, memory: Memory) -> list[Storage]:
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
        firsts = {name: body.first for name, body in kernel.program.bodies.items()}
        for k, v in enumerate(ptx.variables.values()):
            if v.space == "shared":
                continue
            data = _initial(v, addresses, firsts, ptx)
            flags = IS_CONST if v.space == "const" else TRACK
            storage = Storage(L.FIRST_VARIABLE_SLOT + k, data, v.name, TYPE_BYTES[v.type], flags)
            made.append(storage)
        memory.variables[key] = made
        memory.keep_alive.append(kernel.module)
    return memory.variables[key]


def _initial(
    v: Variable, addresses: dict[str, int], firsts: dict[str, int], ptx: Ptx
) -> npt.NDArray[np.uint8]:
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
            raw = _address_of(e.name, e.offset, addresses, firsts, ptx).to_bytes(8, "little")
            raw = raw[: max(width, 8)] if width >= 8 else raw
        if at + len(raw) > data.size:
            break
        data[at : at + len(raw)] = np.frombuffer(raw, np.uint8)
        at += len(raw)
    return data


def _address_of(
    name: str, offset: int, addresses: dict[str, int], firsts: dict[str, int], ptx: Ptx
) -> int:
    if name in addresses:
        return addresses[name] + offset
    if name in firsts:
        return L.FUNCTION_BASE + firsts[name]
    if name in ptx.functions:
        return L.FUNCTION_BASE + (1 << 24) + list(ptx.functions).index(name)
    return 0
