"""Python's own parser, for one thread at a time.

CPython before 3.12.1 counts the depth of what it converts in one place for all threads: where two
parse at once and one is interrupted, a SystemError ends it (python/cpython#106905).
"""

from __future__ import annotations

import ast
import threading

_ONE = threading.Lock()


def parse(text: str) -> ast.Module:
    """The statements of `text`. Raises what `ast.parse` raises."""
    with _ONE:
        return ast.parse(text)


def parse_expression(text: str) -> ast.expr:
    """The one expression that `text` is. Raises what `ast.parse` raises."""
    with _ONE:
        return ast.parse(text, mode="eval").body
