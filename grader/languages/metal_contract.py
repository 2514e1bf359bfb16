"""Compares the kernels of a Metal file with the assignment's contract, before compiling.

The host binds a buffer to every index of the contract. What a student's kernel makes of those
indices is compared argument by argument; each difference is named. Types behind a typedef or a
template are left to the compiler (`metal_wrapper` asks it).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from grader.languages import Contract
from grader.languages.metal_positions import POSITIONS
from grader.languages.metal_signature import (
    ArgumentText,
    KernelText,
    Reading,
    spelled,
)
from grader.result import Diagnostic

_SYNONYMS = {
    "unsigned int": "uint", "unsigned": "uint", "uint32_t": "uint", "int32_t": "int",
    "unsigned char": "uchar", "uint8_t": "uchar", "int8_t": "char", "unsigned short": "ushort",
    "uint16_t": "ushort", "int16_t": "short", "unsigned long": "ulong", "uint64_t": "ulong",
    "int64_t": "long", "size_t": "ulong",
}  # fmt: skip
_SCALARS = ("bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half",
            "float", "bfloat", "double")  # fmt: skip
_INDEX_TYPES = {"uint": 1, "ushort": 1, "uint2": 2, "ushort2": 2, "uint3": 3, "ushort3": 3}
_ATTRIBUTE_LIST = re.compile(r"\[\[.*?\]\]")
_BUFFER = re.compile(r"\[\[\s*buffer\s*\(\s*(\d+)\s*\)\s*\]\]")


@dataclass(frozen=True)
class Binding:
    """One argument the host passes: the contract's name and type, and the buffer index."""

    name: str
    type: str
    index: int

    @property
    def scalar(self) -> bool:
        """Whether the host passes bytes (`setBytes`) rather than a buffer."""
        return self.type.endswith("&")


def bindings(contract: Contract) -> tuple[Binding, ...]:
    """What the host binds, in the contract's order: indices as written, else by position."""
    found: list[Binding] = []
    for parameter in contract.parameters:
        attributes = " ".join(_ATTRIBUTE_LIST.findall(parameter.type))
        index = _BUFFER.search(attributes)
        if attributes and index is None:
            continue
        kind = spelled(_ATTRIBUTE_LIST.sub("", parameter.type).strip())
        found.append(Binding(parameter.name, kind, int(index[1]) if index else len(found)))
    return tuple(found)


def find(contract: Contract, reading: Reading) -> KernelText | None:
    """The kernel that the host asks for by the contract's name."""
    return next((k for k in reading.kernels if k.name == contract.kernel), None)


def problems(contract: Contract, reading: Reading, file_name: str) -> Iterator[Diagnostic]:
    """Every difference between the contract and the kernel of its name."""
    kernel = find(contract, reading)
    if kernel is None:
        yield _no_such_kernel(contract, reading, file_name)
        return
    if kernel.returns not in ("void", ""):
        yield _at(kernel, f"expected {kernel.name} to return void, found {kernel.returns}")
    yield from kernel_problems(kernel)
    yield from _bound(contract, kernel)


def bare_pointers(reading: Reading) -> Iterator[Diagnostic]:
    """Pointers and references that name no address space."""
    for file, line, written in dict.fromkeys(reading.bare_pointers):
        yield Diagnostic(
            file=file,
            line=line,
            severity="error",
            message=f"expected an address space (device, constant, threadgroup or thread) in the "
            f"type, found {written}: every pointer and reference in Metal names one",
        )


def misplaced(reading: Reading) -> Iterator[Diagnostic]:
    """Variables outside of functions that Metal has no place for."""
    for file, line, written in reading.globals:
        hint = "threadgroup variables are declared in the kernel, device memory is an argument"
        if re.search(r"\bconst(expr)?\b", written):
            hint = f"write constant {written}"
        yield Diagnostic(
            file=file,
            line=line,
            severity="error",
            message="expected a variable outside of functions to be constant, found "
            f"{written}: {hint}",
        )


def kernel_problems(kernel: KernelText) -> Iterator[Diagnostic]:
    """What Apple's compiler refuses: an index used twice, an argument that nothing fills, a
    position of another shape than the others, an attribute where none may stand."""
    used: dict[int, ArgumentText] = {}
    for index, argument in kernel.buffers:
        if index in used:
            yield _at(
                argument,
                f"expected each buffer index once, found [[buffer({index})]] on both "
                f"{used[index].name} and {argument.name}",
            )
        used.setdefault(index, argument)
    for argument in kernel.arguments:
        yield from _argument_problems(argument)
    yield from _shapes(kernel)
    for written, line in kernel.misplaced:
        yield _at(
            replace(kernel, line=line, column=1),
            f"expected {written} in front of kernel, found it behind: Metal takes it for an "
            "attribute of a type",
        )


def _shapes(kernel: KernelText) -> Iterator[Diagnostic]:
    """Positions and sizes in three dimensions of which some are numbers and others vectors."""
    first: ArgumentText | None = None
    for argument in kernel.arguments:
        size = _INDEX_TYPES.get(_canonical(argument.type).removeprefix("const "))
        if argument.position is None or POSITIONS[argument.position] == 1 or size is None:
            continue
        first = first or argument
        expected = _INDEX_TYPES[_canonical(first.type).removeprefix("const ")]
        if size != expected:
            wanted = f"a vector of {expected}" if expected > 1 else "a number"
            yield _at(
                argument,
                f"expected {wanted} for {argument.name} [[{argument.position}]], as "
                f"{first.name} [[{first.position}]] is, found {argument.type}: the positions and "
                "sizes of a kernel have one number of components",
            )


def _argument_problems(argument: ArgumentText) -> Iterator[Diagnostic]:
    position = argument.position
    if position is not None:
        kind = _canonical(argument.type)
        size = _INDEX_TYPES.get(kind.removeprefix("const "))
        if _known(kind) and (size is None or (size > 1 and POSITIONS[position] == 1)):
            allowed = "uint or ushort"
            if POSITIONS[position] == 3:
                allowed = "uint, uint2 or uint3 (or ushort, ushort2, ushort3)"
            yield _at(argument, f"expected {allowed} for [[{position}]], found {argument.type}")
        return
    if argument.bound or "threadgroup" in argument.attributes:
        return
    if argument.space == "threadgroup":
        yield _at(
            argument,
            f"expected [[threadgroup(n)]] on {argument.name or 'the argument'}, which points to "
            "threadgroup memory that the host sizes",
        )
    elif argument.pointer or argument.reference:
        yield _at(
            argument,
            f"expected an address space (device, constant or threadgroup) for {argument.name}, "
            f"found {argument.type}",
        )
    elif "function_constant" not in argument.attributes:
        unknown = next(iter(argument.attributes), None)
        where = f"[[{unknown}]] is not one" if unknown else "it has no attribute"
        near = difflib.get_close_matches(unknown or "", POSITIONS, n=1)
        hint = f"; did you mean [[{near[0]}]]?" if near else ""
        yield _at(
            argument,
            f"expected a buffer or a position such as [[thread_position_in_grid]] for "
            f"{argument.name or 'the argument'}, found {argument.type}: {where}{hint}",
        )


def _bound(contract: Contract, kernel: KernelText) -> Iterator[Diagnostic]:
    """The contract's indices against the kernel's."""
    expected = {binding.index: binding for binding in bindings(contract)}
    found: dict[int, ArgumentText] = {}
    for index, argument in kernel.buffers:
        found.setdefault(index, argument)
    for index, argument in found.items():
        if index in expected:
            yield from _type_problems(expected[index], argument, kernel.name)
    missing = [b for i, b in expected.items() if i not in found]
    extra = [(i, a) for i, a in found.items() if i not in expected]
    for binding, (index, argument) in zip(missing, extra, strict=False):
        yield _at(
            argument,
            f"expected {binding.name} at [[buffer({binding.index})]], where the host binds it, "
            f"found {argument.name} at [[buffer({index})]]",
        )
    for index, argument in extra[len(missing) :]:
        yield _at(
            argument,
            f"expected arguments for what the host binds ({_listed(contract)}), found "
            f"{argument.name} at [[buffer({index})]], to which nothing is bound",
        )
    for binding in missing[len(extra) :]:
        yield _at(
            kernel,
            f"expected an argument {binding.type} at [[buffer({binding.index})]] of {kernel.name}: "
            f"the host binds {binding.name} there, and the kernel does not read it",
        )


def _type_problems(binding: Binding, argument: ArgumentText, kernel: str) -> Iterator[Diagnostic]:
    """A wrong element type or qualifier, where the types can be read off the text."""
    expected, found = _canonical(binding.type), _canonical(argument.type)
    if found in _accepted(binding) or not _known(found):
        return
    where = f"for {binding.name}, [[buffer({binding.index})]] of {kernel}"
    message = f"expected {binding.type} {where}, found {argument.type}"
    if _element(found) != _element(expected):
        message += f": its elements are {_element(expected)}, not {_element(found)}"
    elif argument.space != _space(expected):
        message += f": it is in {_space(expected)} memory, not {argument.space}"
    elif "const" in found and "const" not in expected:
        message += ": the kernel writes to it, so it cannot be const"
    yield _at(argument, message)


def _accepted(binding: Binding) -> set[str]:
    """The spellings that are as good as the contract's.

    An input may be declared without const; a value may be taken by pointer.
    """
    kind = _canonical(binding.type)
    accepted = {kind, kind.replace("const ", "")}
    if binding.scalar:
        accepted.add(kind[:-1] + "*")
    return accepted


def _canonical(kind: str) -> str:
    """One spelling per type, with Metal's short names."""
    match = re.fullmatch(
        r"((?:(?:device|constant|threadgroup|thread|const|volatile) )*)([^*&]+)([*&]*)", kind
    )
    if match is None:
        return kind
    element = " ".join(match[2].split())
    return f"{match[1]}{_SYNONYMS.get(element, element)}{match[3]}"


def _element(kind: str) -> str:
    return kind.rstrip("*&").split()[-1]


def _space(kind: str) -> str:
    return kind.split(maxsplit=1)[0]


def _known(kind: str) -> bool:
    element = _element(kind)
    scalar = re.fullmatch(r"(?:packed_)?(\w+?)[234]?", element)
    return scalar is not None and scalar[1] in _SCALARS


def _listed(contract: Contract) -> str:
    return ", ".join(f"{b.name} at {b.index}" for b in bindings(contract))


def _no_such_kernel(contract: Contract, reading: Reading, file_name: str) -> Diagnostic:
    listed = ", ".join(f"{b.type} {b.name} [[buffer({b.index})]]" for b in bindings(contract))
    expected = f"kernel void {contract.kernel}({listed}, ...)"
    for name, line, column in reading.functions:
        if name == contract.kernel:
            return Diagnostic(
                file=file_name, line=line, column=column, severity="error",
                message=f"expected {expected}, found a function of that name that is no kernel: "
                "write kernel before it",
            )  # fmt: skip
    for template in reading.templates:
        if template.expression == contract.kernel:
            return _at(
                template,
                f"expected {expected}, found a template: instantiate it under that name, "
                f'template [[host_name("{contract.kernel}")]] kernel void '
                f"{contract.kernel}<float>(...);",
            )
    names = {k.name: k for k in reading.kernels}
    close = difflib.get_close_matches(contract.kernel, names, n=1)
    if close:
        return _at(
            names[close[0]],
            f"expected a kernel named {contract.kernel}, found {close[0]}: "
            f"did you mean {contract.kernel}?",
        )
    if names:
        first = next(iter(names.values()))
        return _at(first, f"expected {expected}, found other kernels: {', '.join(names)}")
    return Diagnostic(
        file=file_name, severity="error", message=f"expected {expected}, found no kernel at all"
    )


def _at(place: ArgumentText | KernelText, message: str) -> Diagnostic:
    return Diagnostic(
        file=place.file, line=place.line, column=place.column, severity="error", message=message
    )
