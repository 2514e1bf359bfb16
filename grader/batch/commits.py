"""When a clone's submission was committed, read without obeying anything in the clone.

A repository's own configuration can name programs that git then runs, so git gets an empty
repository of ours and reads only the objects of the student's.
"""

from __future__ import annotations

import datetime
import functools
import os
import re
import subprocess
import tempfile
from pathlib import Path

GIT_SECONDS = 20
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LARGEST_REFS = 16 << 20


def time(place: Path, top: Path) -> datetime.datetime | None:
    """The committer's time of the last commit that changed `place`, a folder at or below `top`.

    None where that is no clone, or git is not installed. A student can set this time, as they can
    set a file's; the time of a push is known to the host alone.
    """
    root = next((p for p in (place, *place.parents) if (p / ".git").is_dir()), None)
    if root is None or not root.is_relative_to(top):
        return None
    head = _head(root / ".git")
    if head is None:
        return None
    path = place.relative_to(root).as_posix()
    said = _git(root / ".git", "log", "-1", "--format=%ct", head, "--", path)
    if not said.isdigit():
        return None
    return datetime.datetime.fromtimestamp(int(said), datetime.UTC)


def _head(folder: Path) -> str | None:
    """The commit that is checked out, from the files that say so."""
    try:
        text = (folder / "HEAD").read_text(encoding="utf-8")[:4096].strip()
        if text.startswith("ref: "):
            name = text.removeprefix("ref: ")
            if not re.fullmatch(r"refs/[\w./+-]+", name) or ".." in name:
                return None
            loose = folder / name
            if loose.is_file():
                text = loose.read_text(encoding="utf-8")[:4096].strip()
            else:
                packed = (folder / "packed-refs").read_text(encoding="utf-8")[:_LARGEST_REFS]
                lines = (line.split(" ", 1) for line in packed.splitlines())
                text = next((line[0] for line in lines if line[1:] == [name]), "")
    except (OSError, UnicodeDecodeError):
        return None
    return text if _ID.fullmatch(text) else None


def _git(folder: Path, *arguments: str) -> str:
    """What git says about the objects below `folder`; nothing where it fails."""
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str((folder / "objects").resolve()),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ALLOW_PROTOCOL": "none",
    }
    try:
        done = subprocess.run(
            ["git", "--no-pager", f"--git-dir={_empty().name}", *arguments],
            capture_output=True, text=True, errors="replace", check=False, env=environment,
            stdin=subprocess.DEVNULL, timeout=GIT_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


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
