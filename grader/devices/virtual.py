"""The virtual GPU as a device: cases of an artefact run in sandboxed children.

`plan` turns an artefact and a case into `Work`, `run` spreads works over child processes and
checks what comes back, `run_job` is what a child does. A child gets PTX and the inputs of its
cases; what is expected of the outputs stays in the parent.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from grader import sandbox
from grader.cases import Inputs, ReadyLaunch
from grader.errors import InternalError, NotGradableError
from grader.languages import Artefact, Contract, Variant
from grader.result import Fault, LineMetrics, Metrics, Record

NAME = "virtual"

PRINTED_CHARACTERS = 1 << 16
"""Of what a kernel prints, this much is kept of a case."""

SHARE_LIMITS = sandbox.Limits(wall_seconds=300.0, cpu_seconds=300.0)
"""The net under the instruction budget, which ends every loop long before."""


def missing() -> str | None:
    """Why nothing can run on the virtual GPU here, or None after a kernel really ran in a child."""
    reply = sandbox.call("grader.devices.virtual:probe_job", {})
    if reply.header == {"sum": 3}:
        return None
    return reply.error or reply.exit.detail or f"the probe ended with {reply.exit.cause}"


class Argument(Record):
    """One kernel argument of a launch: a buffer by name, a scalar as bytes, or a null pointer."""

    buffer: str | None = None
    dtype: str | None = None
    data: str | None = None


class Launched(Record):
    """One launch of a work: which PTX, which entry, and with what."""

    ptx: str
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Work:
    """One case on one build: what a run child does in one go.

    `variant` is the name of the build; `values` says whether its outputs are wanted, since of a
    build for checking only the faults count. `fuel` bounds the warp instructions of each launch.
    """

    case: str
    variant: str
    values: bool
    inputs: Inputs
    launches: tuple[Launched, ...]
    checks: Literal["all", "bounds"]
    fuel: int
    order: Literal["forward", "reversed"] = "forward"

    @property
    def elements(self) -> int:
        """How many elements its buffers hold: what its run time goes with."""
        return sum(int(np.prod(buffer.shape)) for buffer in self.inputs.buffers)


Ended = Literal["finished", "trap", "assertion", "fuel", "deadlock", "unsupported", "refused"]


class _Answer(Record):
    """What a child says of one work; the outputs and written bits are blobs beside it.

    `ended` is the engine's word, or `refused` for a launch that CUDA would refuse.
    """

    work: int
    ended: Ended
    reason: str
    faults: tuple[Fault, ...] = Field(max_length=1000)
    counts: dict[str, float]
    lines: tuple[LineMetrics, ...] = Field(max_length=20_000)
    printed: str = Field(max_length=PRINTED_CHARACTERS)
    outputs: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """How one work ended. `outputs` and `written` are empty unless the work wanted values."""

    ended: Ended | Literal["time"]
    reason: str = ""
    faults: tuple[Fault, ...] = ()
    metrics: Metrics | None = None
    printed: str = ""
    outputs: Mapping[str, np.ndarray] = field(default_factory=dict)
    written: Mapping[str, np.ndarray] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def instructions(self) -> int:
        """Warp instructions executed: what fuel is measured in."""
        return int(self.metrics.counts.get("warp_instructions", 0)) if self.metrics else 0


def plan(
    artefact: Artefact,
    contracts: Sequence[Contract],
    name: str,
    inputs: Inputs,
    launches: Sequence[ReadyLaunch],
    *,
    checks: Literal["all", "bounds"],
    fuel: int,
    order: Literal["forward", "reversed"] = "forward",
) -> Work:
    """The work of running one case on the variants called `name`.

    Raises NotGradableError where the artefact has no variant for a launch of the case.
    """
    parameters = {contract.kernel: contract.parameters for contract in contracts}
    ready = []
    optimised = True
    for launch in launches:
        names = [parameter.name for parameter in parameters[launch.kernel]]
        named = dict(zip(names, launch.arguments, strict=False))
        call = {
            parameter: _scalar(inputs, argument.name, argument.value, argument.dtype).item()
            for parameter, argument in named.items()
            if argument.kind != "buffer"
        }
        variant = artefact.select(name, launch.kernel, call)
        if variant is None:
            raise NotGradableError(f"the build {name!r} has no code for {launch.kernel} with {call}")
        optimised = variant.optimised
        ready.append(_launched(variant, launch, names, inputs))
    return Work(inputs.case, name, optimised, inputs, tuple(ready), checks, fuel, order)


def _launched(
    variant: Variant, launch: ReadyLaunch, names: Sequence[str], inputs: Inputs
) -> Launched:
    arguments = {
        name: Argument(buffer=argument.name)
        if argument.kind == "buffer"
        else _bytes(_scalar(inputs, argument.name, argument.value, argument.dtype))
        for name, argument in zip(names, launch.arguments, strict=False)
    }
    own = variant.parameters.get(launch.kernel)
    # A language that owns the block (Triton) also knows what shared memory its code needs.
    owned = variant.block is not None
    return Launched(
        ptx=variant.ptx,
        entry=variant.entries[launch.kernel],
        grid=launch.grid,
        block=launch.block,
        shared_bytes=variant.shared_bytes.get(launch.kernel, 0) if owned else launch.shared_bytes,
        arguments=tuple(arguments.values())
        if own is None
        else tuple(arguments.get(parameter.name, Argument()) for parameter in own),
    )


def _scalar(inputs: Inputs, name: str, value: int | None, dtype: str) -> np.generic:
    return inputs.scalars[name] if value is None else np.dtype(dtype).type(value)


def _bytes(scalar: np.generic) -> Argument:
    return Argument(dtype=scalar.dtype.name, data=scalar.tobytes().hex())


# ---- the parent --------------------------------------------------------------------------------


def run(
    works: Sequence[Work], *, jobs: int = 1, step: Callable[[str], None] = lambda text: None
) -> list[Outcome]:
    """Run works in up to `jobs` children at a time; the outcomes are in the order of the works.

    A child that dies is an error of ours unless a single work used up its time: what it had not
    finished is run again, a work to a child, so that the culprit is known. Raises InternalError
    for that, and for an answer that is not what was asked for; NotGradableError where no child
    can be started.
    """
    shares = _shares(works, jobs)
    outcomes: dict[int, Outcome] = {}
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        for found in pool.map(lambda share: _run_share(works, share), shares):
            outcomes |= found
            step(f"ran {len(outcomes)} of {len(works)} runs")
        left = [[i] for i in range(len(works)) if i not in outcomes]
        for found in pool.map(lambda share: _run_share(works, share, alone=True), left):
            outcomes |= found
    return [outcomes[i] for i in range(len(works))]


def _shares(works: Sequence[Work], jobs: int) -> list[list[int]]:
    """Works divided over children: a case stays together, the longest cases first."""
    cases: dict[str, list[int]] = {}
    for i, work in enumerate(works):
        cases.setdefault(work.case, []).append(i)
    shares: list[list[int]] = [[] for _ in range(max(1, min(jobs, len(cases))))]
    load = [0] * len(shares)
    for members in sorted(cases.values(), key=lambda m: -works[m[0]].elements * len(m)):
        least = load.index(min(load))
        shares[least] += members
        load[least] += 10_000 + works[members[0]].elements * len(members)
    # Small cases first inside a share: a child that dies has then answered the most.
    return [sorted(share, key=lambda i: (works[i].elements, i)) for share in shares if share]


def _run_share(
    works: Sequence[Work], share: Sequence[int], *, alone: bool = False
) -> dict[int, Outcome]:
    request, blobs = _request(works, share)
    reply = sandbox.call("grader.devices.virtual:run_job", request, blobs, limits=SHARE_LIMITS)
    if reply.exit.cause == "refused":
        raise NotGradableError(f"no sandboxed process could be started: {reply.exit.detail}")
    found = dict(
        _outcome(works, share, frame.header, list(frame.blobs)) for frame in reply.frames
    )
    if reply.header is None and alone:
        if reply.exit.cause in ("wall_timeout", "cpu_limit"):
            seconds = SHARE_LIMITS.wall_seconds
            return {share[0]: Outcome("time", f"it was stopped after {seconds:.0f} s")}
        work = works[share[0]]
        raise InternalError(
            f"the run of case {work.case!r} ended without an answer "
            f"({reply.exit.cause}: {reply.error or reply.exit.detail})"
        )
    return found


def _request(works: Sequence[Work], share: Sequence[int]) -> tuple[dict[str, Any], list[bytes]]:
    """The request of a share; equal PTX texts and the inputs of a case are sent once."""
    blobs: list[bytes] = []
    places: dict[tuple[str, str], int] = {}

    def put(key: tuple[str, str], data: bytes) -> int:
        if key not in places:
            places[key] = len(blobs)
            blobs.append(data)
        return places[key]

    asked = []
    for i in share:
        work = works[i]
        asked.append(
            {
                "work": i,
                "values": work.values,
                "checks": work.checks,
                "fuel": work.fuel,
                "order": work.order,
                "buffers": [
                    {
                        "name": b.name,
                        "role": b.role,
                        "dtype": b.dtype,
                        "shape": b.shape,
                        "blob": None
                        if b.initial is None
                        else put((work.case, b.name), b.initial.tobytes()),
                    }
                    for b in work.inputs.buffers
                ],
                "launches": [
                    launch.model_dump()
                    | {"ptx": put(("", _digest(launch.ptx)), launch.ptx.encode())}
                    for launch in work.launches
                ],
            }
        )
    return {"works": asked}, blobs


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _outcome(
    works: Sequence[Work], share: Sequence[int], header: dict[str, Any], blobs: list[bytes]
) -> tuple[int, Outcome]:
    """Check one answer against what was asked. Raises InternalError."""
    try:
        answer = _Answer.model_validate(header)
    except ValidationError as error:
        raise InternalError(f"a run child sent a malformed answer: {error}") from None
    if answer.work not in share:
        raise InternalError("a run child answered a question nobody asked")
    work = works[answer.work]
    wanted = [b for b in work.inputs.buffers if b.role in ("output", "inout")]
    names = [b.name for b in wanted] if work.values and answer.ended != "refused" else []
    if list(answer.outputs) != names or len(blobs) != 2 * len(names):
        raise InternalError("a run child sent other outputs than were asked for")
    outputs, written = {}, {}
    for buffer, data, bits in zip(wanted, blobs[::2], blobs[1::2], strict=False):
        count = int(np.prod(buffer.shape))
        if len(data) != count * np.dtype(buffer.dtype).itemsize or len(bits) != (count + 7) // 8:
            raise InternalError(f"a run child sent {buffer.name} with another size")
        outputs[buffer.name] = np.frombuffer(data, buffer.dtype).reshape(buffer.shape)
        flags = np.unpackbits(np.frombuffer(bits, np.uint8), count=count)
        written[buffer.name] = flags.astype(bool).reshape(buffer.shape)
    return answer.work, Outcome(
        ended=answer.ended,
        reason=answer.reason,
        faults=answer.faults,
        metrics=Metrics(counts=answer.counts, lines=answer.lines),
        printed=answer.printed,
        outputs=outputs,
        written=written,
        seconds=answer.seconds,
    )


# ---- the child ---------------------------------------------------------------------------------


def run_job(
    request: dict[str, Any], blobs: list[bytes]
) -> Iterator[tuple[dict[str, Any], list[bytes]]]:
    """In the child: run every work, and answer each as soon as it ended."""
    from grader.devices import virtual_child

    for work in request["works"]:
        started = time.perf_counter()
        header, outputs = virtual_child.run(work, blobs)
        yield {**header, "work": work["work"], "seconds": time.perf_counter() - started}, outputs
    return {}, []  # noqa: B901  # the last answer of a job is what it returns


def probe_job(request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """In the child: run a kernel of one thread that stores 1 + 2."""
    from grader.devices import virtual_child

    return {"sum": virtual_child.probe()}, []
