"""Attacks on limits: time, memory, disk and processes beyond what was agreed.

Jobs for code that already runs in a child and wants out. Each replies `{"got": [...]}`, what it
achieved: an empty list when it was held. A docstring says the attack and why it must fail.
`request["canary"]` is a file outside that only the parent may know, `request["parent"]` a pid
outside.
"""

# The attacks are on system calls, so they name the calls.
# ruff: noqa: PTH102, PTH108
from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path

from loot import Loot

KEPT = []


def raise_limits(request, blobs):
    """Attack: lift its own limits again.
    Why it must fail: the hard limits are set too, and prlimit64 only asks."""
    loot = Loot()
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    for name in ("CPU", "FSIZE", "NOFILE", "CORE", "DATA"):
        loot.grab(name, resource.setrlimit, getattr(resource, f"RLIMIT_{name}"), unlimited)
    return loot.reply


def outlive_the_cpu_limit(request, blobs):
    """Attack: catch the signal of the CPU limit and go on.
    Why it must fail: the hard limit one second later kills."""
    signal.signal(signal.SIGXCPU, lambda *_: None)
    while True:
        pass


def double_processes(request, blobs):
    """Attack: a fork bomb: every process makes another, and so do those.
    Why it must fail: each fork waits for the parent's permission, so it cannot outrun the count."""
    while True:
        if os.fork() == 0:
            os.write(1, b"+")


def double_processes_by_vfork(request, blobs):
    """Attack: the same by clone with CLONE_VM, as posix_spawn does, from many threads at once.
    Why it must fail: every clone that is no thread's is asked about, whatever its flags."""
    python = os.path.realpath(sys.executable)
    words = [python, "-ISc", "import time; print('+', flush=True); time.sleep(100)"]

    def spawn():
        while True:
            os.posix_spawn(python, words, dict(os.environ))

    for _ in range(8):
        threading.Thread(target=spawn, daemon=True).start()
    time.sleep(60)
    return {"got": ["time"]}, []


def burn_in_children(request, blobs):
    """Attack: use CPU time in processes that end before anybody adds it up.
    Why it must fail: what ended children used stands in their parent's sum."""
    while True:
        pid = os.fork()
        if pid == 0:
            end = time.process_time() + 0.02
            while time.process_time() < end:
                pass
            os._exit(0)
        os.waitpid(pid, 0)


def burn_in_orphans(request, blobs):
    """Attack: use CPU time in processes whose parent ended before them, so it stands in no sum.
    Why it must fail: whoever takes them in is in the group, or keeps them to be counted."""
    while True:
        pid = os.fork()
        if pid == 0:
            if os.fork() == 0:
                end = time.process_time() + 0.1
                while time.process_time() < end:
                    pass
            os._exit(0)
        os.waitpid(pid, 0)
        time.sleep(0.05)


def ask_for_ever(request, blobs):
    """Attack: keep the parent busy with questions: processes that end as soon as they are there.
    Why it must fail: how many may be made in all is bounded too."""
    while True:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)


def hide_memory(request, blobs):
    """Attack: fill shared mappings and say that their pages are not needed: they stay, and no
    resident size shows them.
    Why it must fail: memory is given out privately only, where such a page is gone."""
    loot = Loot()
    for name, fd in (("nothing", -1), ("zeros", os.open("/dev/zero", os.O_RDONLY))):
        for kind in (mmap.MAP_SHARED, 3):  # MAP_SHARED_VALIDATE
            for rights in (mmap.PROT_READ | mmap.PROT_WRITE, mmap.PROT_READ):
                flags = kind | (mmap.MAP_ANONYMOUS if fd < 0 else 0)
                loot.grab(f"share {name}", mmap.mmap, fd, 16 << 20, flags=flags, prot=rights)
    page = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    page.write(b"kept")
    page.madvise(mmap.MADV_DONTNEED)
    if page[:4] == b"kept":
        loot.got.append("a page that was given back")
    return loot.reply


def hide_memory_in_page_tables(request, blobs):
    """Attack: read one byte of every two megabytes of terabytes that were never written: each
    costs a page of page tables, and nothing becomes resident.
    Why it must fail: page tables are counted with what is resident."""
    step = 2 << 20
    while True:
        space = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
        KEPT.append(space)
        for at in range(0, 1 << 40, step):
            space[at]


def hide_memory_in_locks(request, blobs):
    """Attack: memory in the kernel, as locks on every other byte of a file.
    Why it must fail: byte-range locks are not among the fcntls that are allowed."""
    loot = Loot()
    with Path("locked").open("wb") as file:
        for at in range(1000, 0, -2):
            loot.grab("lock", fcntl.lockf, file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)
    return loot.reply


def hide_memory_in_pipes(request, blobs):
    """Attack: memory in the kernel, as unread bytes in pipes.
    Why it must fail: the number of descriptors bounds it to a few MiB."""
    held = 0
    with contextlib.suppress(OSError):
        while True:
            _, write = os.pipe()
            os.set_blocking(write, False)
            with contextlib.suppress(OSError):
                fcntl.fcntl(write, 1031, 1 << 20)
            with contextlib.suppress(BlockingIOError):
                while True:
                    held += os.write(write, bytes(1 << 16))
    return {"got": [f"{held} bytes"] if held > 256 << 20 else []}, []


def hide_disk_in_files_without_a_name(request, blobs):
    """Attack: write files, remove their names and keep them open.
    Why it must fail: what was ever written is counted, not only what can be listed."""
    page = bytes(1 << 20)
    while True:
        fd = os.open("nameless", os.O_CREAT | os.O_RDWR)
        os.unlink("nameless")
        for _ in range(16):
            os.write(fd, page)
        KEPT.append(fd)
        if len(KEPT) > 100:
            os.close(KEPT.pop(0))


def make_empty_files(request, blobs):
    """Attack: use up the inodes, with files that have no size.
    Why it must fail: the number of entries is watched too."""
    n = 0
    while True:
        n += 1
        os.close(os.open(f"{n}", os.O_CREAT | os.O_WRONLY))


def make_files_too_deep(request, blobs):
    """Attack: use up the inodes at a depth that no path reaches, so that nobody counts them.
    Why it must fail: such a depth is taken for what it is."""
    for _ in range(40):
        os.mkdir("d" * 100)
        os.chdir("d" * 100)
    make_empty_files(request, blobs)


def make_files_unlisted(request, blobs):
    """Attack: use up the inodes in a folder that can be filled and not listed.
    Why it must fail: such a folder is taken for what it is."""
    os.mkdir("unlisted", 0o300)
    os.chdir("unlisted")
    make_empty_files(request, blobs)
