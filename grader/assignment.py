"""Find an assignment by name and read it.

Every mistake in `assignment.toml` is an AssignmentError that names the file, the key and the
line. What a case hands to a device is worked out in `cases.py`.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from grader import assignment_schema, toml_lines
from grader.assignment_rules import Problem, contradictions
from grader.assignment_schema import Assignment, Case, Language, Section
from grader.errors import AssignmentError, UsageError
from grader.submission import SUFFIXES

__all__ = ["Assignment", "Case", "Language", "available", "folders", "load", "read"]


def folders(start: Path | None = None) -> tuple[Path, ...]:
    """Where assignments are looked for, best first.

    `$GRADE_ASSIGNMENTS` (several, separated as in PATH); `assignments` in `start` or a folder
    above it; the grader's own.
    """
    return tuple(dict.fromkeys((*of_the_course(start), *of_the_grader())))


def of_the_course(start: Path | None = None) -> tuple[Path, ...]:
    """The folders of `folders` that somebody chose: by the variable, or by being inside of one."""
    found = [Path(p) for p in os.environ.get("GRADE_ASSIGNMENTS", "").split(os.pathsep) if p]
    here = (start or Path.cwd()).resolve()
    found += [parent / "assignments" for parent in (here, *here.parents)]
    return tuple(dict.fromkeys(folder for folder in found if folder.is_dir()))


def of_the_grader() -> tuple[Path, ...]:
    """The grader's own assignments: beside the package in a checkout, inside it where installed."""
    package = Path(__file__).resolve().parent
    own = (package.parent / "assignments", package / "course" / "assignments")
    return tuple(folder for folder in own if (folder.parent / "reference").is_dir())


def available(start: Path | None = None) -> dict[str, Path]:
    """Every assignment that can be named, with its folder; the first folder found wins."""
    found: dict[str, Path] = {}
    for folder in folders(start):
        for path in sorted(folder.glob("*/assignment.toml")):
            found.setdefault(path.parent.name, path.parent)
    return found


def load(name: str, start: Path | None = None) -> Assignment:
    """The assignment `name`, or the one in the folder `name` when it is a path.

    A path may also lead to a student's own folder of that assignment: shells complete names to
    `assignment1/`. Raises UsageError when there is none, with the nearest names; AssignmentError
    when its file cannot be used.
    """
    known = available(start)
    if os.sep in name or name in (".", ".."):
        folder = Path(name)
        if (folder / "assignment.toml").is_file():
            return read(folder / "assignment.toml")
        if folder.is_dir() and folder.resolve().name in known:
            name = folder.resolve().name
        elif not folder.is_file():
            raise UsageError(
                f"no assignment.toml in {folder}",
                "Name an assignment, or a folder that has one.",
            )
    if name not in known and Path(name).suffix in SUFFIXES.values():
        raise UsageError(
            f"expected an assignment's name, found the file {name}",
            f"The name comes first, the file after it: grade submit ASSIGNMENT {name}",
        )
    if name in known:
        return read(known[name] / "assignment.toml")
    close = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
    meant = f" Did you mean {' or '.join(close)}?" if close else ""
    have = f"There are: {', '.join(known)}." if known else "No assignments folder was found."
    raise UsageError(f"there is no assignment {name!r}.{meant}", have)


def called(name: str) -> str:
    """What gradebooks call an assignment that is given by its name or its folder."""
    return Path(name).resolve().name if os.sep in name or name in (".", "..") else name


def read(path: Path) -> Assignment:
    """Read one `assignment.toml`. Raises AssignmentError, naming the key and the line."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise AssignmentError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise AssignmentError(f"{path}:{line}: not UTF-8") from None
    try:
        data, lines = toml_lines.read(text)
    except toml_lines.TomlError as error:
        where = f"{path}:{error.line}" if error.line else str(path)
        raise AssignmentError(f"{where}: not TOML: {error.message}") from None
    try:
        # Strict validation takes lists for tuples from JSON only.
        assignment = Assignment.model_validate_json(json.dumps(data, default=str))
    except ValidationError as error:
        problems = [_schema_problem(detail, data) for detail in _telling(error.errors())]
        raise _error(path, lines, problems) from None
    assignment = assignment.model_copy(update={"folder": path.parent})
    problems = list(contradictions(assignment, path.parent.resolve().name))
    if problems:
        raise _error(path, lines, problems)
    return assignment


def _telling(errors: Sequence[Any]) -> Iterator[Any]:
    """Pydantic's errors but for "too short" of a list whose entries have errors of their own."""
    for detail in errors:
        loc = detail["loc"]
        inside = any(other["loc"][: len(loc)] == loc for other in errors if other is not detail)
        if detail["type"] != "too_short" or not inside:
            yield detail


def _error(
    path: Path, lines: Mapping[toml_lines.Path, int], problems: Iterable[Problem]
) -> AssignmentError:
    """The first five problems in the order of the file, each at its key or the table around it."""
    found = []
    for key, message in problems:
        line = next((lines[key[:n]] for n in range(len(key), 0, -1) if key[:n] in lines), 0)
        where = f"{path}:{line}" if line else str(path)
        found.append((line, f"{where}: {_dotted(key)}{message}"))
    found.sort(key=lambda entry: entry[0])
    unique = list(dict.fromkeys(text for _, text in found))
    more = f"\nand {len(unique) - 5} more" if len(unique) > 5 else ""
    return AssignmentError(
        "\n".join(unique[:5]) + more, "docs/assignment-format.md describes every key."
    )


def _dotted(key: toml_lines.Path) -> str:
    """`case[2].sizes.N: ` for a key; indices count from 0 as in a program."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return f"{text}: " if text else ""


def _schema_problem(detail: Any, data: Any) -> Problem:
    """Pydantic's error as a key that stands in the file, and words."""
    key: list[str | int] = []
    model: Any = data
    kind = detail["type"]
    for part in detail["loc"]:
        inside = isinstance(model, dict) and part in model
        inside |= isinstance(model, list) and isinstance(part, int) and part < len(model)
        if not inside:
            break
        model = model[part]
        key.append(part)
    last = str(detail["loc"][-1])
    if kind == "missing":
        return tuple(key), f"the key {last!r} is missing"
    if kind == "extra_forbidden":
        close = difflib.get_close_matches(last, _known_keys(), n=1)
        return tuple(key), "unknown key" + (f": did you mean {close[0]!r}?" if close else "")
    found = "" if isinstance(model, dict | list) else f", found {model!r}"
    message = str(detail["msg"])
    return tuple(key), message[:1].lower() + message[1:] + found


def _known_keys() -> list[str]:
    """Every key of the schema, as it is written in the file."""
    sections = [kind for kind in vars(assignment_schema).values()
                if isinstance(kind, type) and issubclass(kind, Section)]  # fmt: skip
    return sorted(
        {field.alias or name for kind in sections for name, field in kind.model_fields.items()}
    )
