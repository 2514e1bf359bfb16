"""Runs what a student wrote, and what handles it, where it can reach and keep nothing.

::

    records.py    Limits, Exit, Reply
    channel.py    bounded frames over a pipe
    start.py      a fresh interpreter: environment, private directory   (parent)
    supervise.py  feeds it, measures it, ends it                         (parent)
    usage.py      resident memory, processes and disk of a group         (parent)
    child.py      reads its order, confines itself, does it              (child)
    confine.py    the layers a child puts on itself                      (child)

`call` runs one of our functions over student input; `run` runs a program.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.sandbox.channel import Kind, encode
from grader.sandbox.confine import Confinement
from grader.sandbox.records import Exit, Frame, Limits, Reply
from grader.sandbox.start import environment, interpreter, scratch_directory, start
from grader.sandbox.supervise import Heard, Pipes, watch

DEFAULT_LIMITS = Limits()

__all__ = ["Exit", "Frame", "Limits", "Reply", "call", "run"]


def call(
    job: str,
    request: dict[str, Any],
    blobs: Sequence[bytes] = (),
    *,
    limits: Limits = DEFAULT_LIMITS,
    read: Sequence[str | Path] = (),
) -> Reply:
    """Run `job` ("package.module:function") in a sandboxed child and return what it replied.

    The function takes `(request: dict, blobs: list[bytes])` and returns the same pair; a generator
    function yields such pairs early (`Reply.frames`) and returns the last. `read` are files and
    folders it may read besides Python and the system's libraries; its working directory is
    private, empty, the only place it may write, and gone afterwards.
    """
    with scratch_directory() as scratch:
        confinement = _confinement(limits, scratch, read)
        order = {**confinement.to_order(), "job": job}
        pieces = [*encode(Kind.REQUEST, order), *encode(Kind.REQUEST, request, blobs)]
        exit_, heard = _converse(pieces, confinement, scratch)
    return _reply(exit_, heard)


def run(
    argv: Sequence[str | Path],
    *,
    read: Sequence[str | Path] = (),
    write: Sequence[str | Path] = (),
    limits: Limits = DEFAULT_LIMITS,
    extra_environment: Mapping[str, str] | None = None,
) -> Exit:
    """Run the program `argv[0]` (an absolute path) sandboxed; it may write below `write` only."""
    with scratch_directory() as scratch:
        confinement = _confinement(limits, scratch, read, write)
        order = {
            **confinement.to_order(),
            "argv": [str(word) for word in argv],
            "environment": environment(scratch, extra_environment),
        }
        exit_, _ = _converse(encode(Kind.REQUEST, order), confinement, scratch)
    return exit_


def _confinement(
    limits: Limits,
    scratch: Path,
    read: Sequence[str | Path],
    write: Sequence[str | Path] = (),
) -> Confinement:
    return Confinement(
        limits=limits,
        scratch=str(scratch),
        read=tuple(str(Path(path).resolve()) for path in read),
        write=(str(scratch), *(str(Path(path).resolve()) for path in write)),
    )


def _converse(
    pieces: Sequence[bytes], confinement: Confinement, scratch: Path
) -> tuple[Exit, Heard]:
    request_in, request_out = os.pipe()
    reply_in, reply_out = os.pipe()
    output_in, output_out = os.pipe()
    theirs = (request_in, reply_out, output_out)
    try:
        argv = interpreter("grader.sandbox.child", str(request_in), str(reply_out))
        child = start(argv, scratch, (request_in, reply_out), output_out)
    except BaseException:
        for fd in (request_out, reply_in, output_in):
            os.close(fd)
        raise
    finally:
        for fd in theirs:
            os.close(fd)
    pipes = Pipes(request_out, reply_in, output_in)
    return watch(child, pieces, pipes, limits=confinement.limits, scratch=scratch)


def _reply(exit_: Exit, heard: Heard) -> Reply:
    frames = tuple(heard.frames)
    if heard.last is None:
        return Reply(exit_, None, frames=frames, error=exit_.detail)
    kind, frame = heard.last
    if kind is Kind.LAST and exit_.cause == "exited":
        return Reply(exit_, frame.header, frame.blobs, frames)
    return Reply(exit_, None, frames=frames, error=str(frame.header.get("error", exit_.detail)))
