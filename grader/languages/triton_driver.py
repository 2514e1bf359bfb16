"""A Triton driver whose GPU is the virtual one.

With it, `kernel[grid](x, y, out, n, BLOCK=1024)` on CPU torch tensors, a tutorial script and the
kernels that torch.compile generates run as they are, with every check::

    with virtual_gpu() as gpu:
        add_kernel[(4,)](x, y, out, n, BLOCK=1024)
    gpu.launches[0].faults

Triton itself compiles for sm_80; its last stage hands over PTX where it would call ptxas.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from grader import cache
from grader.languages import triton_ptx
from grader.languages.triton_compile import ARCHITECTURE, PTX_VERSION, SCRATCH
from grader.vgpu import (
    Fault,
    Kernel,
    LaunchError,
    Memory,
    Metrics,
    Module,
    Pointer,
    PtxError,
    cost,
    launch,
)

DEVICE_PROPERTIES = {
    "max_shared_mem": 166_912,
    "max_num_regs": 65_536,
    "multiprocessor_count": 108,
    "warpSize": 32,
    "sm_clock_rate": 1_410_000,
    "mem_clock_rate": 1_215_000,
    "mem_bus_width": 5_120,
}
"""What a script may ask of the device: the public figures of an A100 (sm_80)."""

Argument = Pointer | np.generic
Checks = Literal["all", "bounds"]

_REGISTERS = 32
"""Registers per thread that `kernel.n_regs` claims: only ptxas knows, occupancy sums need one."""


@dataclass(frozen=True)
class Launched:
    """One launch of a script: which kernel, how many programs, and what the virtual GPU saw.

    `parameters` are the kernel's run-time parameters with Triton's types, `constants` the integers
    it was compiled for, `views` the tensors whose strides it was not told.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    ended: str
    reason: str
    faults: tuple[Fault, ...]
    metrics: Metrics
    printed: str
    parameters: tuple[tuple[str, str], ...] = ()
    constants: dict[str, int] = field(default_factory=dict)
    ptx: str = ""
    views: tuple[str, ...] = ()


@dataclass
class VirtualDriver:
    """The driver object that `triton.runtime.driver.set_active` takes.

    `checks` is that of `grader.vgpu.launch`. `launches` grows with every launch; `torch_device` is
    what scripts are told to put tensors on (None: the CPU).
    """

    checks: Checks = "all"
    launches: list[Launched] = field(default_factory=list)
    torch_device: Any = None

    def __post_init__(self) -> None:
        self.utils = _Utils()

    def launcher_cls(self, src: Any, metadata: Any) -> Callable[..., None]:
        """What Triton calls once per compiled kernel; the result launches it."""
        return _Launcher(src, metadata)

    def get_current_target(self) -> Any:
        """An sm_80 card with warps of 32."""
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", ARCHITECTURE, 32)

    def get_device_capability(self, device: object = 0) -> tuple[int, int]:
        """Compute capability: 8.0."""
        return divmod(ARCHITECTURE, 10)

    def get_current_device(self) -> int:
        """There is one device."""
        return 0

    def set_current_device(self, device: object) -> None:
        """There is one device."""

    def get_current_stream(self, device: object = 0) -> int:
        """Launches end before they return: one stream is enough."""
        return 0

    def get_active_torch_device(self) -> Any:
        """Tensors live in the host's memory, whatever it is called."""
        import torch

        return self.torch_device or torch.device("cpu")

    def get_device_interface(self) -> Any:
        """What torch offers for the device tensors live on."""
        import torch

        return torch.cuda if self.torch_device else torch.cpu

    @property
    def milliseconds(self) -> float:
        """The modelled clock: the time of all launches so far."""
        return sum(milliseconds(run.metrics) for run in self.launches)

    def get_benchmarker(self) -> Callable[..., Any]:
        """Autotuning compares modelled times."""
        return self.bench

    def get_empty_cache_for_benchmark(self) -> None:
        """There is no cache to flush."""

    def clear_cache(self, cache: object) -> None:
        """There is no cache to flush."""

    def map_python_to_cpp_type(self, ty: str) -> str:
        """No C++ launcher is generated."""
        return ty

    def bench(
        self,
        kernel_call: Callable[[], object],
        *_: object,
        quantiles: Sequence[float] | None = None,
        **__: object,
    ) -> Any:
        """Modelled milliseconds of the launches of one call: nothing varies, so one call is enough.

        Stands in for `triton.testing.do_bench` and takes its arguments.
        """
        before = self.milliseconds
        kernel_call()
        time = self.milliseconds - before
        return [time] * len(quantiles) if quantiles else time


def milliseconds(metrics: Metrics) -> float:
    """Modelled time of a launch on the card whose figures are above."""
    return cost.estimate(metrics.counts).nanoseconds / 1e6


@dataclass(frozen=True)
class _Function:
    """What Triton holds for a loaded kernel."""

    kernel: Kernel
    ptx: str


class _Utils:
    """What Triton asks about modules and devices."""

    def get_device_properties(self, device: object) -> dict[str, int]:
        return dict(DEVICE_PROPERTIES)

    def load_binary(
        self, name: str, kernel: bytes, shared: int, device: object
    ) -> tuple[Module, _Function, int, int, int]:
        """The module, the kernel, its registers, spills and most threads."""
        text = kernel.decode()
        try:
            module = Module.from_ptx(text)
        except PtxError as error:
            raise RuntimeError(f"the virtual GPU cannot read the PTX of {name}: {error}") from None
        return module, _Function(module.kernel(name), text), _REGISTERS, 0, 1024

    def unload_module(self, module: object) -> None:
        """The module goes with its last reference."""


class _Launcher:
    """Launches one compiled kernel: turns Triton's arguments into those of its PTX entry.

    Triton keeps it as long as the kernel, so it asks for the driver that is active at each launch.
    """

    def __init__(self, src: Any, metadata: Any) -> None:
        self.names = tuple(src.signature)
        self.types = tuple(src.signature.values())
        self.constants = {
            src.fn.arg_names[path[0]]: int(value)
            for path, value in src.constants.items()
            if len(path) == 1 and isinstance(value, int)
        }
        self.metadata = metadata

    def __call__(self, *everything: Any) -> None:
        """Triton's call: grid, stream, function, two kinds of metadata, two hooks, arguments."""
        grid = (int(everything[0]), int(everything[1]), int(everything[2]))
        _, function, _, launch_metadata, enter_hook, exit_hook, *arguments = everything[3:]
        if 0 in grid:
            return  # as Triton's own launcher
        from triton.runtime.driver import driver

        active: VirtualDriver = driver.active
        if enter_hook:
            enter_hook(launch_metadata)
        memory = Memory()
        tensors = _Tensors(memory)
        values: list[Argument] = []
        for name, kind, value in zip(self.names, self.types, arguments, strict=True):
            _flatten(name, kind, value, tensors, values)
        values += [np.uint64(0)] * SCRATCH
        block = (self.metadata.num_warps * self.metadata.warp_size, 1, 1)
        try:
            run = launch(
                function.kernel,
                grid,
                block,
                values,
                shared=self.metadata.shared,
                memory=memory,
                checks=active.checks,
            )
        except LaunchError as error:
            raise RuntimeError(f"Triton Error [CUDA]: {error}") from None
        active.launches.append(
            Launched(
                self.metadata.name,
                grid,
                block,
                run.ended,
                run.reason,
                run.faults,
                run.metrics,
                run.printed,
                tuple(
                    (name, kind)
                    for name, kind in zip(self.names, self.types, strict=True)
                    if isinstance(kind, str) and kind != "constexpr"
                ),
                self.constants,
                function.ptx,
                _views(self.names, arguments, self.constants.values()),
            )
        )
        sys.stdout.write(run.printed)
        if run.ended != "finished":
            raise RuntimeError(f"{self.metadata.name} {run.ended}: {run.reason}")
        if exit_hook:
            exit_hook(launch_metadata)


def _views(
    names: Sequence[str], arguments: Sequence[Any], constants: Iterable[int]
) -> tuple[str, ...]:
    """The tensors that are not contiguous and whose strides are not among the launch's numbers.

    Tensors that all lie in memory alike and without gaps are an element-wise kernel's: it needs no
    strides.
    """
    tensors = [
        (name, value)
        for name, value in zip(names, arguments, strict=True)
        if hasattr(value, "untyped_storage")
    ]
    numbers = {value for value in arguments if isinstance(value, int)} | set(constants)
    layouts = {tuple(t.stride()) for _, t in tensors if t.dim() > 1}
    if len(layouts) == 1 and all(_is_dense(t) for _, t in tensors):
        return ()
    found = []
    for name, tensor in tensors:
        needed = {s for s, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1 and s != 1}
        if not tensor.is_contiguous() and not needed <= numbers:
            found.append(
                f"`{name}` is not contiguous (shape {tuple(tensor.shape)}, strides "
                f"{tuple(tensor.stride())}), and the kernel is not told its strides"
            )
    return tuple(found)


def _is_dense(tensor: Any) -> bool:
    import torch

    return bool(torch.ops.aten.is_non_overlapping_and_dense(tensor))


def _flatten(name: str, kind: Any, value: Any, tensors: _Tensors, into: list[Argument]) -> None:
    """Append what the entry takes for one argument: constants nothing, tuples each element."""
    if kind == "constexpr":
        return
    if isinstance(kind, tuple):
        for i, (inner, element) in enumerate(zip(kind, value, strict=True)):
            _flatten(f"{name}[{i}]", inner, element, tensors, into)
    elif kind.startswith("tensordesc"):
        from triton.backends.driver import decompose_descriptor, expand_signature

        kinds = expand_signature([kind], None, "")
        for inner, element in zip(kinds, decompose_descriptor(value), strict=True):
            _flatten(name, inner, element, tensors, into)
    elif kind.startswith("*"):
        into.append(tensors.pointer(name, value))
    else:
        into.append(scalar(kind, value))


def scalar(kind: str, value: Any) -> np.generic:
    """A number as the entry takes it; integers wrap as in C. `kind` as Triton spells it."""
    if kind in ("i1", "u1"):
        return np.uint8(bool(value))
    if kind[0] in "iu":
        bits = int(kind[1:])
        wrapped: np.generic = np.uint64(int(value) % (1 << bits)).astype(f"uint{bits}")
        return wrapped
    if kind == "bf16":
        wide = int(np.float32(value).view(np.uint32))
        return np.uint16((wide + 0x7FFF + (wide >> 16 & 1)) >> 16)  # to nearest, ties to even
    floats: dict[str, type[np.floating[Any]]] = {
        "fp16": np.float16,
        "fp32": np.float32,
        "f32": np.float32,
        "fp64": np.float64,
    }
    return floats[kind](value)


class _Tensors:
    """The storages that a launch's tensors live in: each once, however many views of it there are.

    They are shared with the virtual GPU, not copied. A view may reach the whole of its storage, as
    on a GPU.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.storages: dict[int, Pointer] = {}

    def pointer(self, name: str, tensor: Any) -> Argument:
        """Where the tensor's first element lies on the virtual GPU; null for None and for empty."""
        if tensor is None:
            return np.uint64(0)
        if isinstance(tensor, int):
            return np.uint64(tensor)
        tensor = getattr(tensor, "base", None) if not hasattr(tensor, "untyped_storage") else tensor
        host = tensor.untyped_storage().data_ptr()
        if not host:
            return np.uint64(0)
        if host not in self.storages:
            self.storages[host] = self.memory.share(_storage(tensor), name=name)
        base = self.storages[host]
        return replace(base, offset=base.offset + tensor.data_ptr() - host)


def _storage(tensor: Any) -> npt.NDArray[Any]:
    """The whole storage of a CPU tensor as a flat array that shares its memory.

    Types that numpy has not (bfloat16, float8, bool) appear as unsigned integers of their size.
    """
    import torch

    storage = tensor.untyped_storage()
    size = tensor.element_size()
    flat = torch.empty(0, dtype=tensor.dtype).set_(storage, 0, (storage.nbytes() // size,), (1,))
    try:
        array: npt.NDArray[Any] = flat.numpy()
    except TypeError:
        integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
        array = flat.view(integers[size]).numpy()
    return array


# ---- switching it on ----------------------------------------------------------------------------


@contextlib.contextmanager
def virtual_gpu(checks: Checks = "all") -> Iterator[VirtualDriver]:
    """Launch Triton kernels on the virtual GPU inside the block; what was active before returns."""
    from triton.runtime.driver import driver

    before = driver._active
    mine = activate(checks)
    try:
        yield mine
    finally:
        driver._active = before


def activate(checks: Checks = "all") -> VirtualDriver:
    """Make the virtual GPU Triton's device for the rest of the process."""
    os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"
    import triton
    import triton.backends.nvidia.compiler as nvidia
    import triton.testing
    from triton.runtime.driver import driver

    triton.knobs.nvidia.mock_ptx_version = "none"
    nvidia.get_ptx_version_from_options = lambda options, arch: PTX_VERSION
    triton.knobs.runtime.add_stages_inspection_hook = _stages
    mine = VirtualDriver(checks)
    driver.set_active(mine)
    triton.testing.do_bench = mine.bench
    triton.testing.do_bench_cudagraph = mine.bench
    return mine


@functools.cache
def _mending() -> str:
    """What tells our PTX from others in Triton's cache: how it is mended."""
    return cache.key("grader", Path(triton_ptx.__file__).read_bytes())


def _stages(*arguments: Any) -> tuple[str, str] | None:
    """Triton's hook on its stages: without arguments the cache key, else the stages to change.

    The last stage, ptxas, gives way to PTX with mended lines.
    """
    if not arguments:
        return _mending(), _mending()
    stages = arguments[1]
    stages["cubin"] = lambda ptx, metadata: triton_ptx.mend_lines(ptx).encode()
    return None
