"""Parsing from several threads, each interrupted while it parses."""

import ast
import gc
import time
from concurrent.futures import ThreadPoolExecutor

from grader import python_text

TEXT = "\n".join(f"x{n} = [a + {n} * (b[{n}] - c(d, e={n}))]" for n in range(300))


def test_threads_that_parse_at_once_do_not_disturb_each_other() -> None:
    def interrupt(phase: str, info: dict[str, int]) -> None:
        time.sleep(0.0001)  # gives way to the other thread in the middle of a tree

    before = gc.get_threshold()
    gc.callbacks.append(interrupt)
    gc.set_threshold(50)
    try:
        with ThreadPoolExecutor(4) as pool:
            trees = list(pool.map(python_text.parse, [TEXT] * 8))
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(interrupt)
    assert all(len(tree.body) == 300 for tree in trees)


def test_an_expression() -> None:
    assert isinstance(python_text.parse_expression("a + 1"), ast.BinOp)
