"""Children forked from a process that has imported already, for who needs more than one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from grader import cache, sandbox

PRELOAD = ("grader.devices.virtual_child", "grader.languages.cuda_compile")
"""What children import, but for the compilers that some need and others need not."""

PRIMED = "grader.languages.cuda_compile:prime:", "grader.devices.virtual_child:prime:{cache}"
"""What many children would each do first: the compiler's and the engine's own first steps."""


@contextlib.contextmanager
def children(*, many: bool = False) -> Iterator[None]:
    """Inside, children are forked from one warm process, where that works.

    For `many` the process also does once what each of them would do first.

    It starts beside whatever the block does first; a child that is wanted before it is ready, or
    where it cannot start at all, starts by itself.
    """
    cache.root().mkdir(parents=True, exist_ok=True)
    first = [word.format(cache=cache.root().resolve()) for word in PRIMED] if many else []
    preload = (*PRELOAD, *first)
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(1) as beside:
        started = beside.submit(
            lambda: stack.enter_context(sandbox.warmed(preload, read=[cache.root()]))
        )
        try:
            yield
        finally:
            with contextlib.suppress(sandbox.WarmUnavailable):
                started.result()
