"""What the children that compile CUDA C and Metal answer: asked for once, checked, kept.

The PTX of each variant travels beside the answer, which is JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from grader import cache
from grader.errors import InternalError, NotGradableError
from grader.languages import Artefact, bounded
from grader.result import Build, Record
from grader.sandbox.records import Limits

if TYPE_CHECKING:
    from grader import sandbox

LIMITS = Limits(wall_seconds=300, cpu_seconds=60)
"""What a compiler may do is bounded by its CPU time; how long that takes is up to the machine."""


class Reply(Record):
    """What the child answers."""

    builds: tuple[Build, ...]
    artefact: Artefact | None
    not_gradable: str = ""


Heard = tuple[Reply, bool]
"""An answer, and whether the child gave it: one that a limit ended may do better next time."""


def answer(reply: Reply, file_name: str) -> tuple[dict[str, Any], list[bytes]]:
    """In the child: the answer as it travels, without an artefact of too much PTX."""
    builds, artefact = bounded(reply.builds, reply.artefact, file_name)
    header = reply.model_copy(update={"builds": builds, "artefact": artefact}).model_dump(
        mode="json"
    )
    return header, [variant.pop("ptx").encode() for variant in _variants(header)]


def stopped(what: str, reply: sandbox.Reply, limits: Limits) -> str | None:
    """What to tell the author of a source on which the compiler was ended, or ended itself.

    None where the child answered. Raises NotGradableError where no child could be started,
    InternalError where the machine took the time, or a child ended without an answer.
    """
    ended = reply.exit
    if ended.cause == "refused":
        raise NotGradableError(f"no sandboxed process could be started: {ended.detail}")
    if ended.cause == "exited" and reply.header is None:
        raise InternalError(f"{what} failed: {reply.error}")
    if ended.cause == "wall_timeout":  # a source that keeps a compiler busy meets the other limit
        raise InternalError(ended.too_busy(what))
    if reply.header is not None:
        return None
    return {
        "cpu_limit": f"compiling took more than {limits.cpu_seconds:.0f} s of CPU time",
        "memory": "compiling took more memory than a build may have",
        "output_cap": "the compiler wrote more than a build may write",
    }.get(ended.cause, f"the compiler ended on this file ({ended.detail or ended.cause})")


def heard(what: str, reply: sandbox.Reply, limits: Limits, died: Callable[[str], Build]) -> Heard:
    """In the parent: what the child answered; `died` makes the build of one that was ended.

    Raises what `stopped` does, and InternalError for what no child of ours sends.
    """
    if (why := stopped(what, reply, limits)) is not None:
        return Reply(builds=(died(why),), artefact=None), False
    try:
        header = reply.header or {}
        for variant, ptx in zip(_variants(header), reply.blobs, strict=True):
            variant["ptx"] = ptx.decode()
        return Reply.model_validate(header), True
    except (ValidationError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InternalError(f"{what} sent a malformed reply: {error}") from None


def kept(
    folder: str, name: str, ask: Callable[[], Heard]
) -> tuple[tuple[Build, ...], Artefact | None]:
    """The builds and the artefact that the cache's `folder` has under `name`, or else `ask()`'s.

    Raises NotGradableError where that is the answer, and what `ask` raises.
    """
    data = cache.read(folder, name)
    reply = _remembered(data) if data else None
    if reply is None:
        reply, ended_well = ask()
        if ended_well:
            cache.write(folder, name, reply.model_dump_json().encode())
    if reply.not_gradable:
        raise NotGradableError(reply.not_gradable)
    return reply.builds, reply.artefact


def _variants(header: dict[str, Any]) -> list[dict[str, Any]]:
    return list((header["artefact"] or {}).get("variants", ()))


def _remembered(data: bytes) -> Reply | None:
    try:
        return Reply.model_validate_json(data)
    except ValidationError:
        return None
