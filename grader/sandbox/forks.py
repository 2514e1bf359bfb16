"""New processes by permission: every fork of a child waits until its parent says yes.

A parent that only counts is outrun by a program that doubles its processes. So a second seccomp
filter hands each fork, vfork and clone of a process over to the parent (seccomp_unotify(2)), which
counts first; a group at its limit is ended with the asking process still inside its call. Needs no
root, no namespace and no cgroup, and binds root too, whom RLIMIT_NPROC does not. Threads are not
asked about: they end with their process, at one signal.

A handler of a signal that arrives before the parent took the question ends the call with EINTR,
unless it was installed with SA_RESTART, as signal(3) does. Compilers have none; a shell with
several jobs may say that it cannot fork.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import select
import socket
import struct
import subprocess
import sys
from pathlib import Path

from grader.sandbox import seccomp
from grader.sandbox.paths import import_path, interpreter_file

SYS_SECCOMP = {"x86_64": 317, "aarch64": 277, "arm64": 277}
SET_MODE_FILTER, GET_ACTION_AVAIL = 1, 2
NEW_LISTENER, WAIT_KILLABLE_RECEIVED = 1 << 3, 1 << 5
USER_NOTIF = 0x7FC00000
# struct seccomp_notif: id(u64) pid(u32) flags(u32) seccomp_data(64); the answer: id(u64) val(s64)
# error(s32) flags(u32).
QUESTION_BYTES = 80
ANSWER = struct.Struct("<QqiI")
GO_ON = 1  # SECCOMP_USER_NOTIF_FLAG_CONTINUE; the flags of a clone are in a register, not in memory
RECEIVE, SEND = 0xC0502100, 0xC0182101
HERE = b"L"
PROBE_SECONDS = 10


def missing() -> str | None:
    """Why forks cannot be asked about here, or None."""
    if reason := seccomp.missing():
        return reason
    action = ctypes.c_uint32(USER_NOTIF)
    number = SYS_SECCOMP[platform.machine()]
    if ctypes.CDLL(None).syscall(number, GET_ACTION_AVAIL, 0, ctypes.byref(action)):
        return "the kernel cannot hand system calls over (before 5.0)"
    status = Path("/proc/self/status").read_text(errors="replace")
    # A process tree can have one listener only, and a container's engine may be it.
    return _refused() if "\nSeccomp:\t2" in status else None


def _refused() -> str | None:
    """Why a child here gets no listener, or None after one did."""
    code = (
        f"import sys; sys.path[:] = {import_path()!r}\n"
        "from grader.sandbox import confine, forks\nconfine.no_new_privileges()\nforks.listen()"
    )
    words = [interpreter_file(), "-I", "-S", "-c", code]
    done = subprocess.run(words, capture_output=True, timeout=PROBE_SECONDS, check=False)
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return said[-1][:200] if done.returncode and said else None


def listen() -> int:
    """The child's side: from now on every fork asks; the descriptor is what the parent hears by.

    The caller must have set no_new_privs. Raises OSError where the kernel refuses.
    """
    packed = seccomp.packed(seccomp.asking(platform.machine(), USER_NOTIF))
    libc = ctypes.CDLL(None, use_errno=True)
    number = SYS_SECCOMP[platform.machine()]
    for flags in (NEW_LISTENER | WAIT_KILLABLE_RECEIVED, NEW_LISTENER):  # the first since 5.19
        fd: int = libc.syscall(number, SET_MODE_FILTER, flags, ctypes.byref(packed))
        if fd >= 0:
            break
    else:
        code = ctypes.get_errno()
        raise OSError(code, f"asking before each fork: {os.strerror(code)}")
    os.set_inheritable(fd, False)
    return fd


def hand_over(listener: int, channel_fd: int) -> None:
    """The child's side: give `listener` to the parent through the socket `channel_fd`."""
    with socket.socket(fileno=os.dup(channel_fd)) as channel:
        socket.send_fds(channel, [HERE], [listener])
    os.close(listener)


def taken_over(channel_fd: int) -> int | None:
    """The parent's side: the descriptor that a child handed over, or None where it did not."""
    with socket.socket(fileno=os.dup(channel_fd)) as channel:
        try:
            _, fds, _, _ = socket.recv_fds(channel, 1, 1)
        except OSError:
            return None
    return fds[0] if fds else None


def asked(listener: int) -> int | None:
    """The parent's side: the number of a question that is waiting, or None where none is.

    Never blocks. Raises OSError where nobody is left who could ask.
    """
    ready = select.poll()
    ready.register(listener, select.POLLIN)
    events = ready.poll(0)
    if not events:
        return None
    if not events[0][1] & select.POLLIN:  # asking for a question then blocks on older kernels
        raise OSError(errno.EPIPE, os.strerror(errno.EPIPE))
    question = bytearray(QUESTION_BYTES)
    try:
        fcntl.ioctl(listener, RECEIVE, question)
    except OSError as error:
        # Whoever asked was interrupted, or ended, between the poll and now.
        if error.errno in (errno.ENOENT, errno.EINTR):
            return None
        raise
    return int.from_bytes(question[:8], sys.byteorder)


def allow(listener: int, number: int) -> None:
    """The parent's side: let the call of question `number` go on."""
    answer = bytearray(ANSWER.pack(number, 0, 0, GO_ON))
    try:
        fcntl.ioctl(listener, SEND, answer)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EINPROGRESS):
            raise
