"""Imports a student's Triton file in the build child, without running its host side.

Runs only inside the sandbox: importing the file executes it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import linecache
import sys
import traceback
from collections.abc import Iterator
from types import ModuleType

from grader.languages.triton_host import HostLibraries, Nothing


class Refused(Exception):
    """The submission cannot be built: what was expected, on which line."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


def import_source(text: str, file_name: str) -> ModuleType:
    """Run the student's module; host libraries are stand-ins unless it cannot do without them."""
    stand_ins = HostLibraries()
    sys.meta_path.insert(0, stand_ins)
    try:
        return _execute(text, file_name)
    except Refused:
        if importlib.util.find_spec("torch") is None or "torch" not in sys.modules:
            raise
        stand_ins.forget()
        if importlib.util.find_spec("torch") is None:
            raise
        return _execute(text, file_name)
    finally:
        if stand_ins in sys.meta_path:
            sys.meta_path.remove(stand_ins)


def _execute(text: str, file_name: str) -> ModuleType:
    name = "submission"
    module = ModuleType(name)
    module.__file__ = file_name
    sys.modules[name] = module
    # `@triton.jit` reads the function's source through linecache; mtime None pins the entry.
    linecache.cache[file_name] = (len(text), None, text.splitlines(keepends=True), file_name)
    try:
        code = compile(text, file_name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        column = getattr(error, "offset", None)
        message = getattr(error, "msg", None) or str(error)
        raise Refused(f"the file is not valid Python: {message}", line, column) from None
    with _launches_skipped():
        try:
            exec(code, module.__dict__)
        except SystemExit:
            raise Refused(
                "the module ends the program while it is imported; "
                'put what runs it under `if __name__ == "__main__":`',
                _own_line(file_name),
            ) from None
        except BaseException as error:
            raise Refused(_import_message(error), _own_line(file_name)) from None
    return module


def _import_message(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"the module imports {error.name}, which is not installed here"
    return f"importing the module raised {type(error).__name__}: {error}"


def _own_line(file_name: str) -> int | None:
    """The deepest line of the student's file in the traceback of the exception at hand."""
    frames = traceback.extract_tb(sys.exc_info()[2])
    return next((f.lineno for f in reversed(frames) if f.filename == file_name), None)


@contextlib.contextmanager
def _launches_skipped() -> Iterator[None]:
    """Launches at module level do nothing: only the kernels are graded, and there is no tensor."""
    from triton.runtime.autotuner import Autotuner, Heuristics
    from triton.runtime.driver import driver
    from triton.runtime.jit import JITFunction

    kept = {cls: cls.run for cls in (JITFunction, Autotuner, Heuristics)}
    for cls in kept:
        cls.run = lambda self, *args, **kwargs: None
    driver.set_active(Nothing("the GPU driver"))
    try:
        yield
    finally:
        for cls, run in kept.items():
            cls.run = run
