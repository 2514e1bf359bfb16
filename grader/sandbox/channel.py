"""The one channel between a parent and its child: bounded, length-prefixed frames over a pipe.

A frame is `magic(4) kind(u8) header(u32) blobs(u32) blob lengths(u64 each)`, little endian, then
the header (a JSON object in UTF-8), then the blobs. Nothing is executed or unpickled on the way,
and every length is checked before a byte of it is kept.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Generator, Sequence
from enum import IntEnum
from typing import Any

from grader.sandbox.records import Frame

MAGIC = b"GRF1"
PREFIX = struct.Struct("<4sBII")
MAX_HEADER_BYTES = 16 << 20
MAX_BLOBS = 4096
MAX_FRAMES = 256
# Over all frames: a JSON value of three bytes becomes an object of fifty and more.
MAX_VALUES = 4_000_000
MAX_DIGITS = 40


class Kind(IntEnum):
    """What a frame means."""

    REQUEST = 0  # parent to child
    EARLY = 1  # child to parent: more will follow
    LAST = 2  # the job returned this
    RAISED = 3  # the job raised; the header's "error" says what
    REFUSED = 4  # the child could not confine itself or start the program; "error" says why


# Yields how many bytes it wants, or a frame; is sent bytes.
Decoder = Generator[int | tuple[Kind, Frame], bytes, None]


class ChannelError(Exception):
    """Bytes that are no frame, or more of them than agreed."""


def encode(kind: Kind, header: dict[str, Any], blobs: Sequence[bytes] = ()) -> list[bytes]:
    """The frame as pieces to write one after the other (blobs are not copied).

    Raises ChannelError when the header or the number of blobs exceeds what a reader accepts, and
    ValueError for a header with an infinity or NaN, which JSON does not have.
    """
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    if len(text) > MAX_HEADER_BYTES or len(blobs) > MAX_BLOBS:
        raise ChannelError(f"a frame of {len(text)} header bytes and {len(blobs)} blobs is too big")
    lengths = [memoryview(blob).nbytes for blob in blobs]
    prefix = PREFIX.pack(MAGIC, kind, len(text), len(blobs))
    return [prefix + struct.pack(f"<{len(blobs)}Q", *lengths) + text, *blobs]


def decoder(max_bytes: int) -> Decoder:
    """A generator that turns pieces of a byte stream into frames.

    It yields how many bytes it wants next; `send` it at most that many. Where a frame is complete
    it yields `(kind, frame)` instead; `send(b"")` then goes on. Raises ChannelError as soon as
    the stream is not what it should be; `max_bytes` bounds the sum over all frames.
    """
    left = max_bytes
    values_left = MAX_VALUES

    def take(count: int) -> Generator[int, bytes, bytes]:
        nonlocal left
        left -= count
        if left < 0:
            raise ChannelError(f"more than the {max_bytes} bytes agreed")
        got = bytearray()
        while len(got) < count:
            got += yield count - len(got)
        return bytes(got)

    for _ in range(MAX_FRAMES):
        prefix = yield from take(PREFIX.size)
        magic, kind, header_bytes, blob_count = PREFIX.unpack(prefix)
        if magic != MAGIC or kind not in set(Kind):
            raise ChannelError("not a frame")
        if header_bytes > MAX_HEADER_BYTES or blob_count > MAX_BLOBS:
            raise ChannelError(f"a frame of {header_bytes} header bytes and {blob_count} blobs")
        lengths: tuple[int, ...] = struct.unpack(
            f"<{blob_count}Q", (yield from take(8 * blob_count))
        )
        if sum(lengths) > left:
            raise ChannelError(f"more than the {max_bytes} bytes agreed")
        text = yield from take(header_bytes)
        values_left -= sum(map(text.count, (b",", b"[", b"{")))
        if values_left < 0:
            raise ChannelError(f"more than {MAX_VALUES} values")
        header = _object(text)
        blobs: list[bytes] = []
        for length in lengths:
            blobs.append((yield from take(length)))
        yield Kind(kind), Frame(header, tuple(blobs))
    raise ChannelError(f"more than {MAX_FRAMES} frames")


def _object(text: bytes) -> dict[str, Any]:
    try:
        # Decoded here: from bytes, json takes UTF-16 too, and halves of surrogate pairs.
        header = json.loads(
            text.decode(), parse_constant=_refuse, parse_float=_finite, parse_int=_of_a_machine
        )
        if b"\\ud" in text or b"\\uD" in text:
            # Half of a surrogate pair is a string that nothing can write again.
            json.dumps(header, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ChannelError(f"a header that is not JSON: {type(error).__name__}") from None
    if not isinstance(header, dict):
        raise ChannelError("a header that is not a JSON object")
    return header


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    value = float(text)  # 1e999 is JSON, and infinite
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number that is too large")
    return value


def _of_a_machine(text: str) -> int:
    if len(text) > MAX_DIGITS:  # no float holds it, and formatting it takes for ever
        raise ValueError("a number that is too long")
    return int(text)


def read_frame(fd: int) -> Frame:
    """Read one frame from a blocking descriptor, and not a byte more (the child's side)."""
    frames = decoder(max_bytes=1 << 62)
    wanted = next(frames)
    while isinstance(wanted, int):
        piece = os.read(fd, min(wanted, 1 << 20))
        if not piece:
            raise ChannelError("the parent closed the channel")
        wanted = frames.send(piece)
    return wanted[1]


def write_frame(fd: int, kind: Kind, header: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
    """Write one frame to a blocking descriptor (the child's side)."""
    for piece in encode(kind, header, blobs):
        view = memoryview(piece).cast("B")
        while view:
            view = view[os.write(fd, view[: 1 << 20]) :]
