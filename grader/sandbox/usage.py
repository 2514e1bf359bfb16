"""What a process group uses now: resident memory, processes, threads, and disk.

Reads /proc (Linux); where there is none, `ps` says the same more slowly.
"""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

DEEPEST_PATH = 3500  # of PATH_MAX's 4096
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# Fields of /proc/PID/stat after the ")" that ends the name: proc(5) numbers them from 3.
PGRP, THREADS, RSS_PAGES = 5 - 3, 20 - 3, 24 - 3
TICKS = slice(14 - 3, 18 - 3)  # user and system, then those of children that were waited for
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Usage:
    """Sums over a process group; `threads` is the most of any one process.

    `resident_bytes` contains page tables: a process that only reads fills them without anything
    else becoming resident. `written_bytes` is all that was ever written, by processes that were
    waited for too: a file that is open but has no name any more is in no folder's sum.
    """

    resident_bytes: int = 0
    processes: int = 0
    threads: int = 0
    cpu_seconds: float = 0.0
    written_bytes: int = 0


def of_group(group: int, *, alone: bool) -> Usage:
    """What process group `group` uses; `alone`: it is known to be one process."""
    if not sys.platform.startswith("linux"):
        return _of_group_by_ps(group)
    resident = processes = threads = ticks = written = 0
    for pid in [str(group)] if alone else _pids():
        fields = _stat(pid)
        if fields is None or (not alone and int(fields[PGRP]) != group):
            continue
        resident += int(fields[RSS_PAGES]) * PAGE_BYTES + _number(pid, "status", b"VmPTE:") * 1024
        written += _number(pid, "io", b"wchar:")
        processes += 1
        ticks += sum(map(int, fields[TICKS]))
        threads = max(threads, int(fields[THREADS]))
    return Usage(resident, processes, threads, ticks / TICKS_PER_SECOND, written)


def _pids() -> list[str]:
    with os.scandir("/proc") as listing:
        return [entry.name for entry in listing if entry.name.isdigit()]


def _stat(pid: str) -> list[bytes] | None:
    text = _read(pid, "stat")
    # The name is the child's to choose and may hold anything, so split after the last ")".
    return text[text.rindex(b")") + 2 :].split() if text else None


def _number(pid: str, file: str, key: bytes) -> int:
    """The number after `key` in a file of /proc/PID; 0 where there is none."""
    text = _read(pid, file)
    at = text.find(b"\n" + key)
    # `wchar` is the second line and `VmPTE` a later one, so a line end stands before each.
    return int(text[at + len(key) + 1 :].split(None, 1)[0]) if at >= 0 else 0


def _read(pid: str, file: str) -> bytes:
    try:
        fd = os.open(f"/proc/{pid}/{file}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, 8192)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _of_group_by_ps(group: int) -> Usage:
    lines = subprocess.run(
        ["/bin/ps", "-A", "-o", "pgid=,rss="], capture_output=True, text=True, check=False
    ).stdout.splitlines()
    mine = [int(rss) for pgid, rss in (line.split() for line in lines) if int(pgid) == group]
    return Usage(sum(mine) << 10, len(mine), 0)


def exceeds(folder: Path, most_bytes: int, most_entries: int) -> bool:
    """Whether what lies below `folder` takes or counts more than this, or hides from the count.

    Hidden is what lies too deep to be named by a path, or in a folder that may be filled and not
    listed.
    """
    total = entries = 0
    pending = [str(folder)]
    while pending:
        with contextlib.suppress(OSError), os.scandir(pending.pop()) as listing:
            for entry in listing:
                entries += 1
                with contextlib.suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    total += found.st_blocks * 512
                    if stat.S_ISDIR(found.st_mode):
                        if found.st_mode & 0o600 == 0o200 or len(entry.path) > DEEPEST_PATH:
                            return True
                        pending.append(entry.path)
                if total > most_bytes or entries > most_entries:
                    return True
    return False
