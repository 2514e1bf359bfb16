"""`grade run script.py`: a whole Python script whose Triton launches run on the virtual GPU.

The script runs as `__main__` in a sandboxed child, with `cuda` tensors in the host's memory; every
launch is checked. It is its author's own run: nothing is graded from it.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from grader import cache, judge, sandbox
from grader.errors import InternalError, NotGradableError, UsageError
from grader.languages import Contract, Parameter, Variant, inductor
from grader.languages.triton_advice import Launch, advise
from grader.languages.triton_races import settle
from grader.result import Dim3, Fault, Metrics, Record, Severity
from grader.run import Ended

SCHEMA = "grade/script/v1"
LIMITS = sandbox.Limits(
    wall_seconds=1800.0, cpu_seconds=1800.0, memory_bytes=16 << 30, printed_bytes=4 << 20
)
LARGEST_MODULE = 1 << 20
MOST_VIEWS = 20
MOST_KERNELS = 1000
"""Kinds of launches (kernel, grid, block) that a script may have."""


class KernelRun(Record):
    """The launches of one kernel with one grid: how many, what was found, counts over all.

    `views` are the tensors that it takes as if they were contiguous, with their strides.
    """

    kernel: str
    grid: Dim3
    block: Dim3
    launches: int
    ended: Ended
    reason: str = ""
    faults: tuple[Fault, ...] = ()
    metrics: Metrics = Metrics()
    modelled_milliseconds: float = 0.0
    parameters: tuple[Parameter, ...] = ()
    constants: dict[str, int] = {}
    views: tuple[str, ...] = ()
    ptx: str = Field(default="", exclude=True)


class ScriptRun(Record):
    """What a script did: `error` is the exception that ended it, on `error_line` of the script."""

    schema_: str = Field(default=SCHEMA, alias="schema")
    file: str
    checks: Literal["all", "bounds"]
    kernels: tuple[KernelRun, ...] = ()
    error: str = ""
    error_line: int | None = None
    printed: str = ""
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """1 for a script that raised or has an error-severity finding, 3 for one not supported."""
        if any(kernel.ended == "unsupported" for kernel in self.kernels):
            return 3
        faults = (fault for kernel in self.kernels for fault in kernel.faults)
        return int(bool(self.error) or any(f.severity is Severity.ERROR for f in faults))


class _Reply(Record):
    """What the child answers."""

    kernels: tuple[KernelRun, ...] = Field(max_length=MOST_KERNELS)
    ptx: tuple[str, ...]
    error: str
    error_line: int | None


def run(
    path: Path, arguments: Sequence[str] = (), *, checks: Literal["all", "bounds"] = "all"
) -> ScriptRun:
    """Run the script with `arguments` after its name, and say what its launches did.

    It may import what lies in its own folder. Raises UsageError for a file that cannot be read,
    NotGradableError where Triton or torch is missing.
    """
    started = time.perf_counter()
    reason = inductor.missing()
    if reason:
        raise NotGradableError(reason)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    from grader.vgpu import native

    native.runtime_objects()  # a child can start no compiler
    folder = path.resolve().parent
    reply = sandbox.call(
        "grader.languages.triton_program:run_job",
        {
            "path": str(path.resolve()),
            "arguments": list(arguments),
            "checks": checks,
            "cache": str(cache.root()),
        },
        [text.encode()],
        limits=LIMITS,
        read=[folder, cache.root() / "native"],
    )
    found = ScriptRun(file=path.name, checks=checks, printed=reply.output)
    if reply.exit.cause == "refused":
        raise NotGradableError(f"no sandboxed process could be started: {reply.exit.detail}")
    if reply.header is None:
        ended = reply.error or reply.exit.detail or reply.exit.cause
        found = found.model_copy(update={"error": f"the script ended without an answer: {ended}"})
    else:
        found = _told(found, reply.header, text, folder)
    return found.model_copy(update={"seconds": round(time.perf_counter() - started, 3)})


def _told(found: ScriptRun, header: dict[str, Any], text: str, folder: Path) -> ScriptRun:
    try:
        reply = _Reply.model_validate(header)
        if len(reply.kernels) != len(reply.ptx):
            raise ValueError(f"{len(reply.kernels)} kernels and {len(reply.ptx)} texts of PTX")
    except ValueError as error:
        raise InternalError(f"the script's child sent a malformed reply: {error}") from None
    kernels = [
        _worded(kernel.model_copy(update={"ptx": ptx}), text, found.file, folder)
        for kernel, ptx in zip(reply.kernels, reply.ptx, strict=True)
    ]
    return found.model_copy(
        update={
            "kernels": tuple(kernels),
            "error": reply.error,
            "error_line": reply.error_line,
        }
    )


def _worded(kernel: KernelRun, text: str, file: str, folder: Path) -> KernelRun:
    """The kernel's findings in Triton's words, where its source lies in the script's folder."""
    sources = {**_modules(kernel, folder), file: text}
    merged = judge.merge([kernel.faults], file)
    names = tuple(parameter.name for parameter in kernel.parameters)
    variant = Variant(
        name="script", optimised=True, ptx=kernel.ptx, entries={}, constants=kernel.constants
    )
    contract = Contract(kernel=kernel.kernel, parameters=kernel.parameters)
    faults: list[Fault] = []
    for fault in merged:
        source = sources.get(fault.file or "", "")
        launch = Launch(source, contract, variant, kernel.grid, names)
        faults += [advise(settled, launch) for settled in settle([fault], source)]
    return kernel.model_copy(update={"faults": tuple(faults)})


def _modules(kernel: KernelRun, folder: Path) -> dict[str, str]:
    """The texts of the modules in the script's folder that findings are in, by their names."""
    found: dict[str, str] = {}
    for path in {Path(fault.file) for fault in kernel.faults if fault.file}:
        try:
            if path.resolve().is_relative_to(folder) and path.stat().st_size <= LARGEST_MODULE:
                found[path.name] = path.read_text(encoding="utf-8")
        except (OSError, ValueError):
            continue  # its findings stay as the virtual GPU words them
    return found


# ---- in the child --------------------------------------------------------------------------------


def run_job(request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """In the sandboxed child: run the script and tell what its launches did."""
    os.environ["TRITON_CACHE_DIR"] = str(Path.cwd() / "triton")
    from grader.devices.virtual_child import use_cache
    from grader.languages.triton_driver import virtual_gpu
    from grader.languages.triton_torch import cuda_in_host_memory

    use_cache(request["cache"])
    path = request["path"]
    sys.argv = [path, *request["arguments"]]
    sys.path.insert(0, str(Path(path).parent))
    error, line = "", None
    with virtual_gpu(request["checks"]) as gpu, cuda_in_host_memory(gpu):
        try:
            _execute(path, blobs[0].decode())
        except SystemExit as ended:
            if ended.code not in (None, 0):
                error = f"the script exited with status {ended.code}"
        except BaseException as raised:
            frames = traceback.extract_tb(raised.__traceback__)
            line = next((f.lineno for f in reversed(frames) if f.filename == path), None)
            error = f"{type(raised).__name__}: {raised}"
    runs, ptx = _grouped(gpu.launches)
    return {"kernels": runs, "ptx": ptx, "error": error, "error_line": line}, []


def _execute(path: str, text: str) -> None:
    from types import ModuleType

    module = ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)


def _grouped(launches: Sequence[Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Launches of one kernel with one shape together, in the order of their first."""
    from grader.languages.triton_driver import milliseconds

    groups: dict[tuple[Any, ...], list[Any]] = {}
    for launch in launches:
        groups.setdefault((launch.kernel, launch.grid, launch.block, launch.ptx), []).append(launch)
    runs = []
    for (kernel, grid, block, _), members in list(groups.items())[:MOST_KERNELS]:
        counts: dict[str, float] = {}
        for member in members:
            for name, value in member.metrics.counts.items():
                counts[name] = counts.get(name, 0.0) + value
        runs.append(
            {
                "kernel": kernel,
                "grid": grid,
                "block": block,
                "launches": len(members),
                "ended": members[-1].ended,
                "reason": members[-1].reason,
                "faults": [asdict(fault) for member in members for fault in member.faults][:1000],
                "metrics": {"counts": counts},
                "modelled_milliseconds": sum(milliseconds(m.metrics) for m in members),
                "parameters": [{"name": n, "type": t} for n, t in members[0].parameters],
                "constants": members[0].constants,
                "views": list(dict.fromkeys(view for m in members for view in m.views))[
                    :MOST_VIEWS
                ],
            }
        )
    return runs, [key[3] for key in list(groups)[:MOST_KERNELS]]
