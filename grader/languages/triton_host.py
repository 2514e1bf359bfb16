"""Stand-ins for what a kernel's file imports for its host side, so that grading needs no torch.

Only the `@triton.jit` functions of a submission count. Its wrapper, its tests and its benchmark
are never called, so `torch` need not be installed, nor loaded (two seconds).
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

HOST_LIBRARIES = ("torch", "torchvision", "cupy", "pandas", "matplotlib", "pytest", "tabulate")
"""Packages that host code around kernels imports. numpy is real: it is always installed."""


class Nothing:
    """Takes every access, call and operation of host code at import, and does nothing."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Nothing:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Nothing(f"{self.__name__}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A decorator gives back what it decorates, so that `@torch.no_grad()` hides nothing."""
        if len(args) == 1 and not kwargs and callable(args[0]):
            return args[0]
        return Nothing(f"{self.__name__}()")

    def __getitem__(self, key: object) -> Nothing:
        return Nothing(f"{self.__name__}[…]")

    def __setitem__(self, key: object, value: object) -> None:
        return None

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __bool__(self) -> bool:
        return False

    def __len__(self) -> int:
        return 0

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        """`class Add(torch.autograd.Function)` becomes a plain class."""
        return ()

    def _same(self, *_: object) -> Nothing:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __or__ = __ror__ = _same
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __pow__ = _same
    __neg__ = __lt__ = __le__ = __gt__ = __ge__ = _same

    def __repr__(self) -> str:
        return f"<{self.__name__}: not loaded while grading>"


class _NothingModule(ModuleType):
    """A module all of whose attributes are `Nothing`."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> Nothing:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Nothing(f"{self.__name__}.{name}")


class HostLibraries(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the host libraries, and everything under them, as empty modules."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] not in HOST_LIBRARIES:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _NothingModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        return None

    def forget(self) -> None:
        """Take the stand-ins out again, so that the next import finds the real libraries."""
        sys.meta_path.remove(self)
        for name, module in list(sys.modules.items()):
            if isinstance(module, _NothingModule):
                del sys.modules[name]
