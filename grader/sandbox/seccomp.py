"""Seccomp: which system calls a process may make, as a BPF program for the kernel.

The program is a list of `sock_filter` records (linux/filter.h) over `seccomp_data` (nr, arch, ip,
six 64-bit arguments); seccomp(2). It cannot look into memory, so calls that hand over a pointer to
what matters are not in the table at all (syscalls.py).
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

from grader.sandbox.syscalls import (
    ABSENT,
    ALWAYS,
    DRIVER,
    FORKING,
    JUDGED,
    STARTING,
    UNSUPPORTED,
)

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2

LOAD, JUMP_EQ, JUMP_GE, JUMP_SET, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS, EOPNOTSUPP = 1, 38, 95
OFFSET_NR, OFFSET_ARCH, OFFSET_ARGS = 0, 4, 16

# AUDIT_ARCH_* of linux/audit.h, and the column of the tables.
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1), "arm64": (0xC00000B7, 1)}
X32_BIT = 0x40000000

CLONE_THREAD = 0x00010000
# mount, cgroup, uts, ipc, user, pid, net; time; and PARENT, whose child would be the grader's own
CLONE_BAD = 0x7E020000 | 0x00000080 | 0x00008000
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX. Others type into terminals, send
# signals, or change the flags of a file that was opened for reading only.
GOOD_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# F_DUPFD to F_SETFL, F_GETOWN, F_DUPFD_CLOEXEC, F_{SET,GET}PIPE_SZ. Others send signals to any
# process of the user (F_SETOWN, F_SETSIG, F_NOTIFY), make it wait (F_SETLEASE), or take memory of
# the kernel without bound (byte-range locks).
GOOD_FCNTLS = (*range(5), 9, 1030, 1031, 1032)
SEALS = (1033, 1034)  # F_ADD_SEALS, F_GET_SEALS: of a file in memory, which a driver makes
MAP_SHARED = 0x01
# PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, PR_{SET,GET}_NO_NEW_PRIVS, PR_SET_VMA
GOOD_PRCTLS = (3, 15, 16, 23, 38, 39, 0x53564D41)

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, k


def missing() -> str | None:
    """Why no filter can be put on here, or None."""
    if not sys.platform.startswith("linux"):
        return "seccomp is a part of Linux"
    if platform.machine() not in ARCHITECTURES:
        return f"there is no table of system calls for {platform.machine()}"
    return None


def program(
    machine: str, pid: int, *, starting: bool, forking: bool, devices: bool = False
) -> list[Instruction]:
    """The filter for `machine` ("x86_64", "aarch64") and the process `pid` that will carry it.

    `starting` allows execve, `forking` new processes; otherwise only threads can be made. `devices`
    allows every ioctl and shared mappings of files: a GPU's driver is spoken to by these, and which
    descriptor they are about cannot be seen here. What can be opened is then up to Landlock alone.
    It also allows `DRIVER`, what such a driver asks of the process it works in.
    """
    audit, column = ARCHITECTURES[machine]
    text: list[Instruction] = [
        (LOAD, 0, 0, OFFSET_ARCH),
        (JUMP_EQ, 1, 0, audit),
        (RETURN, 0, 0, KILL_PROCESS),  # a 32-bit call from a 64-bit process: other numbers
        (LOAD, 0, 0, OFFSET_NR),
    ]
    if machine == "x86_64":
        text += [(JUMP_GE, 0, 1, X32_BIT), (RETURN, 0, 0, KILL_PROCESS)]
    for table, action in (
        (ALWAYS, ALLOW),
        (STARTING, ALLOW if starting else ERRNO | EPERM),
        (FORKING, ALLOW if forking else ERRNO | EPERM),
        (DRIVER if devices else {}, ALLOW),
        (ABSENT, ERRNO | ENOSYS),
        (UNSUPPORTED, ERRNO | EOPNOTSUPP),
    ):
        for numbers in table.values():
            number = numbers[column]
            if number is not None:
                text += [(JUMP_EQ, 0, 1, number), (RETURN, 0, 0, action)]
    for name, numbers in JUDGED.items():
        number = numbers[column]
        assert number is not None
        judge = _judge(name, pid, forking=forking, devices=devices)
        text += [(JUMP_EQ, 0, len(judge), number), *judge]
    return [*text, (RETURN, 0, 0, ERRNO | EPERM)]


def _judge(name: str, pid: int, *, forking: bool, devices: bool) -> list[Instruction]:
    """Instructions that decide about one call by its arguments, each path ending in RETURN.

    The arguments looked at are ints or 32-bit flags to the kernel, so the low half is all of them.
    """
    allow, refuse = (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ERRNO | EPERM)
    if devices and name in ("ioctl", "mmap"):
        return [allow]
    if name == "clone" and forking:
        return [_low(0), (JUMP_SET, 0, 1, CLONE_BAD), refuse, allow]
    if name == "clone":
        return [
            *(_low(0), (JUMP_SET, 0, 1, CLONE_BAD), refuse),
            *((JUMP_SET, 1, 0, CLONE_THREAD), refuse, allow),
        ]
    if name in ("kill", "tgkill"):
        return [_low(0), (JUMP_EQ, 1, 0, pid), refuse, allow]
    if name == "ioctl":
        return [_low(1), *_any_of(GOOD_IOCTLS, allow), refuse]
    if name == "fcntl":
        good = (*GOOD_FCNTLS, *SEALS) if devices else GOOD_FCNTLS
        return [_low(1), *_any_of(good, allow), refuse]
    if name == "mmap":
        # A shared mapping of a file writes to it without a call that counts what is written; one of
        # no file keeps its pages when they are no longer resident (MADV_DONTNEED).
        return [_low(3), (JUMP_SET, 0, 1, MAP_SHARED), refuse, allow]
    if name == "prctl":
        return [_low(0), *_any_of(GOOD_PRCTLS, allow), refuse]
    # prlimit64(pid, resource, new, old): only to ask, and only about itself
    return [
        *(_low(0), (JUMP_EQ, 2, 0, 0), (JUMP_EQ, 1, 0, pid), refuse),
        *(_low(2), (JUMP_EQ, 1, 0, 0), refuse),
        *(_high(2), (JUMP_EQ, 1, 0, 0), refuse, allow),
    ]


def _any_of(values: tuple[int, ...], then: Instruction) -> list[Instruction]:
    return [step for value in values for step in ((JUMP_EQ, 0, 1, value), then)]


def _low(argument: int) -> Instruction:
    return (LOAD, 0, 0, OFFSET_ARGS + 8 * argument)


def _high(argument: int) -> Instruction:
    return (LOAD, 0, 0, OFFSET_ARGS + 8 * argument + 4)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("text", ctypes.c_void_p)]


def asking(machine: str, action: int) -> list[Instruction]:
    """A filter that answers every call which makes a process with `action`, and allows the rest.

    It stands before `program`'s, which judges the architecture and everything else.
    """
    _, column = ARCHITECTURES[machine]
    text: list[Instruction] = [(LOAD, 0, 0, OFFSET_NR)]
    for numbers in FORKING.values():
        if (number := numbers[column]) is not None:
            text += [(JUMP_EQ, 0, 1, number), (RETURN, 0, 0, action)]
    clone = JUDGED["clone"][column]
    assert clone is not None
    text += [
        *((JUMP_EQ, 0, 3, clone), _low(0)),
        *((JUMP_SET, 1, 0, CLONE_THREAD), (RETURN, 0, 0, action)),
    ]
    return [*text, (RETURN, 0, 0, ALLOW)]


def packed(text: list[Instruction]) -> ctypes.Structure:
    """`text` as the record that the kernel takes (struct sock_fprog)."""
    steps = b"".join(struct.pack("<HBBI", *step) for step in text)
    buffer = ctypes.create_string_buffer(steps, len(steps))
    record = _Program(len(text), ctypes.addressof(buffer))
    record.steps = buffer  # lives as long as the record
    return record


def restrict(*, starting: bool, forking: bool, devices: bool = False) -> None:
    """Put the filter on this process for good; every thread and child inherits it.

    Raises OSError when the kernel refuses; the caller must have set no_new_privs and be the only
    thread that will run what is not trusted.
    """
    filter_ = packed(
        program(
            platform.machine(), os.getpid(), starting=starting, forking=forking, devices=devices
        )
    )
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(filter_), 0, 0):
        code = ctypes.get_errno()
        raise OSError(code, f"seccomp: {os.strerror(code)}")
