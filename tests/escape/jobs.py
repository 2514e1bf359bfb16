"""Jobs that the sandbox's tests run in its children: `(request, blobs) -> (reply, blobs)`."""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import os
import sys
import tempfile
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


def serves_a_driver(request, blobs):
    """What NVIDIA's driver does to the process it works in, and what it has no business with."""
    parent, seal = os.getppid(), 1033  # F_ADD_SEALS
    tried = {
        "lists its threads": lambda: list(Path("/proc/self/task").iterdir()),
        "names a thread": lambda: Path(f"/proc/self/task/{os.getpid()}/comm").write_text("cuda"),
        "reads its maps": lambda: Path("/proc/self/maps").read_text(),
        "makes a file in memory": lambda: os.memfd_create("cuda"),
        "seals it": lambda: fcntl.fcntl(os.memfd_create("cuda", 2), seal, 1),
        "names its parent": lambda: Path(f"/proc/{parent}/comm").write_text("cuda"),
        "reads its parent": lambda: Path(f"/proc/{parent}/environ").read_bytes(),
        "reads the machine": lambda: Path("/proc/version").read_text(),
    }
    done = []
    for what, attempt in tried.items():
        with contextlib.suppress(OSError):
            attempt()
            done.append(what)
    return {"done": done}, []


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


def writes_a_file_of_its_own(request, blobs):
    """Where a temporary file lies that is made from another working directory."""
    mine = Path.cwd()
    os.chdir("/")
    with tempfile.NamedTemporaryFile() as file:
        return {"in": str(Path(file.name).parent), "mine": str(mine)}, []
