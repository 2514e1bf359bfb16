"""`grade run`: one kernel of a file on the virtual GPU, with every check and no assignment.

A memcheck, racecheck, initcheck, synccheck and profiler that needs no card. Nothing is guessed: a
missing argument, a wrong type or a launch that CUDA would refuse is an error before anything runs.
"""

from __future__ import annotations

import difflib
import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from grader import arguments, judge
from grader.arguments import Given
from grader.cases import BufferData, Inputs
from grader.devices import virtual
from grader.errors import UsageError
from grader.file_to_run import headers_beside, read
from grader.languages import Artefact, Variant, cuda_c, metal, metal_advice, signature
from grader.languages.signature import FunctionText, ParameterText
from grader.mangling import function_name
from grader.parameters import meaning
from grader.result import Build, Dim3, Fault, Metrics, Record, Severity
from grader.run import Argument, Ended, Launched, Run, Work

SCHEMA = "grade/run/v1"
FUEL = 400_000_000
"""Warp instructions of a launch before it counts as endless."""

FULL_CHECKS = 1 << 24
"""With more elements in its buffers than this, a run has bounds checks only."""

LARGEST_GRID: Dim3 = (2**31 - 1, 65_535, 65_535)
LARGEST_BLOCK: Dim3 = (1024, 1024, 64)
MOST_THREADS = 1024
"""Limits of compute capability 8.0 (CUDA C++ Programming Guide, technical specifications)."""

_VECTORS = {
    **{f"{base}{n}": (base, n) for base in ("float", "double", "int", "short") for n in (2, 3, 4)},
    **{f"u{base}{n}": (f"unsigned {base}", n)
       for base in ("int", "short", "char") for n in (2, 3, 4)},
    **{f"char{n}": ("signed char", n) for n in (2, 3, 4)},
    **{f"{s}long{n}": (f"{'unsigned ' if s else ''}long", n) for s in ("", "u") for n in (2, 3, 4)},
    "half2": ("half", 2), "__half2": ("half", 2), "__nv_bfloat162": ("__nv_bfloat16", 2),
}  # fmt: skip
_BF16 = ("__nv_bfloat16", "nv_bfloat16")

Step = Callable[[str], None]


class Output(Record):
    """The content of a buffer after the run; NaN and infinities are text."""

    type: str
    values: tuple[float | int | str, ...]


class FileRun(Record):
    """What one launch of one kernel did."""

    schema_: str = Field(default=SCHEMA, alias="schema")
    file: str
    kernel: str
    grid: Dim3
    block: Dim3
    shared_bytes: int
    ended: Ended | Literal["build_failed"]
    reason: str = ""
    checks: Literal["all", "bounds"] = "all"
    faults: tuple[Fault, ...] = ()
    metrics: Metrics | None = None
    registers: int | None = None
    spill_bytes: int | None = None
    outputs: dict[str, Output] = {}
    printed: str = ""
    builds: tuple[Build, ...] = ()
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """0 for a clean run, 3 for what is not supported, 1 for everything else."""
        if self.ended == "unsupported":
            return 3
        errors = any(fault.severity is Severity.ERROR for fault in self.faults)
        return 0 if self.ended == "finished" and not errors else 1


def dimensions(option: str, text: str | None) -> Dim3 | None:
    """`X[,Y[,Z]]` as three numbers, the ones left out 1. Raises UsageError."""
    if text is None:
        return None
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3:
        raise UsageError(f"expected {option} X, X,Y or X,Y,Z in whole numbers, found {text!r}")
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def run(
    path: Path,
    *,
    kernel: str | None,
    grid: Dim3 | None,
    block: Dim3 | None,
    shared_bytes: int,
    specs: Sequence[str],
    optimised_only: bool = False,
    compiler: str | None = None,
    folders: Sequence[Path] = (),
    defines: Sequence[str] = (),
    step: Step = lambda text: None,
) -> FileRun:
    """Build the file, launch the kernel once with each build and say what happened.

    Raises UsageError for everything that is wrong with the command: the file, the kernel's name,
    the arguments, the launch.
    """
    started = time.perf_counter()
    given = [arguments.parse(spec) for spec in specs]
    if grid is None or block is None:
        lacking = " and ".join(
            name for name, value in (("--grid", grid), ("--block", block)) if value is None
        )
        raise UsageError(
            f"expected {lacking}: how many blocks and how many threads in each",
            "For 1000 elements in blocks of 256: --grid 4 --block 256.",
        )
    words = metal_advice.in_metal if path.suffix in metal.SUFFIXES else str
    _check_launch(grid, block, shared_bytes, words)
    text = read(path)
    headers = headers_beside(path, folders=folders)
    step(f"building {path.name}")
    instances = (kernel,) if kernel and "<" in kernel else ()
    build = partial(cuda_c.build, compiler=compiler, defines=defines)
    if path.suffix in metal.SUFFIXES:
        build = partial(metal.build)
        instances = (kernel,) if kernel else ()  # a library of hundreds takes its time
    builds, artefact = build(text, path.name, (), headers=headers, kernels=instances)
    if artefact is not None and instances and not artefact.variants[0].entries:
        builds, artefact = build(text, path.name, (), headers=headers)
    launched = FileRun(
        file=path.name,
        kernel=kernel or "",
        grid=grid,
        block=block,
        shared_bytes=shared_bytes,
        ended="build_failed",
        builds=builds,
    )
    if artefact is None:
        return _timed(launched, started)
    name, entry = _choose(kernel, artefact.variants[0], text, path.name)
    declared = _declared(name, artefact.variants[0]) or _signature(name, text, len(given))
    buffers, scalars, passed = _bind(given, declared, name)
    variants = [v for v in artefact.variants if v.optimised or not optimised_only]
    inputs = Inputs(case="run", sizes={}, buffers=tuple(buffers), scalars=scalars)
    works = _works(inputs, passed, variants, entry, launched)
    step(f"running {name}")
    runs = virtual.run(works)
    found = _outcome(launched, name, entry, artefact, works, runs, given)
    if any(f.kind == "race" and f.severity is Severity.ERROR for f in found.faults):
        (reverse,) = virtual.run([replace(works[0], order="reversed")])
        reason = words(judge.order_matters(runs[0], reverse))
        found = found.model_copy(update={"reason": reason})
    return _timed(found, started)


def _timed(found: FileRun, started: float) -> FileRun:
    return found.model_copy(update={"seconds": round(time.perf_counter() - started, 3)})


# ---- the kernel --------------------------------------------------------------------------------


def _choose(kernel: str | None, variant: Variant, text: str, file: str) -> tuple[str, str]:
    """The kernel's name and its entry in the PTX; the only one where none is named."""
    if kernel and kernel in variant.entries:
        return kernel, variant.entries[kernel]
    entries = {entry: function_name(entry) for entry in dict.fromkeys(variant.entries.values())}
    names = sorted(set(entries.values()))
    if kernel is None:
        if len(entries) == 1:
            ((entry, name),) = entries.items()
            return name, entry
        raise UsageError(*_which(names, text, file))
    matching = [entry for entry, name in entries.items() if name == kernel]
    if len(matching) == 1:
        return kernel, matching[0]
    if matching:
        raise UsageError(
            f"{kernel} is the name of {len(matching)} kernels in {file}: {', '.join(matching)}",
            "Name one of these symbols after --kernel.",
        )
    templates = [k for k in signature.kernels(text) if k.name == kernel and k.template_parameters]
    if templates:
        listed = ", ".join(templates[0].template_parameters)
        example = re.search(rf"\b{kernel}\s*(<(?!<)[^;{{}}]*>)\s*<<<", text)
        instance = kernel + (example[1] if example else f"<{listed}>")
        raise UsageError(
            f"{kernel} is a template of {listed}: name an instance, such as --kernel '{instance}'"
        )
    message, hint = _which(names, text, file)
    close = difflib.get_close_matches(kernel, names, n=1)
    if close:
        message, hint = f"{file} has no kernel {kernel}", f"Did you mean {close[0]}?"
    raise UsageError(message, hint)


def _which(names: Sequence[str], text: str, file: str) -> tuple[str, str]:
    templates = {k.name for k in signature.kernels(text) if k.template_parameters} - set(names)
    known = [*names, *(f"{name}<…>" for name in sorted(templates))]
    if not known:
        return f"{file} has no kernel", "A kernel is a function marked __global__."
    return f"expected --kernel with one of {', '.join(known)}", ""


def _declared(name: str, variant: Variant) -> FunctionText | None:
    """The kernel as its build describes it (Metal): what the host binds, as pointers and values."""
    if name not in variant.parameters:
        return None
    parameters = []
    for parameter in variant.parameters[name]:
        words = [w for w in parameter.type.split() if w not in ("device", "constant")]
        read_only = parameter.type.startswith("constant ") and parameter.type.endswith("*")
        value = parameter.type.startswith("constant ") and parameter.type.endswith("&")
        kind = " ".join(words)
        kind = kind.removesuffix("&") + ("" if value or not kind.endswith("&") else "*")
        kind = f"const {kind}" if read_only and not kind.startswith("const ") else kind
        parameters.append(ParameterText(name=parameter.name, type=kind, line=0, column=0))
    return FunctionText(name, tuple(parameters), (), kernel=True, device=False, line=0, column=0)


def _signature(name: str, text: str, count: int) -> FunctionText | None:
    """The kernel as the source writes it; None where overloads or macros leave it open."""
    plain = name.split("<", maxsplit=1)[0]
    found = [k for k in signature.kernels(text) if k.name == function_name(plain)]
    if len(found) > 1:
        found = [k for k in found if len(k.parameters) == count]
    return found[0] if len(found) == 1 else None


# ---- the arguments -----------------------------------------------------------------------------


def _bind(
    given: Sequence[Given], kernel: FunctionText | None, name: str
) -> tuple[list[BufferData], dict[str, np.generic], tuple[Argument, ...]]:
    """Buffers, scalars and the kernel's argument list, in the order of its parameters."""
    parameters = kernel.parameters if kernel else (None,) * len(given)
    if kernel and len(parameters) != len(given):
        wanted = ", ".join(f"{p.type} {p.name}".strip() for p in kernel.parameters) or "none"
        raise UsageError(
            f"{name} takes {len(parameters)} arguments ({wanted}), found {len(given)} --arg",
            f"Give one for each parameter, {arguments.EXAMPLES}.",
        )
    buffers: list[BufferData] = []
    scalars: dict[str, np.generic] = {}
    passed: list[Argument] = []
    names = {p.name for p in parameters if p}
    for index, (one, parameter) in enumerate(zip(given, parameters, strict=True)):
        label = one.name or (parameter.name if parameter else "") or f"argument{index + 1}"
        if one.name and parameter and one.name != parameter.name and one.name in names:
            raise UsageError(
                f"--arg {one.spec}: parameter {index + 1} of {name} is {parameter.name}",
                "Give the arguments in the order of the parameters.",
            )
        if parameter:
            _check_type(one, parameter, index + 1, name)
        if one.content == "scalar":
            value = arguments.scalar(one)
            scalars[label] = value
            passed.append(Argument(dtype=one.dtype, data=value.tobytes().hex()))
            continue
        if any(buffer.name == label for buffer in buffers):
            raise UsageError(f"--arg {one.spec}: {label} is the name of two arguments")
        initial = arguments.array(one, seed=index)
        count = one.count if initial is None else initial.size
        read_only = parameter is not None and parameter.type.startswith("const ")
        role: Literal["input", "inout"] = "input" if read_only else "inout"
        buffers.append(BufferData(label, role, one.dtype, (count or 0,), initial))
        passed.append(Argument(buffer=label))
    return buffers, scalars, tuple(passed)


def _check_type(given: Given, parameter: ParameterText, number: int, kernel: str) -> None:
    """Compare with the type that the source writes, as far as that is known here."""
    where = f"--arg {given.spec}: parameter {number} of {kernel} is {parameter.type}"
    wanted_type: str | None
    if parameter.pointer != (given.content != "scalar"):
        wanted = "a buffer such as f32[1000]" if parameter.pointer else "a scalar such as i32=1000"
        found = "a scalar" if parameter.pointer else "a buffer"
        raise UsageError(f"{where}: expected {wanted}, found {found}")
    element, width = _VECTORS.get(parameter.element, (parameter.element, 1))
    if parameter.pointer and parameter.type.count("*") > 1:  # a buffer of addresses
        wanted_type, width = "u64", 1
    elif element in _BF16:
        wanted_type = "bf16"
    else:
        dtype = meaning(element, "cuda-c").dtype
        wanted_type = next((name for name, d in arguments.DTYPES.items() if d == dtype), None)
        wanted_type = "u16" if dtype == "uint16" else wanted_type
    if wanted_type and given.type != wanted_type:
        raise UsageError(f"{where}: expected {wanted_type}, found {given.type}")
    if given.count is not None and given.count % width:
        raise UsageError(
            f"{where}: expected a multiple of {width} elements of {given.type}, found {given.count}"
        )


def _check_launch(grid: Dim3, block: Dim3, shared_bytes: int, words: Callable[[str], str]) -> None:
    """Refuse what cudaLaunchKernel refuses with cudaErrorInvalidConfiguration."""
    for what, sizes, limits in (("grid", grid, LARGEST_GRID), ("block", block, LARGEST_BLOCK)):
        for axis, size, limit in zip("xyz", sizes, limits, strict=True):
            if not 1 <= size <= limit:
                raise UsageError(
                    words(
                        f"CUDA refuses this launch (invalid configuration argument): "
                        f"{what} {axis} is {size}, expected 1 to {limit}"
                    )
                )
    if math.prod(block) > MOST_THREADS:
        raise UsageError(
            words(
                f"CUDA refuses this launch (invalid configuration argument): a block of "
                f"{' × '.join(map(str, block))} = {math.prod(block)} threads, "
                f"expected at most {MOST_THREADS}"
            )
        )
    if shared_bytes < 0:
        raise UsageError(f"expected --shared of at least 0 bytes, found {shared_bytes}")


# ---- the run -----------------------------------------------------------------------------------


def _works(
    inputs: Inputs,
    passed: tuple[Argument, ...],
    variants: Sequence[Variant],
    entry: str,
    launched: FileRun,
) -> list[Work]:
    """One work per build; the first gives values and metrics."""
    elements = sum(math.prod(buffer.shape) for buffer in inputs.buffers)
    return [
        Work(
            case=f"run {variant.name}",
            variant=variant.name,
            values=variant is variants[0],
            inputs=inputs,
            launches=(
                Launched(
                    ptx=variant.ptx,
                    entry=entry,
                    grid=launched.grid,
                    block=launched.block,
                    shared_bytes=launched.shared_bytes,
                    arguments=passed,
                ),
            ),
            checks="all" if elements <= FULL_CHECKS else "bounds",
            fuel=FUEL,
        )
        for variant in variants
    ]


def _worded(faults: tuple[Fault, ...], artefact: Artefact) -> tuple[Fault, ...]:
    """The faults in the words of the language."""
    if artefact.language != metal.NAME:
        return faults
    return tuple(metal_advice.advise(fault) for fault in faults)


def _outcome(
    launched: FileRun,
    name: str,
    entry: str,
    artefact: Artefact,
    works: Sequence[Work],
    runs: Sequence[Run],
    given: Sequence[Given],
) -> FileRun:
    main = runs[0]
    if main.ended == "refused":
        refused = f"CUDA refuses this launch: {main.reason}"
        metals = artefact.language == metal.NAME
        raise UsageError(metal_advice.in_metal(refused) if metals else refused)
    ended = next(
        (r for r in runs if r.ended in judge.FROM_ANY_BUILD and r.ended != main.ended), main
    )
    reason = ended.reason
    if ended.ended == "fuel":
        reason = f"it executed more than {FUEL} warp instructions: an endless loop?"
    passed = works[0].launches[0].arguments
    types = {
        argument.buffer: one.type for argument, one in zip(passed, given, strict=True)
        if argument.buffer
    }  # fmt: skip
    variant = artefact.variants[0]
    return launched.model_copy(
        update={
            "kernel": name,
            "ended": ended.ended,
            "reason": reason,
            "checks": works[0].checks,
            "faults": _worded(judge.merge([run.faults for run in runs], launched.file), artefact),
            "metrics": main.metrics,
            "registers": variant.registers.get(entry),
            "spill_bytes": variant.spill_bytes.get(entry),
            "outputs": {
                label: Output(
                    type=types[label], values=tuple(arguments.numbers(types[label], values))
                )
                for label, values in main.outputs.items()
            },
            "printed": main.printed,
        }
    )
