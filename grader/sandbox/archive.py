"""Unpacks an archive that a student made: in a child, into memory, plain files only.

The parent never decodes the archive. It gives the bytes to a child and gets names and contents
back, checks both, and writes the files itself.
"""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from grader.errors import RefusedError
from grader.sandbox.calls import call
from grader.sandbox.records import MIB, Limits

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz")
MOST_FILES = 1000
MOST_BYTES = 32 * MIB
"""Of an archive, and of all that is in it."""

LIMITS = Limits(
    wall_seconds=60, cpu_seconds=20, memory_bytes=512 * MIB, output_bytes=2 * MOST_BYTES,
    disk_bytes=MIB,
)  # fmt: skip
_HINT = "Hand in the files themselves, or a plain archive of them."


def unpack(archive: Path, folder: Path) -> tuple[str, ...]:
    """Write the files of `archive` below the empty `folder`; their names, sorted.

    Links, devices and empty folders are left out. Raises RefusedError, and writes nothing, for
    what is no archive, is too large, or names a file outside.
    """
    try:
        with archive.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise RefusedError(f"{archive.name} cannot be read: {error.strerror}", _HINT) from None
    if len(data) > MOST_BYTES:
        raise RefusedError(f"{archive.name} has more than {MOST_BYTES // MIB} MiB", _HINT)
    reply = call(f"{__name__}:members_job", {}, [data], limits=LIMITS)
    if reply.header is None:
        ended = reply.exit.detail if reply.exit.cause != "exited" else "it is damaged"
        raise RefusedError(f"{archive.name} cannot be unpacked: {ended}", _HINT)
    if problem := reply.header.get("problem"):
        raise RefusedError(f"{archive.name}: {problem}", _HINT)
    names = [str(name) for name in reply.header["names"]]
    if len(names) != len(reply.blobs) or _problem(names, sum(map(len, reply.blobs))):
        raise RefusedError(f"{archive.name} cannot be unpacked: it is damaged", _HINT)
    for name, content in zip(names, reply.blobs, strict=True):
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return tuple(sorted(names))


def _problem(names: list[str], size: int) -> str:
    """Why these files are not taken, or nothing. Asked in the child and again in the parent."""
    if len(names) > MOST_FILES:
        return f"it has more than {MOST_FILES} files"
    if size > MOST_BYTES:
        return f"its files have more than {MOST_BYTES // MIB} MiB"
    taken: set[str] = set()
    for name in names:
        parts = PurePosixPath(name).parts
        plain = name == "/".join(parts) and ".." not in parts and not name.startswith("/")
        if not parts or not plain or not name.isprintable() or "\\" in name or len(name) > 200:
            return f"it has a file of the name {name[:100]!r}"
        if name.lower() in taken:
            return f"it has {name} twice"
        taken.add(name.lower())
    for name in taken:
        if any(str(parent) in taken for parent in PurePosixPath(name).parents):
            return f"it has {name} below a file"
    return ""


# ---- the child ---------------------------------------------------------------------------------


def members_job(request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """In the child: names and contents of the plain files of an archive, or a problem."""
    names: list[str] = []
    contents: list[bytes] = []
    try:
        for name, content in _members(blobs[0]):
            names.append(name)
            contents.append(content)
            if problem := _problem(names, sum(map(len, contents))):
                return {"problem": problem}, []
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, ValueError) as error:
        return {"problem": f"it is no archive that can be read ({error})"}, []
    except (RuntimeError, NotImplementedError) as error:  # encrypted, or packed in an odd way
        return {"problem": f"it cannot be read ({error})"}, []
    return {"names": names}, contents


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for entry in packed.infolist():
                kind = stat.S_IFMT(entry.external_attr >> 16)
                if not entry.is_dir() and kind in (0, stat.S_IFREG):
                    with packed.open(entry) as file:
                        yield entry.filename, file.read(MOST_BYTES + 1)
        return
    with tarfile.open(fileobj=io.BytesIO(data)) as bundle:
        for member in bundle:
            if member.isfile() and (content := bundle.extractfile(member)):
                yield member.name.removeprefix("./"), content.read(MOST_BYTES + 1)
