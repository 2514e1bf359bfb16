"""Attacks on files: reading, writing, changing or planting what lies outside, traps left behind.

Jobs for code that already runs in a child and wants out. Each replies `{"got": [...]}`, what it
achieved: an empty list when it was held. A docstring says the attack and why it must fail.
`request["canary"]` is a file outside that only the parent may know, `request["parent"]` a pid
outside.
"""

# The attacks are on system calls, so they name the calls.
# ruff: noqa: PTH102, PTH105, PTH110
from __future__ import annotations

import contextlib
import ctypes
import fcntl
import mmap
import os
import struct
import subprocess
import sys
from pathlib import Path

from loot import Loot


def read_outside(request, blobs):
    """Attack: read a file outside, a folder's listing, the password file, root's home.
    Why it must fail: Landlock gives the toolkit and the private directory only."""
    loot = Loot()
    canary = Path(request["canary"])
    loot.grab("read", canary.read_bytes)
    loot.grab("list", os.listdir, canary.parent)
    loot.grab("relative", Path("../" * 30 + str(canary)).read_bytes)
    for path in ("/etc/passwd", "/etc/shadow", "/root/.bashrc", "/proc/1/environ", "/var/log"):
        loot.grab(path, os.open, path, os.O_RDONLY)
    loot.grab("root", os.listdir, "/")
    return loot.reply


def read_the_repository(request, blobs):
    """Attack: read the references, the assignments' oracles and the tests beside the package.
    Why it must fail: of a checkout only the package itself is readable."""
    import grader

    loot = Loot()
    root = Path(grader.__file__).parent.parent
    for name in ("reference", "assignments", "tests", ".git", "pyproject.toml"):
        loot.grab(name, os.open, root / name, os.O_RDONLY)
    loot.grab("root", os.listdir, root)
    return loot.reply


def write_outside(request, blobs):
    """Attack: write, create, truncate, rename or remove something outside.
    Why it must fail: Landlock gives writing to the private directory only."""
    loot = Loot()
    canary = Path(request["canary"])
    loot.grab("overwrite", canary.write_bytes, b"0wned")
    loot.grab("append", os.open, canary, os.O_WRONLY | os.O_APPEND)
    loot.grab("truncate", os.truncate, canary, 0)
    loot.grab("unlink", os.unlink, canary)
    loot.grab("rename in", os.rename, canary, "loot")
    loot.grab("replace", lambda: (Path("mine").write_bytes(b""), os.replace("mine", canary)))
    for folder in (canary.parent, "/tmp", "/var/tmp", "/dev/shm", "/run", "/", "/usr/lib"):
        loot.grab(f"create in {folder}", (Path(folder) / "grade-escaped").write_bytes, b"")
        loot.grab(f"mkdir in {folder}", os.mkdir, Path(folder) / "grade-escaped-folder")
    return loot.reply


def write_into_the_toolkit(request, blobs):
    """Attack: plant a module in Python's own folders or in this package, for the next submission.
    Why it must fail: what is readable is not writable."""
    import grader

    loot = Loot()
    for folder in (*sys.path, Path(grader.__file__).parent, Path(os.__file__).parent):
        loot.grab(f"plant in {folder}", (Path(folder) / "torch_planted.py").write_bytes, b"")
    loot.grab("edit", Path(grader.__file__).open, "ab")
    return loot.reply


def change_metadata_outside(request, blobs):
    """Attack: chmod, chown, utime and setxattr on files that cannot be opened.
    Why it must fail: Landlock does not govern these calls, so seccomp refuses all of them."""
    loot = Loot()
    canary = request["canary"]
    loot.grab("chmod", os.chmod, canary, 0o666)
    loot.grab("chown", os.chown, canary, os.getuid(), os.getgid())
    loot.grab("utime", os.utime, canary, (1, 1))
    loot.grab("setxattr", os.setxattr, canary, "user.mark", b"1")
    with Path(os.__file__).open() as readable:
        loot.grab("fchmod", os.fchmod, readable.fileno(), 0o777)
    path = os.open(canary, os.O_PATH) if os.path.exists(canary) else -1
    loot.syscall("fchmodat2", (452, 452), path, ctypes.c_char_p(b""), 0o777, 0x1000)
    return loot.reply


def link_outside(request, blobs):
    """Attack: a link in the private directory to a file outside, for the parent to follow.
    Why it must fail: the links cannot be made; the parent never opens what a child named."""
    loot = Loot()
    loot.grab("symlink", os.symlink, request["canary"], "innocent.ptx")
    loot.grab("link", os.link, request["canary"], "innocent.o")
    loot.grab("fifo", os.mkfifo, "innocent.fifo")
    loot.grab("device", os.mknod, "innocent.dev", 0o600 | 0o060000, os.makedev(1, 1))
    return loot.reply


def hold_others_up(request, blobs):
    """Attack: leases and flags on files of the toolkit, so that whoever opens them next waits.
    Why it must fail: of fcntl and ioctl only what concerns the caller is allowed."""
    loot = Loot()
    with Path(os.__file__).open("rb") as file:
        for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
            loot.grab("lease", fcntl.fcntl, file, 1024, kind)
        loot.grab("notify", fcntl.fcntl, os.open(".", os.O_RDONLY), 1026, 0x80000001)
        loot.grab("flags", fcntl.ioctl, file, 0x80086601, bytes(8))
        loot.grab("set flags", fcntl.ioctl, file, 0x40086602, struct.pack("l", 0x40))
    return loot.reply


def write_without_writing(request, blobs):
    """Attack: fill a file by other means than writing: a shared mapping, an allocation.
    Why it must fail: both are refused, so that counting what is written counts everything."""
    loot = Loot()
    fd = os.open("file", os.O_CREAT | os.O_RDWR)
    os.ftruncate(fd, 1 << 20)
    loot.grab("map it shared", mmap.mmap, fd, 1 << 20)
    loot.grab("map it to read", mmap.mmap, fd, 1 << 20, prot=mmap.PROT_READ)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.fallocate(fd, 0, ctypes.c_long(0), ctypes.c_long(1 << 24)) == 0:
        loot.got.append("allocated")
    return loot.reply


def run_what_it_wrote(request, blobs):
    """Attack: write a program and execute it (the child may start programs).
    Why it must fail: Landlock lets nothing in the private directory be executed."""
    loot = Loot()
    script = os.open("script", os.O_WRONLY | os.O_CREAT, 0o755)
    os.write(script, b"#!/bin/sh\nexit 0\n")
    os.close(script)
    with contextlib.suppress(PermissionError):
        subprocess.run(["./script"], check=False)
        loot.got.append("ran a script")
    return loot.reply


def litter(request, blobs):
    """Attack: a tree that a clean-up trips over: deep, unreadable, with names made to mislead.
    Why it must fail: removal follows no link, needs no recursion and no permission."""
    for name in ("new\nline", "\u202ertl", "-rf", "*", " ", "quote'\"`$(x)", "\x1b[31m"):
        Path(name).write_text(name)
    os.mkdir("closed", 0o700)
    Path("closed/file").write_text("")
    os.mkdir("closed/inner", 0)
    os.mkdir("sealed", 0)
    for _ in range(1200):
        os.mkdir("d")
        os.chdir("d")
    return {"got": []}, []
