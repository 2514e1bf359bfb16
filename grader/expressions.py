"""Arithmetic in assignments: `cdiv(N, BLOCK)`, `4 * TILE * (TILE + 1)`, `max(1, N // 2)`.

Integers only (`evaluate`), but for the metric formulas of a speed rubric, which divide (`ratio`).
The text is parsed by Python's own parser and walked over a closed list of nodes; nothing of it is
ever executed.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from grader import python_text

LONGEST = 500
LARGEST = 2**63

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "cdiv": lambda a, b: -(-a // b),
    "max": max,
    "min": min,
}
_ARITY = {"cdiv": (2, 2), "max": (2, 16), "min": (2, 16)}
_OPERATORS: Mapping[type[ast.operator], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class ExpressionError(ValueError):
    """The expression cannot be read or has no value; the message quotes it."""


def names(text: str, *, division: bool = False) -> frozenset[str]:
    """The names whose values `text` needs. Raises ExpressionError when it is not an expression."""
    found: set[str] = set()
    _check(_parse(text), text, division, found)
    return frozenset(found)


def evaluate(text: str | int, values: Mapping[str, int]) -> int:
    """The integer `text` stands for. Raises ExpressionError, also for a name without a value.

    Results and intermediate values beyond 2^63 are errors: no size of a kernel is that large.
    """
    if isinstance(text, int):
        return text
    body = _parse(text)
    _check(body, text, False, set())
    return int(_value(body, text, values))


def ratio(text: str, values: Mapping[str, float]) -> Fraction | None:
    """A metric formula, exactly; `/` divides. None where it divides by zero: nothing to measure."""
    body = _parse(text)
    _check(body, text, True, set())
    try:
        return Fraction(_value(body, text, {name: Fraction(v) for name, v in values.items()}))
    except ZeroDivisionError:
        return None


@functools.cache
def _parse(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ExpressionError(f"an expression has at most {LONGEST} characters, this {len(text)}")
    try:
        return python_text.parse_expression(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"not an expression: {text!r}") from None


def _check(node: ast.expr, text: str, division: bool, found: set[str]) -> None:
    """Refuse every node that is not arithmetic; collect names into `found`."""
    match node:
        case ast.Constant(value=bool()):
            raise ExpressionError(f"{ast.unparse(node)} is not a number in {text!r}")
        case ast.Constant(value=int(value)):
            if value > LARGEST:
                raise ExpressionError(f"number too large in {text!r}")
        case ast.Name(id=name):
            if name in FUNCTIONS:
                raise ExpressionError(f"{name} is a function: write {name}(a, b) in {text!r}")
            found.add(name)
        case ast.BinOp(left=left, op=op, right=right):
            if type(op) not in _OPERATORS and not (division and isinstance(op, ast.Div)):
                raise ExpressionError(_operator_message(op, text))
            _check(left, text, division, found)
            _check(right, text, division, found)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand, text, division, found)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in FUNCTIONS:
                known = ", ".join(FUNCTIONS)
                raise ExpressionError(f"unknown function {name} in {text!r}: there are {known}")
            fewest, most = _ARITY[name]
            if not fewest <= len(arguments) <= most:
                or_more = " or more" if most > fewest else ""
                raise ExpressionError(f"{name} takes {fewest} arguments{or_more} in {text!r}")
            for argument in arguments:
                _check(argument, text, division, found)
        case _:
            raise ExpressionError(
                f"only + - * // % cdiv max min, names and whole numbers: {text!r}"
            )


def _operator_message(op: ast.operator, text: str) -> str:
    if isinstance(op, ast.Div):
        return f"/ is not whole: use // (rounds down) or cdiv (rounds up) in {text!r}"
    return f"only + - * // % cdiv max min, names and whole numbers: {text!r}"


def _value(node: ast.expr, text: str, values: Mapping[str, int | Fraction]) -> int | Fraction:
    result: int | Fraction
    match node:
        case ast.Constant(value=constant):
            assert isinstance(constant, int)  # _check refused the others
            result = constant
        case ast.Name(id=name):
            if name not in values:
                raise ExpressionError(f"{name} has no value in {text!r}")
            result = values[name]
        case ast.UnaryOp(operand=operand):
            result = -_value(operand, text, values)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            operands = [_value(argument, text, values) for argument in arguments]
            if name == "cdiv" and operands[1] == 0:
                raise ExpressionError(f"division by zero in {text!r}")
            result = FUNCTIONS[name](*operands)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            result = Fraction(_value(left, text, values)) / Fraction(_value(right, text, values))
        case ast.BinOp(left=left, op=op, right=right):
            first, second = _value(left, text, values), _value(right, text, values)
            if second == 0 and isinstance(op, ast.FloorDiv | ast.Mod):
                raise ExpressionError(f"division by zero in {text!r}")
            result = _OPERATORS[type(op)](first, second)
        case _:
            raise AssertionError(ast.dump(node))  # _check let it through
    if not -LARGEST <= result <= LARGEST:
        raise ExpressionError(f"value beyond 2^63 in {text!r}")
    return result
