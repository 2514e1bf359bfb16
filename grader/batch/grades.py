"""From the gradebook to one `Grade` per student: attempts, lateness, an instructor's word."""

from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
from collections.abc import Sequence

from grader.batch.gradebook import Gradebook, Row
from grader.batch.late import Attempt, charge
from grader.batch.origin import UNTIMED, TimeFrom
from grader.batch.roster import Student
from grader.batch.settings import Settings
from grader.result import Record, Verdict

_UNTIMED = {
    "unknown": "hand-in time unknown, counted as in time",
    "late": "late as Canvas says, not by how much; counted as in time",
}


class Grade(Record):
    """What one student gets for one assignment; `points` is null where there is no grade.

    `automatic` are the points of the attempt that counts, before lateness and the instructor's
    word; `result` is the row of the gradebook that holds its result. `submitted` is null where
    nobody knows when that was; `untimed` says what lateness then could not be reckoned with.
    """

    student: Student
    points: int | None
    out_of: int
    automatic: int | None = None
    plus: int = 0
    overridden: bool = False
    verdict: Verdict | None = None
    late_days: int = 0
    free_days: int = 0
    extension_days: float = 0.0
    submitted: datetime.datetime | None = None
    time_from: TimeFrom | None = None
    owner: str = ""
    untimed: str = ""
    attempts: int = 0
    result: int | None = None

    @property
    def remark(self) -> str:
        """Why the points are not those of the kernel, in words."""
        parts = []
        if self.late_days:
            free = f", {self.free_days} of them free" if self.free_days else ""
            parts.append(f"{self.late_days} day{'s' * (self.late_days != 1)} late{free}")
        if self.untimed:
            parts.append(self.untimed)
        if self.plus:
            parts.append(f"{self.plus:+d} by the instructor")
        if self.overridden:
            parts.append("set by the instructor")
        return "; ".join(parts)


def grades(book: Gradebook, assignment: str, settings: Settings) -> tuple[Grade, ...]:
    """The grade of every student of the gradebook, in the roster's order.

    Free late days are used up in the order of the due dates, so every earlier assignment of the
    gradebook is reckoned too.
    """
    names = [*book.assignments()]
    if assignment not in names:
        names.append(assignment)
    never = datetime.datetime.max.replace(tzinfo=datetime.UTC)
    names.sort(key=lambda name: (settings.deadline(name).due or never, name))
    left: dict[str, int] = {}
    found: dict[str, Grade] = {}
    for name in names:
        graded = _of_assignment(book, name, settings, left)
        if name == assignment:
            found = graded
            break
        for student, grade in graded.items():
            left[student] = left.get(student, settings.late_days) - grade.free_days
    return tuple(found.values())


def _of_assignment(
    book: Gradebook, name: str, settings: Settings, left: dict[str, int]
) -> dict[str, Grade]:
    deadline = settings.deadline(name)
    extensions, overrides = book.extensions(name), book.overrides(name)
    attempts: dict[str, list[Row]] = {}
    for row in book.rows(name):
        attempts.setdefault(row.student, []).append(row)
    out_of = next((rows[-1].out_of for rows in attempts.values()), 100)
    found = {}
    for student in book.students().values():
        mine = attempts.get(student.id, [])
        days = extensions.get(student.id, 0.0)
        charged = charge(
            [
                Attempt(
                    id=r.id,
                    submitted=r.submitted,
                    points=r.points,
                    timed=r.time_from not in UNTIMED,
                )
                for r in mine
            ],
            deadline,
            extension_days=days,
            free_days_left=left.get(student.id, settings.late_days),
            policy=settings.attempts,
        )
        counted = next((r for r in mine if charged and r.id == charged.attempt), None)
        said = overrides.get(student.id, ())
        fixed = next((o.points for o in said if o.points is not None), None)
        plus = next((o.plus for o in said if o.plus is not None), 0) or 0
        points = charged.points if charged else None
        if fixed is not None:
            points = fixed
        if plus:
            points = max(0, (points or 0) + plus)
        found[student.id] = Grade(
            student=student,
            points=points,
            out_of=counted.out_of if counted else out_of,
            automatic=counted.points if counted else None,
            plus=plus,
            overridden=fixed is not None,
            verdict=counted.verdict if counted else None,
            late_days=charged.late_days if charged else 0,
            free_days=charged.free_days if charged else 0,
            extension_days=days,
            submitted=counted.submitted if counted and counted.time_from not in UNTIMED else None,
            time_from=counted.time_from if counted else None,
            owner=counted.owner if counted else "",
            untimed=_UNTIMED.get(counted.time_from, "") if counted and deadline.due else "",
            attempts=len(mine),
            result=counted.id if counted else None,
        )
    return found


def pseudonym(secret: bytes, student: str) -> str:
    """A name that is always the same for a student of a gradebook and says nothing of them."""
    digest = hmac.new(secret, student.encode(), hashlib.sha256).digest()
    return "student-" + base64.b32encode(digest)[:8].decode().lower()


def anonymous(found: Sequence[Grade], secret: bytes) -> tuple[Grade, ...]:
    """The same grades under pseudonyms, in the order of the pseudonyms."""
    hidden = [
        grade.model_copy(update={"student": Student(id=pseudonym(secret, grade.student.id))})
        for grade in found
    ]
    return tuple(sorted(hidden, key=lambda grade: grade.student.id))
