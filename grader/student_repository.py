"""Lays out the repository that students start from: `grade new FOLDER --student-template`.

It is what the course around has in `student_template/`, over what the grader has there: a README,
workflows, editor and container set-up, `grade.toml`, and for each assignment a folder with its
statement and the starters. A grader that is installed elsewhere knows its own assignments only, so
of the course's the contract, the inputs and the oracle go along; references and submissions do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from grader import assignment as assignments
from grader.assignment_schema import LANGUAGES, Language
from grader.errors import UsageError
from grader.result import Record
from grader.submission import SUFFIXES

TEMPLATE = "student_template"
GRADED_BY = ("assignment.toml", "inputs.py")
"""What grading an assignment takes; speed is not measured without the reference."""


class LaidOut(Record):
    """What was laid out: the folder, the assignments in it and every file."""

    schema_: str = Field(default="grade/laid-out/v1", alias="schema")
    folder: Path
    assignments: tuple[str, ...]
    files: tuple[Path, ...]


def lay_out(
    folder: Path,
    *,
    only: str | None = None,
    languages: Sequence[str] = (),
    start: Path | None = None,
) -> LaidOut:
    """Write the template into `folder`, which may be there: a clone that is still empty, say.

    `only` keeps one assignment, `languages` the starters of these, by default all. Raises
    UsageError for a language or an assignment there is none of, for a file that is there already
    (nothing is written then), and where nothing can be written.
    """
    for language in languages:
        if language not in LANGUAGES:
            raise UsageError(
                f"there is no language {language!r}", f"There are: {', '.join(LANGUAGES)}."
            )
    known = assignments.available(start)
    if only is not None:
        known = {assignments.load(only, start).name: Path(only)}
    wanted: dict[Path, Path] = {}
    for course in reversed(assignments.folders(start)):  # the best one comes last and counts
        wanted |= _files(course.parent / TEMPLATE)
        for statement in course.glob("*/README.md"):
            wanted[Path(statement.parent.name, "README.md")] = statement
    kept = {language for language in LANGUAGES if not languages or language in languages}
    names = {path.parent.name for c in assignments.folders(start) for path in _tomls(c)}
    chosen = _chosen(wanted, names, set(known), kept)
    chosen |= _course_files(start, {path.parts[0] for path in chosen} & names)
    target = folder.resolve()
    if there := [path for path in chosen if (target / path).exists()]:
        raise UsageError(
            f"{folder / there[0]} is there already; nothing was written",
            "Choose a folder without it, or remove it.",
        )
    try:
        for path, source in chosen.items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_bytes(source.read_bytes())
            (target / path).chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}") from None
    return LaidOut(
        folder=folder,
        assignments=tuple(sorted({p.parts[0] for p in chosen} & names, key=_natural)),
        files=tuple(sorted(chosen)),
    )


def _course_files(start: Path | None, names: set[str]) -> dict[Path, Path]:
    """What those of the assignments are graded by that are not the grader's own."""
    own = assignments.of_the_grader()
    found = assignments.available(start)
    return {
        Path("assignments", name, file): found[name] / file
        for name in sorted(names)
        if name in found and found[name].parent not in own
        for file in GRADED_BY
    }


def _tomls(course: Path) -> list[Path]:
    return sorted(course.glob("*/assignment.toml"))


def _files(template: Path) -> dict[Path, Path]:
    """Every file of a template by its place in it; hidden ones are part of it."""
    return {
        path.relative_to(template): path
        for path in sorted(template.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _chosen(
    wanted: dict[Path, Path], names: set[str], known: set[str], kept: set[Language]
) -> dict[Path, Path]:
    """Without other assignments, starters of other languages and folders without a starter."""
    of_language = {suffix: language for language, suffix in SUFFIXES.items()}
    chosen: dict[Path, Path] = {}
    started: set[str] = set()
    for path, source in wanted.items():
        name = path.parts[0]
        if name in names and len(path.parts) > 1:
            language = of_language.get(path.suffix)
            if name not in known or (language is not None and language not in kept):
                continue
            started |= {name} if language is not None else set()
        chosen[path] = source
    return {p: s for p, s in chosen.items() if p.parts[0] not in names or p.parts[0] in started}


def _natural(name: str) -> tuple[str, int, str]:
    """`assignment10` after `assignment9`."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0), name
