"""Hidden cases: a folder that only the instructor has, added to an assignment for a batch.

`cases.toml` in it has `[[case]]` tables as in `assignment.toml`; every one of them is hidden. A
file `secret` seeds the values of all hidden cases. Neither belongs in a repository a student can
read.
"""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from grader import cases
from grader.assignment_rules import contradictions
from grader.assignment_schema import Assignment, Case
from grader.errors import AssignmentError, UsageError


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    case: tuple[Case, ...] = ()


def add(assignment: Assignment, folder: Path | None) -> Assignment:
    """The assignment with the hidden cases of `folder`; the secret there, if any, is set.

    Raises UsageError for a folder without either, AssignmentError for cases that cannot be.
    """
    if folder is None:
        return assignment
    path, secret = folder / "cases.toml", folder / "secret"
    if not path.is_file() and not secret.is_file():
        raise UsageError(
            f"expected cases.toml or secret in {folder}", "docs/instructor-guide.md shows both."
        )
    if secret.is_file():
        os.environ.pop(cases.SECRET, None)
        os.environ[cases.SECRET_FILE] = str(secret.resolve())
    if not path.is_file():
        return assignment
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        read = _File.model_validate_json(json.dumps(data, default=str)).case
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise AssignmentError(f"{path}: cannot be read: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise AssignmentError(f"{path}: {where}: {first['msg']}") from None
    known = {case.name for case in assignment.cases}
    if twice := [case.name for case in read if case.name in known]:
        raise AssignmentError(f"{path}: the assignment has a case {twice[0]!r} already")
    added = tuple(case.model_copy(update={"hidden": True}) for case in read)
    whole = assignment.model_copy(update={"cases": (*assignment.cases, *added)})
    if problem := next(iter(contradictions(whole, whole.name)), None):
        raise AssignmentError(f"{path}: {problem[1]}")
    return whole
