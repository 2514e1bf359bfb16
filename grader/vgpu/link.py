"""Links PTX modules into one: what `nvcc -rdc=true` and nvlink do.

Symbols with linkage are one in all modules: a definition is taken for every declaration, of several
weak ones (templates, inline functions) the first. What is a module's own stays its own; where
another module has something of that name it is renamed `name@module`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from grader.vgpu.parse import parse
from grader.vgpu.program import served
from grader.vgpu.ptx import Addr, Function, Imm, Instruction, Loc, Operand, Ptx, Sym, Variable, Vec

FILES = 1_000_000
"""Numbers of files and scopes for each module."""

_ONE = frozenset(("visible", "extern", "weak", "common"))


Place = tuple[str, int]


@dataclass(frozen=True)
class Reference:
    """A symbol that concerns several modules: which, and its file and line in each, as far as the
    PTX says.

    `found` is used in the second module and defined in the first. The others are mistakes:
    `missing` is used in a module and defined in none, `twice` defined in both, `unlike` declared
    in the second with another size or in another kind of memory than in the first.
    """

    kind: Literal["found", "missing", "twice", "unlike"]
    symbol: str
    function: bool
    modules: tuple[int, ...]
    places: tuple[Place | None, ...]


@dataclass(frozen=True)
class Linked:
    """One module made of several.

    `names` has for each of them what its own symbols are called now, where that is another name.
    """

    ptx: Ptx
    names: tuple[Mapping[str, str], ...]
    references: tuple[Reference, ...]


def link(texts: Sequence[str]) -> Linked:
    """Link PTX texts. Raises PtxError for one that is malformed."""
    modules = [parse(text, first=k * FILES) for k, text in enumerate(texts)]
    names = _names(modules)
    for k, (text, renamed) in enumerate(zip(texts, names, strict=True)):
        if renamed:
            modules[k] = parse(text, renamed, k * FILES)
    whole = Ptx(modules[0].version, modules[0].target, linked=tuple(modules))
    owners: dict[str, int] = {}
    references: list[Reference] = []
    for k, module in enumerate(modules):
        whole.files.update(module.files)
        for name, function in module.functions.items():
            if not function.defined:
                whole.functions.setdefault(name, function)
            elif _is_taken(function, whole.functions.get(name), owners.get(name)):
                whole.functions[name], owners[name] = function, k
            elif function.linkage == "visible":
                places = (_place_of(whole.functions[name], whole), _place_of(function, whole))
                references.append(Reference("twice", name, True, (owners[name], k), places))
        for name, variable in module.variables.items():
            if variable.extern:
                if variable.space == "shared":
                    whole.variables[name] = variable
            elif _is_taken(variable, whole.variables.get(name), owners.get(name)):
                whole.variables[name], owners[name] = variable, k
            elif variable.linkage == "visible":
                twice = Reference("twice", name, False, (owners[name], k), (None, None))
                references.append(twice)
    for k, module in enumerate(modules):
        for name, use in _lacking(module).items():
            place = _place(use.loc, whole) if use else None
            declared = module.variables.get(name)
            if name not in owners:
                missing = Reference("missing", name, declared is None, (k,), (place,))
                references.append(missing)
                continue
            kind: Literal["found", "unlike"] = "found"
            if declared and not _alike(declared, whole.variables.get(name)):
                kind = "unlike"
            both = (owners[name], k)
            references.append(Reference(kind, name, declared is None, both, (None, place)))
    return Linked(whole, tuple(names), tuple(references))


def renamed(name: str, module: int) -> str:
    """What a module's own symbol is called where another module has one of that name."""
    return f"{name}@{module}"


def _names(modules: Sequence[Ptx]) -> list[dict[str, str]]:
    """For each module other names for those of its own symbols that another module has too."""
    taken = {name for module in modules for name, own in _declared(module) if not own}
    found = []
    for k, module in enumerate(modules):
        mine = {name for name, own in _declared(module) if own}
        found.append({name: renamed(name, k) for name in sorted(mine & taken)})
        taken |= mine
    return found


def _declared(module: Ptx) -> Iterator[tuple[str, bool]]:
    """Functions, variables and the arrays of functions, each with whether it is the module's own.

    Dynamic shared memory is one whatever it is called, but each module has a type for it.
    """
    for f in module.functions.values():
        yield f.name, not f.linkage and not served(f.name)
        for v in f.variables.values():
            if v.space in ("shared", "local"):
                yield v.name, True
    for v in module.variables.values():
        yield v.name, not v.linkage or v.space == "shared"


def _is_taken(
    found: Function | Variable, there: Function | Variable | None, owner: int | None
) -> bool:
    """Whether a definition is the one to take: the first, or a strong one after a weak one."""
    if owner is None or there is None:
        return True
    return found.linkage == "visible" and there.linkage in ("weak", "common")


def _lacking(module: Ptx) -> dict[str, Instruction | None]:
    """What a module uses and does not define, with the first instruction that does."""
    missing = {f.name for f in module.functions.values() if not f.defined and not served(f.name)}
    missing |= {v.name for v in module.variables.values() if v.extern and v.space != "shared"}
    found: dict[str, Instruction | None] = {}
    for function in module.functions.values():
        for item in function.body:
            if isinstance(item, Instruction):
                for name in missing.intersection(_symbols(item.operands)):
                    found.setdefault(name, item)
    for variable in module.variables.values():
        for element in variable.init or ():
            if not isinstance(element, Imm) and element.name in missing:
                found.setdefault(element.name, None)
    return found


def _symbols(operands: Sequence[Operand]) -> Iterator[str]:
    for operand in operands:
        if isinstance(operand, Sym):
            yield operand.name
        elif isinstance(operand, Addr) and isinstance(operand.base, Sym):
            yield operand.base.name
        elif isinstance(operand, Vec):
            yield from _symbols(operand.items)


def _alike(declared: Variable, defined: Variable | None) -> bool:
    """Whether a declaration fits; one without a size (`[]`) fits any."""
    if defined is None or declared.space != defined.space:
        return False
    return declared.count == 0 or declared.size_bytes == defined.size_bytes


def _place_of(function: Function, ptx: Ptx) -> Place | None:
    located = (i.loc for i in function.body if isinstance(i, Instruction) and i.loc)
    return _place(next(located, None), ptx)


def _place(loc: Loc | None, ptx: Ptx) -> Place | None:
    """File and line in the function's own text, of which something may be inlined."""
    while loc is not None and loc.inlined is not None:
        loc = loc.inlined
    file = ptx.files.get(loc.file) if loc else None
    return (file, loc.line) if loc and file else None
