"""The records that PTX text becomes (PTX ISA 9.x, chapters 4, 5, 9 and 11)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

TYPE_BYTES = {
    "pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "tf32": 4,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8, "f32x2": 8, "b128": 16, "texref": 8, "samplerref": 8,
    "surfref": 8,
}  # fmt: skip


class PtxError(Exception):
    """PTX that cannot be read: `line` is the line of the PTX text, `place` that of the source."""

    def __init__(self, line: int, message: str, place: str = "") -> None:
        super().__init__(f"{place and place + ': '}PTX line {line}: {message}")
        self.line = line
        self.message = message
        self.place = place

    def within(self, text: str) -> PtxError:
        """The same of the module `text`, whose last `.loc` before the line says the place."""
        before = "\n".join(text.splitlines()[: self.line])
        file, line = (re.findall(r"^\s*\.loc\s+(\d+) (\d+)", before, re.MULTILINE) or [("", "")])[
            -1
        ]
        found = re.search(rf'^\s*\.file\s+{file} "([^"]*)"', text, re.MULTILINE) if file else None
        return PtxError(self.line, self.message, f"{found[1]}:{line}" if found else "")


@dataclass(frozen=True, slots=True)
class Reg:
    """A register, or a special register such as `%tid.x`."""

    name: str


@dataclass(frozen=True, slots=True)
class NotReg:
    """A negated predicate operand, `!%p1`."""

    name: str


@dataclass(frozen=True, slots=True)
class Imm:
    """A constant: `bits` is the integer, or the IEEE bit pattern when `kind` is f32 or f64."""

    bits: int
    kind: str = "int"


@dataclass(frozen=True, slots=True)
class Sym:
    """A variable, parameter, function or label, plus a byte offset."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Addr:
    """`[base + offset]`, or `[texture, {coordinates}]`."""

    base: Reg | Sym | Imm
    offset: int = 0
    coordinates: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Vec:
    """`{a, b}` or a parenthesised list of a call."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """`%r1|%p1`: a result and a predicate."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Sink:
    """`_`: a result that nobody wants."""


Operand = Reg | NotReg | Imm | Sym | Addr | Vec | Pair | Sink


@dataclass(frozen=True, slots=True)
class Loc:
    """A source position; `inlined` is where its function was inlined, if it was."""

    file: int
    line: int
    column: int
    inlined: Loc | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: `mods` are the dotted parts after the opcode, destinations come first."""

    op: str
    mods: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Reg | NotReg | None
    loc: Loc | None
    line: int
    pragma: tuple[str, ...] = ()  # the words of a `vgpu.barrier` pragma in front of it

    @property
    def text(self) -> str:
        """The opcode as PTX spells it."""
        return ".".join((self.op, *self.mods))


@dataclass(frozen=True, slots=True)
class Label:
    """A branch target."""

    name: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A declared variable; `init` holds literals and symbol references, element by element.

    `linkage` is visible, extern, weak, common or, for the module's own, empty.
    """

    name: str
    space: str
    type: str
    align: int
    dims: tuple[int, ...]
    init: tuple[Imm | Sym | Generic, ...] | None = None
    linkage: str = ""

    @property
    def extern(self) -> bool:
        """Whether it is declared here and lies elsewhere."""
        return self.linkage == "extern"

    @property
    def count(self) -> int:
        """Number of elements; 0 for `[]`."""
        n = 1
        for d in self.dims:
            n *= d
        return n

    @property
    def size_bytes(self) -> int:
        """Size in bytes."""
        return self.count * TYPE_BYTES[self.type]


@dataclass(frozen=True, slots=True)
class Generic:
    """`generic(symbol) + offset` inside an initialiser."""

    name: str
    offset: int = 0


@dataclass(slots=True)
class Function:
    """A kernel (`entry`) or a device function; `linkage` as of a variable."""

    name: str
    entry: bool
    params: tuple[Variable, ...]
    returns: tuple[Variable, ...]
    body: list[Instruction | Label] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    prototypes: dict[str, tuple[tuple[Variable, ...], tuple[Variable, ...]]] = field(
        default_factory=dict
    )
    directives: dict[str, tuple[int, ...]] = field(default_factory=dict)
    defined: bool = False
    line: int = 0
    linkage: str = ""


@dataclass(slots=True)
class Ptx:
    """A parsed module; `linked` are the modules it was linked from, which keep their sections."""

    version: str = ""
    target: str = ""
    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    files: dict[int, str] = field(default_factory=dict)
    sections: dict[str, list[str]] = field(default_factory=dict)
    linked: tuple[Ptx, ...] = ()
