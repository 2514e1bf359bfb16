"""`grade peek add --live`: what PyTorch's profiler saw of the operation, beside the facts.

On an NVIDIA card the profiler gives each kernel's name, grid and block; on the CPU only the names
of operators. Where what it saw is not what the facts say, that is reported, not hidden.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.notes import sources
from grader.notes.facts import Backend
from grader.peek_run import ELEMENTS, inputs
from grader.result import Dim3, Record


class Profiled(Record):
    """A kernel or operator as the profiler calls it; `grid` and `block` where it ran on a GPU."""

    name: str
    grid: Dim3 | None = None
    block: Dim3 | None = None
    nanoseconds: float = 0.0


def profile(operation: str) -> dict[str, tuple[Profiled, ...]]:
    """What ran, for each backend of PyTorch that is here; empty where torch is not installed."""
    if not sources.installed_version("pytorch"):
        return {}
    import torch

    devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    return {device: kernels(_trace(torch, operation, device), device) for device in devices}


def _trace(torch: Any, operation: str, device: str) -> dict[str, Any]:
    """The profiler's trace of one call, in Chrome's format, after a call to warm up."""
    tensors = [torch.from_numpy(one).to(device) for one in inputs(operation)]
    if operation == "where":
        tensors[0] = tensors[0] != 0
    function = getattr(torch, {"multiply": "mul"}.get(operation, operation))
    function(*tensors)
    kinds = torch.profiler.ProfilerActivity
    activities = [kinds.CPU, *([kinds.CUDA] if device == "cuda" else [])]
    with torch.profiler.profile(activities=activities) as profiler:
        function(*tensors)
        if device == "cuda":
            torch.cuda.synchronize()
    with tempfile.TemporaryDirectory(prefix="grade-profile-") as folder:
        path = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(path))
        found: dict[str, Any] = json.loads(path.read_text())
        return found


def kernels(trace: Mapping[str, Any], device: str) -> tuple[Profiled, ...]:
    """The kernels of a trace (category `kernel`), or the operators (`cpu_op`) on the CPU."""
    category = "kernel" if device == "cuda" else "cpu_op"
    return tuple(
        Profiled(
            name=str(event["name"]),
            grid=_three(event.get("args", {}).get("grid")),
            block=_three(event.get("args", {}).get("block")),
            nanoseconds=1e3 * float(event.get("dur", 0.0)),  # Chrome's traces count microseconds
        )
        for event in trace.get("traceEvents", [])
        if event.get("cat") == category
    )


def _three(found: Any) -> Dim3 | None:
    if not isinstance(found, list) or len(found) != 3:
        return None
    return (int(found[0]), int(found[1]), int(found[2]))


def disagreements(
    found: tuple[Profiled, ...], row: Backend | None, elements: int = ELEMENTS
) -> tuple[str, ...]:
    """What the facts say and the profiler did not see, a sentence each.

    Looked at are the kernel's name, the threads of a block and the elements that each thread must
    have done so that all are.
    """
    ran = [one for one in found if one.grid is not None and one.block is not None]
    if row is None or not ran:
        return ()
    said = []
    names = re.findall(r"\w+_kernel\b", row.title)
    odd = [one.name for one in ran if names and not any(name in one.name for name in names)]
    if odd:
        said.append(f"the facts name {' or '.join(names)}, the profiler saw {odd[0][:120]}")
    blocks = re.search(r"blocks of (\d+)", row.elements_text)
    for one in ran:
        assert one.block is not None
        assert one.grid is not None
        threads = math.prod(one.block)
        if blocks and threads != int(blocks[1]):
            said.append(f"the facts say blocks of {blocks[1]}, the profiler saw {threads} threads")
        each = -(-elements // (threads * math.prod(one.grid)))
        if row.elements and each not in row.elements:
            wanted = " or ".join(map(str, row.elements))
            said.append(f"the facts say {wanted} elements per thread, the launch makes it {each}")
    return tuple(said)


def words(found: tuple[Profiled, ...]) -> str:
    """`vectorized_elementwise_kernel<…>, grid 977 × 1 × 1, block 128 × 1 × 1; …`."""
    return "; ".join(
        one.name[:120]
        if one.grid is None or one.block is None
        else f"{one.name[:120]}, grid {_shape(one.grid)}, block {_shape(one.block)}"
        for one in found
    )


def _shape(three: Dim3) -> str:
    return " × ".join(map(str, three))
