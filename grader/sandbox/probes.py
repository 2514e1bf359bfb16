"""What a child does to say which layers really hold it, and what they cost."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

MOST_MADE = 16


def look(request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Try a file outside (`request["forbidden"]`), a socket and a new process."""
    outside = Path(request["forbidden"])
    try:
        outside.read_bytes()
        opened = True
    except OSError:
        opened = False
    try:
        socket.socket(socket.AF_UNIX).close()
        connected = True
    except OSError:
        connected = False
    try:
        pid = os.fork()
    except OSError:
        forked = False
    else:
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        forked = True
    exists = outside.exists()
    return {"exists": exists, "opened": opened, "connected": connected, "forked": forked}, []


def multiply(request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Make processes that wait, a few and as fast as it goes; print a sign for each."""
    for _ in range(MOST_MADE):
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
        os.write(1, b"+")
    return {}, []


def echo(request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Do nothing: what is measured then is the sandbox."""
    return request, blobs
