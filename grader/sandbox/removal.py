"""Removes a directory that a hostile process filled: deep, unreadable, full of odd names."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def remove_tree(folder: Path) -> None:
    """Remove `folder` and everything in it, following no symbolic link and without recursion.

    Nothing may run any more that could change the tree. What cannot be removed is left.
    """
    with contextlib.suppress(FileNotFoundError):
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            _empty(top)
        finally:
            os.close(top)
        with contextlib.suppress(OSError):
            folder.rmdir()


def _empty(top: int) -> None:
    """Empty the folder `top`: what lies deeper is first moved up, so depth costs nothing."""
    token = secrets.token_hex(8)
    moved = 0
    pending = _names(top)
    while pending:
        name = pending.pop()
        if _unlinked(name, top):
            continue
        fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
        try:
            for inner in _names(fd):
                if not _unlinked(inner, fd):
                    moved += 1
                    with contextlib.suppress(OSError):
                        os.rename(inner, f"{token}-{moved}", src_dir_fd=fd, dst_dir_fd=top)
                        pending.append(f"{token}-{moved}")
        finally:
            os.close(fd)
        with contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=top)


def _names(fd: int) -> list[str]:
    with os.scandir(fd) as listing:
        return [entry.name for entry in listing]


def _unlinked(name: str, parent: int) -> bool:
    """Whether `name` was no folder and is gone; a folder is made accessible instead."""
    try:
        os.unlink(name, dir_fd=parent)
    except OSError:
        # unlink(2) of a folder is EISDIR or EPERM; a folder made with mode 0 cannot be opened.
        with contextlib.suppress(OSError):
            os.chmod(name, 0o700, dir_fd=parent)
            return False
    return True
