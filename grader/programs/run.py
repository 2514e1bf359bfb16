"""Runs a built program in a sandboxed child and checks what comes back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError

from grader import cache, sandbox
from grader.errors import InternalError, NotGradableError
from grader.languages import Variant
from grader.mangling import function_name
from grader.programs.build import Built, Unit, symbols_of
from grader.programs.symbols import plain
from grader.result import Dim3, Fault, LineMetrics, Record

if TYPE_CHECKING:
    import numpy as np

    from grader.cases import BufferData

_JOB = "grader.programs.server:run_job"
LIMITS = sandbox.Limits(
    wall_seconds=300, cpu_seconds=300, processes=2, memory_bytes=6 << 30, printed_bytes=1 << 20,
    exchanged_bytes=256 << 30,
)  # fmt: skip
"""Every copy goes through a pipe between the program and its device: time bounds those."""


Ended = Literal["exited", "died", "odd", "unsupported", "fuel", "deadlock", "time", "memory"]


class Call(Record):
    """One call of the program to the CUDA runtime, as the device saw it."""

    api: str = Field(description="its name; `<<<>>>` for a launch")
    file: str = ""
    line: int = 0
    status: int = Field(default=0, description="CUDA's error code")
    bytes: int | None = None
    kind: str | None = Field(default=None, description="direction of a copy")
    buffer: str | None = Field(default=None, description="what the program calls the allocation")
    address: int | None = None
    launches: int | None = None
    kernel: str | None = None
    grid: Dim3 | None = None
    block: Dim3 | None = None
    shared: int | None = None
    buffers: tuple[str, ...] = Field(default=(), description="allocations a launch was given")
    outputs: tuple[str, ...] = Field(default=(), description="those that the launch wrote")
    threads: int | None = None
    largest_elements: int | None = Field(
        default=None, description="elements of the largest allocation the launch wrote"
    )


class Answer(Record):
    """What the run child says."""

    ended: Ended
    code: int
    host_seconds: float
    faults: tuple[Fault, ...] = Field(max_length=1000)
    trace: tuple[Call, ...] = Field(max_length=5000)
    launches: dict[str, int]
    counts: dict[str, float]
    lines: tuple[LineMetrics, ...] = Field(max_length=5000)
    modelled_ns: float = Field(ge=0, allow_inf_nan=False)
    kernel_ns: float = Field(ge=0, allow_inf_nan=False)
    stopped: str
    stopped_reason: str
    files: tuple[str, ...]
    fresh: tuple[str, ...]
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A run: how it ended, what it printed and wrote, what the device saw.

    `outputs` and `written` are the arrays the device was given, after a run of `solve`.
    """

    answer: Answer
    stdout: str
    stderr: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    outputs: Mapping[str, np.ndarray] = field(default_factory=dict)
    written: Mapping[str, np.ndarray] = field(default_factory=dict)


def run(
    built: Built,
    *,
    arguments: Sequence[str] = (),
    stdin: bytes = b"",
    files: Mapping[str, bytes] | None = None,
    outputs: Sequence[str] = (),
    given: Sequence[BufferData] = (),
    limits: sandbox.Limits = LIMITS,
) -> Outcome:
    """Run the program once. Raises NotGradableError where no child can be started."""
    copies = dict(files or {})
    request = {
        "units": [_device_half(unit) for unit in built.units],
        "linked": built.linked,
        "texts": dict(built.texts),
        "arguments": list(arguments),
        "files": list(copies),
        "outputs": list(outputs),
        "program": str(built.executable),
        "name": f"./{built.name}",
        "given": [
            {
                "name": b.name,
                "role": b.role,
                "defined": b.initial is not None,
                "bytes": math.prod(b.shape) * _item_bytes(b),
                "item": _item_bytes(b),
            }
            for b in given
        ],
    }
    contents = [b.initial.tobytes() for b in given if b.initial is not None]
    ptx = [variant.ptx.encode() for unit in built.units for variant in _variants(unit)]
    blobs = [*ptx, stdin, *contents, *copies.values()]
    reply = _call(request, blobs, limits, built)
    if reply.exit.cause == "refused":
        raise NotGradableError(f"no sandboxed process could be started: {reply.exit.detail}")
    if reply.header is None:
        return _stopped(reply, limits)
    try:
        answer = Answer.model_validate(reply.header)
    except ValidationError as error:
        raise InternalError(f"a run child sent a malformed answer: {error}") from None
    said = list(reply.blobs)
    if len(said) != 2 + len(answer.files) + 2 * len(answer.outputs) + len(answer.fresh):
        raise InternalError("a run child sent other files than it named")
    arrays = said[2 + len(answer.files) :]
    _keep(built, answer.fresh, arrays[2 * len(answer.outputs) :])
    values, written = _arrays(given, answer.outputs, arrays)
    return Outcome(
        answer=answer,
        stdout=said[0].decode(errors="replace"),
        stderr=said[1].decode(errors="replace"),
        files=dict(zip(answer.files, said[2:], strict=False)),
        outputs=values,
        written=written,
    )


def _variants(unit: Unit) -> tuple[Variant, ...]:
    """The optimised build, and the unoptimised one where there is one."""
    return unit.artefact.variants[:2] if unit.artefact else ()


def _device_half(unit: Unit) -> dict[str, Any]:
    """What the child must know of a CUDA file besides its PTX."""
    return {
        "variants": [
            {
                "symbols": s,
                "registers": dict(v.registers),
                "shared_bytes": dict(v.shared_bytes),
            }
            for v, s in zip(_variants(unit), symbols_of(unit), strict=False)
        ],
        "kernels": {symbol: function_name(plain(symbol)) for symbol in unit.kernels},
    }


def _item_bytes(b: BufferData) -> int:
    import numpy as np

    return np.dtype(b.dtype).itemsize


def _arrays(
    given: Sequence[BufferData], names: Sequence[str], pieces: Sequence[bytes]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The output arrays of a `solve`, and which elements a kernel wrote. Raises InternalError."""
    wanted = [b for b in given if b.role in ("output", "inout")]
    if list(names) != [b.name for b in wanted]:
        raise InternalError("a run child sent other outputs than were asked for")
    if not wanted:
        return {}, {}
    import numpy as np

    values: dict[str, np.ndarray] = {}
    written: dict[str, np.ndarray] = {}
    for b, data, bits in zip(wanted, pieces[::2], pieces[1::2], strict=False):
        dtype, count = np.dtype(b.dtype), int(np.prod(b.shape))
        size = count * dtype.itemsize
        if len(data) != size or len(bits) != (size + 7) // 8:
            raise InternalError(f"a run child sent {b.name} with another size")
        values[b.name] = np.frombuffer(data, dtype).reshape(b.shape)
        marks = np.unpackbits(np.frombuffer(bits, np.uint8), count=size).astype(bool)
        whole = np.all(marks.reshape(count, dtype.itemsize), axis=1)
        written[b.name] = np.asarray(whole).reshape(b.shape)
    return values, written


def _call(
    request: dict[str, Any], blobs: list[bytes], limits: sandbox.Limits, built: Built
) -> sandbox.Reply:
    native_code = cache.root() / cache.NATIVE
    native_code.mkdir(parents=True, exist_ok=True)
    request = request | {"cache": str(cache.root())}

    def ask() -> sandbox.Reply:
        return sandbox.call(
            _JOB, request, blobs, limits=limits, read=[native_code, built.executable]
        )

    reply = ask()
    if reply.header is not None and reply.header.get("needs") == "runtime":
        from grader.vgpu import native

        native.runtime_objects()
        reply = ask()
    return reply


def _keep(built: Built, keys: Sequence[str], objects: Sequence[bytes]) -> None:
    """Keep the native code a child made, under the keys of the PTX it was given and no others."""
    if not keys:
        return
    from grader.vgpu import native

    allowed = {
        native.key(digest, entry, shadow)
        for digest, entries in _modules(built)
        for entry in entries
        for shadow in (False, True)
    }
    for name, data in zip(keys, objects, strict=False):
        if name in allowed:
            cache.write(cache.NATIVE, name, data)


def _modules(built: Built) -> Iterator[tuple[str, list[str]]]:
    """The digest of each module that the child makes of the PTX, and the kernels it may have.

    A kernel of a linked module that is its file's own may have been renamed.
    """
    from grader.vgpu import link, native

    if not built.linked:
        for unit in built.units:
            for variant in unit.artefact.variants if unit.artefact else ():
                yield native.digest(variant.ptx), list(variant.entries.values())
        return
    for variants in linked_variants(built):
        names = [
            name
            for k, variant in enumerate(variants)
            for entry in variant.entries.values()
            for name in (entry, link.renamed(entry, k))
        ]
        yield native.digest_of_linked([variant.ptx for variant in variants]), names


def linked_variants(built: Built) -> list[tuple[Variant, ...]]:
    """The variants that make one module: the optimised ones of all files, and the others where
    every file has one."""
    each = [_variants(unit) for unit in built.units if unit.artefact]
    return list(zip(*each, strict=False))


def _stopped(reply: sandbox.Reply, limits: sandbox.Limits) -> Outcome:
    """The outcome of a run that was ended from outside."""
    cause = reply.exit.cause
    if cause == "exited":
        raise InternalError(f"a program's run ended without an answer: {reply.error}")
    ended: Ended = "odd"  # it killed its own device, or printed or started more than it may
    reason = f"it was stopped: {reply.exit.detail or cause}"
    if cause in ("wall_timeout", "cpu_limit"):
        ended, reason = "time", f"it was stopped after {limits.wall_seconds:.0f} s"
    elif cause == "memory":
        ended = "memory"
    answer = Answer(
        ended=ended, code=-1, host_seconds=reply.exit.wall_seconds, faults=(), trace=(),
        launches={}, counts={}, lines=(), modelled_ns=0, kernel_ns=0, stopped=ended,
        stopped_reason=reason, files=(), fresh=(),
    )  # fmt: skip
    return Outcome(answer=answer, stdout=reply.exit.output, stderr="")
