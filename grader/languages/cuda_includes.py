"""What a CUDA C file may include: the submission's own files, the toolkit's headers, and stand-ins
for host headers.

NVRTC compiles device code only and brings no C or C++ library. Host headers therefore exist as
virtual files: most are empty (what they declare is only used by host code, which is blanked), a few
hold what device code uses of them. They lie in `cuda_host_headers/`; the file EMPTY there names the
empty ones. `PRELUDE` is what nvcc's own implicit include brings.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.result import Diagnostic

_FOLDER = Path(__file__).with_name("cuda_host_headers")

PRELUDE = "grade_prelude.h"
MISSING = "grade: this header is missing"
NVCC_MACRO = "__grade_"
NVCC_OPTION = f"-D{NVCC_MACRO}=1"
_NVCC = re.compile(r"\b__NVCC__\b")

_TOKENS = re.compile(
    r'R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])+'"
    r"|//[^\n]*"
    r"|/\*.*?(?:\*/|\Z)",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(?P<word>\w+)[ \t]*(?P<rest>.*)$")
_INCLUDES = ("include_next", "include", "import", "embed")
_OPERAND = re.compile(r'^(?:<(?P<angle>[^>\n]*)>|"(?P<quote>[^"\n]*)")')


@functools.cache
def host_headers() -> Mapping[str, str]:
    """The stand-ins for host headers: name as it is included, and content."""
    empty = (_FOLDER / "EMPTY").read_text().split()
    files = {
        path.relative_to(_FOLDER).as_posix(): path.read_text()
        for path in _FOLDER.rglob("*")
        if path.is_file() and path.name != "EMPTY"
    }
    return {**dict.fromkeys(empty, ""), **files}


def prelude(words: Collection[str]) -> str:
    """The text of PRELUDE for a submission of these words.

    nvcc's own include brings the type traits, pairs and limits too. Their classes have static
    members, each of which would be in the PTX of every kernel: they come where they are named.
    """
    text = host_headers()[PRELUDE]
    if "std" in words:
        for header in ("utility", "type_traits", "limits"):
            if not _declared(header).isdisjoint(words):
                text += f"#include <{header}>\n"
    return text


@functools.cache
def _declared(header: str) -> frozenset[str]:
    names = re.findall(r"\b(?:struct|using|constexpr bool) (\w+)", host_headers()[header])
    return frozenset(names) - {"type", "operator"}


@dataclass(frozen=True)
class Includes:
    """What the includes of a submission lead to.

    `headers` are the virtual files for the compiler, by the names that includes give them;
    `missing` are names that lead nowhere, with the file and line that want them: the compiler finds
    a file there that warns with `MISSING` and is empty otherwise; `forbidden` are errors.
    """

    headers: Mapping[str, str]
    missing: Mapping[str, tuple[str, int]]
    forbidden: tuple[Diagnostic, ...]


def resolve(
    files: Mapping[str, str], toolkit: Path | None, unavailable: tuple[str, ...] = ()
) -> Includes:
    """Find what the `files` of a submission include: each other, stand-ins, the toolkit's headers.

    A name is looked for beside the file that includes it, then from the submission's folder, then
    in the toolkit. Names that leave the submission's folder are forbidden, whatever is there: the
    sandbox keeps files from the compiler, this says so before anything is opened. `unavailable` are
    beginnings of names for which no stand-in helps.
    """
    stand_ins = {n: text for n, text in host_headers().items() if not n.startswith(unavailable)}
    headers = {**stand_ins, **files}
    missing: dict[str, tuple[str, int]] = {}
    forbidden: list[Diagnostic] = []
    folders = [toolkit, toolkit / "cccl"] if toolkit else []
    for file, text in files.items():
        for line, word, operand in includes(text):
            name = included_name(operand)
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(file), name or ""))
            if name and beside in files:
                headers[name] = files[beside]
            elif (reason := _why_forbidden(word, name, operand)) or name is None:
                message = Diagnostic(file=file, line=line, severity="error", message=str(reason))
                forbidden.append(message)
            elif name and name not in headers and not any(is_file(p / name) for p in folders):
                missing[name] = (file, line)
    headers.update(dict.fromkeys(missing, f"#warning {MISSING}\n"))
    return Includes(headers, missing, tuple(forbidden))


def is_file(path: Path) -> bool:
    """Whether there is such a file; none has a name longer than the system's longest."""
    try:
        return path.is_file()
    except OSError:
        return False


def includes(text: str) -> Iterator[tuple[int, str, str]]:
    """The include directives of `text`: line, directive, operand as written.

    What is skipped by `#if` is listed too, as this is read before the preprocessor runs.
    """
    for lines, word, operand in _directives(text):
        if word in _INCLUDES:
            yield lines.start, word, operand


def as_written_for_nvcc(text: str) -> str:
    """`text` where `__NVCC__` is another word of its length, which NVCC_OPTION defines: the
    submission asks for nvcc, and the toolkit's headers must not hear that it is not."""
    return _NVCC.sub(NVCC_MACRO, text)


def without_line_directives(text: str) -> str:
    """`text` with `#line 7` and `# 7 "file"` made empty lines: places are those of the text itself,
    whatever a generator, or a student, says they are."""
    lines = text.split("\n")
    for found, word, _ in _directives(text):
        if word == "line" or word.isdigit():
            lines[found.start - 1 : found.stop - 1] = [""] * len(found)
    return "\n".join(lines)


def _directives(text: str) -> Iterator[tuple[range, str, str]]:
    """The preprocessor's directives: the lines of each, counted from 1, its word and its operand.

    Lines joined by a backslash are one; comments are no text.
    """
    logical: list[str] = []
    starts: list[int] = []
    joined = False
    number = 0
    for number, line in enumerate(text.replace("\r", "").split("\n"), start=1):
        if joined:
            logical[-1] += line.removesuffix("\\")
        else:
            logical.append(line.removesuffix("\\"))
            starts.append(number)
        joined = line.endswith("\\")
    plain = without_comments("\n".join(logical))
    for start, after, line in zip(
        starts, [*starts[1:], number + 1], plain.split("\n"), strict=True
    ):
        if found := _DIRECTIVE.match(line):
            yield range(start, after), found["word"], found["rest"].strip()


def without_comments(text: str) -> str:
    """`text` with its comments and raw strings emptied, every line kept."""
    return _TOKENS.sub(_without_comment, text)


def included_name(operand: str) -> str | None:
    """The file name of an include's operand, or None for a macro."""
    found = _OPERAND.match(operand)
    if found is None:
        return None
    return found["angle"] if found["angle"] is not None else found["quote"]


def _why_forbidden(word: str, name: str | None, operand: str) -> str | None:
    """What is wrong with an include that leaves the submission's folder, or cannot be read."""
    if word in ("import", "embed"):
        return f"expected #include, found #{word}: only headers can be included"
    if name is None:
        return f"expected a file name after #{word}, found {operand or 'nothing'}"
    parts = re.split(r"[/\\]", name)
    if name.startswith(("/", "~", "\\")) or ".." in parts or ":" in parts[0]:
        return (
            f"expected a header of the submission's folder or of the CUDA toolkit, found {name}: "
            "other files cannot be included"
        )
    return None


def _without_comment(match: re.Match[str]) -> str:
    token = match[0]
    if token.startswith("/"):
        return " " + "\n" * token.count("\n")
    if token.startswith("R"):
        return '""' + "\n" * token.count("\n")
    return token
