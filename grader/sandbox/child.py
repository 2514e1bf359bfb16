"""The child's side: reads what it is to be, confines itself, and only then does it.

The first frame of the request pipe is the parent's order (which job or program, which layers and
limits); the second is the request, and holds what a student wrote. Nothing of the second is
touched before `confine` returned.
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from types import GeneratorType
from typing import Any

from grader.sandbox.channel import Kind, read_frame, write_frame
from grader.sandbox.confine import Confinement, SandboxUnavailable, confine

ERROR_CHARACTERS = 20_000


def main(request_fd: int, reply_fd: int) -> None:
    """Serve one order and end the process; never returns."""
    try:
        order = read_frame(request_fd).header
        os.set_inheritable(reply_fd, False)
        try:
            keep = (request_fd, reply_fd)
            confine(Confinement.from_order(order), keep, channel_fd=request_fd)
            # Python ignores these; a program expects them to end it, and so do we.
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            if "argv" in order:
                signal.signal(signal.SIGPIPE, signal.SIG_DFL)
                os.close(request_fd)
                os.execve(order["program"], order["argv"], order["environment"])
        except (SandboxUnavailable, OSError) as error:
            write_frame(reply_fd, Kind.REFUSED, {"error": str(error)})
            os._exit(0)
        request = read_frame(request_fd)
        os.close(request_fd)
        try:
            _serve(order["job"], request.header, list(request.blobs), reply_fd)
        except Exception as error:
            text = traceback.format_exc()[-ERROR_CHARACTERS:]
            summary = f"{type(error).__name__}: {error}"[:ERROR_CHARACTERS]
            write_frame(reply_fd, Kind.RAISED, {"error": summary, "traceback": text})
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def _serve(job: str, request: dict[str, Any], blobs: list[bytes], reply_fd: int) -> None:
    faulthandler.enable()
    module, _, function = job.partition(":")
    result = getattr(importlib.import_module(module), function)(request, blobs)
    for kind, (header, reply_blobs) in _in_order(result):
        sys.stdout.flush()
        write_frame(reply_fd, kind, header, reply_blobs)


def _in_order(result: Any) -> Iterator[tuple[Kind, tuple[dict[str, Any], list[bytes]]]]:
    """A job's replies: what it returned, or what it yields; the last value is the reply."""
    if not isinstance(result, GeneratorType):
        yield Kind.LAST, result
        return
    try:
        while True:
            yield Kind.EARLY, next(result)
    except StopIteration as stop:
        yield Kind.LAST, stop.value


def launch() -> None:
    """Entry of a freshly started interpreter: the descriptors are its two arguments."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    main(int(sys.argv[1]), int(sys.argv[2]))
