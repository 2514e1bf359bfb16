"""The half of a CUDA C file that a host compiler takes: device functions lose their bodies.

A kernel keeps its signature, since the host launches it, and an empty body. A function for the
device alone disappears, and so does a device function's body inside a class. What is for host and
device both stays. Lines and columns stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from grader.languages.cuda_includes import without_line_directives
from grader.languages.signature import node_text, parse

if TYPE_CHECKING:
    from tree_sitter import Node

_SPECIFIERS = re.compile(
    rb"\b(?:__device__|__forceinline__|__noinline__|static|inline|constexpr)\b"
)

# Editors put spaces into `<<<grid, block>>>`; nvcc reads it all the same.
_APART = re.compile(r"(?<!operator)<<([ \t]+)<([^;{}]*?)>>([ \t]+)>(?=\s*\()")


def host_half(text: str) -> str:
    """`text` with what only device code needs written over with spaces."""
    text = _APART.sub(r"\1<<<\2\3>>>", without_line_directives(text))
    source = text.encode()
    out = bytearray(source)
    removed: list[tuple[Node, Node, int]] = []
    for definition in _functions(parse(text).root_node):
        words = set(_words(definition))
        if "__device__" not in words and "__global__" not in words:
            continue
        body = definition.child_by_field_name("body")
        if "__host__" in words or (body is None and "__global__" in words):
            continue
        if body is not None and ("__global__" in words or _inside_class(definition)):
            _blank(out, body.start_byte + 1, body.end_byte - 1)
            for child in definition.children:
                if child.type == "field_initializer_list":
                    _blank(out, child.start_byte, child.end_byte)
            continue
        whole = definition
        while whole.parent is not None and whole.parent.type == "template_declaration":
            whole = whole.parent
        _blank(out, whole.start_byte, whole.end_byte)
        end = definition.end_byte - 1 if body is None else body.start_byte
        removed.append((whole, definition, end))
    _declare_what_is_named(source, out, removed)
    return out.decode()


def _declare_what_is_named(
    source: bytes, out: bytearray, removed: Sequence[tuple[Node, Node, int]]
) -> None:
    """Put back, as a declaration, what the rest names: a device function that a launch passes as a
    template argument, or whose address a device pointer takes. The words before a body or a
    semicolon say so; all declarations of one function lose `__device__` together.
    """
    left = bytes(out)
    for whole, definition, end in removed:
        name = _name(definition)
        if name is None or not re.search(rb"\b" + re.escape(name) + rb"\b", left):
            continue
        out[whole.start_byte : end] = _SPECIFIERS.sub(
            lambda word: b" " * len(word[0]), source[whole.start_byte : end]
        )
        out[end : end + 1] = b";"


def _name(definition: Node) -> bytes | None:
    """The plain name of a function that is no member."""
    node = definition.child_by_field_name("declarator")
    while node is not None and node.type != "identifier":
        node = node.child_by_field_name("declarator")
    return node_text(node).encode() if node is not None else None


def _blank(out: bytearray, start: int, end: int) -> None:
    for index in range(start, end):
        if out[index] not in b"\r\n":
            out[index] = 0x20


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
