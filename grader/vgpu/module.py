"""A PTX module: parsed once, its kernels translated when first launched."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader import cache
from grader.vgpu import native
from grader.vgpu.lower import Lowered
from grader.vgpu.lower_blocks import lower
from grader.vgpu.parse import parse
from grader.vgpu.program import Program, Unsupported, build
from grader.vgpu.ptx import Ptx, Variable


@dataclass(frozen=True, slots=True)
class Translated:
    """A kernel as native code with the program it came from."""

    program: Program
    lowered: Lowered
    code: native.Code


class Module:
    """Parsed PTX; `kernel(name)` gives what `launch` takes."""

    def __init__(self, ptx: Ptx, digest: str) -> None:
        self.ptx = ptx
        self.digest = digest
        self._kernels: dict[str, Kernel] = {}

    @classmethod
    def from_ptx(cls, text: str) -> Module:
        """Parse PTX text. Raises PtxError with the line of the text."""
        return cls(parse(text), native.digest(text))

    @classmethod
    def linked(cls, texts: Sequence[str]) -> tuple[Module, tuple[Mapping[str, str], ...]]:
        """One module of several PTX texts, and for each what its own symbols are called there.

        Raises PtxError for a text that is malformed; what is missing fails where it is reached.
        """
        from grader.vgpu.link import link

        found = link(texts)
        return cls(found.ptx, native.digest_of_linked(texts)), found.names

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the entries."""
        return tuple(f.name for f in self.ptx.functions.values() if f.entry and f.defined)

    def kernel(self, name: str) -> Kernel:
        """The entry `name`. Raises KeyError naming the entries there are."""
        if name not in self.kernels:
            raise KeyError(
                f"no kernel {name!r}; the module has {', '.join(self.kernels) or 'none'}"
            )
        if name not in self._kernels:
            self._kernels[name] = Kernel(self, name)
        return self._kernels[name]


class Kernel:
    """An entry of a module."""

    def __init__(self, module: Module, name: str) -> None:
        self.module = module
        self.name = name
        self.function = module.ptx.functions[name]
        self._translated: dict[bool, Translated] = {}

    @property
    def parameters(self) -> tuple[Variable, ...]:
        """The parameters in order, with type, alignment and size."""
        return self.function.params

    @property
    def required_block(self) -> tuple[int, int, int] | None:
        """`.reqntid`, the block the kernel insists on."""
        values = self.function.directives.get("reqntid")
        return None if values is None else (*values, 1, 1, 1)[:3]  # type: ignore[return-value]

    @property
    def most_threads(self) -> int | None:
        """`.maxntid`, the most threads of a block that the kernel was compiled for."""
        values = self.function.directives.get("maxntid")
        return None if values is None else math.prod(values)

    def key(self, shadow: bool) -> str:
        """Under which the native code is kept."""
        return native.key(self.module.digest, self.name, shadow)

    def translate(self, shadow: bool) -> Translated:
        """Native code for this kernel; `shadow` adds the bookkeeping of undefined values.

        Raises Unsupported for what cannot be run at all.
        """
        if shadow not in self._translated:
            program = self.program
            lowered = lower(self.module.ptx, program, shadow)
            key = self.key(shadow)
            data = native.find(key)
            if data is None:
                data = native.assemble(lowered.ir)
                native.keep(key, data)
                cache.write("native", key, data)
            self._translated[shadow] = Translated(program, lowered, native.Code(data))
        return self._translated[shadow]

    @functools.cached_property
    def program(self) -> Program:
        """The blocks of everything the kernel can reach."""
        return build(self.module.ptx, self.name)


__all__ = ["Kernel", "Module", "Translated", "Unsupported"]
