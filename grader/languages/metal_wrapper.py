"""The entries of a Metal file: text behind it that a GPU launches and that calls the kernels.

An entry takes what the host binds, in the contract's order, a scalar as the value itself, and fills
the kernel's other arguments from PTX's special registers. The compiler judges the contract on the
way: the types are those of the kernel's own function type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.languages import Contract, Parameter
from grader.languages.metal_contract import Binding, bindings
from grader.languages.metal_signature import ArgumentText, KernelText

FILE = "<entry>"
CONSTANT_PREFIX = "grade_constant_"


@dataclass(frozen=True)
class Entry:
    """One entry to generate: its name in the PTX, the kernel it calls, what the host binds."""

    name: str
    kernel: KernelText
    bound: tuple[Binding, ...] | None

    @property
    def offsets(self) -> tuple[int, ...]:
        """The indices of `[[threadgroup(n)]]` arguments that do not start at 0, in order.

        The entry takes where each starts, in bytes, behind what the host binds.
        """
        found = {int(index) for a in self.kernel.arguments if (index := _threadgroup(a))}
        return tuple(sorted(found - {0}))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What the entry takes."""
        if self.bound is None:
            bound = [Parameter(name=a.name, type=a.type) for a in self.kernel.arguments if a.bound]
        else:
            bound = [Parameter(name=b.name, type=b.type) for b in self.bound]
        more = [Parameter(name=f"threadgroup({n})", type="uint") for n in self.offsets]
        return (*bound, *more)


def entry(contract: Contract, kernel: KernelText) -> Entry:
    """The entry of a contract's kernel."""
    return Entry(contract.kernel, kernel, bindings(contract))


def wrapper_text(entries: Sequence[Entry], constants: Sequence[str]) -> str:
    """What is appended to the submission; `constants` are those whose values the launch needs."""
    parts = [f'\n\n#line 1 "{FILE}"\n']
    for number, one in enumerate(entries):
        parts += _entry(one, number)
    for name in constants:
        parts.append(
            f'#line 1 "{FILE}"\nextern "C" __attribute__((used)) constant long '
            f"{CONSTANT_PREFIX}{name} = {name};\n"
        )
    return "".join(parts)


def _entry(one: Entry, number: int) -> Iterator[str]:
    kernel = one.kernel
    function = f"__grade_entry_{number}"
    types = f"{function}_type"
    yield f'#line {kernel.line} "{kernel.file}"\n'
    # From the global scope: `using namespace metal` may bring in a function of the same name.
    yield f"using {types} = decltype(&::{kernel.expression});\n"
    indexed = {id(argument): index for index, argument in kernel.buffers}
    by_index = {binding.index: binding for binding in one.bound or ()}
    parameters: dict[int, str] = {}
    values = []
    for i, argument in enumerate(kernel.arguments):
        index = indexed.get(id(argument))
        binding = by_index.get(index) if index is not None else None
        yield from _checks(argument, binding, types, i, kernel.name)
        if argument.bound:
            place = i if one.bound is None else _place(one.bound, index)
            by_value = binding is not None and binding.scalar
            parameters[place], value = _bound(argument, types, i, by_value)
        elif "threadgroup" in argument.attributes or argument.space == "threadgroup":
            value = f"metal::__entry::threadgroup_memory<metal::__entry::argument<{types}, {i}>>"
            index = int(_threadgroup(argument) or 0)
            value += f"(offset_{index})" if index else "(0)"
        elif argument.position:
            value = (
                f"metal::__entry::index<metal::__entry::argument<{types}, {i}>>"
                f"(metal::__entry::{argument.position}())"
            )
        else:
            value = "{}"
        values.append(value)
    listed = [text for _, text in sorted(parameters.items())]
    listed += [f"uint offset_{index}" for index in one.offsets]
    declaration = f"{function}({', '.join(listed)})"
    # The entry stands in the kernel's file: finding a thread's place counts for its signature.
    signature = kernel.arguments[0] if kernel.arguments else kernel
    where = f'#line {signature.line} "{signature.file}"\n'
    entry = f'extern "C" __attribute__((device_kernel)) void {declaration}'
    call = f"[[clang::always_inline]] ::{kernel.expression}({', '.join(values)});"
    yield f'{where}{entry} __asm__("{one.name}");\n{where}{entry} {{ {call} }}\n'


def _threadgroup(argument: ArgumentText) -> str | None:
    """The n of `[[threadgroup(n)]]`, as written."""
    index = argument.attributes.get("threadgroup")
    return index if index and index.isdigit() else None


def _place(bound: tuple[Binding, ...], index: int | None) -> int:
    return next(i for i, binding in enumerate(bound) if binding.index == index)


def _bound(argument: ArgumentText, types: str, i: int, by_value: bool) -> tuple[str, str]:
    """The entry's parameter for a bound argument, and what the kernel is given."""
    kind = f"metal::__entry::argument<{types}, {i}>"
    name = f"argument_{i}"
    if argument.space == "constant" and argument.reference:
        return f"metal::__entry::value<{types}, {i}> {name}", f"({kind}){name}"
    if by_value:
        return f"metal::__entry::value<{types}, {i}> {name}", f"({kind})&{name}"
    if argument.reference:
        return f"metal::__entry::pointer<{types}, {i}> {name}", f"*{name}"
    return f"{kind} {name}", name


def _checks(
    argument: ArgumentText, binding: Binding | None, types: str, i: int, kernel: str
) -> Iterator[str]:
    """Assertions at the argument's own line."""
    kind = f"metal::__entry::argument<{types}, {i}>"
    line = f'#line {argument.line} "{argument.file}"\n'
    if argument.position:
        yield (
            f"{line}static_assert(metal::__entry::is_index<metal::remove_cv_t<{kind}>>::value, "
            f'"expected uint or ushort (or a vector of them) for [[{argument.position}]], '
            f'found {argument.type}");\n'
        )
    if binding is not None:
        yield (
            f"{line}static_assert(metal::__entry::same<{kind}, {binding.type}>::value"
            f"{_by_pointer(binding, kind)}, "
            f'"expected {binding.type} for {binding.name}, [[buffer({binding.index})]] of '
            f'{kernel}, found {argument.type}");\n'
        )


def _by_pointer(binding: Binding, kind: str) -> str:
    if not binding.scalar:
        return ""
    return f" || metal::__entry::same<{kind}, {binding.type[:-1]}*>::value"
