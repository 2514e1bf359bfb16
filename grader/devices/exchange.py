"""What a run child is asked, and what of its answers is believed.

A child gets code and the inputs of its cases; what is expected of the outputs stays in the parent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field, ValidationError

from grader.errors import InternalError
from grader.result import Fault, LineMetrics, Metrics, Record, Timing
from grader.run import Ended, Run, Work

MODEL = "A100"
"""The GPU whose public figures the modelled time rests on (docs/cost-model.md)."""

PRINTED_CHARACTERS = 1 << 16
"""Of what a kernel prints, this much is kept of a case."""


class Answer(Record):
    """What a child says of one work; the outputs and written bits are blobs beside it."""

    work: int
    ended: Ended
    reason: str
    faults: tuple[Fault, ...] = Field(max_length=1000)
    counts: dict[str, float]
    nanoseconds: float = Field(ge=0, allow_inf_nan=False)
    bound: str = Field(max_length=40)
    parts: dict[str, float]
    roof: tuple[float, float]
    lines: tuple[LineMetrics, ...] = Field(max_length=3000)
    printed: str = Field(max_length=PRINTED_CHARACTERS)
    outputs: tuple[str, ...]
    seconds: float


def request(works: Sequence[Work], share: Sequence[int]) -> tuple[dict[str, Any], list[bytes]]:
    """The request of a share; equal PTX texts and the inputs of a case are sent once."""
    blobs: list[bytes] = []
    places: dict[tuple[str, str, int], int] = {}

    def put(key: tuple[str, str, int], data: bytes) -> int:
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
                "case": work.case,
                "large": work.large,
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
                        else put((work.case, b.name, id(b.initial)), b.initial.tobytes()),
                    }
                    for b in work.inputs.buffers
                ],
                "launches": [
                    launch.model_dump()
                    | {"ptx": put(("", digest(launch.ptx), 0), launch.ptx.encode())}
                    for launch in work.launches
                ],
            }
        )
    return {"works": asked, "printed_characters": PRINTED_CHARACTERS}, blobs


def digest(text: str) -> str:
    """What tells one code from another."""
    return hashlib.sha256(text.encode()).hexdigest()


def outcome(
    works: Sequence[Work], share: Sequence[int], header: dict[str, Any], blobs: list[bytes]
) -> tuple[int, Run]:
    """Check one answer against what was asked. Raises InternalError."""
    try:
        answer = Answer.model_validate(header)
    except ValidationError as error:
        raise InternalError(f"a run child sent a malformed answer: {error}") from None
    if answer.work not in share:
        raise InternalError("a run child answered a question nobody asked")
    work = works[answer.work]
    wanted = [b for b in work.inputs.buffers if b.role in ("output", "inout")]
    names = [b.name for b in wanted] if work.values and answer.ended == "finished" else []
    if answer.ended == "unsupported" and not answer.outputs:
        names = []  # nothing ran: the PTX could not be read
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
    return answer.work, Run(
        ended=answer.ended,
        reason=answer.reason,
        faults=answer.faults,
        metrics=Metrics(counts=answer.counts, lines=answer.lines),
        timing=_timing(answer),
        printed=answer.printed,
        outputs=outputs,
        written=written,
        seconds=answer.seconds,
    )


def _timing(answer: Answer) -> Timing | None:
    """The modelled time of a work; None where nothing was launched."""
    if not answer.nanoseconds:
        return None
    return Timing(
        source="modelled",
        device=MODEL,
        nanoseconds=answer.nanoseconds,
        bound=answer.bound,
        detail=answer.parts,
        dram_bytes_per_second=answer.roof[0],
        flops_per_second=answer.roof[1],
    )
