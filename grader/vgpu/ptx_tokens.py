"""The tokens of PTX text, and its literals (PTX ISA 4.3-4.5)."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
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


class Cursor:
    """A place in a list of tokens, the last of which is of kind "end"."""

    def __init__(self, read: Iterable[Token]) -> None:
        self.tokens = list(read)
        self.pos = 0

    def peek(self) -> Token:
        """The next token that is no end of a line; the cursor stays before it."""
        while self.tokens[self.pos].kind == "nl":
            self.pos += 1
        return self.tokens[self.pos]

    def next(self) -> Token:
        """The next token that is no end of a line; the cursor goes behind it."""
        token = self.peek()
        if token.kind != "end":
            self.pos += 1
        return token

    def accept(self, text: str) -> bool:
        """Go behind the next token if it is the operator or word `text`."""
        if self.peek().text == text and self.peek().kind in ("op", "id"):
            self.pos += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        """Go behind the next token, which is `text`; raises PtxError for another."""
        token = self.next()
        if token.text != text:
            raise PtxError(token.line, f"expected {text!r}, found {token.text or 'the end'!r}")
        return token

    def integer(self) -> int:
        """Go behind an integer, with or without a sign; raises PtxError for something else."""
        negative = self.accept("-")
        token = self.next()
        if token.kind != "int":
            raise PtxError(token.line, f"expected an integer, found {token.text or 'the end'!r}")
        value = parse_int(token.text)
        return -value if negative else value

    def rest_of_line(self) -> list[Token]:
        """Go to the end of the line; the tokens up to there."""
        out = []
        while self.tokens[self.pos].kind not in ("nl", "end"):
            out.append(self.tokens[self.pos])
            self.pos += 1
        return out

    def skip_statement(self) -> None:
        """Go behind the next `;`."""
        while self.peek().kind != "end" and self.next().text != ";":
            pass

    def follows(self, text: str) -> bool:
        """Whether the token after the next one is `text`."""
        at = self.pos + 1
        while self.tokens[at].kind == "nl":
            at += 1
        return self.tokens[at].text == text
