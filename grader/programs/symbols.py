"""What a host object says of kernels: which it launches, and how C++ spells each.

Clang's intermediate language registers every kernel under its device symbol, and its debug
information has the C++ name with template arguments and scope.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grader.mangling import function_name

_REGISTERED = re.compile(
    r"call i32 @__cudaRegisterFunction\(ptr [^,]+, "
    r"ptr [\w ]*@(\"[^\"]+\"|[\w$.]+), ptr [\w ]*@(\d+),"
)
_STRING = re.compile(
    r'^@(\d+) = [^\n]*constant \[\d+ x i8\] c"((?:[^"\\]|\\..)*)\\00"', re.MULTILINE
)
_FUNCTION = re.compile(
    r'DISubprogram\(name: "([^"]*)", linkageName: "([^"]*)", scope: !(\d+)', re.MULTILINE
)
_NAMESPACE = re.compile(
    r'^!(\d+) = !DINamespace\((?:name: "([^"]*)", )?scope: (null|!(\d+))', re.MULTILINE
)
_EXTERN = re.compile(r'^(@(?:"[^"]+"|[\w$.]+)) = external (?:dso_local )?global ', re.MULTILINE)
_OWN = re.compile(
    r'^(@(?:"[^"]+"|[\w$.]+)) = internal (global [^\n]* (?:undef|poison)(?:, |$))', re.MULTILINE
)
_LONG = str.maketrans("ml", "yx")
_LAMBDA = re.compile(r"\(lambda at (?:\./)?(?P<file>[^()]+?):(?P<line>\d+):\d+\)")


def launched(code: str) -> dict[str, str]:
    """The device symbol of every kernel that `code` (LLVM text) registers, and its C++ name."""
    strings = dict(_STRING.findall(code))
    scopes = {number: (name, outer) for number, name, _, outer in _NAMESPACE.findall(code)}
    names: dict[str, str] = {}
    for name, symbol, scope in _FUNCTION.findall(code):
        parts, around = [name], scope
        while around in scopes:
            inner, around = scopes[around]
            parts.insert(0, inner)
        names[symbol] = "::".join(part for part in parts if part)
    return {
        strings[number]: names.get(stub.strip('"'), "")
        for stub, number in _REGISTERED.findall(code)
        if number in strings
    }


def share_variables(codes: Sequence[str]) -> list[str]:
    """The same code (LLVM text), where a device variable that one file declares `extern` is one
    with that which another defines: what the host knows it by, clang keeps to each file.
    """
    declared = {name for code in codes for name in _EXTERN.findall(code)}

    def settle(found: re.Match[str]) -> str:
        return f"{found[1]} = {found[2]}" if found[1] in declared else found[0]

    return [_OWN.sub(settle, code) for code in codes] if declared else list(codes)


def plain(symbol: str) -> str:
    """A kernel's or variable's symbol without the number of the file it stands in."""
    return symbol.rpartition(":")[2]


def unit(symbol: str) -> int:
    """The number of the file that a symbol stands in."""
    number = symbol.rpartition(":")[0]
    return int(number) if number.isdecimal() else 0


def lambda_of(name: str) -> tuple[str, int, str] | None:
    """File, line and kernel of the first lambda whose type is a template argument of kernel
    `name`."""
    found = _LAMBDA.search(name)
    return (found["file"], int(found["line"]), name.split("<", 1)[0]) if found else None


def entry(symbol: str, name: str, entries: Mapping[str, str]) -> str | None:
    """The entry of the PTX that the kernel `symbol`, in C++ `name`, became; None without one.

    Kernels of internal linkage have other symbols there: then the name decides, if it is one. Of
    overloads it is the parameters, where `uint64_t` is `unsigned long` (m) here and `unsigned long
    long` (y) there.
    """
    for candidate in (name, symbol, symbol.replace("_ZL", "_Z", 1)):
        if candidate in entries:
            return entries[candidate]
    alike = {e for e in entries.values() if function_name(e) == function_name(symbol)}
    if len(alike) > 1:
        alike = {e for e in alike if e.translate(_LONG) == symbol.translate(_LONG)}
    return alike.pop() if len(alike) == 1 else None
