"""Where Metal text makes vectors and matrices in ways that C++ does not know, and what to insert.

Clang makes its vectors from one scalar, or from components in braces; a cast between two vectors of
the same size keeps the bits. Metal makes one from any parts that fill it, and a cast converts. The
library has that as `metal::__make` (`metal_headers/metal_types`), which is called here instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.languages.metal_brackets import (
    closing_angle,
    closing_parenthesis,
    declaration_end,
    in_function,
    in_parentheses,
    operand_end,
    pieces,
)
from grader.languages.metal_operators import ELEMENT, Edit

_VECTOR = rf"(?:(?:packed_)?{ELEMENT}[234]|bool[234]|(?:half|float)[234]x[234])"
_VEC = r"(?:packed_)?vec\s*<[^<>;{}()]*>"
_NAMED = re.compile(rf"(?:metal\s*::\s*)?\b(?:{_VECTOR}|{_VEC})")
_SPACES = ("thread", "device", "constant", "threadgroup")
_SPACE = r"(?:\s|\\\n)*"
_VARIABLE = re.compile(
    rf"\b(?P<type>(?:packed_)?{ELEMENT}[234]|(?:metal\s*::\s*)?\b{_VEC})\s+(?=\w)"
)
_DECLARATOR = re.compile(rf"{_SPACE}[A-Za-z_]\w*\s*(?P<open>\()")
_PARAMETER = re.compile(
    r"\s*(?:(?:const|thread|device|constant|threadgroup)\s+)*[A-Za-z_][\w:]*[\s*&]+\w+\s*"
)
_LITERAL = re.compile(r"(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?P<suffix>bf|BF|H)\b")
_DOUBLE = re.compile(
    r"(?<![\w.#])(?:(?:\d[\d']*\.(?![.\w])|\d*\.\d+|\d+\.(?=[eE]))(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+"
    r"|0[xX][\da-fA-F]*\.?[\da-fA-F]*[pP][+-]?\d+)(?![\w.]|[ \t]*##)"
)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include|import)\b[^\n]*", re.MULTILINE)
_BOOLS = re.compile(r"(?:\bmetal\s*::\s*)?\bvec\s*<\s*bool\s*,")


def value_edits(bare: str) -> Iterator[Edit]:
    """The edits of blanked text without attributes."""
    dependent = _dependent_names(bare)
    for match in _BOOLS.finditer(bare):
        yield *match.span(), "metal::bool_vector<"
    for match in _LITERAL.finditer(bare):
        yield match.start(), match.start(), "half(" if match["suffix"] == "H" else "bfloat("
        yield *match.span("suffix"), ")"
    yield from _floats(bare)
    yield from _braced_arguments(bare)
    yield from _variables(bare)
    yield from _constructions(bare)
    yield from _dependent_constructions(bare, dependent)
    yield from _casts(bare, dependent)
    yield from _static_casts(bare, dependent)


def _dependent_names(bare: str) -> str:
    """An expression for the names whose casts the library makes.

    Template types and aliases, of which any may be a vector, and half and bfloat.
    """
    names = set(re.findall(r"\b(?:typename|class)\s+([A-Za-z_]\w*)\s*(?=[,>=])", bare))
    names |= set(re.findall(r"\busing\s+([A-Za-z_]\w*)\s*=", bare))
    if re.search(r"\bbfloat", bare):  # clang has no cast between the two
        names |= {"half", "bfloat"}
    return "|".join(sorted(names)) or "(?!)"


def _floats(bare: str) -> Iterator[Edit]:
    """`0.5` is a float: clang takes it for a double again where it instantiates a template."""
    included = [match.span() for match in _INCLUDE.finditer(bare)]
    for match in _DOUBLE.finditer(bare):
        if not any(start <= match.start() < stop for start, stop in included):
            yield match.end(), match.end(), "f"


def _called(start: int, stop: int) -> Iterator[Edit]:
    """The type at `start` to `stop` as the function that makes it."""
    yield start, start, "::metal::__make<"
    yield stop, stop, ">"


def _braced_arguments(bare: str) -> Iterator[Edit]:
    """`f({1, 2})`: clang makes no vector of a braced argument."""
    for match in re.finditer(r"[(,]\s*(\{)", bare):
        start = match.start(1)
        if match[0][0] == "(" or in_parentheses(bare, start):
            stop = declaration_end(bare, start) - 1
            inner = bare[start + 1 : stop]
            if ";" not in inner and 1 < len(pieces(inner)) <= 4:
                yield start, start + 1, "metal::__braces("
                yield stop, stop + 1, ")"


def _variables(bare: str) -> Iterator[Edit]:
    """`float2 v(x, y), w(x);` in a function."""
    for match in _VARIABLE.finditer(bare):
        before = bare[: match.start()].rstrip()
        if before.endswith(("(", ",", "<", "*", "&", "typename", "operator")):
            continue
        if not in_function(bare, match.start()):
            continue
        begin = match.end()
        end = bare.find(";", begin)
        for piece in pieces(bare[begin : end if end >= 0 else len(bare)]):
            declared = _DECLARATOR.match(piece)
            if declared:
                close = closing_parenthesis(piece, declared.end())
                inner = piece[declared.end() : (close or len(piece)) - 1]
                whole = close is not None and not piece[close:].strip(" \t\r\n\\")
                if whole and inner.strip() and not _PARAMETER.fullmatch(inner):
                    offset = begin + declared.start("open")
                    yield offset, offset, f" = ::metal::__make<{match['type']}>"
            begin += len(piece) + 1


def _constructions(bare: str) -> Iterator[Edit]:
    """`vec<T, N>(...)` as a value."""
    for match in re.finditer(r"(?:\bmetal\s*::\s*)?\b(?:packed_)?vec\s*<", bare):
        end = closing_angle(bare, match.end())
        before = bare[: match.start()].rstrip()
        if not end or not re.match(r"\s*\(", bare[end : end + 80]):
            continue
        follows_word = before[-1:].isidentifier() and not before.endswith("return")
        if not follows_word and not _BOOLS.match(bare, match.start()):
            yield from _called(match.start(), end)


def _dependent_constructions(bare: str, names: str) -> Iterator[Edit]:
    """`T(a, b)` as a value."""
    for match in re.finditer(rf"(?:\breturn|[=(,+\-*/?:<>&|!\[{{])\s*\b({names})\s*\(", bare):
        close = closing_parenthesis(bare, match.end())
        inner = bare[match.end() : (close or match.end()) - 1]
        if pieces(inner) and not _PARAMETER.fullmatch(inner) and in_function(bare, match.start()):
            yield from _called(*match.span(1))


def _casts(bare: str, names: str) -> Iterator[Edit]:
    """`(half4)x` and `(T)x`: the operand becomes an argument."""
    ends: set[int] = set()
    any_cast = re.compile(rf"\(\s*(?:{_NAMED.pattern}|{ELEMENT}|bool|(?:{names}))\s*\)")
    pattern = re.compile(
        rf"\(\s*(?P<type>{_NAMED.pattern}|\b(?P<name>{names}))\s*\)(?={_SPACE}(?P<next>[\w(.~!+*&:-]))"
    )
    for match in pattern.finditer(bare):
        before = bare[: match.start()].rstrip(" \t\r\n\\")
        word = re.search(r"\w+$", before)
        if before.endswith(")"):
            if len(before) not in ends:  # only another cast may stand before a cast
                continue
        elif before.endswith("]") or (word and word[0] not in ("return", "else", "do")):
            continue
        sign = match["name"] and match["next"] in "~!+*&-"
        if sign and (match["next"] in "+*&" or _is_variable(bare, match["name"], match.start())):
            continue
        end = operand_end(bare, match.end(), any_cast)
        if end is not None:
            ends.add(match.end())
            kind = _BOOLS.sub("metal::bool_vector<", " ".join(match["type"].split()))
            yield *match.span(), f"::metal::__make<{kind}>("
            yield end, end, ")"


def _is_variable(bare: str, name: str, offset: int) -> bool:
    """Whether the last declaration of a name before `offset` makes it a variable, not a type."""
    declared = re.compile(rf"\b(?P<kind>\w+)\s*[\s*&]\s*{name}\s*[,;)=>\[]")
    last = ""
    for match in declared.finditer(bare, 0, offset):
        if match["kind"] not in ("return", "const", "sizeof", *_SPACES):
            last = match["kind"]
    return last not in ("", "typename", "class", "using")


def _static_casts(bare: str, names: str) -> Iterator[Edit]:
    """`static_cast<half4>(x)`."""
    pattern = rf"\bstatic_cast(?=\s*<\s*(?:{_NAMED.pattern}|(?:{names}))\s*>)"
    for match in re.finditer(pattern, bare):
        yield *match.span(), "::metal::__make"
