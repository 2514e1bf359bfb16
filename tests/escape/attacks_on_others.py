"""Attacks on others: processes, their memory and secrets, the network, the channel to the parent.

Jobs for code that already runs in a child and wants out. Each replies `{"got": [...]}`, what it
achieved: an empty list when it was held. A docstring says the attack and why it must fail.
`request["canary"]` is a file outside that only the parent may know, `request["parent"]` a pid
outside.
"""

# The attacks are on system calls, so they name the calls.
from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

from loot import Loot


def network(request, blobs):
    """Attack: any socket at all, to send the submission of others home.
    Why it must fail: there is no system call left that makes a socket."""
    loot = Loot()
    for name in ("AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            loot.grab(name, socket.socket, getattr(socket, name), kind)
    loot.grab("pair", socket.socketpair)
    return loot.reply


def start_processes(request, blobs):
    """Attack: fork, vfork, clone, spawn or execute something.
    Why it must fail: a job with `processes=0` may only make threads; clone3, whose flags a filter
    cannot see, does not exist for it."""
    loot = Loot()
    loot.grab("fork", os.fork)
    loot.grab("spawn", os.posix_spawn, "/bin/true", ["true"], {})
    loot.grab("run", subprocess.run, ["/bin/true"])
    loot.grab("exec", os.execv, "/bin/true", ["true"])
    loot.syscall("clone", (56, 220), signal.SIGCHLD, 0, 0, 0, 0)
    loot.syscall("clone with VM", (56, 220), 0x100 | signal.SIGCHLD, 0, 0, 0, 0)
    loot.syscall("vfork", (58, None))
    loot.syscall("clone3", (435, 435), ctypes.create_string_buffer(88), 88)
    thread = threading.Thread(target=lambda: None)
    thread.start()  # honest work goes on
    thread.join()
    return loot.reply


def give_children_away(request, blobs):
    """Attack: CLONE_PARENT makes the grader's process the parent, who never waits for it.
    Why it must fail: the flag is refused."""
    loot = Loot()
    loot.syscall("clone", (56, 220), 0x8000 | signal.SIGCHLD, 0, 0, 0, 0)
    return loot.reply


def leave_the_group(request, blobs):
    """Attack: a session or group of its own, so that killing the group misses it.
    Why it must fail: setsid and setpgid are not on the list."""
    loot = Loot()
    loot.syscall("setsid", (112, 157))
    loot.syscall("setpgid", (109, 154), 0, 0)
    return loot.reply


def signal_others(request, blobs):
    """Attack: stop or kill the grader, the warm process, everybody.
    Why it must fail: a signal may go to the process itself only, in each of its six ways."""
    loot, others = Loot(), _others(request)
    for pid in (*others, 1, -1):
        loot.grab(f"kill {pid}", os.kill, pid, 0)
    loot.grab("kill group", os.killpg, os.getpgid(request["parent"]), 0) if _alive(request) else 0
    for pid in others:
        loot.syscall("tgkill", (234, 131), pid, pid, 0)
        loot.syscall("tkill", (200, 130), pid, 0)
        loot.syscall("sigqueue", (129, 138), pid, 0, 0)
        loot.syscall("pidfd_open", (434, 434), pid, 0)
        read, write = os.pipe()
        loot.grab("F_SETOWN", fcntl.fcntl, read, fcntl.F_SETOWN, pid)
        loot.grab("F_SETSIG", fcntl.fcntl, read, 10, signal.SIGKILL)
        owner = struct.pack("ii", 1, pid)
        loot.grab("F_SETOWN_EX", fcntl.fcntl, read, 15, owner)
        os.close(read)
        os.close(write)
    return loot.reply


def _others(request):
    # In a namespace of its own the attack may have the very number of the grader outside.
    return {request["parent"], os.getppid()} - {os.getpid()}


def _alive(request):
    with contextlib.suppress(OSError):
        os.getpgid(request["parent"])
        return True
    return False


def starve_others(request, blobs):
    """Attack: lower the grader's limits and priority so that it dies or crawls.
    Why it must fail: the calls that take a pid are refused unless it is the caller's own."""
    loot, others = Loot(), _others(request)
    limits = struct.pack("QQ", 0, 0)
    for pid in others:
        loot.syscall("prlimit64", (302, 261), pid, resource.RLIMIT_CPU, limits, 0)
        loot.syscall("read prlimit64", (302, 261), pid, resource.RLIMIT_CPU, 0, limits)
        loot.syscall("setpriority", (141, 140), 0, pid, 19)
        loot.syscall("ioprio_set", (251, 30), 1, pid, 3 << 13)
        loot.syscall("sched_setaffinity", (203, 122), pid, 8, struct.pack("Q", 1))
        loot.syscall("sched_setscheduler", (144, 119), pid, 5, struct.pack("i", 0))
    return loot.reply


def read_others_memory(request, blobs):
    """Attack: find expected outputs in the memory of the parent or the warm process.
    Why it must fail: ptrace and process_vm_* are refused, and /proc is not readable."""
    loot = Loot()
    buffer = ctypes.create_string_buffer(64)
    for pid in (request["parent"], os.getppid()):
        for name in ("mem", "environ", "maps", "cmdline", "stack", "auxv"):
            loot.grab(name, Path(f"/proc/{pid}/{name}").read_bytes)
        loot.grab("fds", os.listdir, f"/proc/{pid}/fd")
        loot.syscall("attach", (101, 117), 16, pid, 0, 0)
        loot.syscall("seize", (101, 117), 0x4206, pid, 0, 0)
        loot.syscall("process_vm_readv", (310, 270), pid, buffer, 1, buffer, 1, 0)
        loot.syscall("process_vm_writev", (311, 271), pid, buffer, 1, buffer, 1, 0)
        loot.syscall("kcmp", (312, 272), pid, os.getpid(), 0, 0, 0)
        loot.syscall("pidfd_getfd", (438, 438), 3, 0, 0)
        loot.syscall("process_madvise", (440, 440), 3, 0, 0, 0, 0)
    return loot.reply


def look_for_secrets(request, blobs):
    """Attack: search environment, command line and open descriptors for the parent's secrets.
    Why it must fail: the environment is made anew, the request comes through a pipe, and every
    descriptor but the three standard ones and the reply pipe is closed."""
    loot = Loot()
    for name, value in os.environ.items():
        if "hunter2" in value:
            loot.got.append(f"{name}={value}")
    with contextlib.suppress(OSError):
        words = Path("/proc/self/cmdline").read_bytes()
        if b"canary" in words or b"hunter2" in words:
            loot.got.append(f"command line {words!r}")
    open_now = []
    for fd in range(1024):
        with contextlib.suppress(OSError):
            os.fstat(fd)
            open_now.append(fd)
    if len(open_now) > 4:
        loot.got.append(f"descriptors {open_now}")
    loot.grab("read standard input", lambda: os.read(0, 10) or 1 / 0) if os.read(0, 10) else 0
    return loot.reply


def type_into_the_terminal(request, blobs):
    """Attack: push characters into the instructor's terminal, to be run by their shell.
    Why it must fail: no controlling terminal, no /dev/tty, and the ioctl is refused."""
    loot = Loot()
    for path in ("/dev/tty", "/dev/console", "/dev/pts/0"):
        loot.grab(path, os.open, path, os.O_RDWR)
    for request_code in (0x5412, 0x541C):
        loot.grab(hex(request_code), fcntl.ioctl, 0, request_code, b"x")
    return loot.reply


def babble_on_the_channel(request, blobs):
    """Attack: write to the reply pipe beside the job, and go on after the job returned.
    Why it must fail: bytes that are no frame void the reply; they never become a verdict."""

    def babble():
        while True:
            for fd in range(3, 64):
                with contextlib.suppress(OSError):
                    os.write(fd, b"GRF1 not a frame at all")
            time.sleep(0.001)

    threading.Thread(target=babble, daemon=True).start()
    time.sleep(0.2)
    return {"got": ["a reply"]}, []
