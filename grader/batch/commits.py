"""When a clone's submission was committed, read without obeying anything in the clone.

A repository's own configuration can name programs that git then runs, so git gets an empty
repository of ours and reads only the objects of the student's. It does so in a child: a commit is
compressed, and may be far larger than what was handed in.
"""

from __future__ import annotations

import datetime
import errno
import functools
import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

from grader import sandbox
from grader.sandbox.records import MIB, Limits

GIT_SECONDS = 20
LIMITS = Limits(
    wall_seconds=GIT_SECONDS, cpu_seconds=GIT_SECONDS, memory_bytes=512 * MIB, disk_bytes=MIB
)
MOST_OBJECTS = 200_000
"""Files of a clone's objects that are looked at; a course's repository has a few hundred."""
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LARGEST_REF, _LARGEST_REFS = 4096, 16 * MIB


def time(place: Path, top: Path) -> datetime.datetime | None:
    """The committer's time of the last commit that changed `place`, a folder at or below `top`.

    None where that is no clone, git is not installed, or the time is still to come. A student can
    set this time, as they can set a file's; the time of a push is known to the host alone.
    """
    root = next((p for p in (place, *place.parents) if (p / ".git").is_dir()), None)
    if root is None or not root.is_relative_to(top) or (root / ".git").is_symlink():
        return None
    head = _head(root / ".git")
    if head is None or not _plain(root / ".git" / "objects"):
        return None
    path = place.relative_to(root).as_posix()
    said = _git(root / ".git", "log", "-1", "--format=%ct", head, "--", path)
    now = datetime.datetime.now(datetime.UTC)
    if not said.isascii() or not said.isdigit() or len(said) > 12 or int(said) > now.timestamp():
        return None
    return datetime.datetime.fromtimestamp(int(said), datetime.UTC)


def _head(folder: Path) -> str | None:
    """The commit that is checked out, from the files that say so."""
    try:
        text = _text(folder / "HEAD", _LARGEST_REF).strip()
        if text.startswith("ref: "):
            name = text.removeprefix("ref: ")
            if not re.fullmatch(r"refs/[\w./+-]+", name) or ".." in name:
                return None
            loose = folder / name
            if loose.is_file():
                text = _text(loose, _LARGEST_REF).strip()
            else:
                packed = _text(folder / "packed-refs", _LARGEST_REFS)
                lines = (line.split(" ", 1) for line in packed.splitlines())
                text = next((line[0] for line in lines if line[1:] == [name]), "")
    except (OSError, UnicodeDecodeError):
        return None
    return text if _ID.fullmatch(text) else None


def _text(path: Path, most: int) -> str:
    """The beginning of a regular file. Raises OSError for what is none: a FIFO would never end."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return file.read(most).decode()


def _plain(objects: Path) -> bool:
    """Whether git finds nothing but folders and regular files there, and is sent nowhere else.

    It would wait at a pipe until its time is up, and a whole class with it.
    """
    count, left = 0, [objects]
    try:
        while left:
            with os.scandir(left.pop()) as entries:
                for entry in entries:
                    count += 1
                    folder = entry.is_dir(follow_symlinks=False)
                    regular = entry.is_file(follow_symlinks=False)
                    if not (folder or regular) or entry.name.endswith("alternates"):
                        return False
                    left += [Path(entry.path)] if folder else []
                    if count > MOST_OBJECTS:
                        return False
    except OSError:
        return False
    return not objects.is_symlink()


def _git(folder: Path, *arguments: str) -> str:
    """What git says about the objects below `folder`; nothing where it fails."""
    program = shutil.which("git")
    objects = (folder / "objects").resolve()
    try:
        empty = _empty().name
    except (OSError, subprocess.SubprocessError):
        return ""
    if program is None:
        return ""
    done = sandbox.run(
        [program, "--no-pager", f"--git-dir={empty}", *arguments],
        read=[empty, objects],
        limits=LIMITS,
        extra_environment={
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ALLOW_PROTOCOL": "none",
        },
    )
    return done.output.strip() if done.ok else ""


@functools.cache
def _empty() -> tempfile.TemporaryDirectory[str]:
    """A repository of ours without anything in it; it is removed when the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="grade-git-")
    subprocess.run(
        ["git", "init", "--quiet", "--bare", folder.name], check=True, capture_output=True,
        env={"PATH": os.environ.get("PATH", ""), "GIT_CONFIG_GLOBAL": os.devnull},
        timeout=GIT_SECONDS,
    )  # fmt: skip
    return folder
