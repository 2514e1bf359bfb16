"""The half of a CUDA C file that a host compiler takes: device functions lose their bodies.

A kernel keeps its signature, since the host launches it, and an empty body. A function for the
device alone disappears, and so does a device function's body inside a class. What is for host and
device both stays. Lines and columns stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import TYPE_CHECKING

from grader.languages.cuda_includes import without_comments, without_line_directives
from grader.languages.signature import node_text, parse

if TYPE_CHECKING:
    from tree_sitter import Node

_SPECIFIERS = re.compile(
    rb"\b(?:__device__|__forceinline__|__noinline__|static|inline|constexpr)\b"
)

_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S.*)$", re.MULTILINE)

# Editors put spaces into `<<<grid, block>>>`; nvcc reads it all the same.
_APART = re.compile(r"(?<!operator)<<([ \t]+)<([^;{}]*?)>>([ \t]+)>(?=\s*\()")


def host_halves(files: Mapping[str, str]) -> dict[str, str]:
    """The texts of one program's files, with what only device code needs written over with spaces.

    What the host code of any of them names stays as a declaration: a device function that a launch
    passes as a template argument, or whose address a device pointer takes.
    """
    macros = _macros(files.values())
    halves = {name: _Half(text, macros) for name, text in files.items()}
    named: set[bytes] = set()
    for half in halves.values():
        named.update(re.findall(rb"[A-Za-z_]\w*", without_comments(half.text()).encode()))
    for half in halves.values():
        half.declare(named)
    return {name: half.text() for name, half in halves.items()}


def _macros(texts: Iterable[str]) -> dict[str, frozenset[str]]:
    """Macros that stand for words such as `__device__`: each with what it may stand for."""
    found: dict[str, frozenset[str]] = {}
    for text in texts:
        for name, meaning in _MACRO.findall(without_comments(text)):
            words = frozenset(re.findall(r"\w+", meaning))
            if words & {"__device__", "__global__", "__host__"} or name in found:
                found[name] = found.get(name, frozenset()) | words
    return found


class _Half:
    """One file on its way: the bytes left so far, and the functions that were taken out."""

    def __init__(self, text: str, macros: Mapping[str, frozenset[str]]) -> None:
        text = _APART.sub(r"\1<<<\2\3>>>", without_line_directives(text))
        self._source = text.encode()
        self._left = bytearray(self._source)
        self._removed: list[tuple[bytes, int, int]] = []
        self._macros = re.compile(rb"\b(?:%s)\b" % b"|".join(m.encode() for m in macros or ("",)))
        for definition in _functions(parse(text).root_node):
            words = {w for word in _words(definition) for w in macros.get(word, (word,))}
            body = definition.child_by_field_name("body")
            if "__host__" in words or not words & {"__device__", "__global__"}:
                continue
            if "__global__" in words or _inside_class(definition):
                if body is not None:
                    self._empty(definition, body)
            else:
                self._remove(definition, body)

    def text(self) -> str:
        """The text as it is now; lines and columns are those of the source."""
        return self._left.decode()

    def declare(self, named: Set[bytes]) -> None:
        """Put back, as a declaration, each removed function that is `named`; what says that it is
        for the device stays away from all declarations of one function together."""
        for name, start, end in self._removed:
            if name in named:
                kept = self._source[start:end]
                for words in (_SPECIFIERS, self._macros):
                    kept = words.sub(lambda word: b" " * len(word[0]), kept)
                self._left[start:end] = kept
                self._left[end : end + 1] = b";"

    def _empty(self, definition: Node, body: Node) -> None:
        """A kernel gets an empty body; a device constructor is declared only, as members without
        a default constructor may want what its initialisers say."""
        first = next((c for c in definition.children if c.type == "field_initializer_list"), None)
        if first is None:
            self._blank(body.start_byte + 1, body.end_byte - 1)
        else:
            self._blank(first.start_byte, body.end_byte)
            self._left[first.start_byte : first.start_byte + 1] = b";"

    def _remove(self, definition: Node, body: Node | None) -> None:
        whole = definition
        while whole.parent is not None and whole.parent.type == "template_declaration":
            whole = whole.parent
        self._blank(whole.start_byte, whole.end_byte)
        name = _name(definition)
        if name is not None:
            end = definition.end_byte - 1 if body is None else body.start_byte
            self._removed.append((name, whole.start_byte, end))

    def _blank(self, start: int, end: int) -> None:
        for index in range(start, end):
            if self._left[index] not in b"\r\n":
                self._left[index] = 0x20


def _name(definition: Node) -> bytes | None:
    """The plain name of a function that is no member."""
    node = definition.child_by_field_name("declarator")
    while node is not None and node.type != "identifier":
        node = node.child_by_field_name("declarator")
    return node_text(node).encode() if node is not None else None


def _functions(root: Node) -> Iterator[Node]:
    """Functions that are defined, or declared outside classes; not those inside a body."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "function_definition":
            yield node
            continue
        if node.type == "declaration" and _name(node) and _is_function(node):
            yield node
            continue
        stack.extend(reversed(node.children))


def _is_function(declaration: Node) -> bool:
    """Whether one function is declared; a variable `f(1)` has a `function_declarator` only where
    its argument reads as a type."""
    node = declaration.child_by_field_name("declarator")
    while node is not None and node.type in ("pointer_declarator", "reference_declarator"):
        node = node.child_by_field_name("declarator") or next(iter(node.named_children), None)
    inner = node.child_by_field_name("declarator") if node is not None else None
    is_plain = inner is not None and inner.type in ("identifier", "template_function")
    return node is not None and node.type == "function_declarator" and is_plain


def _words(definition: Node) -> Iterator[str]:
    """The words before the body."""
    stack = [definition]
    while stack:
        node = stack.pop()
        if node.type in ("compound_statement", "parameter_list"):
            continue
        if node.child_count == 0:
            yield node_text(node)
        stack.extend(node.children)


def _inside_class(node: Node) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.type == "field_declaration_list":
            return True
        parent = parent.parent
    return False
