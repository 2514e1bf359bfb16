"""The contract of a CUDA C entry: text the compiler judges, and the wording when it says no.

The text is appended to the submission, under a file name of its own: a `static_assert` per kernel
whose cast picks the entry of exactly the expected type (overloads and deducible templates too), and
per declared constant one that only an integer constant passes. The submission's macros cannot reach
it: every word but the entry's name is undefined first.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from grader.languages import Contract
from grader.languages.signature import FunctionText, canonical_type, functions
from grader.result import Diagnostic

FILE = "<contract>"
ENTRIES = "<entries>"
"""The file under which compilers speak of the entries' names; its lines count expressions."""

CONSTANT_PREFIX = "grade_constant_"
_CONSTANT_LINE = 1000  # lines of FILE: kernel k is at k + 1, constant k at 1000 + k
_CONSTANT = re.compile(
    rf"^\.(?:visible )?\.?global \.align 8 \.u64 {CONSTANT_PREFIX}(\w+)(?: = (-?\d+))?;\n",
    re.MULTILINE,
)


def defaults(contracts: Iterable[Contract]) -> dict[str, int]:
    """The constants that `contracts` know, with their defaults."""
    return {name: value for c in contracts for name, value in c.constants.items()}


def name_expression(contract: Contract) -> str:
    """The C++ expression for the entry's address; it compiles only for the expected type."""
    types = ", ".join(parameter.type for parameter in contract.parameters)
    return f"(static_cast<void (*)({types})>(&::{contract.kernel}))"


def as_declared(contracts: Sequence[Contract], text: str) -> tuple[Contract, ...]:
    """The contracts with inputs that `text` declares without `const`.

    A pointer to memory that may be written takes what a pointer to constant memory takes; whether
    an input is written to is seen when the kernel runs.
    """
    found = functions(text)
    return tuple(_as_declared(contract, found) for contract in contracts)


def _as_declared(contract: Contract, found: Sequence[FunctionText]) -> Contract:
    kernels = [f for f in found if f.kernel and f.name == contract.kernel]
    expected = [canonical_type(parameter.type) for parameter in contract.parameters]
    for kernel in kernels:
        written = [parameter.type for parameter in kernel.parameters]
        if len(written) == len(expected) and all(
            wanted in (type_, f"const {type_}") and (wanted == type_ or type_.endswith("*"))
            for wanted, type_ in zip(expected, written, strict=True)
        ):
            parameters = tuple(
                parameter.model_copy(update={"type": type_})
                for parameter, type_ in zip(contract.parameters, written, strict=True)
            )
            return contract.model_copy(update={"parameters": parameters})
    return contract


def contract_text(contracts: Sequence[Contract], constants: Sequence[str]) -> str:
    """What is appended to the submission for `contracts` and the `constants` it declares.

    The constants come back as 64-bit variables of the PTX: see `take_constants`.
    """
    checks = [f"static_assert(sizeof{name_expression(c)} != 0);" for c in contracts]
    probes = [
        f"static_assert((({name}) | 0 | 1) != 0); "
        f'extern "C" {{ extern __device__ const long long {CONSTANT_PREFIX}{name}; '
        f"__device__ const long long {CONSTANT_PREFIX}{name} = {name}; }}"
        for name in constants
    ]
    own = {*constants, *(contract.kernel for contract in contracts)}
    # `__device__` and its kin are macros of the compiler itself.
    words = sorted(set(re.findall(r"\b(?!__)[A-Za-z_]\w*", " ".join([*checks, *probes]))) - own)
    # Two line ends: a backslash at the end of the submission swallows one.
    return "\n\n" + "".join(
        [
            *(f"#undef {word}\n" for word in words if word != "C"),
            f'#line 1 "{FILE}"\n',
            *(f"{check}\n" for check in checks),
            f'#line {_CONSTANT_LINE} "{FILE}"\n',
            *(f"{probe}\n" for probe in probes),
        ]
    )


def take_constants(ptx: str) -> tuple[str, dict[str, int]]:
    """The PTX without the variables that `contract_text` adds, and their values.

    Constants that are zero have no initialiser in PTX.
    """
    values: dict[str, int] = {}

    def take(match: re.Match[str]) -> str:
        value = int(match[2] or 0)
        values[match[1]] = value - (1 << 64) if value >= 1 << 63 else value
        return ""

    return _CONSTANT.sub(take, ptx), values


def failed_constant(line: int | None, constants: Sequence[str]) -> str | None:
    """The constant whose check is at `line` of FILE."""
    index = (line or 0) - _CONSTANT_LINE
    return constants[index] if 0 <= index < len(constants) else None


def is_undeclared(name: str, reason: str) -> bool:
    """Whether a compiler's message says that `name` is not declared."""
    return f'identifier "{name}" is undefined' in reason or (
        f"use of undeclared identifier '{name}'" in reason
    )


def explain_kernel(
    contract: Contract, text: str, file_name: str, reason: str
) -> tuple[Diagnostic, ...]:
    """Words for an entry that the compiler refused: expected first, then what was found, where.

    `reason` is the compiler's own message, kept where the reading of the source finds nothing.
    """
    expected = spelled(contract)
    found = functions(text)
    named = [function for function in found if function.name == contract.kernel]
    kernels = [function for function in named if function.kernel]
    if not kernels:
        return (_no_such_kernel(contract, named, found, file_name),)
    nearest = min(kernels, key=lambda kernel: len(_differences(contract, kernel)))
    problems = _differences(contract, nearest)
    if problems:
        return tuple(
            Diagnostic(file=file_name, line=line, column=column, severity="error", message=message)
            for line, column, message in problems
        )
    message = f"expected {expected}; the compiler says: {reason}"
    undecided = ("cannot determine which instance", "address of overloaded function")
    if nearest.template_parameters and any(words in reason for words in undecided):
        listed = ", ".join(nearest.template_parameters)
        message = (
            f"expected {expected}, found a template whose parameters ({listed}) do not all follow "
            "from the argument types: give those a default"
        )
    elif len(kernels) > 1:
        message += f" ({len(kernels)} kernels have this name)"
    return (_at(nearest, file_name, message),)


def explain_constant(name: str, default: int, text: str, file_name: str) -> Diagnostic:
    """Words for a constant that the launch needs and the compiler cannot evaluate."""
    return Diagnostic(
        file=file_name,
        line=first_line(name, text),
        severity="error",
        message=f"expected {name} to be an integer constant, since the launch uses it: "
        f"write constexpr int {name} = {default}; at the top of the file",
    )


def first_line(name: str, text: str) -> int | None:
    """The first line that mentions `name`."""
    rows = enumerate(text.splitlines(), start=1)
    return next((number for number, row in rows if re.search(rf"\b{name}\b", row)), None)


def spelled(contract: Contract) -> str:
    """The entry as the assignment writes it."""
    listed = ", ".join(f"{p.type} {p.name}".strip() for p in contract.parameters)
    return f"__global__ void {contract.kernel}({listed})"


def _no_such_kernel(
    contract: Contract,
    named: Sequence[FunctionText],
    found: Sequence[FunctionText],
    file_name: str,
) -> Diagnostic:
    expected = spelled(contract)
    if named:
        how = "a __device__ function" if named[0].device else "a host function"
        return _at(
            named[0],
            file_name,
            f"expected {expected}, found {how} of that name: write __global__ before it",
        )
    kernels = [function for function in found if function.kernel]
    close = difflib.get_close_matches(contract.kernel, [k.name for k in kernels], n=1, cutoff=0.6)
    for kernel in kernels:
        if close and kernel.name == close[0]:
            return _at(
                kernel,
                file_name,
                f"expected a kernel named {contract.kernel}, found {kernel.name}: "
                f"did you mean {contract.kernel}?",
            )
    if kernels:
        listed = ", ".join(kernel.name for kernel in kernels)
        return _at(kernels[0], file_name, f"expected {expected}, found other kernels: {listed}")
    return Diagnostic(
        file=file_name, severity="error", message=f"expected {expected}, found no kernel at all"
    )


def _differences(
    contract: Contract, kernel: FunctionText
) -> list[tuple[int | None, int | None, str]]:
    """Each way in which the kernel's parameters are not the contract's, with line and column."""
    expected = [canonical_type(parameter.type) for parameter in contract.parameters]
    found = [parameter.type for parameter in kernel.parameters]
    if len(found) != len(expected):
        message = (
            f"expected {len(expected)} parameters ({', '.join(expected)}) for {kernel.name}, "
            f"found {len(found)} ({', '.join(found)})"
        )
        return [(kernel.line, kernel.column, message)]
    return [
        (
            parameter.line,
            parameter.column,
            f"expected {wanted} for parameter {number} of {kernel.name}"
            f"{f' ({parameter.name})' if parameter.name else ''}, found {parameter.type}",
        )
        for number, (wanted, parameter) in enumerate(
            zip(expected, kernel.parameters, strict=True), start=1
        )
        if wanted != parameter.type and not _mentions(parameter.type, kernel.template_parameters)
    ]


def _mentions(type_text: str, names: Iterable[str]) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", type_text) for name in names)


def _at(function: FunctionText, file_name: str, message: str) -> Diagnostic:
    return Diagnostic(
        file=file_name,
        line=function.line,
        column=function.column,
        severity="error",
        message=message,
    )
