"""Device printf: records of the runtime to text (CUDA guide, Formatted Output)."""

from __future__ import annotations

import re
import struct

_CONVERSION = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|z|j|t|L)?([a-zA-Z%])")
_MARK = 0xFFFFFFFF


def format_text(data: bytes) -> tuple[str, str | None]:
    """The printed text, and the message of a failed assertion."""
    out: list[str] = []
    assertion = None
    at = 0
    while at + 8 <= len(data):
        length, size = struct.unpack_from("<II", data, at)
        at += 8
        if length == _MARK:
            assertion = data[at : at + size].decode(errors="replace")
            at += size
            continue
        form = data[at : at + length].decode(errors="replace")
        arguments = data[at + length : at + length + size]
        at += length + size
        text, at = _format(form, arguments, data, at)
        out.append(text)
    return "".join(out), assertion


def _format(form: str, arguments: bytes, data: bytes, at: int) -> tuple[str, int]:
    """One call; strings for %s lie behind the record, from `at`."""
    place = 0

    def take(width: int, code: str) -> int | float:
        nonlocal place
        place = (place + width - 1) // width * width
        if place + width > len(arguments):
            return 0
        value = struct.unpack_from(code, arguments, place)[0]
        place += width
        return value  # type: ignore[no-any-return]

    def one(m: re.Match[str]) -> str:
        nonlocal at
        flags, width, precision, length, kind = m.groups()
        if kind == "%":
            return "%"
        if width == "*":
            width = str(take(4, "<i"))
        if precision == "*":
            precision = str(take(4, "<i"))
        spec = "%" + flags + (width or "") + (f".{precision}" if precision is not None else "")
        wide = length in ("l", "ll", "z", "j", "t")
        if kind in "di":
            return (spec + "d") % take(8 if wide else 4, "<q" if wide else "<i")
        if kind in "uxXo":
            number = take(8 if wide else 4, "<Q" if wide else "<I")
            return (spec + ("d" if kind == "u" else kind)) % number
        if kind in "fFeEgGaA":
            number = take(8, "<d")
            return float(number).hex() if kind in "aA" else (spec + kind) % number
        if kind == "c":
            return (spec + "s") % chr(int(take(4, "<i")) & 0xFF)
        if kind == "p":
            return (spec + "s") % hex(int(take(8, "<Q")))
        if kind == "s":
            take(8, "<Q")
            if at + 4 > len(data):
                return ""
            (n,) = struct.unpack_from("<I", data, at)
            text = data[at + 4 : at + 4 + n].decode(errors="replace")
            at += 4 + n
            return (spec + "s") % text
        return m.group()

    return _CONVERSION.sub(one, form), at
