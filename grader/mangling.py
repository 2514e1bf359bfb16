"""Names of functions in PTX: the Itanium C++ ABI, as far as a kernel's own name goes."""

from __future__ import annotations

import re

_LENGTH = re.compile(r"\d+")


def function_name(symbol: str) -> str:
    """`vec_add` of `_Z7vec_addPKfS0_Pfi`, `b` of `_ZN1a1bEv`; a plain symbol is its own name.

    Namespaces, template arguments and parameter types are left out (Itanium C++ ABI, 5.1).
    """
    if not symbol.startswith("_Z"):
        return symbol
    rest = symbol[2:]
    nested = rest.startswith("N")
    rest = rest.removeprefix("N").removeprefix("L")
    name = symbol
    while found := _LENGTH.match(rest):
        length = int(found[0])
        start = found.end()
        name, rest = rest[start : start + length], rest[start + length :].removeprefix("L")
        if not nested:
            break
    return name
