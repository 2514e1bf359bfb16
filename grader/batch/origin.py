"""When a submission was handed in and who put its file there, as far as either can be known.

Lateness costs points, so a time that nobody vouches for is no time: downloads of Canvas and Moodle
hold none, and a zip writes local times without saying of which zone.
"""

from __future__ import annotations

import datetime
import os
import pwd
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from grader.batch.layouts import Found

TimeFrom = Literal["metadata", "commit", "name", "file", "unknown", "late"]
"""Gradescope's metadata; a clone's last commit; the name that `grade submit` or Blackboard gave;
the newest file; nobody says; nobody says, but Canvas that it was late."""
UNTIMED = ("unknown", "late")
TIMELESS = ("Canvas's download", "Moodle's download")
"""Layouts whose files have the time of the download, or of whoever unpacked it."""

_DROPPED = re.compile(r"_(\d{8}T\d{6})Z_[0-9a-f]{12}(?:\.|$)", re.ASCII)
_BLACKBOARD = re.compile(r"_attempt_(\d{4}(?:-\d\d){5})[._]", re.ASCII)
_CANVAS_LATE = re.compile(r"^[^_]+_LATE_\d+_\d+_")
_SHOWN = 6
_COPYING = datetime.timedelta(hours=1)


def in_name(name: str, zone: datetime.tzinfo) -> datetime.datetime | None:
    """The time in a file's name (UTC): `grade submit` writes it in UTC, Blackboard in `zone`.

    None where there is none, or one that is still to come.
    """
    try:
        if match := _DROPPED.search(name):
            found = datetime.datetime.strptime(match[1] + "Z", "%Y%m%dT%H%M%S%z")
        elif match := _BLACKBOARD.search(name):
            found = datetime.datetime.strptime(match[1], "%Y-%m-%d-%H-%M-%S").replace(tzinfo=zone)
        else:
            return None
        found = found.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return None
    return found if found <= datetime.datetime.now(datetime.UTC) else None


def without_time(names: Sequence[str]) -> TimeFrom:
    """What is known of when files of these names were handed in, where no time is."""
    return "late" if any(map(_CANVAS_LATE.match, names)) else "unknown"


def owner(path: Path) -> str:
    """The user whose file or folder this is; the number where the user has no name here."""
    try:
        return _user(path.lstat().st_uid)
    except OSError:
        return ""


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def under_other_names(found: Sequence[Found], whose: Mapping[str, str]) -> tuple[str, ...]:
    """Files that one put there for others, in words; `whose` says which student a user is."""
    said = []
    many: dict[str, list[Found]] = {}
    for one in found:
        known = whose.get(one.owner)
        if known is not None and known not in one.students:
            said.append(f"{one.path.name} of {_names(one)}: {one.owner} put it there")
        elif one.owner and known is None and one.owner not in _ours():
            many.setdefault(one.owner, []).append(one)
    for who, theirs in many.items():
        if len(theirs) > 1:
            said.append(
                f"{who} put there what is of {len(theirs)} students or groups: "
                f"{_some([_names(one) for one in theirs])} (a copy, or a service that collects, "
                "looks so too)"
            )
    return tuple(said)


def odd_times(found: Sequence[Found]) -> tuple[str, ...]:
    """Hand-in times that are not known, or not as their names say, in words."""
    said = []
    late = [_names(one) for one in found if one.time_from == "late"]
    unknown = [_names(one) for one in found if one.time_from == "unknown"]
    if late:
        said.append(
            f"Canvas marked {len(late)} as late, its download does not say by how much: "
            f"{_some(late)}; `grade override` says what that costs"
        )
    if unknown:
        said.append(
            f"{len(unknown)} have no hand-in time that can be relied on, and are not counted as "
            f"late: {_some(unknown)}"
        )
    newer = [
        one for one in found if one.changed is not None and one.changed - one.submitted > _COPYING
    ]
    if newer:
        shown = _some([f"{_names(one)} ({one.changed:%Y-%m-%d %H:%M} UTC)" for one in newer])
        said.append(
            f"{len(newer)} were written later than the time in their names says: {shown} (a copy, "
            "or a hand-in under an earlier time, looks so)"
        )
    return tuple(said)


def _names(one: Found) -> str:
    return " and ".join(one.students)


def _some(words: Sequence[str]) -> str:
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(words[:_SHOWN]) + more


def _ours() -> tuple[str, ...]:
    """Whoever grades may have copied the files; so may root."""
    return _user(0), _user(os.getuid())
