"""Reads TOML and remembers on which line each key stands.

`tomllib` gives values without positions, and a message about a mistake of form has to name its
line. `read` lets `tomllib` decide what is valid, then walks the same text once for the lines.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from grader.errors import GradeError

Path = tuple[str | int, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}
_AT_LINE = re.compile(r" \(at line (\d+), column (\d+)\)$")


class TomlError(GradeError):
    """The text is no TOML: `line` is where reading stopped (1-based), 0 when not known."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


MOST_PARTS = 32
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_PARTS}}}")
"""A dotted key that nobody wrote by hand: `tomllib` takes the square of its parts in time."""


def read(text: str) -> tuple[dict[str, Any], dict[Path, int]]:
    """Values of a TOML text, and the 1-based line of each key and table.

    A path holds table names and, for arrays of tables, 0-based positions:
    `("kernel", 0, "file", 1, "path")`. Raises TomlError.
    """
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise TomlError(line, f"a key of more than {MOST_PARTS} parts")
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        message = _AT_LINE.sub("", str(error)).removesuffix(" (at end of document)")
        last = text.count("\n") + 1
        raise TomlError(int(found[1]) if found else last, message) from None
    except RecursionError:
        raise TomlError(0, "nested too deeply") from None
    except ValueError as error:  # an integer with more digits than Python converts, an odd date
        raise TomlError(0, str(error)) from None
    return values, _Walk(text).lines()


class _Walk:
    """One pass over text that `tomllib` accepted, so every construct is known to be closed."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.at = 0
        self.line = 1
        self.found: dict[Path, int] = {}
        self.last: dict[Path, int] = {}

    def lines(self) -> dict[Path, int]:
        table: Path = ()
        while True:
            self._blank()
            if self.at >= len(self.text):
                return self.found
            line = self.line
            if self.text.startswith("[[", self.at):
                self.at += 2
                named = self._key()
                inner = self._resolve(named[:-1])
                array = (*inner, named[-1])
                self.last[array] = self.last.get(array, -1) + 1
                table = (*array, self.last[array])
                self.found.setdefault(array, line)
                self.found[table] = line
                self.at += 2
            elif self.text[self.at] == "[":
                self.at += 1
                table = self._resolve(self._key())
                self.found.setdefault(table, line)
                self.at += 1
            else:
                self._pair(table)

    def _resolve(self, named: Path) -> Path:
        """Puts the last position behind each name that is an array of tables."""
        path: Path = ()
        for name in named:
            path = (*path, name)
            if path in self.last:
                path = (*path, self.last[path])
        return path

    def _pair(self, table: Path) -> None:
        line = self.line
        key = self._key()
        for depth in range(1, len(key) + 1):
            self.found.setdefault((*table, *key[:depth]), line)
        self.at += 1  # the "="
        self._space()
        self._value((*table, *key))

    def _key(self) -> Path:
        parts: list[str | int] = []
        while True:
            self._space()
            if self.text[self.at] in "\"'":
                parts.append(self._string())
            else:
                bare = _BARE.match(self.text, self.at)
                assert bare is not None
                parts.append(bare[0])
                self.at = bare.end()
            self._space()
            if not self.text.startswith(".", self.at):
                return tuple(parts)
            self.at += 1

    def _value(self, path: Path) -> None:
        first = self.text[self.at]
        if first in "\"'":
            self._string()
        elif first == "[":
            self.at += 1
            position = 0
            while self._next("]"):
                self.found[(*path, position)] = self.line
                self._value((*path, position))
                position += 1
        elif first == "{":
            self.at += 1
            while self._next("}"):
                self._pair(path)
        else:  # a number, a boolean or a date
            while self.at < len(self.text) and self.text[self.at] not in ",]}#\n":
                self.at += 1

    def _next(self, end: str) -> bool:
        """Steps over commas and blanks; False behind the closing bracket."""
        self._blank()
        if self.text[self.at] == ",":
            self.at += 1
            self._blank()
        if self.text[self.at] == end:
            self.at += 1
            return False
        return True

    def _string(self) -> str:
        quote = self.text[self.at]
        fence = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        start = self.at = self.at + len(fence)
        while not self.text.startswith(fence, self.at):
            step = 2 if quote == '"' and self.text[self.at] == "\\" else 1
            self.line += self.text.count("\n", self.at, self.at + step)
            self.at += step
        body = self.text[start : self.at]
        self.at += len(fence)
        while len(fence) == 3 and self.text.startswith(quote, self.at):
            self.at += 1  # up to two quotes may stand before the closing fence
        return _unescape(body) if quote == '"' else body

    def _space(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def _blank(self) -> None:
        """Steps over blanks, line ends and comments."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif char in " \t\n":
                self.line += char == "\n"
                self.at += 1
            else:
                return


def _unescape(body: str) -> str:
    """A basic string as a key: keys stand on one line, so only the simple escapes matter."""

    def character(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code[1:], 16)) if code[0] in "uUx" else _ESCAPES.get(code, code)

    return re.sub(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}|.)", character, body)
