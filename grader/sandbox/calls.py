"""`call` and `run`: one of our functions, or a program, in a child that can reach nothing."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.sandbox.channel import Kind, encode
from grader.sandbox.confine import Confinement
from grader.sandbox.layers import available
from grader.sandbox.paths import WRITABLE_DEVICES, toolkit
from grader.sandbox.records import Exit, Limits, Reply
from grader.sandbox.start import converse, environment, scratch_directory
from grader.sandbox.supervise import Heard
from grader.sandbox.warm import Warm, WarmUnavailable

WRAPPERS = ("bubblewrap", "seatbelt")
DEFAULT_LIMITS = Limits()
Paths = Sequence[str | Path]


def call(
    job: str,
    request: dict[str, Any],
    blobs: Sequence[bytes] = (),
    *,
    limits: Limits = DEFAULT_LIMITS,
    read: Paths = (),
    write: Paths = (),
    devices: Paths = (),
    warm: Warm | None = None,
) -> Reply:
    """Run `job` ("package.module:function") in a sandboxed child and return what it replied.

    The function takes `(request: dict, blobs: list[bytes])` and returns the same pair; a generator
    function yields such pairs early (`Reply.frames`) and returns the last. `read` and `write` are
    what it may open besides Python, its packages and the system's libraries. Its working directory
    is private, empty, and gone afterwards. With `limits.processes` 0 it can start no program.
    `warm` forks the child from a process that has imported already; inside `warmed` that is so
    wherever that process can serve the call. `devices` are the nodes of a GPU that it needs; such a
    child is always a fresh process, which no driver has been loaded into.
    """
    if warm is None and not devices:
        warm = _warm_for(read, write)
    with scratch_directory(warm.folder if warm else None) as scratch:
        layers = available() if warm is None else warm.layers
        if warm:  # the wrapper, where there is one, is around the warm process
            layers = tuple(name for name in layers if name not in WRAPPERS)
        starting = limits.processes > 0
        confinement = _confinement(limits, scratch, read, write, layers, starting=starting)
        confinement = replace(confinement, devices=tuple(str(Path(p).resolve()) for p in devices))
        order = {**confinement.to_order(), "job": job}
        pieces = [*encode(Kind.REQUEST, order), *encode(Kind.REQUEST, request, blobs)]
        exit_, heard = converse(pieces, confinement, warm.fork if warm else None)
    return _reply(exit_, heard)


_standing: list[Future[Warm]] = []


def _warm_for(read: Paths, write: Paths) -> Warm | None:
    """The warm process of the block that this call stands in, where it can serve the call."""
    if not _standing:
        return None
    try:
        warm = _standing[-1].result()  # one that is on its way is ready before a fresh one would be
    except WarmUnavailable:
        return None
    return warm if warm.serves(read, write) else None


@contextlib.contextmanager
def warmed(preload: Sequence[str], *, read: Paths = ()) -> Iterator[None]:
    """Until the end of the block, every `call` of this process is forked from one warm process.

    It starts beside whatever the block does first; where it cannot start, each child starts by
    itself. `preload` are modules to import once, `read` what calls may need to read besides the
    toolkit.
    """
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(1) as beside:
        started = beside.submit(lambda: stack.enter_context(Warm(preload, read=read)))
        _standing.append(started)
        try:
            yield
        finally:
            _standing.remove(started)


def run(
    argv: Sequence[str | Path],
    *,
    read: Paths = (),
    write: Paths = (),
    limits: Limits = DEFAULT_LIMITS,
    extra_environment: Mapping[str, str] | None = None,
) -> Exit:
    """Run the program `argv[0]` (an absolute path) with no standard input.

    It may read the program itself, `read`, and what `call` says; it may write below `write` and in
    its private working directory. Relative paths in `argv` are taken from that directory.
    """
    words = [str(word) for word in argv]
    with scratch_directory() as scratch:
        reads = [words[0], *read]
        confinement = _confinement(limits, scratch, reads, write, available(), starting=True)
        order = {
            **confinement.to_order(),
            "program": os.path.realpath(words[0]),
            "argv": words,
            "environment": environment(scratch, extra_environment),
        }
        exit_, _ = converse(encode(Kind.REQUEST, order), confinement)
    return exit_


def _confinement(
    limits: Limits,
    scratch: Path,
    read: Paths,
    write: Paths,
    layers: tuple[str, ...],
    *,
    starting: bool,
) -> Confinement:
    return Confinement(
        limits=limits,
        scratch=str(scratch),
        read=(*toolkit(), *(str(Path(path).resolve()) for path in read)),
        write=(*WRITABLE_DEVICES, str(scratch), *(str(Path(path).resolve()) for path in write)),
        layers=layers,
        starting=starting,
    )


def _reply(exit_: Exit, heard: Heard) -> Reply:
    frames = tuple(heard.frames)
    if heard.last is None:
        return Reply(exit_, None, frames=frames, error=exit_.detail)
    kind, frame = heard.last
    if kind is Kind.LAST and exit_.cause == "exited":
        return Reply(exit_, frame.header, frame.blobs, frames)
    return Reply(exit_, None, frames=frames, error=str(frame.header.get("error", exit_.detail)))
