"""Reads a note: `notes.toml`, or a Markdown file whose front matter holds the same keys.

`read` never raises for what a student wrote: every mistake of form becomes a `Diagnostic` with
its line and key, and whatever could be understood is in the `Form` beside it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from grader import toml_lines
from grader.result import Diagnostic

FACTS = ("global_id", "bounds_check", "operation")
MAX_BYTES = 256 * 1024
MAX_KERNELS = 16
MAX_FILES = 16
MAX_TEXT = 4000
MAX_SPAN = 40

FRAMEWORKS = {
    "numpy": ("numpy", None), "np": ("numpy", None),
    "pytorch": ("pytorch", None), "torch": ("pytorch", None),
    "torch.compile": ("pytorch", "compile-triton"), "inductor": ("pytorch", "compile-triton"),
    "torchinductor": ("pytorch", "compile-triton"),
    "mlx": ("mlx", None), "cupy": ("cupy", None),
    "jax": ("jax", "xla-gpu"), "xla": ("jax", "xla-gpu"),
    "triton": ("triton", "cuda"),
}  # fmt: skip
BACKENDS = {
    "numpy": {"cpu": "cpu"},
    "pytorch": {
        "cpu": "cpu", "cuda": "cuda", "gpu": "cuda", "mps": "mps", "metal": "mps",
        "compile-triton": "compile-triton", "triton": "compile-triton",
        "inductor": "compile-triton",
        "compile-cpp": "compile-cpp", "c++": "compile-cpp", "compile-metal": "compile-metal",
    },
    "mlx": {"metal": "metal", "gpu": "metal", "mps": "metal", "cuda": "cuda", "cpu": "cpu"},
    "cupy": {"cuda": "cuda", "gpu": "cuda"},
    "jax": {"xla-gpu": "xla-gpu", "gpu": "xla-gpu", "cuda": "xla-gpu", "xla": "xla-gpu"},
    "triton": {"cuda": "cuda", "gpu": "cuda"},
}  # fmt: skip
# torch.compile is a framework of its own to a student; its backend says where it runs.
COMPILED = {"cuda": "compile-triton", "gpu": "compile-triton", "cpu": "compile-cpp",
            "mps": "compile-metal", "metal": "compile-metal"}  # fmt: skip
DEFAULT_BACKEND = {"numpy": "cpu", "cupy": "cuda"}

KERNEL_KEYS = ("framework", "backend", "version", "commit", "op", "file", *FACTS,
               "elements_per_thread", "differs_from_mine")  # fmt: skip
FILE_KEYS = ("path", "role", "symbol")
FACT_KEYS = ("file", "lines", "quote", "none")

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]")
_LINES = re.compile(r"\s*[Ll]?(\d{1,7})(?:\s*(?:-|\u2013|:|\.\.)\s*[Ll]?(\d{1,7}))?\s*")


@dataclass(frozen=True)
class FileClaim:
    """One file of an entry: where the student found something."""

    path: str
    role: str
    symbols: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class FactClaim:
    """One of the three facts: lines with a quote, or none with the reason for it."""

    file: str | None
    lines: tuple[int, int] | None
    quote: str | None
    none: str | None
    line: int


@dataclass(frozen=True)
class Kernel:
    """One [[kernel]] entry as written; `backend` is the name the facts use, when given."""

    framework: str
    backend: str | None
    version: str | None
    commit: str | None
    files: tuple[FileClaim, ...]
    facts: Mapping[str, FactClaim]
    elements: str | None
    differs: str | None
    line: int
    lines: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Form:
    """What a notes file says, and what is wrong with the way it says it."""

    name: str
    kernels: tuple[Kernel, ...]
    problems: tuple[Diagnostic, ...]


def find(folder: Path) -> Path | None:
    """The notes file of a folder: notes.toml, else a Markdown file with kernels in front."""
    wanted = folder / "notes.toml"
    if wanted.is_file():
        return wanted
    names = sorted(folder.glob("*.md"), key=lambda path: (path.stem.lower() != "notes", path.name))
    for path in names[:50]:
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            if b"[[kernel]]" in file.read(MAX_BYTES) and _opens_front(path):
                return path
    return None


def _opens_front(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(8).lstrip(b"\xef\xbb\xbf")[:3] in (b"+++", b"---")


def read(path: Path) -> Form:
    """Reads one notes file."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        return _refused(
            path.name, None, f"expected at most {MAX_BYTES >> 10} KiB, found {size >> 10}"
        )
    content = path.read_bytes()
    try:
        return parse(content.decode("utf-8-sig"), path.name)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return _refused(path.name, line, "expected UTF-8 text, found other bytes")


def parse(text: str, name: str) -> Form:
    """Reads the text of a notes file; `name` decides whether it is Markdown, and is in messages."""
    if len(text) > MAX_BYTES:
        return _refused(
            name, None, f"expected at most {MAX_BYTES >> 10} KiB, found {len(text) >> 10}"
        )
    text = text.replace("\r\n", "\n")
    first = 0
    if name.lower().endswith((".md", ".markdown")):
        cut = _front_matter(text)
        if isinstance(cut, str):
            return _refused(name, 1, cut)
        first, text = cut
    try:
        values, lines = toml_lines.read(text)
    except toml_lines.TomlError as error:
        at = error.line + first if error.line else None
        rows = text.splitlines()
        row = rows[error.line - 1] if 0 < error.line <= len(rows) else ""
        return _refused(name, at, f"this is not valid TOML: {error.message}{_why_not(row)}")
    return _Reader(name, {path: line + first for path, line in lines.items()}).form(values)


def _why_not(row: str) -> str:
    """What a line that TOML does not take usually needs."""
    if re.search("[\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb]", row):
        return '; expected straight quotes ("), found typographic ones'
    if "\\" in row:
        return (
            "; between double quotes a \\ starts an escape: write paths with /, or between ' and '"
        )
    return ""


def _refused(name: str, line: int | None, message: str) -> Form:
    return Form(name, (), (Diagnostic(file=name, line=line, severity="error", message=message),))


def _front_matter(text: str) -> tuple[int, str] | str:
    """(lines before the TOML, the TOML) of a Markdown note, or what is wrong with it."""
    lines = text.split("\n")
    fence = lines[0].strip()
    if fence not in ("+++", "---"):
        return "expected front matter: TOML between two lines of +++ at the top of the file"
    for number, line in enumerate(lines[1:], 1):
        if line.strip() == fence:
            return 1, "\n".join(lines[1:number])
    return f"expected a second line of {fence} that ends the front matter"


class _Reader:
    """Turns the values of one notes file into records and collects what is wrong."""

    def __init__(self, name: str, lines: Mapping[toml_lines.Path, int]) -> None:
        self.name = name
        self.lines = lines
        self.problems: list[Diagnostic] = []

    def form(self, values: dict[str, Any]) -> Form:
        self._known((), values, ("kernel",))
        written = values.get("kernel")
        kernels: list[Kernel] = []
        if written is None:
            self._say((), "expected at least one [[kernel]] entry, found none")
        elif not isinstance(written, list) or not all(isinstance(one, dict) for one in written):
            self._say(("kernel",), "expected [[kernel]] (two brackets: an entry of a list)")
        else:
            if len(written) > MAX_KERNELS:
                self._say(
                    ("kernel", MAX_KERNELS),
                    f"expected at most {MAX_KERNELS} [[kernel]] entries, found {len(written)}; "
                    f"the first {MAX_KERNELS} are read",
                )
            for at, one in enumerate(written[:MAX_KERNELS]):
                kernel = self._kernel(("kernel", at), one)
                if kernel is not None:
                    kernels.append(kernel)
        return Form(self.name, tuple(kernels), tuple(self.problems))

    def _kernel(self, path: toml_lines.Path, values: dict[str, Any]) -> Kernel | None:
        self._known(path, values, KERNEL_KEYS)
        framework, backend = self._framework(path, values)
        files = self._files(path, values)
        facts = {}
        for fact in FACTS:
            claim = self._fact((*path, fact), values.get(fact), fact in values)
            if claim is not None:
                facts[fact] = claim
        number = values.get("elements_per_thread")
        elements: str | None
        if isinstance(number, int) and not isinstance(number, bool):
            elements = str(number)[:40]
        else:
            elements = self._text(path, values, "elements_per_thread", "a number or a sentence")
        if framework is None:
            return None
        return Kernel(
            framework=framework,
            backend=backend,
            version=self._text(path, values, "version", 'a version in quotes, as "2.6.0"'),
            commit=self._text(path, values, "commit", "a commit in quotes"),
            files=files,
            facts=facts,
            elements=elements,
            differs=self._text(path, values, "differs_from_mine", "a sentence"),
            line=self._line(path),
            lines={key: self._line((*path, key)) for key in values},
        )

    def _framework(
        self, path: toml_lines.Path, values: dict[str, Any]
    ) -> tuple[str | None, str | None]:
        written = self._text(path, values, "framework", "a name", required=True)
        if written is None:
            return None, None
        known = FRAMEWORKS.get(written.strip().lower())
        if known is None:
            self._say((*path, "framework"), "expected one of numpy, pytorch, torch.compile, mlx, "
                      f"cupy, jax, found {_short(written)}"
                      f"{_mean(written, FRAMEWORKS)}")  # fmt: skip
            return None, None
        framework, backend = known
        chosen = self._text(path, values, "backend", "a name")
        if chosen is None:
            return framework, backend or DEFAULT_BACKEND.get(framework)
        name = chosen.strip().lower()
        names = BACKENDS[framework]
        if backend == "compile-triton" and name in COMPILED:
            return framework, COMPILED[name]
        if name not in names:
            self._say((*path, "backend"), f"expected one of {', '.join(names)} for {framework}, "
                      f"found {_short(chosen)}{_mean(chosen, names)}")  # fmt: skip
            return framework, None
        return framework, names[name]

    def _files(self, path: toml_lines.Path, values: dict[str, Any]) -> tuple[FileClaim, ...]:
        written = values.get("file")
        at = (*path, "file")
        if written is None:
            self._say(path, "expected at least one [[kernel.file]] with a path, found none")
            return ()
        if not isinstance(written, list) or not all(isinstance(one, dict) for one in written):
            self._say(at, "expected [[kernel.file]] (two brackets: an entry of a list)")
            return ()
        if len(written) > MAX_FILES:
            self._say(at, f"expected at most {MAX_FILES} files in an entry, found {len(written)}")
        files = []
        for number, one in enumerate(written[:MAX_FILES]):
            here = (*at, number)
            self._known(here, one, FILE_KEYS)
            name = self._text(here, one, "path", "a path", required=True)
            if name is None or not name.strip():
                if name is not None:
                    self._say((*here, "path"), "expected a path, found an empty string")
                continue
            symbol = one.get("symbol", [])
            symbols = symbol if isinstance(symbol, list) else [symbol]
            if not all(isinstance(some, str) for some in symbols):
                self._say((*here, "symbol"), "expected a name or a list of names")
                symbols = []
            role = self._text(here, one, "role", "a few words") or ""
            for each in self._paths(here, name.strip()):
                files.append(
                    FileClaim(each, role, tuple(s[:200] for s in symbols[:16]),
                              self._line((*here, "path")))
                )  # fmt: skip
        return tuple(files[:MAX_FILES])

    def _paths(self, here: toml_lines.Path, name: str) -> list[str]:
        """The paths of one string: several are named as a mistake, and read."""
        pieces = [
            piece for piece in re.split(r"\s*[,;\n]\s*|\s+(?:and|und|et|y)\s+", name) if piece
        ]
        if len(pieces) < 2 or not all(re.fullmatch(r"\S+\.\w+", piece) for piece in pieces):
            return [name]
        self._say((*here, "path"), f"expected one path, found {len(pieces)}: write a "
                  "[[kernel.file]] for each")  # fmt: skip
        return pieces

    def _fact(self, path: toml_lines.Path, values: Any, given: bool) -> FactClaim | None:
        fact = path[-1]
        if not given:
            self._say(path[:-1], f"expected [kernel.{fact}] with lines and quote, or with "
                      f'none = "because ..."; found neither')  # fmt: skip
            return None
        if not isinstance(values, dict):
            self._say(path, f"expected a table [kernel.{fact}], found {_kind(values)}")
            return None
        self._known(path, values, FACT_KEYS)
        none = self._text(path, values, "none", 'a reason, as none = "because ..."')
        quote = self._text(path, values, "quote", "the line as it stands in the file")
        file = self._text(path, values, "file", "one of the paths of this entry")
        lines = self._span(path, values["lines"]) if "lines" in values else None
        if none is not None and len("".join(none.split())) < 8:
            self._say((*path, "none"), "expected the reason why there is none, in a few words")
        if none is not None and ("lines" in values or "quote" in values):
            self._say(path, "expected lines and quote, or none, found both; none is read")
            lines = quote = None
        if none is None and "none" not in values:
            if "lines" not in values:
                self._say(path, 'expected lines = 12 or [12, 14], or none = "because ..."')
            elif lines is not None and quote is None and "quote" not in values:
                self._say(path, "expected quote: the line as it stands in the file")
        if none is None and lines is None and quote is None:
            return None
        return FactClaim(file, lines, quote, none, self._line(path))

    def _span(self, path: toml_lines.Path, value: Any) -> tuple[int, int] | None:
        here = (*path, "lines")
        found: tuple[int, int] | None = None
        if isinstance(value, str) and (written := _LINES.fullmatch(value)):
            first = int(written[1])
            found = (first, int(written[2]) if written[2] else first)
        elif isinstance(value, int) and not isinstance(value, bool):
            found = (value, value)
        elif (
            isinstance(value, list)
            and 1 <= len(value) <= 2
            and all(isinstance(n, int) and not isinstance(n, bool) for n in value)
        ):
            found = (value[0], value[-1])
        if found is None:
            self._say(here, f"expected a line number or [first, last], found {_kind(value)}")
        elif not 1 <= found[0] <= found[1] < 10**7:
            self._say(here, "expected 1 <= first <= last")
            return None
        elif found[1] - found[0] >= MAX_SPAN:
            self._say(here, f"expected the few lines that do it, found {found[1] - found[0] + 1}")
        return found

    def _text(
        self, path: toml_lines.Path, values: dict[str, Any], key: str, wanted: str,
        required: bool = False,
    ) -> str | None:  # fmt: skip
        """The string of a key, control characters replaced; None when it is missing or wrong."""
        if key not in values:
            if required:
                self._say(path, f"expected {key}: {wanted}, found nothing")
            return None
        value = values[key]
        if not isinstance(value, str):
            self._say((*path, key), f"expected {wanted}, found {_kind(value)}")
            return None
        if len(value) > MAX_TEXT:
            self._say((*path, key), f"expected at most {MAX_TEXT} characters, found {len(value)}")
            value = value[:MAX_TEXT]
        if _CONTROL.search(value):
            self._say((*path, key), "expected printable text, found control characters")
            value = _CONTROL.sub("\ufffd", value)
        return value

    def _known(self, path: toml_lines.Path, values: dict[str, Any], keys: tuple[str, ...]) -> None:
        for count, key in enumerate(k for k in values if k not in keys):
            if count == 8:
                self._say(path, "and more unknown keys")
                return
            self._say((*path, key), f"unknown key{_mean(key, keys)}; expected {', '.join(keys)}")

    def _line(self, path: toml_lines.Path) -> int:
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def _say(self, path: toml_lines.Path, message: str) -> None:
        if len(self.problems) == 200:
            return
        severity: Literal["error", "note"] = "error"
        self.problems.append(
            Diagnostic(file=self.name, line=self._line(path), severity=severity,
                       message=f"{_dotted(path)}: {message}" if path else message)
        )  # fmt: skip


def _dotted(path: toml_lines.Path) -> str:
    """The key as a person counts: kernel[1].file[2].path."""
    shown = ""
    for part in path:
        shown += f"[{part + 1}]" if isinstance(part, int) else f".{_CONTROL.sub('?', part)[:40]}"
    return shown.removeprefix(".")


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text",
             list: "a list", dict: "a table"}  # fmt: skip
    return names.get(type(value), "a date")


def _short(text: str) -> str:
    cut = _CONTROL.sub("\ufffd", text)
    return f'"{cut[:60]}..."' if len(cut) > 60 else f'"{cut}"'


def _mean(name: str, known: Any) -> str:
    near = difflib.get_close_matches(name.lower()[:60], list(known), 1, 0.6)
    return f" (did you mean {near[0]}?)" if near else ""


def shown(path: str) -> str:
    """A path as a message says it: printable, and not longer than a line."""
    path = _CONTROL.sub("\ufffd", path)
    return path if len(path) <= 100 else f"{path[:60]}...{path[-30:]}"
