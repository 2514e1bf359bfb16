"""How a Triton pointer differs between the lanes of its block, read off the source.

`one` is the same address in every lane (a scalar), `distinct` another in each (`tl.arange` and what
is added to it or multiplied with it), `any` whatever else: indices that were loaded, `//`, `%`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Literal

Lanes = Literal["one", "distinct", "any"]

Values = Mapping[str, tuple[ast.expr, ...]]
"""Every value that a function gives to each of its names."""

_ORDER: tuple[Lanes, ...] = ("one", "distinct", "any")
_COUNTED = ast.Constant(0)
_BLOCKS_OF_ONE_VALUE = ("zeros", "full", "zeros_like", "full_like")
_SAME_LANES = (
    "to", "multiple_of", "max_contiguous", "max_constancy", "expand_dims", "reshape", "view",
    "trans", "cast", "ravel",
)  # fmt: skip


def values_of(function: ast.FunctionDef) -> dict[str, tuple[ast.expr, ...]]:
    """What each name of the function is ever given; a loop's counter counts as a number."""
    found: dict[str, tuple[ast.expr, ...]] = {}

    def give(target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            found[target.id] = (*found.get(target.id, ()), value)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else ()
            for i, part in enumerate(target.elts):
                give(part, parts[i] if len(parts) == len(target.elts) else value)

    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                give(target, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            give(node.target, node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            give(node.target, ast.BinOp(ast.Name(node.target.id), node.op, node.value))
        elif isinstance(node, ast.For):
            give(node.target, _COUNTED)
    return found


def lanes(node: ast.expr, values: Values, unknown: Iterable[str] = ()) -> Lanes:
    """How `node` differs between lanes; of the names in `unknown` nothing is known."""
    return _Reading(values, frozenset(unknown)).of(node)


def moving(pointer: ast.expr, mask: ast.expr | None, values: Values) -> tuple[str, ...]:
    """The program numbers and counters that `pointer` moves with and `mask` does not look at."""
    if mask is None:
        return ()
    seen = _names(mask, values)
    return tuple(
        name
        for name in _names(pointer, values)
        if name not in seen and any(_moves(value) for value in values.get(name, ()))
    )


def _moves(value: ast.expr) -> bool:
    """Whether a name that is given `value` differs between programs or rounds of a loop."""
    if value is _COUNTED:
        return True
    return isinstance(value, ast.Call) and ast.unparse(value.func).endswith("program_id")


def _names(node: ast.expr, values: Values) -> tuple[str, ...]:
    """The names in `node` and in what was given to them, in order."""
    found: dict[str, None] = {}
    waiting = [node]
    while waiting:
        for part in ast.walk(waiting.pop()):
            if isinstance(part, ast.Name) and part.id not in found:
                found[part.id] = None
                waiting += values.get(part.id, ())
    return tuple(found)


class _Reading:
    """One look at a function; a name that depends on itself counts by its other values."""

    def __init__(self, values: Values, unknown: frozenset[str]) -> None:
        self.values, self.unknown = values, unknown
        self.known: dict[str, Lanes] = {}

    def of(self, node: ast.expr) -> Lanes:
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand)
        if isinstance(node, ast.Subscript):
            return self.of(node.value)
        if isinstance(node, ast.IfExp):
            return _worst([self.of(node.body), self.of(node.orelse)])
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Constant | ast.Attribute):
            return "one"
        children = ast.iter_child_nodes(node)
        parts = [self.of(child) for child in children if isinstance(child, ast.expr)]
        return "one" if _worst(parts) == "one" else "any"

    def _name(self, name: str) -> Lanes:
        if name in self.unknown:
            return "any"
        if name not in self.known:
            self.known[name] = "one"
            self.known[name] = _worst([self.of(value) for value in self.values.get(name, ())])
        return self.known[name]

    def _operation(self, node: ast.BinOp) -> Lanes:
        left, right = self.of(node.left), self.of(node.right)
        if isinstance(node.op, ast.Add | ast.Sub):
            return _worst([left, right])
        both = {left, right}
        if isinstance(node.op, ast.Mult | ast.LShift) and both == {"one", "distinct"}:
            return "distinct"
        return "one" if both == {"one"} else "any"

    def _call(self, node: ast.Call) -> Lanes:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else ""
        given = [*node.args, *(k.value for k in node.keywords)]
        if name == "arange":
            return "distinct"
        if name in _BLOCKS_OF_ONE_VALUE:
            return "any"
        if name in _SAME_LANES and isinstance(function, ast.Attribute):
            of_module = isinstance(function.value, ast.Name) and function.value.id in ("tl", "core")
            if of_module:
                return self.of(given[0]) if given else "any"
            return self.of(function.value)
        parts = [self.of(value) for value in given]
        if isinstance(function, ast.Attribute):
            parts.append(self.of(function.value))
        return "one" if _worst(parts) == "one" else "any"


def _worst(found: Iterable[Lanes]) -> Lanes:
    return max(found, key=_ORDER.index, default="one")
