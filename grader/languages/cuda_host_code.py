"""Blanks the host half of a CUDA C file, so that a compiler of device code takes the rest.

What is host code is not guessed: the compiler says where it met some, and the syntax tree says how
far that definition goes. Blanking writes spaces over it, so every other line and column stays.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.languages.signature import node_text, parse

if TYPE_CHECKING:
    from tree_sitter import Node

# The compiler's words for a function or variable that belongs to the host.
HOST_MESSAGES = (
    "A function without execution space annotations",
    "A function explicitly marked as a __host__ function",
    "A namespace scope variable without memory space annotations",
    'attribute "__host__" does not apply here',
)

# A constexpr function without annotations is host code to NVRTC, but nvcc lets kernels use it in
# constants: it becomes a device function. As long as the word it replaces, so columns stay.
CONSTEXPR_MACRO = "__grade_c"
CONSTEXPR_OPTION = f"-D{CONSTEXPR_MACRO}=__device__ constexpr"

_FUNCTIONS = ("function_definition", "declaration", "field_declaration")
_TYPES = (
    "type_definition",
    "alias_declaration",
    "using_declaration",
    "struct_specifier",
    "class_specifier",
    "union_specifier",
    "static_assert_declaration",
    "template_instantiation",
    "expression_statement",
    "ERROR",
)
_PASSED_OVER = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_BODIES = ("compound_statement", "parameter_list", "field_declaration_list")
_DEVICE_WORDS = ("__global__", "__device__", "__constant__", "__shared__", "__managed__")


@dataclass(frozen=True)
class Blanked:
    """A text without its host code. `names` gives what was blanked, with its line and kind."""

    text: str
    names: dict[str, tuple[int, str]]


def blank_host_code(text: str, places: Iterable[tuple[int, int]]) -> Blanked:
    """Blank the definitions around `places`, each a (line, column) where the compiler met host
    code; both count from 1, columns in bytes."""
    return _blank(text, places, _FUNCTIONS)


def blank_host_types(text: str, places: Iterable[tuple[int, int]]) -> Blanked:
    """Blank the types, aliases and prototypes around `places` that no device word marks.

    For what follows from host headers that are not here: `std::vector` in a struct, a typedef of a
    host library's type.
    """
    return _blank(text, places, (*_TYPES, *_FUNCTIONS))


def blank_host_macros(text: str, places: Iterable[tuple[int, int]]) -> Blanked:
    """Blank the uses of macros at `places` that stand between definitions and mean host code.

    For the functions that bind kernels to PyTorch, which a macro of the file often writes. A macro
    that says a device word, itself or through another of the file, stays.
    """
    lines = text.split("\n")
    starts = [0, *itertools.accumulate(len(line) + 1 for line in lines)]
    # Of equal length: a place in the one is a place in the other.
    code = _PASSED_OVER.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    macros = _macros(text).keys() - _device_words(text)
    met = set[str]()
    for line, column in places:
        before = lines[line - 1].encode()[: column - 1].decode(errors="replace")
        at = starts[line - 1] + len(before)
        used = _CALL.match(code, at)
        if used is not None and used[1] in macros and _between_definitions(code, at):
            met.add(used[1])
    # All uses of such a macro: the compiler, lost behind the first, may not come to the next.
    spans = [
        (used.start(), _end_of_call(code, used.end()))
        for used in _CALL.finditer(code)
        if used[1] in met and _between_definitions(code, used.start())
    ]
    out = list(text)
    for start, end in spans:
        out[start:end] = [c if c in "\r\n" else " " for c in text[start:end]]
    return Blanked("".join(out), {})


def _between_definitions(code: str, at: int) -> bool:
    return code.count("{", 0, at) == code.count("}", 0, at)


def _macros(text: str) -> dict[str, str]:
    """What each macro of a file stands for; of several definitions, all."""
    joined = re.sub(r"\\[ \t]*\n", " ", text)
    found: dict[str, str] = {}
    for name, body in re.findall(
        r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^()\n]*\))?([^\n]*)", joined, re.MULTILINE
    ):
        found[name] = f"{found.get(name, '')} {body}"
    return found


def _device_words(text: str) -> frozenset[str]:
    """The words that mark device code: CUDA's, and the macros of a file that say one of them."""
    found, before = frozenset(_DEVICE_WORDS), 0
    said = {name: frozenset(re.findall(r"\w+", body)) for name, body in _macros(text).items()}
    while before < len(found):
        before = len(found)
        found |= {name for name, words in said.items() if words & found}
    return found


def _end_of_call(code: str, at: int) -> int:
    """Behind the parenthesis that closes the one before `at`, and behind a semicolon there."""
    depth = 1
    while depth and at < len(code):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        at += 1
    rest = re.compile(r"[ \t]*;").match(code, at)
    return rest.end() if rest else at


def _blank(text: str, places: Iterable[tuple[int, int]], kinds: tuple[str, ...]) -> Blanked:
    source = text.encode()
    root = parse(text).root_node
    out = bytearray(source)
    names: dict[str, tuple[int, str]] = {}
    device_words = _device_words(text)
    for line, column in places:
        item = _item(root, line - 1, column - 1, kinds)
        if item is None or _is_device_code(item, device_words):
            continue
        constexpr = _constexpr(item) if kinds == _FUNCTIONS else None
        if constexpr is not None:
            out[constexpr.start_byte : constexpr.end_byte] = CONSTEXPR_MACRO.encode()
            continue
        kind = "function" if _has_parameters(item) else "variable"
        names.update(dict.fromkeys(_declared(item), (item.start_point.row + 1, kind)))
        for index in range(item.start_byte, item.end_byte):
            if out[index] not in b"\r\n":
                out[index] = 0x20
    return Blanked(out.decode(), names)


def _item(root: Node, row: int, column: int, kinds: tuple[str, ...]) -> Node | None:
    """The smallest definition around a place that is not inside a function's body."""
    node: Node | None = root.descendant_for_point_range((row, column), (row, column))
    found: Node | None = None
    while node is not None:
        if node.type in ("compound_statement", "function_definition"):
            found = None  # what is inside a body is part of the function around it
        if found is None and node.type in kinds:
            found = node
        node = node.parent
    return _whole(found) if found is not None else None


def _whole(node: Node) -> Node:
    """`node` with the `template <…>`, `extern "C"` or declaration that belongs to it."""
    parent = node.parent
    while parent is not None and (
        parent.type in ("template_declaration", "linkage_specification")
        or (parent.type == "declaration" and node.type.endswith("_specifier"))
    ):
        node, parent = parent, parent.parent
    return node


def _is_device_code(item: Node, words: frozenset[str]) -> bool:
    """Whether a device word marks `item` or a part of it; a device lambda in a host body is none.

    The compiler takes a kernel for a host variable when it does not know a type of its parameters.
    """
    return any(
        node.child_count == 0 and node_text(node) in words
        for node in _outside_bodies(item, skipped=("compound_statement",))
    )


def _constexpr(item: Node) -> Node | None:
    """The `constexpr` of a function definition that is not yet marked for device or host."""
    for node in (item, *item.children):
        if node.type != "function_definition":
            continue
        marks = {child.type for child in node.children}
        for child in node.children:
            if child.type == "type_qualifier" and node_text(child) == "constexpr":
                return None if "__host__" in marks else child
    return None


def _has_parameters(item: Node) -> bool:
    return any(node.type == "function_declarator" for node in _outside_bodies(item))


def _declared(item: Node) -> Iterator[str]:
    """Names that `item` declares: the function's, or each declarator's."""
    for node in _outside_bodies(item):
        if not node.type.endswith(("declarator", "declaration")):
            continue
        name = node.child_by_field_name("declarator")
        if name is not None and name.type in ("identifier", "field_identifier"):
            yield node_text(name)


def _outside_bodies(item: Node, skipped: tuple[str, ...] = _BODIES) -> Iterator[Node]:
    stack = [item]
    while stack:
        node = stack.pop()
        yield node
        if node.type not in skipped:
            stack.extend(reversed(node.children))
