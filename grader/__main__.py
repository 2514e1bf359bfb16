"""`grade`, which is `python -m grader`: what takes a while to start is started first."""

from __future__ import annotations

import contextlib
import gc
import sys
from pathlib import Path


def main() -> None:
    """Run the command of `sys.argv` and exit with its code."""
    try:
        with _beside(sys.argv[1:]):
            from grader import cli

            cli.main()
    finally:
        gc.freeze()  # the interpreter, as it ends, looks for garbage in all of it: 0.05 s


def _beside(arguments: list[str]) -> contextlib.AbstractContextManager[None]:
    """For `grade run program.cu`, start the process that will run it: it has as much to import as
    this one, and does so at the same time. A wrong guess costs time and nothing else.
    """
    files = [word for word in arguments[1:] if word.endswith(".cu")]
    kernel = any(word.startswith(("--kernel", "--grid", "--block", "--arg")) for word in arguments)
    if arguments[:1] != ["run"] or kernel or not files or not Path(files[0]).is_file():
        return contextlib.nullcontext()
    gc.disable()  # for one short program: looking for garbage took a tenth of the time
    from grader import warm

    return warm.children(warm.PROGRAM)


if __name__ == "__main__":
    main()
