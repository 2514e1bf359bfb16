"""What Apple's compiler refuses in a Metal file and clang, asked for a GPU's code, takes.

Read off the text alone. What it takes the file's kernels to see is in `metal_contract.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.languages.metal_source import blank, line_of
from grader.result import Diagnostic

_WORD = re.compile(r"\b(double|goto|try|throw|dynamic_cast|typeid|new|delete|virtual|restrict)\b")
_WHY = {"double": "use float", "restrict": "write __restrict"}
# `half` is a keyword, where `uint` and `float4` are names that a block may give to something else.
_HALF_AS_NAME = re.compile(
    r"\b(?:auto|bool|unsigned|size_t|(?:half|float|bfloat|u?char|u?short|u?int|u?long)[234]?)"
    r"\s+(?P<name>half)\s*(?=[=;,()\[{])"
)


def refused(text: str, name: str) -> list[Diagnostic]:
    """An error for everything that Metal does not have though C++ does."""
    plain = blank(text)
    return [
        Diagnostic(
            file=name,
            line=line_of(plain, offset),
            column=offset - plain.rfind("\n", 0, offset),
            severity="error",
            message=message,
        )
        for offset, message in sorted(_found(plain))
    ]


def _found(plain: str) -> Iterator[tuple[int, str]]:
    for match in _WORD.finditer(plain):
        if match[1] == "delete" and re.search(r"=\s*$", plain[: match.start()]):
            continue
        start = plain.rfind("\n", 0, match.start()) + 1
        if plain[start : match.start()].lstrip().startswith("#"):
            continue
        why = _WHY.get(match[1], "Metal leaves this part of C++ out")
        yield match.start(), f"'{match[1]}' is not supported in Metal: {why}"
    for match in _HALF_AS_NAME.finditer(plain):
        yield match.start("name"), "'half' is the name of a type in Metal: give this another name"
