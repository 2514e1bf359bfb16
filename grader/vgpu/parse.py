"""Parse PTX text into typed records (PTX ISA 9.x, chapters 4, 5, 9 and 11).

Both dialects are read: NVRTC's typed registers, and clang's and Triton's untyped `.b32` ones;
a value's type is taken from the opcode, never from the register. Nested `{ }` scopes are
flattened: a name declared inside one is renamed `name@scope`.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.vgpu.ptx import (
    TYPE_BYTES,
    Addr,
    Function,
    Generic,
    Imm,
    Instruction,
    Label,
    Loc,
    NotReg,
    Operand,
    Pair,
    Ptx,
    PtxError,
    Reg,
    Sink,
    Sym,
    Variable,
    Vec,
)
from grader.vgpu.ptx_tokens import Cursor, Token, parse_float, parse_int, tokens

_SPACES = {".global", ".const", ".shared", ".local", ".param"}
# No compiler nests more than inline assembly does; a scope costs a look at all that is in it.
_DEEPEST = 200
_LINKAGE = {".visible", ".extern", ".weak", ".common"}


class _Parser(Cursor):
    """Recursive descent over the token list; one instance parses one module."""

    def __init__(self, text: str, names: Mapping[str, str], first: int) -> None:
        super().__init__(tokens(text, names))
        self.first = first
        self.ptx = Ptx()
        self.scopes: list[dict[str, str]] = []
        self.pragma: tuple[str, ...] = ()
        self.scope_count = first
        self.loc: Loc | None = None
        self.function: Function | None = None
        # Inlined positions seen so far, so that a chain of inlining can be followed.
        self.chains: dict[tuple[int, int, int], Loc] = {}
        self.own: Loc | None = None

    def barrier_pragma(self) -> None:
        """`.pragma "vgpu.barrier ...";` says what the next barrier does; others say nothing."""
        at = self.pos
        self.skip_statement()
        for token in self.tokens[at : self.pos]:
            words = token.text.strip('"').split()
            if words[:1] == ["vgpu.barrier"]:
                self.pragma = tuple(words)

    # -- module -------------------------------------------------------------------------------

    def module(self) -> Ptx:
        while (token := self.peek()).kind != "end":
            if token.text == ".version":
                self.next()
                self.ptx.version = self.next().text
            elif token.text == ".target":
                self.next()
                self.ptx.target = ",".join(t.text for t in self.rest_of_line() if t.text != ",")
            elif token.text == ".address_size":
                self.next()
                if self.integer() != 64:
                    raise PtxError(token.line, "only .address_size 64 is supported")
            elif token.text == ".file":
                self.file_directive()
            elif token.text == ".section":
                self.section()
            elif token.text == ".loc":
                self.loc_directive()
            elif token.text in (".pragma", ".alias"):
                self.skip_statement()
            elif token.text == ";":
                self.next()
            else:
                self.declaration()
        return self.ptx

    def file_directive(self) -> None:
        line = self.next().line
        parts = self.rest_of_line()
        if len(parts) < 2 or parts[0].kind != "int":
            raise PtxError(line, "malformed .file")
        self.ptx.files[self.first + parse_int(parts[0].text)] = parts[1].text.strip('"')

    def section(self) -> None:
        self.next()
        name = self.next().text
        self.expect("{")
        out: list[str] = []
        while (token := self.next()).text != "}":
            if token.kind == "end":
                raise PtxError(token.line, "unterminated .section")
            out.append(token.text)
        self.ptx.sections[name] = out

    def loc_directive(self) -> None:
        line = self.next().line
        parts = [t for t in self.rest_of_line() if t.text != ","]
        numbers = [parse_int(t.text) for t in parts if t.kind == "int"]
        if len(numbers) < 3:
            raise PtxError(line, "malformed .loc")
        inlined = None
        if len(numbers) >= 6 and any(t.text == "inlined_at" for t in parts):
            inlined = Loc(self.first + numbers[-3], numbers[-2], numbers[-1])
        file, at, column = self.first + numbers[0], *numbers[1:3]
        if at == 0 and self.loc is not None:
            # Line 0 says "compiler generated": keep the position that stands before it.
            return
        if inlined is not None:
            inlined = self.chains.get((inlined.file, inlined.line, inlined.column), inlined)
        elif self.own is not None and file != self.own.file:
            # NVRTC -G inlines without a word: the function's own last line is where it happened.
            inlined = self.own
        self.loc = Loc(file, at, column, inlined)
        if inlined is not None:
            self.chains[(file, at, column)] = self.loc
        elif self.own is None or file == self.own.file:
            self.own = self.loc

    def declaration(self) -> None:
        linkage = ""
        while self.peek().text in _LINKAGE:
            linkage = self.next().text[1:]
        token = self.peek()
        if token.text in (".entry", ".func"):
            self.next()
            self.function_declaration(token.text == ".entry", token.line, linkage)
        elif token.text in _SPACES or token.text in (".tex",):
            for variable in self.variables(linkage):
                self.ptx.variables[variable.name] = variable
        else:
            raise PtxError(token.line, f"unexpected {token.text!r}")

    def variables(self, linkage: str = "") -> list[Variable]:
        """One declaration statement: `.shared .align 4 .b8 name[16] = {...}, other;`."""
        space = self.next().text[1:]
        align, type_ = 0, ""
        while self.peek().text.startswith("."):
            token = self.next()
            if token.text == ".align":
                align = self.alignment()
            elif token.text == ".attribute":
                self.expect("(")
                while self.next().text != ")":
                    if self.peek().kind == "end":
                        raise PtxError(token.line, "unterminated .attribute")
            elif token.text in (".v2", ".v4"):
                raise PtxError(token.line, "vector variables are not supported")
            elif token.text[1:] in TYPE_BYTES:
                type_ = token.text[1:]
            elif token.text in (".ptr", ".global", ".const", ".shared", ".local"):
                continue
            else:
                raise PtxError(token.line, f"unexpected {token.text!r} in a declaration")
        out = []
        while True:
            token = self.next()
            if token.kind != "id":
                raise PtxError(token.line, f"expected a name, found {token.text!r}")
            if not type_:
                raise PtxError(token.line, f"no type for {token.text}")
            dims = self.dimensions()
            init = self.initialiser() if self.accept("=") else None
            if dims and dims[0] == 0 and init is not None:
                dims[0] = len(init)
            name = self.declare(token.text) if self.scopes else token.text
            out.append(
                Variable(name, space, type_, align or TYPE_BYTES[type_], tuple(dims), init, linkage)
            )
            if not self.accept(","):
                break
        self.expect(";")
        return out

    def alignment(self) -> int:
        line, align = self.peek().line, self.integer()
        if align <= 0 or align & (align - 1):
            raise PtxError(line, f"an alignment of {align}")
        return align

    def dimensions(self) -> list[int]:
        """`[4][8]` behind a name; `[]` is 0."""
        found: list[int] = []
        while self.accept("["):
            found.append(0 if self.peek().text == "]" else self.integer())
            if found[-1] < 0:
                raise PtxError(self.peek().line, f"an array of {found[-1]} elements")
            self.expect("]")
        return found

    def initialiser(self) -> tuple[Imm | Sym | Generic, ...]:
        out: list[Imm | Sym | Generic] = []

        def one() -> None:
            token = self.peek()
            if token.text == "{":
                self.next()
                while not self.accept("}"):
                    one()
                    self.accept(",")
                    if self.peek().kind == "end":
                        raise PtxError(token.line, "unterminated initialiser")
            elif token.text == "generic":
                self.next()
                self.expect("(")
                name = self.next().text
                self.expect(")")
                out.append(Generic(name, self.integer() if self.accept("+") else 0))
            elif token.kind == "id":
                self.next()
                out.append(Sym(token.text, self.integer() if self.accept("+") else 0))
            elif token.kind == "float":
                self.next()
                out.append(parse_float(token.text))
            elif token.text == "-" and self.tokens[self.pos + 1].kind == "float":
                self.next()
                imm = parse_float(self.next().text)
                out.append(Imm(imm.bits ^ (1 << (31 if imm.kind == "f32" else 63)), imm.kind))
            else:
                out.append(Imm(self.integer()))

        one()
        return tuple(out)

    # -- functions ----------------------------------------------------------------------------

    def parameters(self) -> tuple[Variable, ...]:
        """`( .param .b32 a, .param .align 8 .b8 b[16] )`, also with `.reg`."""
        out: list[Variable] = []
        self.expect("(")
        while not self.accept(")"):
            align, type_ = 0, ""
            token = self.peek()
            if token.kind == "end":
                raise PtxError(token.line, "unterminated parameter list")
            while self.peek().text.startswith("."):
                word = self.next().text
                if word == ".align":
                    align = self.alignment()
                elif word[1:] in TYPE_BYTES:
                    type_ = word[1:]
            name = self.next()
            if name.kind != "id" or not type_:
                raise PtxError(name.line, f"malformed parameter near {name.text!r}")
            dims = self.dimensions()
            out.append(Variable(name.text, "param", type_, align or TYPE_BYTES[type_], tuple(dims)))
            self.accept(",")
        return tuple(out)

    def function_declaration(self, entry: bool, line: int, linkage: str) -> None:
        returns: tuple[Variable, ...] = ()
        if not entry and self.peek().text == "(":
            returns = self.parameters()
        name = self.next()
        if name.kind != "id":
            raise PtxError(name.line, f"expected a function name, found {name.text!r}")
        params = self.parameters() if self.peek().text == "(" else ()
        f = Function(name.text, entry, params, returns, line=line, linkage=linkage)
        while self.peek().text.startswith("."):
            directive = self.next().text[1:]
            if directive == "pragma":
                self.skip_statement()
                continue
            values: list[int] = []
            while self.peek().kind == "int":
                values.append(self.integer())
                if not self.accept(","):
                    break
            f.directives[directive] = tuple(values)
        if self.accept(";"):
            self.ptx.functions.setdefault(f.name, f)
            return
        self.expect("{")
        f.defined = True
        self.ptx.functions[f.name] = f
        self.function = f
        self.loc = self.own = None
        self.chains = {}
        self.scopes = [{v.name: v.name for v in (*params, *returns)}]
        self.body(f)
        self.scopes = []
        self.function = None

    def declare(self, name: str) -> str:
        """Declare `name` in the innermost scope and return what it is called from now on."""
        assert self.function is not None
        unique = name
        if len(self.scopes) > 1:
            unique = f"{name}@{self.scope_count}"
        self.scopes[-1][name] = unique
        return unique

    def lookup(self, name: str) -> str:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return name

    def body(self, f: Function) -> None:
        """Statements up to the closing brace of the function."""
        scope_ids = [0]
        while True:
            token = self.peek()
            text = token.text
            if token.kind == "end":
                raise PtxError(token.line, f"{f.name} has no closing brace")
            if text == "}":
                self.next()
                self.scopes.pop()
                scope_ids.pop()
                if not self.scopes:
                    return
            elif text == "{":
                self.next()
                if len(self.scopes) > _DEEPEST:
                    raise PtxError(token.line, f"more than {_DEEPEST} blocks within each other")
                self.scope_count += 1
                scope_ids.append(self.scope_count)
                self.scopes.append({})
                self.hoist_labels()
            elif text == ";":
                self.next()
            elif text == ".loc":
                self.loc_directive()
            elif text == ".reg":
                self.registers(f)
            elif text in _SPACES:
                for variable in self.variables():
                    f.variables[variable.name] = variable
            elif text == ".pragma":
                self.barrier_pragma()
            elif text == ".file":
                self.file_directive()
            elif token.kind == "id" and self.follows(":"):
                self.next()
                self.expect(":")
                self.label(f, token)
            else:
                f.body.append(self.instruction())

    def hoist_labels(self) -> None:
        """Declare the labels of the scope just opened: branches may precede them."""
        at, depth = self.pos, 0
        while (token := self.tokens[at]).kind != "end":
            if token.text == "{":
                depth += 1
            elif token.text == "}":
                if depth == 0:
                    return
                depth -= 1
            elif (
                depth == 0
                and token.kind == "id"
                and self.tokens[at + 1].text == ":"
                and self.tokens[at - 1].text in (";", "{", "\n", "}", ":")
                and not token.text.startswith(("$L", "."))
            ):
                self.declare(token.text)
            at += 1

    def label(self, f: Function, token: Token) -> None:
        name = self.lookup(token.text)
        following = self.peek().text
        if following in {".branchtargets", ".calltargets"}:
            self.next()
            names = []
            while True:
                names.append(self.lookup(self.next().text))
                if not self.accept(","):
                    break
            self.expect(";")
            f.tables[name] = tuple(names)
        elif following == ".callprototype":
            self.next()
            returns: tuple[Variable, ...] = ()
            if self.peek().text == "(":
                returns = self.parameters()
            self.next()  # the name, always `_`
            params = self.parameters() if self.peek().text == "(" else ()
            self.skip_statement()
            f.prototypes[name] = (returns, params)
        else:
            f.body.append(Label(name))

    def registers(self, f: Function) -> None:
        line = self.next().line
        type_ = self.next().text[1:]
        if type_ in ("v2", "v4"):
            raise PtxError(line, "vector registers are not supported")
        if type_ not in TYPE_BYTES:
            raise PtxError(line, f"unknown register type .{type_}")
        while True:
            name = self.next()
            if name.kind != "id":
                raise PtxError(name.line, f"expected a register name, found {name.text!r}")
            if self.accept("<"):
                count = self.integer()
                self.expect(">")
                if not 0 <= count <= 1_000_000:
                    raise PtxError(name.line, f"{count} registers")
                for i in range(count):
                    f.registers[self.declare(f"{name.text}{i}")] = type_
            else:
                f.registers[self.declare(name.text)] = type_
            if not self.accept(","):
                break
        self.expect(";")

    # -- instructions -------------------------------------------------------------------------

    def instruction(self) -> Instruction:
        guard: Reg | NotReg | None = None
        line = self.peek().line
        if self.accept("@"):
            negated = self.accept("!")
            name = self.lookup(self.next().text)
            guard = NotReg(name) if negated else Reg(name)
        token = self.next()
        if token.kind != "id" or token.text.startswith((".", "%")):
            raise PtxError(token.line, f"expected an instruction, found {token.text!r}")
        op, *mods = token.text.split(".")
        # `.level::prefetch` and friends stay attached to their modifier.
        operands: list[Operand] = []
        while not self.accept(";"):
            if self.peek().kind == "end" or self.peek().text == "}":
                raise PtxError(self.peek().line, f"unterminated instruction {token.text}")
            operands.append(self.operand())
            if not self.accept(",") and self.peek().text != ";":
                raise PtxError(
                    self.peek().line,
                    f"unexpected {self.peek().text!r} after an operand of {token.text}",
                )
        pragma: tuple[str, ...] = ()
        if op in ("bar", "barrier"):
            pragma, self.pragma = self.pragma, ()
        return Instruction(op, tuple(mods), tuple(operands), guard, self.loc, line, pragma)

    def operand(self) -> Operand:
        first = self.single_operand()
        if self.accept("|"):
            return Pair(first, self.single_operand())
        return first

    def single_operand(self) -> Operand:
        token = self.next()
        text = token.text
        if text in {"{", "("}:
            close = "}" if text == "{" else ")"
            items: list[Operand] = []
            while not self.accept(close):
                if self.peek().kind == "end" or self.peek().text == ";":
                    raise PtxError(token.line, f"unterminated {text}")
                items.append(self.operand())
                self.accept(",")
            return Vec(tuple(items))
        if text == "[":
            return self.address(token)
        if text == "!":
            return NotReg(self.lookup(self.next().text))
        if text == "-":
            number = self.next()
            if number.kind == "int":
                return Imm(-parse_int(number.text))
            if number.kind == "float":
                imm = parse_float(number.text)
                return Imm(imm.bits ^ (1 << (31 if imm.kind == "f32" else 63)), imm.kind)
            return Reg(self.register_name(number))  # a negated operand occurs in no opcode we know
        if token.kind == "int":
            return Imm(parse_int(text))
        if token.kind == "float":
            return parse_float(text)
        if text == "_":
            return Sink()
        if text == "WARP_SZ":  # PTX ISA 4.5.5: a predefined constant
            return Imm(32)
        if token.kind == "id":
            return self.named(token)
        raise PtxError(token.line, f"unexpected {text!r}")

    def register_name(self, token: Token) -> str:
        if token.kind != "id":
            raise PtxError(token.line, f"unexpected {token.text!r}")
        return self.lookup(token.text)

    def named(self, token: Token) -> Reg | Sym:
        named = self.named_base(token)
        if isinstance(named, Sym) and self.accept("+"):
            return Sym(named.name, self.integer())
        return named

    def address(self, token: Token) -> Operand:
        inner = self.next()
        base: Reg | Sym | Imm
        if inner.kind == "int":
            base = Imm(parse_int(inner.text))
        elif inner.kind == "id":
            base = self.named_base(inner)
        else:
            raise PtxError(token.line, f"malformed address near {inner.text!r}")
        offset = 0
        coordinates: list[Operand] = []
        while not self.accept("]"):
            if self.accept("+") or self.peek().text == "-":
                offset += self.integer()
            elif self.accept(","):
                item = self.operand()  # of a texture, or a tensor's index
                coordinates += item.items if isinstance(item, Vec) else (item,)
            else:
                raise PtxError(token.line, f"malformed address near {self.peek().text!r}")
        return Addr(base, offset, tuple(coordinates))

    def named_base(self, token: Token) -> Reg | Sym:
        assert self.function is not None
        name = self.lookup(token.text)
        if name in self.function.registers or token.text.startswith("%"):
            return Reg(name)
        return Sym(name)


def parse(text: str, names: Mapping[str, str] | None = None, first: int = 0) -> Ptx:
    """Parse PTX text; raises PtxError. Of several modules each has symbols it shall call otherwise,
    `names`, and its files and scopes numbered from `first` on."""
    try:
        parser = _Parser(text, names or {}, first)
        try:
            return parser.module()
        except RecursionError:
            line = parser.peek().line
            raise PtxError(line, "operands are nested too deeply") from None
    except PtxError as error:
        raise error.within(text) from None
