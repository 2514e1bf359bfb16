"""Real devices from the parent's side: runs and times come back from children and are checked."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grader import cache, sandbox
from grader.devices import DEVICES, device, exchange, timing
from grader.errors import InternalError, NotGradableError
from grader.result import Hardware
from grader.run import Run, Work


class RealDevice(Protocol):
    """The shape of the module of a real device.

    `CHECKS` where its runs check every access, which leaves a kernel less room than it has.
    """

    NAME: str
    TITLE: str
    LANGUAGES: tuple[str, ...]
    CHECKS: bool

    def missing(self) -> str | None:
        """Why it cannot be used here, or None after a probe really ran."""
        ...

    def reach(self) -> tuple[list[Path], list[Path]]:
        """What a child that uses it must be able to open: `read` and `devices` of the sandbox."""
        ...

    def call(self, job: str, request: dict[str, Any], blobs: Sequence[bytes]) -> sandbox.Reply:
        """Call one of its jobs in a child: facts_job, run_job, time_job."""
        ...


REAL = tuple(name for name in DEVICES if name != "virtual")


def chosen(name: str, language: str, option: str = "--device") -> RealDevice | None:
    """The real device for `--device name` and a language, or None: then nothing is measured.

    `auto` takes what is there. Raises NotGradableError where a device that was named is missing or
    does not run the language: there is no silent fall-back. `option` is the one that named it.
    """
    if name == "virtual":
        return None
    if name == "auto":
        modules = (cast(RealDevice, device(real)) for real in REAL)
        fitting = (module for module in modules if language in module.LANGUAGES)
        return next((module for module in fitting if module.missing() is None), None)
    module = cast(RealDevice, device(name))
    if not runs(name, [language]):
        raise NotGradableError(
            f"expected a kernel in {' or '.join(module.LANGUAGES)} for {option} on {name}, "
            f"found one in {language}",
            f"Without {option} the virtual GPU grades it. --language chooses another file.",
        )
    demand(name, option)
    return module


def runs(name: str, languages: Sequence[str]) -> bool:
    """Whether a device runs kernels in all of these languages; `auto` takes one that does."""
    return name not in REAL or set(languages) <= set(cast(RealDevice, device(name)).LANGUAGES)


def demand(name: str, option: str = "--device") -> None:
    """Raise NotGradableError where a real device that was named cannot be used here.

    UsageError for a name that is none.
    """
    module = device(name)
    reason = module.missing() if name in REAL else None
    if reason is not None:
        raise NotGradableError(
            f"the device that was asked for, {name}, cannot be used here: {reason}",
            f"`grade devices` says what can run here; without {option} the virtual GPU grades.",
        )


@functools.cache
def facts(name: str) -> Hardware:
    """What a device is, with the bandwidth of a copy measured here. Raises NotGradableError."""
    reply = cast(RealDevice, device(name)).call("facts_job", {}, [])
    said = (reply.header or {}).get("facts")
    if said is None:
        why = (reply.header or {}).get("missing") or reply.error or reply.exit.detail
        raise NotGradableError(f"{name} stopped answering: {why}")
    try:
        return Hardware.model_validate({**said, "device": name})
    except (TypeError, ValidationError) as error:
        raise InternalError(f"the child of {name} sent malformed facts: {error}") from None


@contextlib.contextmanager
def alone(name: str) -> Iterator[None]:
    """Hold a device for this process: two that measure at a time measure each other."""
    folder = cache.root()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(module: RealDevice, works: Sequence[Work]) -> list[Run]:
    """Run works on a real device; after an error that ends a child the rest has another one.

    What is refused where every access is checked runs once more without. Raises InternalError for a
    child that ends without an answer for no reason of the kernel's.
    """
    found = _run(module, works, range(len(works)), checked=module.CHECKS)
    refused = [number for number, run in found.items() if run.ended == "refused"]
    if module.CHECKS and refused:
        found |= _run(module, works, refused, checked=False)
    return [found[number] for number in range(len(works))]


def _run(
    module: RealDevice, works: Sequence[Work], chosen: Sequence[int], *, checked: bool
) -> dict[int, Run]:
    """The outcomes of some of the works."""
    outcomes: dict[int, Run] = {}
    left = list(chosen)
    while left:
        request, blobs = exchange.request(works, left)
        reply = module.call("run_job", {**request, "checked": checked}, blobs)
        if reply.exit.cause == "refused":
            raise NotGradableError(f"no child could be started: {reply.exit.detail}")
        found = dict(
            exchange.outcome(works, left, frame.header, list(frame.blobs)) for frame in reply.frames
        )
        if not found:
            found = {left[0]: _died(module, works[left[0]], reply)}
        outcomes |= found
        left = [number for number in left if number not in outcomes]
    return outcomes


def _died(module: RealDevice, work: Work, reply: sandbox.Reply) -> Run:
    """What a child that answered nothing says of the work it was on."""
    if reply.exit.cause in ("wall_timeout", "cpu_limit"):
        return Run("time", f"it was stopped after {reply.exit.wall_seconds:.0f} s")
    if reply.exit.cause == "memory":
        return Run("unsupported", "it needs more memory of the host than a child may have")
    why = reply.error or reply.exit.detail
    raise InternalError(
        f"case {work.case!r} on the {module.TITLE} ended without an answer "
        f"({reply.exit.cause}: {why})"
    )


# ---- timing ------------------------------------------------------------------------------------


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Reading(_Strict):
    side: timing.Side
    launches: int = Field(ge=1)
    event: float
    drained: float
    wall: float
    threads: int = Field(ge=0)
    clock_hz: float
    wrong: str = Field(max_length=1000)


class _Measured(_Strict):
    empty: tuple[_Reading, ...]
    yours: tuple[_Reading, ...] = Field(min_length=2, max_length=10_000)
    reference: tuple[_Reading, ...] = Field(min_length=2, max_length=10_000)
    sets: int = Field(ge=1)
    unjudged: int = Field(ge=0)


@dataclass(frozen=True)
class Timed:
    """What a child measured: the readings, and outputs for each set of inputs, to be judged.

    Where the device stopped instead, `stopped` says why.
    """

    readings: timing.Readings | None
    outputs: tuple[tuple[int, Mapping[str, np.ndarray]], ...] = ()
    stopped: str = ""


def measure(
    module: RealDevice,
    yours: Sequence[Work],
    reference: Sequence[Work],
    rules: timing.Rules = timing.RULES,
) -> Timed:
    """Time works beside those of the reference, one of each for a set of inputs.

    Raises InternalError where the child dies or its answer is malformed.
    """
    works = [*yours, *reference]
    request, blobs = exchange.request(works, range(len(works)))
    asked = request["works"]
    reply = module.call(
        "time_job",
        {"yours": asked[: len(yours)], "reference": asked[len(yours) :], "rules": asdict(rules)},
        blobs,
    )
    if reply.header is None or not reply.frames:
        if reply.exit.cause in ("wall_timeout", "cpu_limit"):
            return Timed(None, stopped="it used up its time while it was timed")
        why = reply.error or reply.exit.detail
        raise InternalError(f"timing on the {module.TITLE} ended without an answer: {why}")
    *outputs, last = reply.frames
    if "error" in last.header:
        return Timed(None, stopped=str(last.header["error"])[:1000])
    judged = tuple(_output(yours, frame.header, frame.blobs) for frame in outputs)
    return Timed(readings(last.header), judged)


def readings(header: Mapping[str, Any]) -> timing.Readings:
    """The readings that a child sent. Raises InternalError where they are malformed."""
    try:
        found = _Measured.model_validate(header)
    except ValidationError as error:
        raise InternalError(f"a child sent malformed readings: {error}") from None
    sides = {
        name: tuple(timing.Reading(**reading.model_dump()) for reading in getattr(found, name))
        for name in ("empty", "yours", "reference")
    }
    if len(sides["yours"]) != len(sides["reference"]):
        raise InternalError("a child sent readings that are no pairs")
    return timing.Readings(**sides, sets=found.sets)


def _output(
    works: Sequence[Work], header: Mapping[str, Any], blobs: Sequence[bytes]
) -> tuple[int, dict[str, np.ndarray]]:
    """One set's outputs, checked against what was asked for. Raises InternalError."""
    number = header.get("set")
    if not isinstance(number, int) or not 0 <= number < len(works):
        raise InternalError("a child sent outputs of inputs it was not given")
    wanted = [b for b in works[number].inputs.buffers if b.role in ("output", "inout")]
    if header.get("outputs") != [b.name for b in wanted] or len(blobs) != len(wanted):
        raise InternalError("a child sent other outputs than were asked for")
    arrays = {}
    for buffer, data in zip(wanted, blobs, strict=True):
        dtype = np.dtype(buffer.dtype)
        if len(data) != math.prod(buffer.shape) * dtype.itemsize:
            raise InternalError(f"a child sent {buffer.name} with another size")
        arrays[buffer.name] = np.frombuffer(data, dtype).reshape(buffer.shape)
    return number, arrays
