"""The tokens of PTX text, and its literals (PTX ISA 4.3-4.5)."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grader.vgpu.ptx import Imm, PtxError

_TOKEN = re.compile(
    r"""(?P<ws>[ \t\r]+|//[^\n]*|/\*.*?\*/)
      |(?P<nl>\n)
      |(?P<str>"(?:[^"\\\n]|\\.)*")
      |(?P<float>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
      |(?P<int>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?)
      |(?P<id>[A-Za-z_$%][\w$]*(?:(?:\.|::)[A-Za-z_$\d][\w$]*)*|\.[A-Za-z_][\w:]*(?:\.[\w:]+)*)
      |(?P<op>[{}\[\]();:,@!|+\-*/=<>&~?])""",
    re.VERBOSE | re.DOTALL,
)
_DECLARATIONS = (".reg.", ".shared.", ".local.", ".global.", ".const.", ".param.", ".align.")


@dataclass(slots=True)
class Token:
    kind: str
    text: str
    line: int


def tokens(text: str, names: Mapping[str, str]) -> Iterator[Token]:
    """The tokens of `text`; a symbol in `names` gets the other name."""
    line, pos, size = 1, 0, len(text)
    match = _TOKEN.match
    while pos < size:
        m = match(text, pos)
        if m is None:
            raise PtxError(line, f"unexpected character {text[pos]!r}")
        kind = m.lastgroup or ""
        if kind == "nl":
            yield Token("nl", "\n", line)
            line += 1
        elif kind == "ws":
            line += m.group().count("\n")
        elif m.group().startswith(_DECLARATIONS):  # `.reg.b32 t;`, as inline assembly writes it
            for word in m.group()[1:].split("."):
                yield Token(kind, f".{word}", line)
        else:
            word = m.group()
            yield Token(kind, names.get(word, word), line)
        pos = m.end()
    yield Token("end", "", line)


def parse_int(text: str) -> int:
    """An integer literal of PTX (decimal, hex, octal, binary; `U` suffix)."""
    t = text.rstrip("U")
    if len(t) > 1 and t[0] == "0" and t[1] not in "xXbB":
        return int(t, 8)
    return int(t, 0)


def parse_float(text: str) -> Imm:
    if text[:2] in ("0f", "0F"):
        return Imm(int(text[2:], 16), "f32")
    if text[:2] in ("0d", "0D"):
        return Imm(int(text[2:], 16), "f64")
    return Imm(struct.unpack("<Q", struct.pack("<d", float(text)))[0], "f64")
