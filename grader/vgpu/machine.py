"""Launch a kernel: arguments in, execution, faults and metrics out."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from grader.vgpu.execution import MAX_FAULTS, Execution
from grader.vgpu.findings import Reporter, demangle
from grader.vgpu.limits import LaunchError, Limits
from grader.vgpu.memory import Memory, Pointer, aligned
from grader.vgpu.metrics import collect
from grader.vgpu.module import Kernel
from grader.vgpu.printing import format_text
from grader.vgpu.program import Unsupported
from grader.vgpu.ptx import TYPE_BYTES, Variable
from grader.vgpu.records import Ended, Launch, Metrics

Argument = Pointer | npt.NDArray[np.generic] | np.generic | int | float | bytes
ENDED: tuple[Ended, ...] = ("finished", "trap", "assertion", "fuel", "deadlock", "unsupported")
DEFAULT_FUEL = 400_000_000


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
        execution = Execution(kernel, translated, g, b, params, memory, shared, limits, shadow)
    except Unsupported as why:
        return Launch("unsupported", str(why), (), Metrics(), "")
    execution.c.fuel = DEFAULT_FUEL if fuel is None else fuel
    execution.c.reversed = order == "reversed"
    if threads is not None:
        execution.c.exact = (ctypes.c_uint32 * 3)(*_exact(dim3(threads), g, b))
    translated.code.launch(ctypes.addressof(execution.c), kernel.program.bodies[kernel.name].first)
    for array, pointer in copies:
        array[...] = memory.read(pointer).view(array.dtype).reshape(array.shape)
    return _result(execution)


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


def _result(execution: Execution) -> Launch:
    """Turn what the runtime recorded into records."""
    c = execution.c
    reporter = Reporter(execution)
    faults = reporter.faults()
    printed, assertion = format_text(execution.text[: c.text_size].tobytes())
    ended = ENDED[c.ended]
    reason = reporter.reason(ended, assertion)
    if assertion is not None:
        faults = reporter.with_assertion(faults, assertion)
    elif c.lost_errors and all(fault.severity != "error" for fault in faults):
        # Those there was room for turned out to be none: what the others were is not known.
        ended, reason = "unsupported", f"more than {MAX_FAULTS} findings in one launch"
    metrics = collect(execution)
    execution.keep_heap(lambda site: reporter.where(site)[1])
    return Launch(ended, reason, faults, metrics, printed)
