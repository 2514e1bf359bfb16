"""Makes a new assignment: a copy of one that verifies, under another name.

`worked_example/` beside this module is the one that is copied where no other is named; it is small
and has a comment at each key. It lies there as assignments lie in a course,

    assignments/NAME/   reference/NAME/   student_template/NAME/

and that is how the copy is written. Of the languages that are not asked for, files, tables and
columns are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from pydantic import Field

from grader import assignment as assignments
from grader.assignment_schema import LANGUAGES, Assignment, Language
from grader.errors import UsageError
from grader.result import Record
from grader.submission import SUFFIXES

EXAMPLE = Path(__file__).with_name("worked_example") / "assignments" / "worked_example"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,59}")

_HEADER = re.compile(r"^\[+([\w.-]+)\]+", re.MULTILINE)
_LANGUAGES = re.compile(r"^languages = \[([^\]]*)\]", re.MULTILINE)
_HEADINGS = {"cuda-c": "CUDA C", "metal": "Metal", "triton": "Triton"}


class Created(Record):
    """A new assignment: its folder, those beside it, every file, and an assignment it now hides."""

    schema_: str = Field(default="grade/created/v1", alias="schema")
    name: str
    like: str
    languages: tuple[Language, ...]
    folder: Path
    beside: tuple[Path, ...]
    files: tuple[Path, ...]
    hides: Path | None = None


def create(
    name: str, *, like: str | None = None, languages: Sequence[str] = (), start: Path | None = None
) -> Created:
    """Write the assignment `name` into the course around `start`, by default the current folder.

    The course is where `assignments.folders` finds an `assignments` folder first; where it finds
    none but the grader's own, `start` becomes one. `like` is the assignment copied, `languages` are
    those it keeps, by default all. Raises UsageError for a name that cannot be used, an assignment
    or file that is there already, and a language that the original does not have; AssignmentError
    for an original that cannot be read.
    """
    if not NAME.fullmatch(name):
        raise UsageError(
            f"expected a name that starts with a letter, found {name!r}"
            if not name[:1].isalpha()
            else f"expected a name of at most 60 letters, digits, - and _, found {name!r}",
            "It becomes the name of folders and what students type.",
        )
    original = assignments.load(like, start) if like else assignments.load(str(EXAMPLE), start)
    kept = _languages(original, languages)
    before = assignments.available(start).get(name)
    target = _course(start)
    folders = {
        original.folder: target / name,
        _beside(original.folder, "reference"): target.parent / "reference" / name,
        _beside(original.folder, "student_template"): target.parent / "student_template" / name,
    }
    for folder in folders.values():
        if folder.exists():
            raise UsageError(f"{folder} is there already", "Choose another name, or remove it.")
    written = []
    for source, folder in folders.items():
        for path, data in _files(source, original, kept):
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(_renamed(data, original.name, name))
            written.append(file)
    assignments.read(target / name / "assignment.toml")
    return Created(
        name=name,
        like=original.name,
        languages=kept,
        folder=target / name,
        beside=tuple(folder for folder in folders.values() if folder != target / name),
        files=tuple(written),
        hides=before,
    )


def _course(start: Path | None) -> Path:
    """The folder of assignments that a new one goes to."""
    found = assignments.of_the_course(start)
    return found[0] if found else (start or Path.cwd()) / "assignments"


def _beside(folder: Path, tree: str) -> Path:
    return folder.parent.parent / tree / folder.name


def _languages(original: Assignment, asked: Sequence[str]) -> tuple[Language, ...]:
    for language in asked:
        if language not in LANGUAGES:
            raise UsageError(
                f"there is no language {language!r}", f"There are: {', '.join(LANGUAGES)}."
            )
        if language not in original.languages:
            raise UsageError(
                f"{original.name} has no {language}",
                f"It has: {', '.join(original.languages)}.",
            )
    return tuple(own for own in original.languages if not asked or own in asked)


# ---- what is copied ----------------------------------------------------------------------------


def _files(
    folder: Path, original: Assignment, kept: Collection[Language]
) -> Iterator[tuple[Path, bytes]]:
    """Path inside `folder` and content of every file that the copy has."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not path.is_file() or "__pycache__" in inside.parts or inside.name.startswith("."):
            continue
        if _is_kernel(inside, original) and path.suffix not in {SUFFIXES[own] for own in kept}:
            continue
        data = path.read_bytes()
        if len(kept) < len(original.languages):
            if inside == Path("assignment.toml"):
                data = _without_tables(data.decode(), original, kept).encode()
            elif inside == Path("README.md"):
                data = _without_columns(data.decode(), kept).encode()
        yield inside, data


def _is_kernel(inside: Path, original: Assignment) -> bool:
    """Whether a file is a student's, a starter or a reference: its suffix says which language."""
    starters = {original.files.starter(language) for language in LANGUAGES}
    references = {f"kernel{suffix}" for suffix in SUFFIXES.values()}
    return inside.parts[0] == "submissions" or inside.name in starters | references


def _renamed(data: bytes, old: str, new: str) -> bytes:
    """With the new name for the old one; bytes, since a known submission may be no text."""
    return re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])".encode(), new.encode(), data)


def _without_tables(text: str, original: Assignment, kept: Collection[Language]) -> str:
    """`assignment.toml` without what only the other languages need, comments in place."""
    parts = []
    dropped: str | None = None
    for header, part in _tables(text):
        inside = dropped is not None and header.startswith(f"{dropped}.")
        dropped = dropped if inside else None
        own = _LANGUAGES.search(part)
        named = [language for language in LANGUAGES if own and f'"{language}"' in own[1]]
        left = [language for language in named if language in kept]
        language = header.rpartition(".")[2]
        if inside or (language in original.languages and language not in kept):
            continue
        if named and not left:
            dropped = header
            continue
        words = ", ".join(f'"{language}"' for language in left)
        parts.append(_LANGUAGES.sub(f"languages = [{words}]", part))
    return "".join(parts)


def _tables(text: str) -> Iterator[tuple[str, str]]:
    """Name and text of each table; the comments above a table belong to it."""
    starts = [0]
    names = [""]
    for match in _HEADER.finditer(text):
        start = match.start()
        while above := re.search(r"(?:^|\n)(#[^\n]*\n)$", text[:start]):
            start = above.start(1)
        starts.append(start)
        names.append(match[1])
    for name, start, end in zip(names, starts, [*starts[1:], len(text)], strict=True):
        yield name, text[start:end]


def _without_columns(text: str, kept: Collection[Language]) -> str:
    """`README.md` without the columns of tables that are headed by another language."""
    lines: list[str] = []
    gone: list[int] = []
    for line in text.splitlines():
        cells = line.split("|")
        if not line.startswith("|"):
            gone = []
        elif not lines or not lines[-1].startswith("|"):
            gone = [at for at, cell in enumerate(cells) if _is_headed(cell, kept)]
        row = [cell for at, cell in enumerate(cells) if at not in gone]
        lines.append("|".join(row) if gone else line)
    return "\n".join(lines) + "\n"


def _is_headed(cell: str, kept: Collection[Language]) -> bool:
    """Whether a heading starts with the name of a language that is not kept."""
    return any(
        cell.strip().startswith(words)
        for language, words in _HEADINGS.items()
        if language not in kept
    )
