"""What was built once is kept: a folder per kind of thing, a file per content key.

Only the parent process reads and writes here; no child can (design, the trust map). A damaged or
missing entry is a miss, never an error: whoever asks builds again.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

NATIVE = "native"
"""The kind of what PTX was translated to; the only one a run child may read."""


def root() -> Path:
    """`$GRADE_CACHE`, or `grade` in the user's cache folder."""
    chosen = os.environ.get("GRADE_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grade"


def key(*parts: str | bytes) -> str:
    """A key that changes with every part, and with how the parts are divided."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


def code(folder: Path) -> str:
    """Changes with any source file below `folder`: what other code made is not what this makes."""
    parts = [
        f"{path.relative_to(folder)} {(status := path.stat()).st_size} {status.st_mtime_ns}"
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".c", ".h")
    ]
    return key(*parts)


def read(kind: str, name: str) -> bytes | None:
    """The entry `name` of `kind`; None where there is none that can be read."""
    try:
        return (root() / kind / name).read_bytes()
    except OSError:
        return None


def read_json(kind: str, name: str) -> dict[str, Any] | None:
    """The entry `name` of `kind`, a JSON object; None where there is none, or a damaged one."""
    data = read(kind, name)
    try:
        found = None if data is None else json.loads(data)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def write(kind: str, name: str, data: bytes) -> None:
    """Keep `data`; readers see the whole of it or nothing. A full disk keeps nothing."""
    folder = root() / kind
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(data)
        Path(file.name).replace(folder / name)
    except OSError:
        return
