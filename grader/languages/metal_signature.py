"""Reads the kernels of a Metal file: names, arguments with their attributes, instantiations.

The text is preprocessed first (kernels are often made by macros), then Metal's words and attributes
are blanked, since the grammar is C++'s, and read with tree-sitter; what was blanked is read from
the same offsets of the text. A reading, not a judgement: the compiler judges types.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.languages.metal_positions import POSITIONS
from grader.languages.metal_source import blank, blank_attributes, blank_comments

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_WORDS = re.compile(r"\b(device|constant|threadgroup|thread|kernel|vertex|fragment)\b")
_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"')
_ATTRIBUTE = re.compile(r"([A-Za-z_]\w*)\s*(?:\(((?:[^()]|\([^()]*\))*)\))?")
_BARE = re.compile(
    r"(?:(?:const|volatile|static|inline|unsigned|signed|struct)\s+)*([\w:]+(?:<[^<>]*>)?)\s*"
    r"(?:const\s*)?[*&][\s*&]*(?:(?:const|restrict|__restrict)\s+)*\w*"
)
_BUILT_IN = re.compile(
    r"(?:metal::)?(?:void|bool|size_t|u?int(?:8|16|32|64)_t|atomic_\w+|atomic<.*>|vec<.*>|"
    r"(?:packed_)?(?:half|float|bfloat|u?char|u?short|u?int|u?long)[234]?|(?:half|float)[234]x[234])"
)
_POINTERS = (
    "pointer_declarator",
    "reference_declarator",
    "abstract_pointer_declarator",
    "abstract_reference_declarator",
)
_POINTER_HOLDERS = ("parameter_declaration", "declaration", "type_descriptor", "field_declaration")
_OF_KERNELS = {"kernel", "host_name", "max_total_threads_per_threadgroup"}
_DECLARATORS = ("pointer_declarator", "reference_declarator", "array_declarator")


@dataclass(frozen=True)
class ArgumentText:
    """One argument of a kernel. `type` is its spelling without name and attributes."""

    name: str
    type: str
    attributes: dict[str, str]
    file: str
    line: int
    column: int

    @property
    def space(self) -> str | None:
        """The address space it is in."""
        match = re.search(r"\b(device|constant|threadgroup)\b", self.type)
        return match[1] if match else None

    @property
    def reference(self) -> bool:
        """Whether it is a reference."""
        return self.type.endswith("&")

    @property
    def pointer(self) -> bool:
        """Whether it is a pointer."""
        return self.type.endswith("*")

    @property
    def position(self) -> str | None:
        """The position or size it receives."""
        return next((name for name in self.attributes if name in POSITIONS), None)

    @property
    def bound(self) -> bool:
        """Whether the host binds a buffer to it."""
        if self.position or "threadgroup" in self.attributes or self.space == "threadgroup":
            return False
        return "buffer" in self.attributes or self.space in ("device", "constant")


@dataclass(frozen=True)
class KernelText:
    """One kernel. `expression` names it in C++ (`add<float>`), `name` is what the host asks for.

    `misplaced` are the attributes that do not stand before `kernel`, each with its line.
    """

    name: str
    expression: str
    arguments: tuple[ArgumentText, ...]
    attributes: dict[str, str]
    template: bool
    returns: str
    file: str
    line: int
    column: int
    misplaced: tuple[tuple[str, int], ...] = ()

    @property
    def buffers(self) -> tuple[tuple[int, ArgumentText], ...]:
        """The bound arguments with their buffer indices: given, or the lowest that are free."""
        bound = [a for a in self.arguments if a.bound]
        given = {int(a.attributes["buffer"]) for a in bound if _number(a.attributes.get("buffer"))}
        free = (i for i in range(len(bound) + len(given)) if i not in given)
        return tuple(
            (int(a.attributes["buffer"]), a)
            if _number(a.attributes.get("buffer"))
            else (next(free), a)
            for a in bound
        )


@dataclass(frozen=True)
class Reading:
    """What a file holds: kernels, templates of kernels, and its other functions' names.

    `bare_pointers` are the places (file, line) and texts of pointers and references that name no
    address space, `globals` those of variables outside of functions that are not in `constant`.
    """

    kernels: tuple[KernelText, ...] = ()
    templates: tuple[KernelText, ...] = ()
    functions: tuple[tuple[str, int, int], ...] = ()
    bare_pointers: tuple[tuple[str, int, str], ...] = ()
    globals: tuple[tuple[str, int, str], ...] = ()


@dataclass
class OwnLines:
    """Preprocessed text with the source line of each of its lines."""

    text: str
    places: list[tuple[str, int]] = field(default_factory=list)


def read(preprocessed: str, files: Sequence[str]) -> Reading:
    """The kernels in clang's `-E` output that come from `files`, in order."""
    source = own_lines(preprocessed, files)
    # One byte per character: offsets in the text, the tree and the blanked copies agree.
    source.text = blank_comments(re.sub(r"[^\x00-\x7f]", "?", source.text))
    plain = blank(source.text)
    bare = _WORDS.sub(lambda m: " " * len(m[0]), blank_attributes(plain))
    root = _parser().parse(bare.encode()).root_node
    text = source.text.encode()
    found: list[KernelText] = []
    functions: list[tuple[str, int, int]] = []
    previous_end = 0
    for node, template, space in _definitions(root, text):
        start = _extended_start(text, node.start_byte, previous_end)
        previous_end = node.end_byte
        declarator = _function_declarator(node)
        if declarator is None:
            continue
        head = text[start : declarator.start_byte].decode()
        attributes = _attributes(head)
        is_kernel = "kernel" in attributes or re.search(r"\bkernel\b", blank_attributes(head))
        name = _name(declarator, text)
        row, column = declarator.start_point
        file, line = source.places[row]
        if not is_kernel:
            functions.append((name, line, column + 1))
            continue
        name = space + name
        kernel = KernelText(
            name=_host_name(attributes, name),
            expression=name,
            arguments=tuple(_arguments(declarator, text, source)),
            attributes=attributes,
            template=template,
            returns=_returns(node, text),
            file=file,
            line=line,
            column=column + 1,
            misplaced=tuple(_misplaced(node, declarator, start, text, source)),
        )
        found.append(kernel)
    templates = {k.expression: k for k in found if k.template}
    kernels = [k for k in found if not k.template]
    kernels += _instances(source, plain, templates)
    return Reading(
        tuple(kernels),
        tuple(templates.values()),
        tuple(functions),
        tuple(_bare_pointers(root, text, source)),
        tuple(_globals(root, text, source)),
    )


def _globals(root: Node, text: bytes, source: OwnLines) -> Iterator[tuple[str, int, str]]:
    """Variables outside of functions that are not in `constant` (MSL 4.2: there is no other place).

    Only of built-in types or where a space is written: samplers are allowed. Nothing is said of a
    text that the grammar does not follow.
    """
    stack, previous_end = [] if root.has_error else [root], 0
    while stack:
        node = stack.pop()
        if node.type in ("translation_unit", "namespace_definition", "declaration_list"):
            stack += reversed(node.children)
            continue
        start = _extended_start(text, node.start_byte, min(previous_end, node.start_byte))
        previous_end = node.end_byte
        if node.type != "declaration" or _function_declarator(node) is not None:
            continue
        kind = node.child_by_field_name("type")
        written = text[start : node.end_byte].decode()
        head = blank_attributes(written)
        words = set(re.findall(r"\w+", head[: kind.end_byte - start] if kind else head))
        if kind is None or words & {"constant", "extern", "sampler"}:
            continue
        if POSITIONS.keys() & _attributes(written).keys():
            continue
        name = text[kind.start_byte : kind.end_byte].decode()
        if words & {"device", "threadgroup", "thread"} or _BUILT_IN.fullmatch(name):
            file, line = source.places[node.start_point[0]]
            yield file, line, " ".join(head.split("=", maxsplit=1)[0].rstrip("; ").split())


def _bare_pointers(root: Node, text: bytes, source: OwnLines) -> Iterator[tuple[str, int, str]]:
    """Pointers and references without an address space, which Metal does not have.

    Only where the text is surely a declaration: a product in an argument can look like one.
    """
    own = set(re.findall(r"\b(?:struct|class|typename|using)\s+([A-Za-z_]\w*)", text.decode()))
    stack = [root]
    while stack:
        node = stack.pop()
        stack += reversed(node.children)
        if node.type not in _POINTERS or node.parent is None:
            continue
        holder = node.parent
        while holder.type in (*_DECLARATORS, "init_declarator") and holder.parent is not None:
            holder = holder.parent
        if holder.type not in _POINTER_HOLDERS:
            continue
        start = max(
            text.rfind(mark, 0, holder.start_byte) for mark in (b";", b"{", b"}", b"(", b",")
        )
        written = blank_attributes(text[start + 1 : node.end_byte].decode())
        found = _BARE.fullmatch(written.strip())
        if found and (_BUILT_IN.fullmatch(found[1]) or found[1].split("<")[0] in own):
            file, line = source.places[node.start_point[0]]
            yield file, line, " ".join(written.split("=", maxsplit=1)[0].split())


def own_lines(preprocessed: str, files: Sequence[str]) -> OwnLines:
    """The lines in clang's `-E` output that come from `files`."""
    lines: list[str] = []
    result = OwnLines("")
    file, number = "", 0
    for line in preprocessed.split("\n"):
        if marker := _MARKER.match(line):
            number, file = int(marker[1]), marker[2].removeprefix("./")
            continue
        if file in files:
            lines.append(line)
            result.places.append((file, number))
        number += 1
    result.text = "\n".join(lines)
    result.places.append(("", 0))
    return result


def _instances(
    source: OwnLines, plain: str, templates: dict[str, KernelText]
) -> Iterator[KernelText]:
    """Explicit instantiations with a host name: `template [[host_name("x")]] ... f<float>...;`."""
    pattern = re.compile(
        r"\btemplate\s*(?P<attributes>(?:\[\[.*?\]\]\s*)+)(?P<rest>[^;]*);", re.DOTALL
    )
    for match in pattern.finditer(source.text):
        if plain[match.start() : match.start() + 8] != "template":
            continue
        attributes = _attributes(match["attributes"])
        rest = re.sub(
            r"\bdecltype\s*\(.*?\)\s*(?=\w+\s*<)",
            "",
            _WORDS.sub("", match["rest"]),
            flags=re.DOTALL,
        )
        rest = _ATTRIBUTE_LIST.sub("", rest)
        for name, template in templates.items():
            *spaces, last = name.split("::")
            written = "".join(rf"(?:{re.escape(part)}\s*::\s*)?" for part in spaces)
            place = re.search(
                rf"(?<![\w:])(?:::\s*)?{written}(?P<name>{re.escape(last)})\s*<", rest
            )
            if place is None:
                continue
            begin = place.start("name")
            end = _closing(rest, rest.index("<", begin) + 1)
            row = source.text.count("\n", 0, match.start())
            file, line = source.places[row]
            yield KernelText(
                name=_host_name(attributes, name),
                expression="".join(f"{part}::" for part in spaces)
                + " ".join(rest[begin:end].split()),
                arguments=template.arguments,
                attributes=template.attributes,
                template=False,
                returns=template.returns,
                file=file,
                line=line,
                column=1,
            )
            break


_ATTRIBUTE_LIST = re.compile(r"\[\[.*?\]\]", re.DOTALL)


def _closing(text: str, offset: int) -> int:
    depth = 1
    for i in range(offset, len(text)):
        depth += {"<": 1, ">": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    return len(text)


def _definitions(node: Node, text: bytes, space: str = "") -> Iterator[tuple[Node, bool, str]]:
    """Function definitions at file and namespace level: whether a template, and the namespaces."""
    for child in node.children:
        if child.type == "function_definition":
            yield child, False, space
        elif child.type == "template_declaration":
            for inner in child.children:
                if inner.type == "function_definition":
                    yield inner, True, space
        elif child.type == "namespace_definition":
            name = child.child_by_field_name("name")
            named = text[name.start_byte : name.end_byte].decode() + "::" if name else ""
            yield from _definitions(child, text, space + named)
        elif child.type in ("declaration_list", "linkage_specification", "ERROR"):
            yield from _definitions(child, text, space)


def _extended_start(text: bytes, start: int, previous_end: int) -> int:
    """Where a definition starts when the blanked words in front of it are counted in."""
    between = text[previous_end:start]
    last = max(between.rfind(b";"), between.rfind(b"}"), between.rfind(b"{"), between.rfind(b">"))
    return previous_end + last + 1


def _function_declarator(node: Node) -> Node | None:
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type in _DECLARATORS:
        declarator = declarator.child_by_field_name("declarator")
    if declarator is None or declarator.type != "function_declarator":
        return None
    return declarator


def _name(declarator: Node, text: bytes) -> str:
    name = declarator.child_by_field_name("declarator")
    return "" if name is None else text[name.start_byte : name.end_byte].decode()


def _returns(node: Node, text: bytes) -> str:
    kind = node.child_by_field_name("type")
    return "" if kind is None else text[kind.start_byte : kind.end_byte].decode()


def _misplaced(
    node: Node, declarator: Node, start: int, text: bytes, source: OwnLines
) -> Iterator[tuple[str, int]]:
    """Attributes between the word `kernel` and the kernel's name, and behind its arguments.

    There, one that the compiler does not know is only warned of.
    """
    spans = []
    word = re.search(rb"\bkernel\b(?![^\[]*\]\])", text[start : declarator.start_byte])
    if word is not None:
        spans.append((start + word.end(), declarator.start_byte, False))
    body = node.child_by_field_name("body")
    if body is not None:
        spans.append((declarator.end_byte, body.start_byte, True))
    for begin, end, behind in spans:
        for listed in _ATTRIBUTE_LIST.finditer(text[begin:end].decode()):
            if behind and not _OF_KERNELS & _attributes(listed[0]).keys():
                continue
            row = text.count(b"\n", 0, begin + listed.start())
            yield " ".join(listed[0].split()), source.places[row][1]


def _arguments(declarator: Node, text: bytes, source: OwnLines) -> Iterator[ArgumentText]:
    """The arguments: the text between the commas of the parameter list, word for word."""
    parameters = declarator.child_by_field_name("parameters")
    if parameters is None:
        return
    inner = text[parameters.start_byte + 1 : parameters.end_byte - 1]
    for begin, end in _split(inner):
        written = inner[begin:end].decode()
        lead = len(written) - len(written.lstrip())
        declaration = " ".join(_ATTRIBUTE_LIST.sub(" ", written).split())
        if declaration in ("", "void"):
            continue
        offset = parameters.start_byte + 1 + begin + lead
        row = text.count(b"\n", 0, offset)
        file, line = source.places[row]
        column = offset - (text.rfind(b"\n", 0, offset) + 1) + 1
        name, kind = _declared(declaration)
        yield ArgumentText(name, kind, _attributes(written), file, line, column)


def _declared(declaration: str) -> tuple[str, str]:
    """Name and type of a declaration without attributes."""
    declaration = declaration.split("=", maxsplit=1)[0].strip()
    match = re.search(r"([A-Za-z_]\w*)\s*((?:\[[^\]]*\])*)$", declaration)
    words = {"float", "half", "int", "uint", "bool", "char", "short", "long", "void", "unsigned"}
    if match is None or match.start() == 0 or match[1] in words:
        return "", spelled(declaration)
    kind = declaration[: match.start()] + ("*" if match[2] else "")
    return match[1], spelled(kind)


def spelled(kind: str) -> str:
    """One spelling: `device float const *` is `device const float*`."""
    kind = re.sub(r"\s*([*&])\s*", r"\1 ", kind).strip()
    head = re.match(r"[^*&]*", kind)
    base = head[0] if head else ""
    rest = kind[len(base) :]
    words = base.replace("metal::", "").split()
    words = [w for w in words if w not in ("restrict", "__restrict", "__restrict__")]
    rest = re.sub(r"\b(restrict|__restrict|__restrict__|const|volatile)\b|\s", "", rest)
    first = [w for w in words if w in ("device", "constant", "threadgroup", "thread")]
    qualifiers = [w for w in ("const", "volatile") if w in words]
    if "constant" in first and "const" in qualifiers:
        qualifiers.remove("const")
    others = [w for w in words if w not in {*first, "const", "volatile"}]
    return " ".join([*first, *qualifiers, *others]) + rest


def _split(inner: bytes) -> Iterator[tuple[int, int]]:
    depth, begin = 0, 0
    for i, character in enumerate(inner):
        if character in b"(<[{":
            depth += 1
        elif character in b")>]}":
            depth -= 1
        elif character == ord(",") and depth == 0:
            yield begin, i
            begin = i + 1
    yield begin, len(inner)


def _attributes(text: str) -> dict[str, str]:
    """The attributes in the `[[...]]` lists of `text`, each with its operand as written."""
    found: dict[str, str] = {}
    for listed in _ATTRIBUTE_LIST.finditer(text):
        for match in _ATTRIBUTE.finditer(listed[0][2:-2]):
            found[match[1]] = (match[2] or "").strip()
    return found


def _host_name(attributes: dict[str, str], name: str) -> str:
    """What the host asks for: the strings of `[[host_name("a" "b")]]` joined, else the name."""
    return "".join(re.findall(r'"([^"]*)"', attributes.get("host_name", ""))) or name


def _number(operand: str | None) -> bool:
    return operand is not None and operand.isdigit()


@functools.cache
def _parser() -> Parser:
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language()))
