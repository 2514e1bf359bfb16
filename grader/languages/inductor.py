"""The Triton kernel that torch.compile generates for an operation, without a GPU.

Inductor is given fake CUDA tensors: it then writes the Triton source it would launch on a card,
which Triton compiles to PTX for sm_80 as it compiles a student's.
"""

from __future__ import annotations

import contextlib
import importlib.util
import linecache
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from grader import __version__, cache
from grader.errors import InternalError, NotGradableError, UsageError
from grader.languages import triton_ptx
from grader.result import Record

ROWS = 64
"""Rows of the matrices that a row-wise operation gets; `size` is their width."""

MEANINGS: dict[str, tuple[int, bool]] = {
    "add": (2, False),
    "sub": (2, False),
    "mul": (2, False),
    "div": (2, False),
    "maximum": (2, False),
    "exp": (1, False),
    "relu": (1, False),
    "sigmoid": (1, False),
    "tanh": (1, False),
    "rsqrt": (1, False),
    "where": (3, False),
    "softmax": (1, True),
    "sum": (1, True),
    "amax": (1, True),
}
"""Operations by torch's name: how many tensors they take, and whether they work along rows."""

_KERNEL = re.compile(r"async_compile\.triton\('(\w+)', '''(.*?)''', device_str=", re.DOTALL)
_MASKED = re.compile(r"\b(?:xmask|ymask|rmask|r0_mask|r\d*_mask)\b")
_ALWAYS = re.compile(r"\b([xyr]\d*_?mask) = tl\.full\(.*True, tl\.int1\)")


class Generated(Record):
    """One kernel that Inductor wrote: its source from `@triton.jit` on, and what it compiles to.

    `mask_lines` are the lines of `source` that a bounds mask guards or makes; `mask` says in a
    sentence where they are, or why there are none. `parameters` are the entry's types in order,
    `grid` the programs for `size`. The PTX counts lines from the generated file's own first line:
    line 1 of `source` is its line `first_line`.
    """

    operation: str
    size: int
    torch_version: str
    triton_version: str
    name: str
    source: str
    first_line: int
    configuration: dict[str, int]
    mask: str
    mask_lines: tuple[int, ...]
    ptx: str
    entry: str
    parameters: tuple[str, ...]
    grid: int
    block: tuple[int, int, int]
    shared_bytes: int


def missing() -> str | None:
    """Why torch.compile's kernels cannot be shown here, or None."""
    for package in ("torch", "triton"):
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed: pip install 'grader[{package}]'"
    return None


def generate(operation: str, size: int) -> Generated:
    """What torch.compile makes of `torch.<operation>` on float32 tensors of `size` elements.

    Generated in a child and kept by content. Raises UsageError for an operation that is not in
    `MEANINGS`, NotGradableError where torch or Triton is missing.
    """
    if operation not in MEANINGS:
        raise UsageError(
            f"no such operation for torch.compile: {operation}",
            f"There are: {', '.join(MEANINGS)}.",
        )
    reason = missing()
    if reason:
        raise NotGradableError(reason)
    from importlib.metadata import version

    key = cache.key(
        "inductor", __version__, version("torch"), version("triton"), operation, str(size)
    )
    kept = cache.read("inductor", key)
    if kept:
        with contextlib.suppress(ValueError):
            return Generated.model_validate_json(kept)
    from grader import sandbox

    reply = sandbox.call(
        "grader.languages.inductor:generate_job",
        {"operation": operation, "size": size},
        limits=sandbox.Limits(wall_seconds=120, cpu_seconds=120),
    )
    if reply.header is None:
        raise InternalError(f"torch.compile gave no kernel for {operation}: {reply.error}")
    found = Generated.model_validate(reply.header)
    cache.write("inductor", key, found.model_dump_json().encode())
    return found


# ---- in the child --------------------------------------------------------------------------------


def generate_job(request: dict[str, Any], _: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """In a child: let Inductor write the kernel, compile it, say what masks it."""
    import torch
    import triton

    from grader.languages import triton_compile

    operation, size = request["operation"], request["size"]
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(Path.cwd())
    triton_compile.prepare()
    with _pretended_card():
        code = _inductor(operation, size)
    written = _KERNEL.search(code)
    if written is None:
        raise ValueError(f"Inductor calls a library for {operation} and writes no kernel")
    name, text = written[1], written[2]
    kernel = _load(name, text)
    config = kernel.configs[0]
    from triton.compiler.compiler import ASTSource

    meta = kernel.triton_meta
    constants = {**meta["constants"], **config.kwargs}
    ptx, metadata = triton_compile.compile_source(
        ASTSource(kernel.fn, meta["signature"], constants, meta["configs"][0]),
        {"num_warps": config.num_warps, "num_stages": config.num_stages},
    )
    ptx = triton_ptx.mend_lines(ptx, f"{name}.py")
    source = text[text.index("@triton.jit") :].strip() + "\n"
    mask, lines = _mask(source, size)
    passed = [kind for kind in meta["signature"].values() if kind != "constexpr"]
    rows = ROWS if MEANINGS[operation][1] else size
    return {
        "operation": operation,
        "size": size,
        "torch_version": torch.__version__,
        "triton_version": triton.__version__,
        "name": name,
        "source": source,
        "first_line": text[: text.index("@triton.jit")].count("\n") + 1,
        "configuration": {**config.kwargs, "num_warps": config.num_warps},
        "mask": mask,
        "mask_lines": lines,
        "ptx": ptx,
        "entry": metadata["name"],
        "parameters": [*passed, *["*i8"] * triton_compile.SCRATCH],
        "grid": -(-rows // config.kwargs.get("XBLOCK", 1)),
        "block": triton_ptx.threads(ptx),
        "shared_bytes": metadata["shared"],
    }, []


@dataclass(frozen=True)
class _Target:
    """As much of a Triton driver as Inductor asks for."""

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        from grader.languages.triton_compile import ARCHITECTURE

        return GPUTarget("cuda", ARCHITECTURE, 32)


@contextlib.contextmanager
def _pretended_card() -> Iterator[None]:
    """torch answers as on an A100, so that Inductor chooses what it would choose there."""
    from unittest import mock

    import torch
    from torch._dynamo.device_interface import CudaInterface
    from torch._inductor.runtime import triton_helpers
    from triton.runtime.driver import driver

    card = SimpleNamespace(
        name="NVIDIA A100",
        major=8,
        minor=0,
        multi_processor_count=108,
        regs_per_multiprocessor=65_536,
        max_threads_per_multi_processor=2_048,
        max_threads_per_block=1_024,
        warp_size=32,
        total_memory=40 << 30,
        L2_cache_size=40 << 20,
        shared_memory_per_block=49_152,
        shared_memory_per_block_optin=166_912,
    )
    driver.set_active(_Target())

    def of_card(*_: object) -> SimpleNamespace:
        return card

    with contextlib.ExitStack() as stack:
        for owner, attribute, value in (
            (torch.cuda, "is_available", lambda: True),
            (torch.cuda, "current_device", lambda: 0),
            (torch.cuda, "get_device_capability", lambda *_: (8, 0)),
            (torch.cuda, "get_device_properties", of_card),
            (CudaInterface, "get_device_properties", staticmethod(of_card)),
            (CudaInterface, "get_compute_capability", staticmethod(lambda *_: 80)),
            (CudaInterface.Worker, "get_device_properties", staticmethod(of_card)),
            (torch.version, "cuda", "13.0"),
            (triton_helpers, "set_driver_to_gpu", lambda: None),
        ):
            stack.enter_context(mock.patch.object(owner, attribute, value))
        yield


def _inductor(operation: str, size: int) -> str:
    """The Python module that Inductor writes for the operation."""
    import torch
    from torch._inductor import config
    from torch._inductor.debug import DebugContext
    from torch._inductor.graph import GraphLowering
    from torch._inductor.virtualized import V
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    count, along_rows = MEANINGS[operation]
    shape = (ROWS, size) if along_rows else (size,)
    function: Callable[..., Any] = getattr(torch, operation)
    axis = {"dim": -1} if along_rows else {}
    mode = FakeTensorMode()
    with mode:
        tensors = [torch.empty(shape, device="cuda") for _ in range(count)]
        if operation == "where":
            tensors[0] = torch.empty(shape, device="cuda", dtype=torch.bool)
        graph_module = make_fx(lambda *given: function(*given, **axis), _decompositions())(*tensors)
    # A sandboxed child starts no processes: Inductor must not want a pool of them.
    with V.set_fake_mode(mode), config.patch(compile_threads=1):
        graph = GraphLowering(graph_module, shape_env=None)
        with V.set_graph_handler(graph), V.set_debug_handler(DebugContext()):
            graph.run(*tensors)
            code = graph.codegen()[0]
    return str(getattr(code, "value", code))


def _decompositions() -> Any:
    from torch._inductor.decomposition import select_decomp_table

    return select_decomp_table()


def _load(name: str, text: str) -> Any:
    """The generated kernel with its configurations: Inductor's own code, run as Inductor does."""
    from unittest import mock

    from torch._inductor.runtime import triton_helpers

    file_name = f"{name}.py"
    linecache.cache[file_name] = (len(text), None, text.splitlines(keepends=True), file_name)
    module = ModuleType(name)
    module.__file__ = file_name
    with mock.patch.object(triton_helpers, "set_driver_to_gpu", lambda: None):
        exec(compile(text, file_name, "exec"), module.__dict__)
    return getattr(module, name)


def _mask(source: str, size: int) -> tuple[str, list[int]]:
    """What masks the kernel, in a sentence, and on which lines of it."""
    always = set(_ALWAYS.findall(source))
    lines = [
        number
        for number, line in enumerate(source.splitlines(), start=1)
        if any(name not in always for name in _MASKED.findall(line))
    ]
    if lines:
        return f"bounds are masked: lines {', '.join(map(str, lines))}", lines
    return (
        f"there is no bounds mask: {size} is a multiple of the largest block Inductor would "
        "choose, so no offset can pass the end",
        [],
    )
