"""The warm process itself: imports, waits, forks, reports; it never reads a request.

One loop over three kinds of news: the parent wants a child (a byte with four descriptors: request,
reply, output, status), a child ended (SIGCHLD), the parent wants a child ended (any byte on its
status socket, or its end). A child is reaped only after its whole group was killed, and only here,
so a pid that is killed is always the child's. What
the child made itself becomes this process's, and is waited for before the parent hears of the end.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import selectors
import signal
import socket
import struct
import sys

from grader.sandbox import orphans
from grader.sandbox.child import main

READY = b"ready"
BORN = b"b"  # from the child itself, so that the kernel says its pid beside it
ENDED = struct.Struct("<id")  # exit status (negative: a signal) and CPU seconds


def launch() -> None:
    """Entry of a freshly started interpreter: control descriptor, then modules to import.

    `module:function:argument` also calls the function with that text.
    """
    orphans.adopt()
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    gc.disable()  # imports leave next to no garbage, and looking for it takes a tenth of their time
    try:
        for word in sys.argv[2:]:
            name, _, call = word.partition(":")
            function, _, argument = call.partition(":")
            module = importlib.import_module(name)
            if function:
                getattr(module, function)(argument)
    except Exception as error:
        control.send(f"{type(error).__name__}: {error}"[:4096].encode())
        return
    gc.freeze()  # forked children then do not copy every page that holds a reference count
    control.send(READY)
    _serve(control)


def _serve(control: socket.socket) -> None:
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_read, False)
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    selector.register(wake_read, selectors.EVENT_READ)
    children: dict[int, socket.socket] = {}
    while True:
        for key, _ in selector.select():
            if key.fileobj is control:
                byte, fds, _, _ = socket.recv_fds(control, 1, 4)
                if not byte:
                    for pid in children:
                        _kill(pid)
                    return
                pid, status = _fork(fds)
                children[pid] = status
                selector.register(status, selectors.EVENT_READ, pid)
            elif key.fileobj is wake_read:
                with contextlib.suppress(BlockingIOError):
                    os.read(wake_read, 4096)
            elif key.data in children:
                _kill(key.data)
                if not _received(children[key.data]):
                    selector.unregister(children[key.data])
        for pid in [pid for pid in children if _has_ended(pid)]:
            status = children.pop(pid)
            _kill(pid)
            _, code, use = os.wait4(pid, 0)
            orphans.end(pid)
            with contextlib.suppress(OSError):
                cpu_seconds = use.ru_utime + use.ru_stime
                status.send(ENDED.pack(os.waitstatus_to_exitcode(code), cpu_seconds))
            with contextlib.suppress(KeyError):
                selector.unregister(status)
            status.close()


def _fork(fds: list[int]) -> tuple[int, socket.socket]:
    request_fd, reply_fd, output_fd, status_fd = fds
    status = socket.socket(fileno=status_fd)
    pid = os.fork()
    if pid == 0:
        try:
            gc.enable()
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.dup2(output_fd, 1)
            os.dup2(output_fd, 2)
            status.send(BORN)
            main(request_fd, reply_fd)
        finally:
            os._exit(1)
    for fd in (request_fd, reply_fd, output_fd):
        os.close(fd)
    return pid, status


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _received(status: socket.socket) -> bytes:
    try:
        return status.recv(64)
    except OSError:
        return b""


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        # Not yet the leader of a group: it was forked a moment ago.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
