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
CLASS_FILES = 20_000
CLASS_BYTES = 256 * MIB
"""Of the archive of a whole class, and of all that is in it."""
CLASS_LIMITS = Limits(
    wall_seconds=300, cpu_seconds=200, memory_bytes=2048 * MIB, output_bytes=2 * CLASS_BYTES,
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
    if not data:
        raise RefusedError(_empty(archive), _HINT)
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


def unpack_class(archive: Path, folder: Path) -> tuple[tuple[str, ...], dict[str, str]]:
    """The same for the archive of a whole class: written names, and why others were left out.

    What one student called a file, or handed in too large, is left out by itself. Raises
    RefusedError, and writes nothing, for what is no archive or is too large as a whole.
    """
    hint = "Unpack it yourself and name the folder."
    try:
        with archive.open("rb") as file:
            data = file.read(CLASS_BYTES + 1)
    except OSError as error:
        raise RefusedError(f"{archive.name} cannot be read: {error.strerror}", hint) from None
    if not data:
        raise RefusedError(_empty(archive), "Download it again.")
    if len(data) > CLASS_BYTES:
        raise RefusedError(f"{archive.name} has more than {CLASS_BYTES // MIB} MiB", hint)
    reply = call(f"{__name__}:class_job", {}, [data], limits=CLASS_LIMITS)
    del data
    if reply.header is None:
        raise RefusedError(f"{archive.name} cannot be unpacked: {reply.exit.detail}", hint)
    if problem := reply.header.get("problem"):
        raise RefusedError(f"{archive.name}: {problem}", hint)
    names = [str(name) for name in reply.header["names"]]
    left_out = {str(name)[:200]: str(why) for name, why in reply.header["left_out"].items()}
    sound = Names()
    written = []
    whole, start = memoryview(reply.blobs[0]), 0
    for name, size in zip(names, reply.header["sizes"], strict=True):
        content = whole[start : start + size]
        start += size
        if why := sound.problem(name):
            left_out[name[:200]] = why
            continue
        place = folder / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            written.append(name)
        except OSError as error:
            left_out[name[:200]] = f"it cannot be written: {error.strerror}"
    return tuple(sorted(written)), left_out


def _empty(archive: Path) -> str:
    return f"{archive.name} is empty: expected an archive, found a file of 0 bytes"


class Names:
    """The names of an archive so far: each must be plain, new, and not below a file."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def problem(self, name: str) -> str:
        """Why a file of this name is not taken, or nothing, and then it is."""
        parts = PurePosixPath(name).parts
        plain = name == "/".join(parts) and ".." not in parts and not name.startswith("/")
        odd = not name.isprintable() or "\\" in name or len(name.encode()) > 400
        if not parts or not plain or odd or max(len(part.encode()) for part in parts) > 200:
            return f"it has a file of the name {name[:100]!r}"
        key = name.lower()
        above = {str(parent) for parent in PurePosixPath(key).parents} - {"."}
        if key in self._files:
            return f"it has {name} twice"
        if key in self._folders or above & self._files:
            return f"it has {name} below a file"
        self._files.add(key)
        self._folders |= above
        return ""


def _problem(names: list[str], size: int) -> str:
    """Why these files are not taken, or nothing. Asked in the child and again in the parent."""
    if len(names) > MOST_FILES:
        return f"it has more than {MOST_FILES} files"
    if size > MOST_BYTES:
        return f"its files have more than {MOST_BYTES // MIB} MiB"
    sound = Names()
    return next((problem for name in names if (problem := sound.problem(name))), "")


# ---- the child ---------------------------------------------------------------------------------


def members_job(request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """In the child: names and contents of the plain files of an archive, or a problem."""
    names: list[str] = []
    contents: list[bytes] = []
    size = 0
    try:
        for name, content in _members(blobs[0], MOST_BYTES):
            names.append(name)
            contents.append(content)
            size += len(content)
            if len(names) > MOST_FILES or size > MOST_BYTES:
                break
        if problem := _problem(names, size):
            return {"problem": problem}, []
    except (*_NO_ARCHIVE, *_ODD) as error:
        return _unreadable(error)
    return {"names": names}, contents


def class_job(request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """In the child: the plain files of a class's archive, and why others are left out."""
    kept: dict[str, bytes] = {}
    left_out: dict[str, str] = {}
    size = 0
    sound = Names()
    try:
        for name, content in _members(blobs[0], MOST_BYTES):
            too_large = f"it has more than {MOST_BYTES // MIB} MiB"
            why = too_large if len(content) > MOST_BYTES else sound.problem(name)
            if why:
                left_out[name] = why
                continue
            kept[name] = content
            size += len(content)
            if len(kept) + len(left_out) > CLASS_FILES:
                return {"problem": f"it has more than {CLASS_FILES} files"}, []
            if size > CLASS_BYTES:
                return {"problem": f"its files have more than {CLASS_BYTES // MIB} MiB"}, []
    except (*_NO_ARCHIVE, *_ODD) as error:
        return _unreadable(error)
    sizes = [len(content) for content in kept.values()]
    whole = b"".join(kept.values())  # one piece: a reply has a few thousand at most
    return {"names": list(kept), "sizes": sizes, "left_out": left_out}, [whole]


_NO_ARCHIVE = (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, ValueError)
_ODD = (RuntimeError, NotImplementedError)  # encrypted, or packed in an odd way


def _unreadable(error: Exception) -> tuple[dict[str, Any], list[bytes]]:
    what = "is no archive that can be read" if isinstance(error, _NO_ARCHIVE) else "cannot be read"
    return {"problem": f"it {what} ({error})"}, []


def _members(data: bytes, most: int) -> Iterator[tuple[str, bytes]]:
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for entry in packed.infolist():
                kind = stat.S_IFMT(entry.external_attr >> 16)
                if not entry.is_dir() and kind in (0, stat.S_IFREG):
                    with packed.open(entry) as file:
                        yield entry.filename, file.read(most + 1)
        return
    with tarfile.open(fileobj=io.BytesIO(data)) as bundle:
        for member in bundle:
            if member.isfile() and (content := bundle.extractfile(member)):
                yield member.name.removeprefix("./"), content.read(most + 1)
