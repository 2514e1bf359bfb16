"""The virtual GPU as a device: cases of an artefact run in sandboxed children.

`run` spreads works over child processes; `exchange.py` words the questions and checks the answers,
`virtual_child.py` is what a child does.
A child gets PTX and the inputs of its cases; what is expected of the outputs stays in the parent.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from grader import cache, sandbox
from grader.devices import exchange
from grader.errors import InternalError, NotGradableError
from grader.run import Run, Work
from grader.sandbox import channel

NAME = "virtual"

NATIVE = cache.NATIVE
"""The part of the cache that holds native code; the engine reads it under this name."""

SHARE_LIMITS = sandbox.Limits(wall_seconds=1500.0, cpu_seconds=300.0)
"""The net under the instruction budget, which ends every loop long before. A kernel cannot sleep:
its CPU time is bounded, and how long that takes is up to the machine."""


MOST_WORKS = channel.MAX_FRAMES - 1
"""Of one child, which sends a frame for each and one more. Thirty autotune configurations on a
dozen cases are more than that."""


def missing() -> str | None:
    """Why nothing can run on the virtual GPU here, or None after a kernel really ran in a child."""
    try:
        reply = _call("grader.devices.virtual_child:probe_job", {}, [])
    except RuntimeError as error:
        return str(error)
    if reply.header is not None and reply.header.get("sum") == 3:
        return None
    return reply.error or reply.exit.detail or f"the probe ended with {reply.exit.cause}"


def run(
    works: Sequence[Work], *, jobs: int = 1, step: Callable[[str], None] = lambda text: None
) -> list[Run]:
    """Run works in up to `jobs` children at a time; the outcomes are in the order of the works.

    A child that dies is an error of ours unless a single work used up its time: what it had not
    finished is run again, a work to a child, so that the culprit is known; after one that used up
    its time no other is. Raises InternalError for that, and for an answer that is not what was
    asked for; NotGradableError where no child can be started.
    """
    shares = _shares(works, jobs)
    outcomes: dict[int, Run] = {}
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        for found in pool.map(lambda share: _run_share(works, share), shares):
            outcomes |= found
            step(f"ran {len(outcomes)} of {len(works)} runs")
    late, end = False, time.monotonic() + SHARE_LIMITS.cpu_seconds
    for i in sorted(set(range(len(works))) - set(outcomes), key=lambda i: works[i].elements):
        # Whoever took all the time there is would take it again for every larger case.
        outcomes |= {i: Run("skipped")} if late else _run_share(works, [i], alone=True)
        late = late or outcomes[i].ended == "time" or time.monotonic() > end
    if any(outcomes[i].ended == "fuel" and not work.large for i, work in enumerate(works)):
        # Whether a large one was started before is a matter of how many children there were.
        outcomes |= {i: Run("skipped") for i, work in enumerate(works) if work.large}
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
    ordered = [sorted(share, key=lambda i: (works[i].elements, i)) for share in shares if share]
    return [
        share[at : at + MOST_WORKS] for share in ordered for at in range(0, len(share), MOST_WORKS)
    ]


def _run_share(
    works: Sequence[Work], share: Sequence[int], *, alone: bool = False
) -> dict[int, Run]:
    request, blobs = exchange.request(works, share)
    reply = _call("grader.devices.virtual_child:run_job", request, blobs)
    if reply.exit.cause == "refused":
        raise NotGradableError(f"no sandboxed process could be started: {reply.exit.detail}")
    found = dict(
        exchange.outcome(works, share, frame.header, list(frame.blobs)) for frame in reply.frames
    )
    if reply.header is not None:
        _keep(works, share, reply.header.get("fresh"), reply.blobs)
    if reply.header is None and alone:
        if reply.exit.cause == "cpu_limit":
            seconds = SHARE_LIMITS.cpu_seconds
            return {share[0]: Run("time", f"it was stopped after {seconds:.0f} s")}
        if reply.exit.cause == "wall_timeout":
            raise InternalError(reply.exit.too_busy("a run"))
        if reply.exit.cause == "memory":
            most = SHARE_LIMITS.memory_bytes >> 30
            return {share[0]: Run("unsupported", f"it needs more than {most} GiB of memory")}
        work = works[share[0]]
        raise InternalError(
            f"the run of case {work.case!r} ended without an answer "
            f"({reply.exit.cause}: {reply.error or reply.exit.detail})"
        )
    return found


_compiling = threading.Lock()


def _call(job: str, request: dict[str, Any], blobs: list[bytes]) -> sandbox.Reply:
    """Call a job that uses the engine; its compiled runtime is made here where the cache lacks it.

    A child may read the cache of native code and cannot write it, nor start a compiler.
    """
    native_code = cache.root() / NATIVE
    native_code.mkdir(parents=True, exist_ok=True)
    request = request | {"cache": str(cache.root())}

    def ask() -> sandbox.Reply:
        return sandbox.call(job, request, blobs, limits=SHARE_LIMITS, read=[native_code])

    reply = ask()
    if reply.header is not None and reply.header.get("needs") == "runtime":
        from grader.vgpu import native

        with _compiling:
            native.runtime_objects()
        reply = ask()
    return reply


def _keep(works: Sequence[Work], share: Sequence[int], keys: Any, blobs: Sequence[bytes]) -> None:
    """Keep the native code a child made, under the keys of the PTX it was given and no others."""
    if not keys:
        return
    from grader.vgpu import native

    texts = {launch.ptx for i in share for launch in works[i].launches}
    digests = {text: native.digest(text) for text in texts}
    allowed = {
        native.key(digests[launch.ptx], launch.entry, shadow)
        for i in share
        for launch in works[i].launches
        for shadow in (False, True)
    }
    for name, data in zip(keys, blobs, strict=False):
        if name in allowed:
            cache.write(NATIVE, name, data)
