"""Local arrays inside a function's depot, from the debug information of an unoptimised build.

PTX gives a function one local depot; only DWARF (version 2 to 4, .debug_info and .debug_abbrev as
NVRTC -G and clang -g write them) says which array lies where in it and how long it is.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from grader.vgpu.ptx import Ptx, PtxError
from grader.vgpu.ptx_tokens import parse_int

# DWARF 4, figures 18-20: tags, attributes, forms and operations that are read here.
ARRAY, STRUCT, TYPEDEF, SUBRANGE, VARIABLE = 0x01, 0x13, 0x16, 0x21, 0x34
CONST, VOLATILE, BASE, UNION, CLASS, POINTER, ENUM = 0x26, 0x35, 0x24, 0x17, 0x02, 0x0F, 0x04
NAME, LOCATION, BYTE_SIZE, COUNT, UPPER_BOUND, TYPE = 0x03, 0x02, 0x0B, 0x37, 0x2F, 0x49
OP_ADDR, OP_PLUS = 0x03, 0x23
WIDTHS = {".b8": 1, ".b16": 2, ".b32": 4, ".b64": 8}


@dataclass(frozen=True, slots=True)
class LocalVariable:
    """A variable of a depot: its name, byte offset and size in bytes."""

    name: str
    offset: int
    size: int


@dataclass(slots=True)
class _Die:
    tag: int
    values: dict[int, object]
    children: list[int]


class _Stream:
    """Bytes of a section, with the symbols that stand for addresses."""

    def __init__(self, tokens: list[str]) -> None:
        self.data = bytearray()
        self.symbols: dict[int, str] = {}
        width = 1
        previous = ""
        for token in tokens:
            before, previous = previous, token
            if before in ("+", "-"):
                continue  # an offset added to the symbol before it
            if token in WIDTHS:
                width = WIDTHS[token]
            elif token[0].isdigit():
                self.data += (parse_int(token) & ((1 << 8 * width) - 1)).to_bytes(width, "little")
            elif token[0] in "._$%" or token[0].isalpha():
                self.symbols[len(self.data)] = token
                self.data += bytes(width)
        self.at = 0

    def fixed(self, n: int) -> int:
        value = int.from_bytes(self.data[self.at : self.at + n], "little")
        self.at += n
        return value

    def uleb(self) -> int:
        value = shift = 0
        while True:
            byte = self.fixed(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80 or shift > 63:
                return value

    def text(self) -> str:
        end = self.data.index(0, self.at)
        out = self.data[self.at : end].decode(errors="replace")
        self.at = end + 1
        return out


def local_variables(ptx: Ptx) -> dict[str, tuple[LocalVariable, ...]]:
    """Arrays and structures by depot; empty without debug information that can be read."""
    found: dict[str, tuple[LocalVariable, ...]] = {}
    for module in ptx.linked or (ptx,):
        with contextlib.suppress(IndexError, KeyError, ValueError, PtxError, RecursionError):
            found.update(_read(module))
    return found


def _read(ptx: Ptx) -> dict[str, tuple[LocalVariable, ...]]:
    if ".debug_info" not in ptx.sections or ".debug_abbrev" not in ptx.sections:
        return {}
    shapes = _abbreviations(_Stream(ptx.sections[".debug_abbrev"]))
    info = _Stream(ptx.sections[".debug_info"])
    dies = _dies(info, shapes)
    out: dict[str, list[LocalVariable]] = {}
    for die in dies.values():
        if die.tag != VARIABLE or LOCATION not in die.values:
            continue
        found = die.values[LOCATION]
        if not isinstance(found, tuple):
            continue
        depot, offset = found
        size = _size(dies, die.values.get(TYPE), array_only=True)
        if size:
            name = str(die.values.get(NAME, "")) or "local array"
            out.setdefault(depot, []).append(LocalVariable(name, offset, size))
    return {depot: tuple(sorted(v, key=lambda x: x.offset)) for depot, v in out.items()}


def _abbreviations(s: _Stream) -> dict[int, tuple[int, bool, list[tuple[int, int]]]]:
    out = {}
    while s.at < len(s.data):
        code = s.uleb()
        if code == 0:
            break
        tag, children = s.uleb(), bool(s.fixed(1))
        attributes = []
        while True:
            attribute, form = s.uleb(), s.uleb()
            if attribute == form == 0:
                break
            attributes.append((attribute, form))
        out[code] = (tag, children, attributes)
    return out


def _dies(
    s: _Stream, shapes: dict[int, tuple[int, bool, list[tuple[int, int]]]]
) -> dict[int, _Die]:
    out: dict[int, _Die] = {}
    s.at = 4 + 2 + 4 + 1  # length, version, abbreviations, address size
    parents: list[int] = []
    while s.at < len(s.data):
        start = s.at
        code = s.uleb()
        if code == 0:
            if not parents:
                break
            parents.pop()
            continue
        tag, children, attributes = shapes[code]
        values: dict[int, object] = {}
        for attribute, form in attributes:
            value = _value(s, form)
            values.setdefault(attribute, value)
        out[start] = _Die(tag, values, [])
        if parents:
            out[parents[-1]].children.append(start)
        if children:
            parents.append(start)
    return out


def _value(s: _Stream, form: int) -> object:
    """One attribute value; a block that names a depot becomes (depot, offset)."""
    if form == 0x08:
        return s.text()
    if form in (0x0A, 0x18, 0x03, 0x04, 0x09):
        size = {0x0A: 1, 0x03: 2, 0x04: 4}.get(form, 0)
        n = s.fixed(size) if size else s.uleb()
        return _expression(s, n)
    if form in (0x0F, 0x0D, 0x15):
        return s.uleb()
    if form == 0x19:
        return 1
    widths = {
        0x01: 8, 0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x0C: 1, 0x0E: 4, 0x10: 4, 0x11: 1, 0x12: 2,
        0x13: 4, 0x14: 8, 0x17: 4,
    }  # fmt: skip
    return s.fixed(widths[form])


def _expression(s: _Stream, n: int) -> object:
    end = s.at + n
    found: object = None
    if n >= 9 and s.data[s.at] == OP_ADDR and s.at + 1 in s.symbols:
        symbol = s.symbols[s.at + 1]
        s.at += 9
        offset = 0
        if s.at < end and s.data[s.at] == OP_PLUS:
            s.at += 1
            offset = s.uleb()
        if symbol.startswith("__local_depot"):
            found = (symbol, offset)
    s.at = end
    return found


def _size(dies: dict[int, _Die], ref: object, *, array_only: bool) -> int:
    """Size of a type in bytes; 0 for what is not an array or structure when only those count."""
    if not isinstance(ref, int) or ref not in dies:
        return 0
    die = dies[ref]
    if die.tag in (TYPEDEF, CONST, VOLATILE):
        return _size(dies, die.values.get(TYPE), array_only=array_only)
    if die.tag == ARRAY:
        n = 1
        for child in die.children:
            sub = dies[child]
            if sub.tag != SUBRANGE:
                continue
            count, upper = sub.values.get(COUNT), sub.values.get(UPPER_BOUND)
            if isinstance(count, int):
                n *= count
            elif isinstance(upper, int):
                n *= upper + 1
            else:
                return 0
        return n * _size(dies, die.values.get(TYPE), array_only=False)
    if array_only and die.tag not in (STRUCT, UNION, CLASS):
        return 0
    if die.tag == POINTER:
        return 8
    size = die.values.get(BYTE_SIZE, 0)
    return size if isinstance(size, int) else 0
