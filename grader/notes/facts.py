"""The facts about the frameworks: which file of which release holds which step of the add.

`facts/` holds what docs/notes.md describes: records, releases, which series of releases there were,
the paths of every release as bit masks, and a 4-byte hash of each line of the files that count. No
source text of a framework is in them. Everything is read once per process, and only when asked for.
"""

from __future__ import annotations

import base64
import fnmatch
import hashlib
import json
import lzma
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).with_name("facts")
HASH_BYTES = 4

Span = tuple[int, int]


@dataclass(frozen=True)
class Record:
    """One file of one framework at one release: its role, its lines, how far it is an answer.

    `lines` maps a name to (first, last), counted from 1 in the repository's file, or to None
    where the file has no such line; `absent` then says why, beginning with never, elsewhere,
    closed or sometimes. `dtypes` are the ones the file's loop serves, empty for all; `calls` is
    the file that holds the functor where `op` only calls one.
    """

    framework: str
    backend: str
    repo: str
    ref: str
    commit: str | None
    path: str
    role: str
    symbols: tuple[str, ...]
    lines: Mapping[str, Span | None]
    accepted: Literal["full", "partial", "no"]
    why: str
    blob: str | None
    line_count: int | None
    evidence: str
    absent: Mapping[str, str] = field(default_factory=dict)
    exists: bool = True
    wheel_line_offset: int = 0
    dtypes: tuple[str, ...] = ()
    calls: str | None = None


@dataclass(frozen=True)
class Release:
    """A release tag, its commit, and whether the index knows every path of it."""

    framework: str
    tag: str
    commit: str
    complete: bool


@dataclass(frozen=True)
class Index:
    """The paths of a framework: bit i of a mask is set when the path exists at `tags[i]`."""

    repo: str
    tags: tuple[str, ...]
    complete: tuple[bool, ...]
    not_indexed: tuple[str, ...]
    submodules: Mapping[str, int]
    paths: Mapping[str, int]

    def has(self, path: str, tag: str) -> bool:
        """Whether the path is listed at the tag."""
        return bool(self.paths.get(path, 0) >> self.tags.index(tag) & 1)

    def tags_of(self, path: str) -> tuple[str, ...]:
        """The tags at which the path is listed, oldest first."""
        mask = self.paths.get(path, 0)
        found = (tag for bit, tag in enumerate(self.tags) if mask >> bit & 1)
        return tuple(sorted(found, key=version_key))

    def says_absent(self, path: str, tag: str) -> bool:
        """True only where "not listed" means "does not exist" (complete tag, no submodule)."""
        at = self.tags.index(tag)
        return (
            self.complete[at]
            and not self.has(path, tag)
            and self.submodule(path, tag) is None
            and not any(fnmatch.fnmatchcase(path, pattern) for pattern in self.not_indexed)
        )

    def submodule(self, path: str, tag: str) -> str | None:
        """The submodule folder that holds the path at the tag, whose files are not listed."""
        at = self.tags.index(tag)
        for folder, mask in self.submodules.items():
            if mask >> at & 1 and (path == folder or path.startswith(folder + "/")):
                return folder
        return None


def version_key(ref: str) -> tuple[int, ...]:
    """Orders v2.9.1 before v2.10.0 and every branch name behind all tags."""
    if not re.match(r"v?\d", ref):
        return (10**6,)
    return tuple(int(number[:9]) for number in re.findall(r"\d+", ref))


def line_hash(line: str) -> bytes:
    """First 4 bytes of SHA-256 over the line, outer whitespace cut, inner runs made one space."""
    return hashlib.sha256(" ".join(line.split()).encode("utf-8", "replace")).digest()[:HASH_BYTES]


def split_lines(text: str) -> list[str]:
    """Lines as the hashes count them: split at newline only, no empty piece at the end."""
    lines = text.split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


def blob_id(content: bytes) -> str:
    """The git blob SHA-1 of a file's bytes (`git hash-object`)."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@cache
def records() -> tuple[Record, ...]:
    """Every record, sorted by framework, backend, release and path."""
    rows: list[dict[str, Any]] = json.loads((FOLDER / "facts.json").read_text("utf-8"))
    return tuple(
        Record(
            **{
                **row,
                "symbols": tuple(row["symbols"]),
                "dtypes": tuple(row.get("dtypes", ())),
                "lines": {name: span and tuple(span) for name, span in row["lines"].items()},
            }
        )
        for row in rows
    )


@cache
def _by_path() -> dict[tuple[str, str], tuple[Record, ...]]:
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records():
        found.setdefault((record.framework, record.path), []).append(record)
    return {
        key: tuple(sorted(some, key=lambda r: version_key(r.ref))) for key, some in found.items()
    }


def records_of(framework: str, path: str) -> tuple[Record, ...]:
    """The records of one path, oldest release first, branches last."""
    return _by_path().get((framework, path), ())


@cache
def releases(framework: str) -> tuple[Release, ...]:
    """The releases of a framework that are known, oldest first."""
    rows = json.loads((FOLDER / "releases.json").read_text("utf-8"))
    found = [Release(**row) for row in rows if row["framework"] == framework]
    return tuple(sorted(found, key=lambda release: version_key(release.tag)))


@cache
def series(framework: str) -> dict[tuple[int, int], int]:
    """The last patch of each series of releases, (2, 6): 0 for v2.6.0, oldest first."""
    rows: dict[str, dict[str, int]] = json.loads((FOLDER / "series.json").read_text("utf-8"))
    found = {}
    for name, patch in rows.get(framework, {}).items():
        major, minor = version_key(name)
        found[major, minor] = patch
    return dict(sorted(found.items()))


CLOSED_AFTER = 2
"""A series is over where so many later ones are known: no framework has patched an older one."""


def no_such_release(framework: str, tag: str) -> str:
    """Why a tag names no release that ever was, or nothing where it may be one.

    What is newer than the series that are known may have come out since, and a patch that is
    missing among others may be a tag that no package was made of.
    """
    known = series(framework)
    if not known:
        return ""
    major, minor, patch = (*version_key(tag), 0, 0)[:3]
    every = list(known)
    later = [one for one in every if one > (major, minor)]
    if not later or (major, minor) < every[0]:
        return ""
    if (major, minor) not in known:
        return f"there is no {framework} {major}.{minor}"
    last = known[major, minor]
    if patch > last and len(later) >= CLOSED_AFTER:
        return (
            f"there is no {framework} {major}.{minor}.{patch}: {major}.{minor}.{last} was the last"
        )
    return ""


@cache
def _indexes() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(lzma.decompress((FOLDER / "paths.json.xz").read_bytes()))
    return data


@cache
def index(framework: str) -> Index | None:
    """The path index of a framework, None where there is none (JAX, Triton)."""
    row = _indexes().get(framework)
    if row is None:
        return None
    return Index(
        repo=row["repo"],
        tags=tuple(row["tags"]),
        complete=tuple(row["complete"]),
        not_indexed=tuple(row["not_indexed"]),
        submodules=row["submodules"],
        paths=row["paths"],
    )


@dataclass(frozen=True)
class Listing:
    """The paths listed at any of some tags; by file name, and by lower-cased path."""

    paths: frozenset[str]
    named: Mapping[str, tuple[str, ...]]
    folded: Mapping[str, str]


@cache
def listing(framework: str, tags: tuple[str, ...]) -> Listing:
    """What the index lists at the tags (those it does not know are left out)."""
    known = index(framework)
    if known is None:
        return Listing(frozenset(), {}, {})
    wanted = sum(1 << bit for bit, tag in enumerate(known.tags) if tag in tags)
    paths = [path for path, mask in known.paths.items() if mask & wanted]
    named: dict[str, list[str]] = {}
    for path in paths:
        named.setdefault(path.rpartition("/")[2], []).append(path)
    return Listing(
        frozenset(paths),
        {name: tuple(some) for name, some in named.items()},
        {path.lower(): path for path in paths},
    )


@cache
def _hashes() -> dict[str, str]:
    data: dict[str, str] = json.loads(lzma.decompress((FOLDER / "lines.json.xz").read_bytes()))
    return data


@cache
def hashes(blob: str | None) -> bytes | None:
    """The line hashes of a blob, one after the other; None where the file was not hashed."""
    coded = _hashes().get(blob) if blob else None
    return None if coded is None else base64.b64decode(coded)


def hashes_of(text: str) -> bytes:
    """The line hashes of a text at hand."""
    return b"".join(line_hash(line) for line in split_lines(text))


@dataclass(frozen=True)
class Backend:
    """What the add looks like on one backend over a range of versions (docs/notes.md, table).

    `elements` are the whole numbers that are right as elements per thread for float32, `words`
    is a pattern of wordings that are right as well. `differs` maps a pattern to the difference
    from a plain vec_add that it names. Bounds of the range are inclusive; None is open.
    """

    framework: str
    backend: str
    first: str | None
    last: str | None
    title: str
    global_id: str
    bounds_check: str
    operation: str
    elements: tuple[int, ...]
    words: str
    elements_text: str
    differs: Mapping[str, str]
    lesson: str = ""


@cache
def backends() -> tuple[Backend, ...]:
    """The table of backends."""
    rows = json.loads((FOLDER / "backends.json").read_text("utf-8"))
    return tuple(Backend(**{**row, "elements": tuple(row["elements"])}) for row in rows)


def backend_at(framework: str, backend: str, ref: str | None) -> tuple[Backend, ...]:
    """The rows of the table for a backend at a version; every row of it when none is named."""
    rows = [row for row in backends() if (row.framework, row.backend) == (framework, backend)]
    if ref is None:
        return tuple(rows)
    key = version_key(ref)
    return tuple(
        row
        for row in rows
        if (row.first is None or version_key(row.first) <= key)
        and (row.last is None or key <= version_key(row.last))
    )


@dataclass(frozen=True)
class Step:
    """One step of the lesson on one backend: where an operation is checked, launched, done ...

    `path` lists where the file stands (it moved between versions); the line is the first that
    matches `pattern` at or behind the first that matches `after`. `lines` are the lines known by
    release. Without a pattern there is no line to show.
    """

    framework: str
    backend: str
    ops: tuple[str, ...]
    step: str
    path: tuple[str, ...]
    after: str | None
    pattern: str | None
    text: str
    lines: Mapping[str, int]


@cache
def steps() -> tuple[Step, ...]:
    """The steps of every backend and operation."""
    rows = json.loads((FOLDER / "steps.json").read_text("utf-8"))
    return tuple(
        Step(**{**row, "ops": tuple(row["ops"]), "path": tuple(row["path"])}) for row in rows
    )


def line_of(text: str, after: str | None, pattern: str) -> int | None:
    """The first line that matches `pattern`, at or behind the first that matches `after`."""
    begun = after is None
    for number, line in enumerate(split_lines(text), 1):
        begun = begun or re.search(after or "", line) is not None
        if begun and re.search(pattern, line):
            return number
    return None
