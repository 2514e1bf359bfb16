"""Jobs that the sandbox's tests run in its children: `(request, blobs) -> (reply, blobs)`."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from pathlib import Path


def echo(request, blobs):
    return request, blobs


def early(request, blobs):
    yield {"n": 1}, [b"first"]
    print("between")
    return {"n": 2}, [b"last"]


def raises(request, blobs):
    raise ValueError("no such thing")


def spin(request, blobs):
    while True:
        pass


def exits(request, blobs):
    os._exit(request["code"])


def dies(request, blobs):
    os.kill(os.getpid(), 9)


def eat(request, blobs):
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1)) * (8 << 20))


def prints(request, blobs):
    line = "x" * 65536
    for _ in range(1 << 14):
        print(line)


def big_file(request, blobs):
    with Path("file").open("wb") as file:
        while True:
            file.write(bytes(1 << 20))


def many_files(request, blobs):
    n = 0
    while True:
        n += 1
        Path(f"file{n}").write_bytes(bytes(100_000))


def thread_bomb(request, blobs):
    while True:
        threading.Thread(target=time.sleep, args=(100,), daemon=True).start()


def loaded(request, blobs):
    return {name: name in sys.modules for name in request["modules"]}, []


SEEN = []


def remembers(request, blobs):
    SEEN.append(1)
    return {"seen": len(SEEN)}, []


def imports(request, blobs):
    return {name: importlib.import_module(name).__file__ for name in request["modules"]}, []


def reads(request, blobs):
    return {"text": Path(request["path"]).read_text()}, []


def opens_nodes(request, blobs):
    """Which of some device nodes can be opened to read and write."""
    opened = []
    for path in request["paths"]:
        try:
            os.close(os.open(path, os.O_RDWR))
        except OSError:
            continue
        opened.append(path)
    return {"opened": opened}, []
