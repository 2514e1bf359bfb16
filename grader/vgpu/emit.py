"""LLVM IR as text: values of 32 lanes, or of one lane when all lanes agree."""

from __future__ import annotations

from dataclasses import dataclass

INT_OF_BYTES = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}
FLOAT_OF_BYTES = {2: "half", 4: "float", 8: "double"}
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128,
        "half": 16, "float": 32, "double": 64}  # fmt: skip
INT_OF_FLOAT = {"half": "i16", "float": "i32", "double": "i64"}


@dataclass(frozen=True, slots=True)
class Shadow:
    """Which lanes' bits were never written: `n` names an i32 lane mask, or with `bytes` > 0 a
    vector of one lane mask per byte."""

    n: str
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class V:
    """A value: LLVM element type, SSA name or literal, uniform over lanes, shadow or None."""

    t: str
    n: str
    u: bool = False
    s: Shadow | None = None

    @property
    def ty(self) -> str:
        """LLVM type."""
        return self.t if self.u else f"<32 x {self.t}>"

    @property
    def full(self) -> str:
        """Type and name, as an operand is written."""
        return f"{self.ty} {self.n}"

    @property
    def literal(self) -> bool:
        """Whether the name is a constant."""
        return not self.n.startswith("%")


def lane_type(t: str, uniform: bool) -> str:
    """LLVM type of a value."""
    return t if uniform else f"<32 x {t}>"


def suffix(t: str, uniform: bool) -> str:
    """The type suffix of an overloaded LLVM intrinsic."""
    name = {"half": "f16", "float": "f32", "double": "f64"}.get(t, t)
    return name if uniform else f"v32{name}"


class Emitter:
    """Collects the text of one function; SSA names are `%tN`."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0
        self.declared: dict[str, str] = {}

    def op(self, text: str) -> str:
        """Append `%tN = text` and return the name."""
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Append a statement without a result."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """Begin an LLVM basic block."""
        self.lines.append(f"{name}:")

    def declare(self, name: str, signature: str) -> None:
        """Declare an external function: `signature` is `ret (args)`."""
        self.declared[name] = signature

    # -- values -------------------------------------------------------------------------------

    def const(self, t: str, value: int) -> V:
        """An integer constant, or a float given by its bits."""
        if t in INT_OF_FLOAT:
            i = INT_OF_FLOAT[t]
            bits = value & ((1 << BITS[i]) - 1)
            return V(t, f"bitcast ({i} {bits} to {t})", True)
        width = BITS[t]
        value &= (1 << width) - 1
        if value >> (width - 1) and width > 1:
            value -= 1 << width
        if t == "i1":
            return V(t, "true" if value else "false", True)
        return V(t, str(value), True)

    def vector(self, v: V) -> V:
        """The value with one element per lane."""
        if not v.u:
            return v
        if v.literal:
            return V(v.t, f"splat ({v.t} {v.n})", False, v.s)
        one = self.op(f"insertelement <32 x {v.t}> poison, {v.t} {v.n}, i32 0")
        n = self.op(
            f"shufflevector <32 x {v.t}> {one}, <32 x {v.t}> poison, <32 x i32> zeroinitializer"
        )
        return V(v.t, n, False, v.s)

    def agree(self, *values: V) -> tuple[V, ...]:
        """All uniform, or all vectors."""
        if all(v.u for v in values):
            return values
        return tuple(self.vector(v) for v in values)

    def binary(self, op: str, a: V, b: V) -> V:
        """`op a, b` of one element type."""
        a, b = self.agree(a, b)
        return V(a.t, self.op(f"{op} {a.full}, {b.n}"), a.u)

    def compare(self, op: str, a: V, b: V) -> V:
        """`icmp`/`fcmp`: an i1 value."""
        a, b = self.agree(a, b)
        return V("i1", self.op(f"{op} {a.full}, {b.n}"), a.u)

    def select(self, c: V, a: V, b: V) -> V:
        """Lane-wise choice."""
        c, a, b = self.agree(c, a, b)
        return V(a.t, self.op(f"select {c.full}, {a.full}, {b.full}"), a.u)

    def cast(self, op: str, a: V, t: str) -> V:
        """A conversion instruction."""
        return V(t, self.op(f"{op} {a.full} to {lane_type(t, a.u)}"), a.u)

    def bitcast(self, a: V, t: str) -> V:
        """Same bits, another element type of the same width."""
        if a.t == t:
            return a
        return V(t, self.op(f"bitcast {a.full} to {lane_type(t, a.u)}"), a.u, a.s)

    def resize(self, a: V, t: str, signed: bool = False) -> V:
        """Integer truncation or extension; the shadow is kept where the width is."""
        if BITS[a.t] == BITS[t]:
            return a
        op = "trunc" if BITS[a.t] > BITS[t] else "sext" if signed else "zext"
        return self.cast(op, a, t)

    def intrinsic(self, name: str, t: str, *args: V, extra: str = "") -> V:
        """`llvm.name.<type>` over values of one type."""
        args = self.agree(*args)
        u = args[0].u
        full = f"llvm.{name}.{suffix(t, u)}"
        ty = lane_type(t, u)
        types = ", ".join(a.ty for a in args) + (", i1" if extra else "")
        self.declare(full, f"{ty} ({types})")
        text = ", ".join(a.full for a in args) + (f", {extra}" if extra else "")
        return V(t, self.op(f"call {ty} @{full}({text})"), u)
