"""Which source line an instruction of a host program belongs to: `.debug_line`, DWARF 4.

The state machine of DWARF Debugging Information Format 4, section 6.2; clang writes one unit per
object. Only what an ELF file for a 64-bit little-endian machine holds is read.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True)
class Lines:
    """Rows of the line table by address: where each starts, and file and line of it."""

    addresses: tuple[int, ...]
    places: tuple[tuple[str, int] | None, ...]

    def at(self, address: int) -> tuple[str, int] | None:
        """File and line of the instruction at `address`; None outside the program's own code."""
        index = bisect_right(self.addresses, address) - 1
        return self.places[index] if index >= 0 else None


def read(elf: bytes) -> Lines:
    """The line table of an ELF file; empty for one without, or one that is damaged."""
    try:
        rows = sorted(_rows(_section(elf, b".debug_line")), key=lambda row: row[0])
    except (struct.error, IndexError, ValueError):
        rows = []
    return Lines(tuple(row[0] for row in rows), tuple(row[1] for row in rows))


def _section(elf: bytes, name: bytes) -> bytes:
    (headers,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    (strings,) = struct.unpack_from("<Q", elf, headers + names * size + 0x18)
    for k in range(count):
        at = headers + k * size
        (label,) = struct.unpack_from("<I", elf, at)
        start = strings + label
        if elf[start : elf.index(b"\0", start)] == name:
            offset, length = struct.unpack_from("<QQ", elf, at + 0x18)
            return elf[offset : offset + length]
    return b""


class _Bytes:
    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def take(self, form: str) -> int:
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize(form)
        return int(value)

    def text(self) -> str:
        end = self.data.index(b"\0", self.at)
        found = self.data[self.at : end]
        self.at = end + 1
        return found.decode(errors="replace")

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.take("B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self) -> int:
        value = shift = 0
        while True:
            byte = self.take("B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - (1 << shift) if byte & 0x40 else value


Row = tuple[int, tuple[str, int] | None]


def _rows(data: bytes) -> list[Row]:
    rows: list[Row] = []
    at = 0
    while at + 4 <= len(data):
        (length,) = struct.unpack_from("<I", data, at)
        (version,) = struct.unpack_from("<H", data, at + 4)
        if version in (2, 3, 4):
            rows += _unit(_Bytes(data, at + 6), at + 4 + length, version)
        at += 4 + length
    return rows


def _unit(b: _Bytes, end: int, version: int) -> list[Row]:
    header = b.take("I")
    program = b.at + header
    unit = b.take("B")
    if version >= 4:
        b.take("B")  # operations per instruction: 1 but for VLIW
    b.take("B")
    base, span, first = b.take("b"), b.take("B"), b.take("B")
    arguments = [b.take("B") for _ in range(first - 1)]
    while b.text():
        pass
    files = [""]
    while name := b.text():
        files.append(name)
        for _ in range(3):
            b.unsigned()
    b.at = program
    rows: list[Row] = []
    address, file, line = 0, 1, 1

    def row() -> None:
        place = (files[file], line) if line and file < len(files) else None
        rows.append((address, place))

    while b.at < end:
        code = b.take("B")
        if code >= first:
            code -= first
            address += unit * (code // span)
            line += base + code % span
            row()
        elif code == 0:
            size = b.unsigned()
            after = b.at + size
            kind = b.take("B")
            if kind == 1:
                rows.append((address, None))
                address, file, line = 0, 1, 1
            elif kind == 2:
                address = b.take("Q")
            b.at = after
        elif code == 1:
            row()
        elif code == 2:
            address += unit * b.unsigned()
        elif code == 3:
            line += b.signed()
        elif code == 4:
            file = b.unsigned()
        elif code == 8:
            address += unit * ((255 - first) // span)
        elif code == 9:
            address += b.take("H")
        else:
            for _ in range(arguments[code - 1]):
                b.unsigned()
    return rows
