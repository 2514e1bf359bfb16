"""Reads the functions of a CUDA C file with tree-sitter: names, parameter types, lines.

A reading, not a judgement: names behind `typedef` or a macro stay as they are written. The
compiler judges; this words its messages, and tells `grade run` what a kernel takes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

_INTEGER_WORDS = frozenset({"unsigned", "signed", "short", "long", "int", "char"})
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_QUALIFIERS = ("const", "volatile")
_DECLARATORS = ("pointer_declarator", "array_declarator", "reference_declarator")


@dataclass(frozen=True)
class ParameterText:
    """One parameter as written; `type` is its type in one spelling (see `canonical_type`)."""

    name: str
    type: str
    line: int
    column: int

    @property
    def pointer(self) -> bool:
        """Whether the parameter is a pointer."""
        return self.type.endswith("*")

    @property
    def element(self) -> str:
        """What a pointer points to, without `const`; the type itself for anything else."""
        return self.type.removesuffix("*").strip().removeprefix("const ").strip()


@dataclass(frozen=True)
class FunctionText:
    """One function as written. `kernel`: marked `__global__`; `device`: marked `__device__`."""

    name: str
    parameters: tuple[ParameterText, ...]
    template_parameters: tuple[str, ...]
    kernel: bool
    device: bool
    line: int
    column: int


def functions(text: str) -> tuple[FunctionText, ...]:
    """Every function that `text` defines or declares at file or namespace level, in order."""
    return tuple(_function(node) for node in _definitions(parse(text).root_node))


def kernels(text: str) -> tuple[FunctionText, ...]:
    """The `__global__` functions of `text`, each name once (a prototype and its body are one)."""
    found: dict[tuple[str, tuple[str, ...]], FunctionText] = {}
    for function in functions(text):
        if function.kernel:
            types = tuple(parameter.type for parameter in function.parameters)
            found[function.name, types] = function
    return tuple(found.values())


def device_launch(text: str) -> int | None:
    """The line of the first launch inside a function for the device: dynamic parallelism."""
    for node in _definitions(parse(text).root_node):
        if {"__global__", "__device__"} & {child.type for child in node.children}:
            for inner in _descendants(node):
                if inner.type == "kernel_call_syntax":
                    return inner.start_point[0] + 1
    return None


def canonical_type(spelling: str) -> str:
    """One spelling per type: `float const *` and `const float *__restrict__ a` are `const float*`.

    `spelling` is a parameter declaration with or without a name; a qualifier of the parameter
    itself is dropped, as the language drops it from the function's type.
    """
    root = parse(f"void f({spelling});").root_node
    for node in _descendants(root):
        if node.type in ("parameter_declaration", "optional_parameter_declaration"):
            return _parameter_type(node)
    return " ".join(spelling.split())


def parse(text: str) -> Tree:
    """The syntax tree of `text`; erroneous parts are ERROR nodes, never an exception."""
    return _parser().parse(text.encode())


def node_text(node: Node) -> str:
    """The source text of `node`."""
    return (node.text or b"").decode(errors="replace")


@functools.cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_cuda

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))


def _descendants(node: Node) -> Iterator[Node]:
    """`node` and everything below it, in source order, without recursion."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def _definitions(root: Node) -> Iterator[Node]:
    """Function definitions and prototypes outside function bodies and classes."""
    stack = [root]
    while stack:
        node = stack.pop()
        is_function = node.type == "function_definition"
        if is_function or node.type == "declaration":
            if _function_declarator(node) is not None:
                yield node
            continue
        if node.type not in ("compound_statement", "class_specifier", "struct_specifier"):
            stack.extend(reversed(node.children))


def _function_declarator(node: Node) -> Node | None:
    """The `name(parameters)` part of a definition or prototype."""
    inner = node.child_by_field_name("declarator")
    while inner is not None and inner.type != "function_declarator":
        inner = inner.child_by_field_name("declarator")
    return inner


def _function(node: Node) -> FunctionText:
    declarator = _function_declarator(node)
    assert declarator is not None, "the caller has checked that this is a function"
    name = declarator.child_by_field_name("declarator") or declarator
    parameters = declarator.child_by_field_name("parameters")
    marks = {child.type for child in node.children}
    return FunctionText(
        name=node_text(name),
        parameters=tuple(_parameters(parameters)) if parameters is not None else (),
        template_parameters=tuple(_template_parameters(node)),
        kernel="__global__" in marks,
        device="__device__" in marks,
        line=name.start_point.row + 1,
        column=name.start_point.column + 1,
    )


def _parameters(parameters: Node) -> Iterator[ParameterText]:
    kinds = ("parameter_declaration", "optional_parameter_declaration")
    nodes = [child for child in parameters.children if child.type in kinds]
    if len(nodes) == 1 and node_text(nodes[0]).strip() == "void":
        return
    for node in nodes:
        yield ParameterText(
            name=_parameter_name(node),
            type=_parameter_type(node),
            line=node.start_point.row + 1,
            column=node.start_point.column + 1,
        )


def _parameter_name(node: Node) -> str:
    declarator = node.child_by_field_name("declarator")
    if declarator is None:
        return ""
    for inner in _descendants(declarator):
        if inner.type == "identifier":
            return node_text(inner)
    return ""


def _parameter_type(node: Node) -> str:
    """Base type, then one `*`, `&` or `[]` per level of the declarator, outermost level first."""
    base = node.child_by_field_name("type")
    spelled = _COMMENT.sub(" ", node_text(base)).split() if base is not None else ["?"]
    held = {_qualifier(child) for child in node.children}
    # `long long const` is one node of the grammar, qualifier and all.
    held |= {word for word in spelled if word in _QUALIFIERS}
    words = " ".join([*sorted(held - {""}), _base_type(spelled)])
    levels: list[str] = []
    declarator = node.child_by_field_name("declarator")
    while declarator is not None:
        kind = declarator.type.removeprefix("abstract_")
        if kind == "pointer_declarator":
            qualifiers = sorted({q for child in declarator.children if (q := _qualifier(child))})
            levels.append(" ".join(["*", *qualifiers]))
        elif kind == "reference_declarator":
            levels.append("&&" if declarator.children[0].type == "&&" else "&")
        elif kind == "array_declarator":
            levels.append("*")
        elif kind == "function_declarator":
            levels.append("(function)")
        declarator = declarator.child_by_field_name("declarator") or next(
            (
                child
                for child in declarator.children
                if child.type.removeprefix("abstract_") in _DECLARATORS
                or child.type == "parenthesized_declarator"
            ),
            None,
        )
    if levels:
        levels[-1] = levels[-1].split()[0]
    else:
        words = words.removeprefix("const ").removeprefix("volatile ")
    return words + "".join(levels)


def _qualifier(node: Node) -> str:
    """`const` or `volatile`, or nothing: `__restrict__` is no part of a function's type."""
    text = node_text(node) if node.type == "type_qualifier" else ""
    return text if text in _QUALIFIERS else ""


def _base_type(spelled: list[str]) -> str:
    """`int unsigned` and `unsigned` are `unsigned int`; anything else only loses extra spaces."""
    words = [word for word in spelled if word not in _QUALIFIERS]
    if not words or not set(words) <= _INTEGER_WORDS:
        return " ".join(word for word in words if word != "struct")
    sign = "unsigned " if "unsigned" in words else ""
    if "char" in words:
        return "signed char" if "signed" in words else f"{sign}char"
    if "short" in words:
        return f"{sign}short"
    longs = words.count("long")
    return sign + {0: "int", 1: "long"}.get(longs, "long long")


def _template_parameters(node: Node) -> Iterator[str]:
    """Names of the template parameters of the template that `node` is the body of."""
    parent = node.parent
    if parent is None or parent.type != "template_declaration":
        return
    listed = parent.child_by_field_name("parameters")
    for child in listed.named_children if listed is not None else ():
        names = [
            node_text(inner)
            for inner in _descendants(child)
            if inner.type in ("identifier", "type_identifier")
        ]
        if names:
            yield names[0] if child.type.startswith("optional") else names[-1]
