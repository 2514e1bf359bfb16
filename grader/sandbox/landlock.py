"""Landlock: which files a process may open, and that it may open no TCP connection.

Speaks to the kernel directly (landlock(7), include/uapi/linux/landlock.h): the three system calls
have the same numbers on every architecture. What the running kernel can do is asked at run time;
rights that it does not know are left out, and `describe` says which.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys

SYS_CREATE_RULESET, SYS_ADD_RULE, SYS_RESTRICT_SELF = 444, 445, 446
CREATE_RULESET_VERSION = 1
RULE_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE = 1 << 4, 1 << 5
MAKE_DIR, MAKE_REG = 1 << 7, 1 << 8
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15

READ = EXECUTE | READ_FILE | READ_DIR
# No MAKE_SYM, MAKE_FIFO, MAKE_SOCK, MAKE_CHAR, MAKE_BLOCK: what a child leaves in a directory
# that the parent looks into is a plain file or a folder. No EXECUTE: it runs nothing it wrote.
WRITE = (
    (READ & ~EXECUTE)
    | (WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG)
    | (REFER | TRUNCATE | IOCTL_DEV)
)
# What stands in a file may be replaced; none is made or removed.
FILL = READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE
# The rights that make sense for a file that is not a directory; the kernel refuses the others.
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

NET_ALL = 0b11  # bind and connect TCP, ABI 4
SCOPE_ALL = 0b11  # abstract Unix sockets and signals to outside, ABI 6


def handled(abi: int) -> tuple[int, int, int]:
    """The rights (file system, network, scopes) that ABI `abi` can take away."""
    file_bits = 13
    for since, bits in ((2, 14), (3, 15), (5, 16)):
        if abi >= since:
            file_bits = bits
    return (1 << file_bits) - 1, NET_ALL if abi >= 4 else 0, SCOPE_ALL if abi >= 6 else 0


def abi() -> int:
    """The Landlock ABI of the running kernel; 0 where there is none or it is switched off."""
    if not sys.platform.startswith("linux"):
        return 0
    version = _syscall(SYS_CREATE_RULESET, None, 0, CREATE_RULESET_VERSION)
    return max(0, version)


def describe(version: int) -> str:
    """What of Landlock is missing at ABI `version`, as one clause; empty when nothing is."""
    missing = [
        what
        for since, what in (
            (2, "moving files between folders is refused"),
            (3, "truncating a readable file is not prevented"),
            (4, "TCP is left to seccomp"),
            (5, "ioctl on devices is left to seccomp"),
            (6, "signals to outside are left to seccomp"),
        )
        if version < since
    ]
    return "; ".join(missing)


def restrict(read: tuple[str, ...], write: tuple[str, ...], fill: tuple[str, ...] = ()) -> None:
    """Take away every file but `read`, `write`, `fill` and what is below them, for good.

    Files below `fill` can be read and written, but none can be made there.
    Paths that do not exist are passed over. Raises OSError when the kernel refuses; the caller
    must have set no_new_privs.
    """
    file_rights, net_rights, scopes = handled(abi())
    attributes = struct.pack("<QQQ", file_rights, net_rights, scopes)
    # A kernel before ABI 6 accepts the longer record as long as what it does not know is zero.
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    ruleset = _checked(SYS_CREATE_RULESET, buffer, len(attributes), 0)
    try:
        for paths, rights in ((read, READ), (write, WRITE), (fill, FILL)):
            for path in paths:
                _allow(ruleset, path, rights & file_rights)
        _checked(SYS_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= OF_A_FILE
        rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, fd), 12)
        _checked(SYS_ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)


def _syscall(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result: int = libc.syscall(ctypes.c_long(number), *words)
    return result


def _checked(number: int, *arguments: object) -> int:
    result = _syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {os.strerror(code)}")
    return result
