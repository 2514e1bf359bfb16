"""`class.toml`: what an instructor decides for a class, beside the gradebook.

::

    attempts = "best"            # or "latest": which attempt counts
    late_days = 5                # free late days of each student, over all assignments
    leaderboard = true           # a page of times under pseudonyms; without this there is none
    [assignment.assignment3]
    due = 2026-11-30T23:59:00+01:00
    grace_minutes = 15
    penalty_percent_per_day = 10 # of the points, for each late day that is not free
    most_days = 4                # later than this is no points
    feedback = "after_due"       # until then exports for students say verdict and points only
"""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from grader.errors import UsageError

NAME = "class.toml"


class Deadline(BaseModel):
    """When an assignment is due and what being late costs. Without `due` nothing is late."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    due: datetime.datetime | None = None
    grace_minutes: int = Field(default=0, ge=0)
    penalty_percent_per_day: float = Field(default=10.0, ge=0, le=100)
    most_days: int | None = Field(default=None, ge=0)
    feedback: Literal["always", "after_due"] = "always"

    def withholds(self, now: datetime.datetime, extension_days: float) -> bool:
        """Whether a student with this extension may not see the details yet."""
        if self.feedback == "always" or self.due is None:
            return False
        return now <= self.due + datetime.timedelta(days=extension_days)

    @field_validator("due")
    @classmethod
    def with_a_zone(cls, value: datetime.datetime | None) -> datetime.datetime | None:
        """A due date without a zone would mean another moment on another machine."""
        if value is not None and value.tzinfo is None:
            raise ValueError("expected a time with its zone, such as 2026-11-30T23:59:00+01:00")
        return value


class Settings(BaseModel):
    """The whole of `class.toml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attempts: Literal["best", "latest"] = "best"
    late_days: int = Field(default=0, ge=0)
    leaderboard: bool = False
    assignment: dict[str, Deadline] = {}

    def deadline(self, name: str) -> Deadline:
        """The deadline of an assignment; one that is never late where none is given."""
        return self.assignment.get(name, Deadline())


def load(path: Path | None) -> Settings:
    """Read `class.toml`; the defaults where there is none. Raises UsageError."""
    if path is None or not path.is_file():
        return Settings()
    try:
        return Settings.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"{path}: {key}: {first['msg']}", "docs/instructor-guide.md describes every key."
        ) from None
