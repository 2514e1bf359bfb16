"""Runs a host program and is its device: what the sandboxed run child does.

The program is a process of its own, in the same sandbox: it asks for everything over a pipe
(runtime/host.c), so that whatever it does to itself, the device's records stay true. What it
prints, how it ends and what the device saw go back to the parent.
"""

from __future__ import annotations

import operator
import os
import select
import struct
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grader.devices.virtual_child import made, use_cache
from grader.programs import line_table
from grader.programs.calls import Answer
from grader.programs.device import Device
from grader.programs.device_memory import CARD_BYTES, Site
from grader.programs.launches import Program, program_of
from grader.vgpu import PtxError

REQUEST_FD, REPLY_FD = 100, 101
_REQUEST = struct.Struct("<IIIIQ")
_REPLY = struct.Struct("<iIIIQ")
OPEN_SHARED = 1
MOST = (64, 4096, 16, CARD_BYTES)
"""What a message has: bytes of its name and of its file's, numbers, bytes that follow."""

MOST_COPIED = 1 << 30
"""How many of those are served: a program copies so much at once."""

NONSENSE = (ValueError, OverflowError, IndexError, struct.error)
"""What a message raises that our runtime does not send."""

MOST_REASON = 500
MOST_PRINTED = 1 << 20
MOST_FILES = 64
MOST_WRITTEN = 512 << 20
STUBBORN_SECONDS = 2.0


def run_job(request: dict[str, Any], blobs: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """In the child: run the program to its end."""
    if not use_cache(request["cache"]):
        return {"needs": "runtime"}, []
    data = list(blobs)
    for unit in request["units"]:
        for variant in unit["variants"]:
            variant["ptx"] = data.pop(0).decode()
    unreadable = ""
    try:
        program = program_of(request["units"], linked=request["linked"])
    except PtxError as error:
        unreadable = f"the virtual GPU cannot read the PTX: {error}"
        program = Program((), (), {})
    lines = {name: text.splitlines() for name, text in request["texts"].items()}
    device = Device(program, lines)
    stdin = data.pop(0)
    for buffer in request["given"]:
        content = data.pop(0) if buffer["defined"] else None
        array = None if content is None else np.frombuffer(content, np.uint8)
        device.memory.give(buffer["name"], array, buffer["bytes"], buffer["item"], buffer["role"])
    for name in request["files"]:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.pop(0))
    executable = request["program"]
    table = line_table.read(Path(executable).read_bytes())
    session = _Session(device, table, set(lines))
    outcome: dict[str, Any] = {"ended": "unsupported", "code": -1, "host_seconds": 0.0}
    if unreadable:
        device.refuse(unreadable)
    else:
        outcome = session.run(executable, [request["name"], *request["arguments"]], stdin)
    device.end(outcome["code"])
    outcome["ended"] = device.stopped or outcome["ended"]
    written = _written(request["outputs"])
    fresh, objects = made()
    arrays = _arrays(device, request["given"])
    header = {
        **outcome, **device.summary(), "files": list(written), "fresh": fresh["fresh"],
        "outputs": list(arrays),
    }  # fmt: skip
    pieces = [piece for pair in arrays.values() for piece in pair]
    return header, [
        session.printed[1], session.printed[2], *written.values(), *pieces, *objects
    ]  # fmt: skip


def _arrays(device: Device, given: Sequence[dict[str, Any]]) -> dict[str, tuple[bytes, bytes]]:
    """What the outputs hold at the end, and which of their bytes a kernel wrote, as bits."""
    found = {}
    for buffer in given:
        if buffer["role"] in ("output", "inout"):
            storage = device.memory.given[buffer["name"]].storage
            marks = storage.written if storage.written is not None else np.zeros(0, np.uint8)
            bits = np.packbits(marks[: buffer["bytes"]].astype(bool)).tobytes()
            found[buffer["name"]] = (storage.data.tobytes(), bits)
    return found


def _written(names: Sequence[str]) -> dict[str, bytes]:
    """Files the program was asked to write, up to `MOST_WRITTEN` bytes of them."""
    found = {}
    left = MOST_WRITTEN
    for name in names[:MOST_FILES]:
        path = Path(name)
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                found[name] = file.read(left)
            left -= len(found[name])
    return found


class _Session:
    """One host program, from its start to its end."""

    def __init__(self, device: Device, table: line_table.Lines, files: set[str]) -> None:
        self.device = device
        self.table = table
        self.files = files
        self.printed = {1: b"", 2: b""}
        self.ended = ""
        self.status = 0

    def run(self, executable: str, argv: list[str], stdin: bytes) -> dict[str, Any]:
        """Start it, serve it, wait for it."""
        Path(".stdin").write_bytes(stdin)
        requests_in, requests_out = os.pipe()
        replies_in, replies_out = os.pipe()
        outputs = {1: os.pipe(), 2: os.pipe()}
        source = os.open(".stdin", os.O_RDONLY)
        started = time.perf_counter()
        mine = [requests_in, replies_out, *(pair[0] for pair in outputs.values())]
        actions = [
            (os.POSIX_SPAWN_DUP2, source, 0),
            *((os.POSIX_SPAWN_DUP2, pair[1], fd) for fd, pair in outputs.items()),
            (os.POSIX_SPAWN_DUP2, requests_out, REQUEST_FD),
            (os.POSIX_SPAWN_DUP2, replies_in, REPLY_FD),
        ]
        pid = os.posix_spawn(executable, argv, dict(os.environ), file_actions=actions)
        for fd in (source, requests_out, replies_in, *(pair[1] for pair in outputs.values())):
            os.close(fd)
        readers = [
            threading.Thread(target=self._collect, args=(fd, pair[0]), daemon=True)
            for fd, pair in outputs.items()
        ]
        for reader in readers:
            reader.start()
        over_in, over_out = os.pipe()
        waiter = threading.Thread(target=self._wait, args=(pid, over_out), daemon=True)
        waiter.start()
        self._serve(requests_in, replies_out, over_in)
        for fd in mine[:2]:
            os.close(fd)
        # One that spoke nonsense need not end; whatever is left is killed with the whole group.
        waiter.join(timeout=STUBBORN_SECONDS if self.ended == "odd" else None)
        deadline = time.monotonic() + STUBBORN_SECONDS
        for reader in readers:
            reader.join(timeout=max(0.0, deadline - time.monotonic()))
        code = os.waitstatus_to_exitcode(self.status)
        if code < 0 and not self.ended:
            self.ended = "died"
            self.device.findings.died(None, -code, None, 0)
        return {
            "ended": self.ended or "exited",
            "code": code,
            "host_seconds": time.perf_counter() - started,
        }

    def _wait(self, pid: int, over: int) -> None:
        """Note how the program ended; what it left behind may hold its pipes open for ever."""
        _, self.status = os.waitpid(pid, 0)
        os.close(over)

    def _collect(self, fd: int, source: int) -> None:
        kept = bytearray()
        while piece := os.read(source, 1 << 16):
            kept += piece[: MOST_PRINTED - len(kept)]
            self.printed[fd] = bytes(kept)

    # -- the conversation ----------------------------------------------------------------------

    def _serve(self, source: int, target: int, over: int) -> None:
        """Answer until the program closes its end, or is over and has said nothing more."""
        while (head := _read(source, _REQUEST.size, over)) is not None:
            name_size, file_size, line, count, payload_size = _REQUEST.unpack(head)
            sizes = (name_size, file_size, count, payload_size)
            if any(map(operator.gt, sizes, MOST)):
                self.ended = "odd"
                return
            rest = _read(source, name_size + file_size + 8 * count, over)
            payload = None
            if payload_size <= MOST_COPIED:
                payload = _read(source, payload_size, over)
            elif rest is not None:
                file = rest[name_size : name_size + file_size].decode(errors="replace")
                what = f"a copy of {payload_size >> 20:,} MiB at once"
                self.device.give_up(what, Site(file.removeprefix("./"), line))
                self.ended = "unsupported"
                return
            if rest is None or payload is None:
                return
            name = rest[:name_size].decode(errors="replace")
            file = rest[name_size : name_size + file_size].decode(errors="replace")
            numbers = list(struct.unpack_from(f"<{count}Q", rest, name_size + file_size))
            site = Site(file.removeprefix("./"), line)
            try:
                answer = self._answer(name, site, numbers, payload)
                pieces = [] if answer is None else _packed(answer)
            except NONSENSE:
                self.ended = "odd"
                return
            if not pieces or not _write(target, pieces):
                return
            if self.device.stopped:
                self.ended = self.device.stopped
                return

    def _answer(self, name: str, site: Site, numbers: list[int], payload: bytes) -> Answer | None:
        """What a message is answered with; None for the last one of a program.

        Raises one of `NONSENSE` for one that our runtime does not send.
        """
        if name == "asserted":
            self.ended = "died"
            self.device.findings.asserted(site, payload.decode(errors="replace"))
            return None
        if name in ("died", "aborted"):
            self._died(name, numbers)
            return None
        if name == "missing":
            what = payload.decode(errors="replace")[:MOST_REASON]
            known = site if site.file in self.files else None
            self.device.give_up(what, self._place(numbers) or known)
            self.ended = "unsupported"
            return None
        if name == "touched":
            self.device.touched(numbers[1], self._place(numbers[3:]), atomically=numbers[2] > 0)
            return Answer()
        return self.device.call(name, site, numbers, payload)

    def _died(self, name: str, numbers: list[int]) -> None:
        self.ended = "died"
        if name == "aborted":
            self.device.findings.died(self._place(numbers[3:]), 6, None, 0)
            return
        number, address = numbers[0], numbers[1]
        found = self.device.memory.at(address) if number == 11 else None
        variable = self.device.memory.variable_at(address) if number == 11 else None
        label = found.name if found else variable.name if variable else None
        site = self._place(numbers[3:])
        if found is not None and found.freed is not None:
            self.device.findings.used_after_free("the host", site or found.site, found)
            return
        self.device.findings.died(site, number, label, address, full_stack=numbers[2] > 0)

    def _place(self, addresses: list[int]) -> Site | None:
        """The innermost place in the program's own files."""
        for address in addresses:
            place = self.table.at(address)
            if place is not None and place[0].removeprefix("./") in self.files:
                return Site(place[0].removeprefix("./"), place[1])
        return None


def _packed(answer: Answer) -> list[bytes]:
    """An answer as it goes through the pipe. Raises struct.error for numbers that no call has."""
    text = answer.text.encode()
    flags = OPEN_SHARED if answer.opens else 0
    head = _REPLY.pack(answer.status, len(answer.numbers), len(text), flags, len(answer.payload))
    values = struct.pack(f"<{len(answer.numbers)}Q", *answer.numbers)
    return [head, values, text, answer.payload]


def _read(fd: int, size: int, over: int) -> bytes | None:
    pieces = bytearray()
    while len(pieces) < size:
        if fd not in select.select([fd, over], [], [])[0]:
            return None
        piece = os.read(fd, min(size - len(pieces), 1 << 20))
        if not piece:
            return None
        pieces += piece
    return bytes(pieces)


def _write(fd: int, pieces: Sequence[bytes]) -> bool:
    for piece in pieces:
        view = memoryview(piece)
        while view:
            try:
                view = view[os.write(fd, view[: 1 << 20]) :]
            except BrokenPipeError:
                return False
    return True
