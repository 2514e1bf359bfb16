"""Children forked from a process that has imported already, for who needs more than one."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from grader import cache, sandbox

PRELOAD = ("grader.devices.virtual_child", "grader.languages.cuda_compile")
"""What children import, but for the compilers that some need and others need not."""

PROGRAM = ("grader.programs.server", "grader.devices.virtual_child:use_cache:{cache}")
"""What the one child that runs a whole program does before it knows which."""

PRIMED = "grader.languages.cuda_compile:prime:", "grader.devices.virtual_child:prime:{cache}"
"""What many children would each do first: the compiler's and the engine's own first steps."""


def children(
    preload: Sequence[str] = PRELOAD, *, many: bool = False
) -> contextlib.AbstractContextManager[None]:
    """Inside, children are forked from one warm process, where that works (`sandbox.warmed`).

    For `many` the process also does once what each of them would do first.
    """
    root = cache.root()
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError:  # what needs the cache says so
        return contextlib.nullcontext()
    words = [word.format(cache=root.resolve()) for word in (*preload, *(PRIMED if many else ()))]
    return sandbox.warmed(words, read=[root])
