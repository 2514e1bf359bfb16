"""Makes Metal text that clang's C++ front end accepts, and finds what the grader cannot run.

Clang knows the words of Metal as macros (`metal_headers/metal_prelude`). A few constructs of the
language have no spelling in C++; they are edited here, and every edit remembers the columns it
moved, so that messages and debug locations point at the text as the student wrote it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grader.languages.metal_brackets import declaration_end, outside, scope
from grader.languages.metal_operators import operator_edits
from grader.languages.metal_positions import position_edits
from grader.languages.metal_values import value_edits

_SKIPPED = re.compile(
    r'R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])+'"
    r"|//[^\n]*"
    r"|/\*.*?(?:\*/|\Z)",
    re.DOTALL,
)
_ATTRIBUTES = re.compile(r"\[\[.*?\]\]", re.DOTALL)
_SPACE = r"(?:\s|\\\n)"
_BEFORE = re.compile(
    r"(?:\b(?:const|volatile)|\balignas\s*\([^()]*\)"
    r"|\b__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\))$"
)
_ALIGNED = re.compile(r"\b(?:alignas|__attribute__)\s*$")

# Construct, and the words that only it uses. `\b` on both sides is implied.
_UNSUPPORTED: tuple[tuple[str, str], ...] = (
    ("textures", r"(?:texture|depth)(?:1d|2d|3d|cube)(?:_ms)?(?:_array)?|texture_buffer"),
    ("samplers", r"sampler|constexpr_sampler"),
    ("ray tracing", r"intersector|intersection_query|acceleration_structure|"
     r"primitive_acceleration_structure|instance_acceleration_structure|"
     r"intersection_function_table|raytracing"),
    ("mesh functions", r"mesh_grid_properties|object_data|mesh<"),
    ("visible functions", r"visible_function_table|visible"),
    ("image blocks", r"imageblock|threadgroup_imageblock"),
    ("indirect command buffers", r"command_buffer|render_command|compute_command"),
    ("tensors", r"tensor_handle|tensor_inline|tensor_ops|cooperative_tensor"),
)  # fmt: skip
_UNSUPPORTED_PATTERN = re.compile(
    "|".join(rf"(?P<k{i}>(?<![\w.])(?:{words})(?!\w))" for i, (_, words) in enumerate(_UNSUPPORTED))
)
_UNSUPPORTED_ATTRIBUTE = re.compile(
    r"\[\[[^\]]*?\b(?P<name>mesh|object|intersection|visible|stitchable|stage_in|texture|sampler|"
    r"vertex_id|color|payload|imageblock)\b[^\]]*\]\]"
)


@dataclass(frozen=True)
class Construct:
    """A construct that no device here can run: its family, the word, where it stands."""

    family: str
    word: str
    line: int


@dataclass(frozen=True)
class Edits:
    """Where text was inserted: per line, sorted original columns and the characters before each.

    `widths` are the lengths of the lines as the student wrote them.
    """

    moved: Mapping[int, tuple[tuple[int, int], ...]]
    widths: tuple[int, ...]

    def column(self, line: int, column: int) -> int:
        """The column (1-based) in the student's text of a column in the edited text.

        0 for a place that is not in the text: what an entry does stands on its kernel's line.
        """
        shift = 0
        for original, length in self.moved.get(line, ()):
            if column <= original + shift:
                break
            # Inside an insertion counts as its place.
            shift += min(length, column - original - shift)
        width = self.widths[line - 1] if 1 <= line <= len(self.widths) else 0
        return column - shift if column - shift <= width + 1 else 0


@dataclass(frozen=True)
class Edited:
    """Text for clang, and the way back."""

    text: str
    edits: Edits


def blank(text: str) -> str:
    """`text` with comments and literals as spaces: same length, same line ends."""
    return _SKIPPED.sub(lambda m: _spaces(m[0]), text)


def blank_comments(text: str) -> str:
    """`text` with comments as spaces: same length, same line ends."""
    return _SKIPPED.sub(lambda m: _spaces(m[0]) if m[0].startswith("/") else m[0], text)


def blank_attributes(plain: str) -> str:
    """`plain` with `[[...]]` as spaces."""
    return _ATTRIBUTES.sub(lambda m: _spaces(m[0]), plain)


def line_of(text: str, offset: int) -> int:
    """The line (1-based) of an offset."""
    return text.count("\n", 0, offset) + 1


def unsupported(text: str) -> Construct | None:
    """The first construct in `text` that the virtual GPU does not have."""
    plain = blank(text)
    found: list[tuple[int, str, str]] = []
    if match := _UNSUPPORTED_PATTERN.search(plain):
        index = int((match.lastgroup or "k0")[1:])
        found.append((match.start(), _UNSUPPORTED[index][0], match[0].rstrip("<")))
    if match := _UNSUPPORTED_ATTRIBUTE.search(plain):
        found.append((match.start(), "functions or arguments of that kind", f"[[{match['name']}]]"))
    if match := next(_bound_outside(plain), None):
        family = "buffers bound to variables outside of functions: make it a kernel's argument"
        found.append((match.start("name"), family, match["name"]))
    if not found:
        return None
    offset, family, word = min(found)
    return Construct(family, word, line_of(plain, offset))


def _bound_outside(plain: str) -> Iterator[re.Match[str]]:
    """`constant float* constant table [[buffer(3)]];` outside of functions."""
    pattern = re.compile(
        r"(?<![(,])(?<![(,]\s)\b(?:constant|device)\b[^;{}()\[\]=]*\b(?P<name>\w+)\s*"
        r"\[\[\s*buffer\s*\([^()]*\)\s*\]\]\s*;"
    )
    for match in pattern.finditer(plain):
        if outside(plain, match.start()):
            yield match


def rewrite(text: str, constants: Mapping[str, int]) -> Edited:
    """`text` as C++: threadgroup variables, qualified methods, function constants, constructors.

    `constants` gives function constants their values by name; others are not defined, and zero.
    """
    plain = blank(text)
    bare = blank_attributes(plain)
    characters = list(text)
    inserted: dict[int, str] = {}
    # Clang needs none of the attributes, and some hold words that are macros to it.
    for match in _ATTRIBUTES.finditer(plain):
        characters[slice(*match.span())] = _spaces(match[0])
    for start, end, name, kind in _function_constants(plain):
        value = constants.get(name, 0)
        spelled = {"bool": "true" if value else "false"}.get(kind, str(value))
        characters[start:end] = f"= {spelled}".ljust(end - start)
    for start, end, name in _defined_tests(plain):
        characters[start:end] = ("(true)" if name in constants else "(false)").ljust(end - start)
    for start, stop, spelled in (
        *position_edits(plain),
        *operator_edits(bare),
        *value_edits(bare),
    ):
        characters[start:stop] = _spaces(text[start:stop])
        for offset in [o for o in inserted if start < o < stop]:
            del inserted[offset]
        inserted[start] = inserted.get(start, "") + spelled
    for start, (first, last) in _array_parameters(bare):
        inserted[start] = "(*"
        characters[first:last] = ")".ljust(last - first)
    for offset in _threadgroup_variables(bare):
        inserted[offset] = "static "
    for start, stop in _method_qualifiers(bare):
        characters[start:stop] = _spaces(text[start:stop])
        for offset in [o for o in inserted if start < o < stop]:
            del inserted[offset]
    return _apply(text, characters, inserted)


def _apply(text: str, characters: list[str], inserted: Mapping[int, str]) -> Edited:
    starts = [0, *(i + 1 for i, c in enumerate(text) if c == "\n")]
    moved: dict[int, list[tuple[int, int]]] = {}
    for offset in sorted(inserted):
        line = bisect_right(starts, offset)
        moved.setdefault(line, []).append((offset - starts[line - 1], len(inserted[offset])))
    pieces = []
    last = 0
    for offset in sorted(inserted):
        pieces += ["".join(characters[last:offset]), inserted[offset]]
        last = offset
    pieces.append("".join(characters[last:]))
    widths = tuple(len(line.encode()) for line in text.split("\n"))
    return Edited("".join(pieces), Edits({k: tuple(v) for k, v in moved.items()}, widths))


def _function_constants(plain: str) -> Iterator[tuple[int, int, str, str]]:
    """`constant bool f [[function_constant(0)]];`: the attribute becomes the value."""
    pattern = re.compile(
        r"(?P<type>[\w:]+)\s+(?P<name>\w+)\s*"
        r"(?P<attribute>\[\[\s*function_constant\s*\([^\[\];]*\)\s*\]\])\s*;"
    )
    for match in pattern.finditer(plain):
        yield *match.span("attribute"), match["name"], match["type"]


def _defined_tests(plain: str) -> Iterator[tuple[int, int, str]]:
    for match in re.finditer(r"\bis_function_constant_defined\s*\(\s*(\w+)\s*\)", plain):
        yield *match.span(), match[1]


def undefined_constants(text: str, constants: Mapping[str, int]) -> list[tuple[int, str]]:
    """Function constants to which nothing gives a value: line and name."""
    plain = blank(text)
    return [
        (line_of(plain, start), name)
        for start, _, name, _ in _function_constants(plain)
        if name not in constants
    ]


def _array_parameters(bare: str) -> Iterator[tuple[int, tuple[int, int]]]:
    """`constant int strides[3]` as a parameter: where its name starts, and its first extent.

    C++ makes a pointer of it, but clang first refuses an array that is in an address space.
    """
    pattern = re.compile(
        r"[(,]\s*(?:const\s+)?(?:device|constant|threadgroup)\b[^;{}()\[\]=,]*?"
        r"\b(?P<name>\w+)\s*(?P<extent>\[[^\]]*\])(?:\s*\[[^\]]*\])*\s*(?=[,)])"
    )
    for match in pattern.finditer(bare):
        yield match.start("name"), match.span("extent")


def _method_qualifiers(bare: str) -> Iterator[tuple[int, int]]:
    """The address space behind a method's parameters, and copies of a method for other spaces.

    C++ has one method where Metal wants one per address space: the first, or the one for thread.
    """
    pattern = re.compile(
        rf"\)(?P<tail>{_SPACE}*(?:const{_SPACE}+)?(?P<space>device|constant|threadgroup|thread)\b"
        rf"(?:{_SPACE}+const\b)?)(?={_SPACE}*(?:[{{;:=]|->|noexcept\b|override\b))"
    )
    found = list(pattern.finditer(bare))
    scopes = {scope(bare, match.start()) for match in found}
    # A method without a word is the one for thread memory: it serves the others.
    plain = re.compile(rf"\){_SPACE}*(?P<const>const)?(?={_SPACE}*[{{;=])")
    seen = {
        _method(bare, match.start(), bool(match["const"]))
        for match in plain.finditer(bare)
        if scope(bare, match.start()) in scopes
    }
    for match in found:
        key = _method(bare, match.start(), "const" in match["tail"].split())
        if key in seen:
            yield _method_head(bare, match.start()), declaration_end(bare, match.end())
            continue
        seen.add(key)
        yield match.span("space")


def _method(bare: str, close: int, is_const: bool) -> tuple[int, str, bool]:
    """What tells methods apart: the class, the text up to the parameters' end, const."""
    head = _method_head(bare, close)
    return scope(bare, head), " ".join(bare[head : close + 1].split()), is_const


def _method_head(bare: str, close: int) -> int:
    """Where the declaration starts whose parameters end at `close`."""
    depth = 0
    for i in range(close, -1, -1):
        character = bare[i]
        if character in ")]":
            depth += 1
        elif character in "([":
            depth -= 1
        elif depth == 0 and (character in ";{}" or (character == ":" and _access(bare, i))):
            head = i + 1
            return head + len(bare[head:]) - len(bare[head:].lstrip())
    return 0


def _access(bare: str, colon: int) -> bool:
    return bool(re.search(r"\b(?:public|private|protected)\s*$", bare[max(0, colon - 20) : colon]))


def _threadgroup_variables(bare: str) -> Iterator[int]:
    """The word threadgroup in declarations of variables that lie there.

    `threadgroup float tile[16];` declares one; `threadgroup float* p`, parameters and casts do not.
    """
    for match in re.finditer(r"\bthreadgroup\b", bare):
        before = bare[: match.start()].rstrip(" \t\r\n\\")
        while prefix := _BEFORE.search(before):
            before = before[: prefix.start()].rstrip(" \t\r\n\\")
        if before.endswith(("{", ";", "}")) and _declares_variable(bare, match.end()):
            yield match.start()


def _declares_variable(bare: str, offset: int) -> bool:
    depth = 0
    for i in range(offset, len(bare)):
        character = bare[i]
        if character in "<([":
            if character == "(" and depth == 0 and not _ALIGNED.search(bare, max(0, i - 40), i):
                return False
            if character == "[" and depth == 0:
                return True
            depth += 1
        elif character in ">)]":
            depth -= 1
        elif depth == 0 and character in "*&":
            return False
        elif depth == 0 and character in ";,={":
            return True
    return False


def _spaces(text: str) -> str:
    return "".join(c if c in "\n\r" or (c == "\\" and text[i + 1 : i + 2] == "\n") else " "
                   for i, c in enumerate(text))  # fmt: skip
