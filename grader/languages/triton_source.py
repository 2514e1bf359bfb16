"""Reads a Triton source as text: what each load and store means, for words a student understands.

Nothing is executed. Only Python's parser touches the text, and only text that the sandboxed child's
own parser has survived before.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from grader import python_text
from grader.languages.triton_offsets import Lanes, Values, lanes, moving, values_of

_CALLS = {"load": "read", "store": "write"}


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory call: `operation` names it, `base` is the parameter its pointer starts from.

    `pointer`, `offsets` and `mask` are source text; `offsets` is what is added to the base, and
    `condition` is the mask with a name replaced by what was assigned to it. `lanes` says how the
    pointer differs between the lanes of a block; `unmasked` are names it moves with from program to
    program, or from round to round of a loop, which the mask does not look at.
    """

    operation: str
    access: Literal["read", "write", "atomic"]
    line: int
    end_line: int
    pointer: str
    base: str | None
    offsets: str
    mask: str | None
    condition: str | None
    has_other: bool
    lanes: Lanes
    unmasked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function of the source: its parameters in order, and its memory calls."""

    name: str
    line: int
    end_line: int
    parameters: tuple[str, ...]
    constants: tuple[str, ...]
    memory: tuple[Memory, ...]
    unused: tuple[str, ...]
    reads_program_id: bool
    dots: tuple[tuple[int, str | None], ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The parameters that are not `tl.constexpr`."""
        return tuple(name for name in self.parameters if name not in self.constants)


def kernels(source: str) -> dict[str, Kernel]:
    """The functions of a source by name; empty for a text that is not Python, or too deep."""
    try:
        tree = python_text.parse(source)
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        helpers = {
            call.func.id
            for function in functions
            for call in ast.walk(function)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        }
        return {node.name: _kernel(node, node.name in helpers) for node in functions}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}


def lines_without_other(source: str) -> frozenset[int]:
    """Lines of the `tl.load` calls that have a mask and do not say what lies beyond it."""
    return frozenset(
        line
        for kernel in kernels(source).values()
        for call in kernel.memory
        if call.operation == "load" and call.mask is not None and not call.has_other
        for line in range(call.line, call.end_line + 1)
    )


def _kernel(node: ast.FunctionDef, is_helper: bool) -> Kernel:
    """A function of the source; a helper's parameters may be blocks, a kernel's are scalars."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    names = tuple(a.arg for a in arguments)
    constants = tuple(
        a.arg for a in arguments if a.annotation and "constexpr" in ast.unparse(a.annotation)
    )
    values = values_of(node)
    unknown = names if is_helper else ()
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
    memory = tuple(
        found for call in calls if (found := _memory(call, names, values, unknown)) is not None
    )
    return Kernel(
        name=node.name,
        line=node.lineno,
        end_line=node.end_lineno or node.lineno,
        parameters=names,
        constants=constants,
        memory=tuple(sorted(memory, key=lambda m: m.line)),
        unused=tuple(name for name in names if name not in used),
        reads_program_id=any(_called(call) == "program_id" for call in calls),
        dots=tuple(
            (call.lineno, _keyword(call, "input_precision") or _keyword(call, "allow_tf32"))
            for call in calls
            if _called(call) == "dot"
        ),
    )


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _keyword(call: ast.Call, name: str) -> str | None:
    return next((ast.unparse(k.value) for k in call.keywords if k.arg == name), None)


def _memory(
    call: ast.Call, parameters: tuple[str, ...], values: Values, unknown: tuple[str, ...]
) -> Memory | None:
    # The first value of each name: enough to follow `a_ptrs = a_ptr + offs`.
    assigned = {name: given[0] for name, given in values.items()}
    name = _called(call)
    atomic = name.startswith("atomic_")
    if not (atomic or name in _CALLS) or not isinstance(call.func, ast.Attribute):
        return None
    pointer = call.args[0] if call.args else None
    if pointer is None:
        pointer = next((k.value for k in call.keywords if k.arg == "pointer"), None)
    if pointer is None:
        return None
    position = {"load": 1, "store": 2, "atomic_cas": 99}.get(name, 2)
    mask_node = next((k.value for k in call.keywords if k.arg == "mask"), None)
    if mask_node is None and len(call.args) > position:
        mask_node = call.args[position]
    mask = None if mask_node is None else ast.unparse(mask_node)
    if mask == "None":
        mask = None
    condition = ast.unparse(assigned[mask]) if mask in assigned else mask
    base, offsets = _split(pointer, parameters, assigned, 0)
    return Memory(
        operation=name,
        access="atomic" if atomic else "read" if name == "load" else "write",
        line=call.lineno,
        end_line=call.end_lineno or call.lineno,
        pointer=ast.unparse(pointer),
        base=base,
        offsets=offsets,
        mask=mask,
        condition=condition,
        has_other=_keyword(call, "other") is not None or len(call.args) > 2,
        lanes=lanes(pointer, values, unknown),
        unmasked=moving(pointer, mask_node, values),
    )


def _split(
    pointer: ast.expr, parameters: tuple[str, ...], assigned: dict[str, ast.expr], depth: int
) -> tuple[str | None, str]:
    """The parameter a pointer expression starts from, and the text of what is added to it."""
    if isinstance(pointer, ast.Name):
        if pointer.id in parameters:
            return pointer.id, ""
        if pointer.id in assigned and depth < 8:
            return _split(assigned[pointer.id], parameters, assigned, depth + 1)
        return None, ""
    if isinstance(pointer, ast.BinOp) and isinstance(pointer.op, ast.Add | ast.Sub):
        sign = "" if isinstance(pointer.op, ast.Add) else "-"
        base, offsets = _split(pointer.left, parameters, assigned, depth + 1)
        if base is not None:
            added = ast.unparse(pointer.right)
            return base, f"{offsets} + {added}" if offsets else sign + added
        base, offsets = _split(pointer.right, parameters, assigned, depth + 1)
        if base is not None:
            return base, ast.unparse(pointer.left)
    return None, ""
