"""The gradebook: one SQLite file in WAL mode, written by one process at a time.

Every grading is one transaction, so a process that is killed leaves whole rows or none.
"""

from __future__ import annotations

import datetime
import fcntl
import json
import os
import secrets
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import TypeAdapter

from grader.assignment_schema import Feedback
from grader.batch.book_schema import ADDED, TABLES, VERSION
from grader.batch.origin import TimeFrom
from grader.batch.roster import Student
from grader.errors import UsageError
from grader.feedback import told
from grader.report import json as result_json
from grader.result import Record, Result, Verdict

NAME = "gradebook.db"
_LEVEL: TypeAdapter[Feedback] = TypeAdapter(Feedback)
NO_GRADE = (Verdict.GRADER_ERROR.value, Verdict.NOT_GRADABLE.value)


class Row(Record):
    """One grading of one attempt, without the result itself."""

    id: int
    attempt: int
    student: str
    submitted: datetime.datetime
    time_from: TimeFrom
    owner: str
    key: str
    verdict: Verdict
    points: int | None
    out_of: int
    graded: str


class Override(Record):
    """An instructor's change of a grade: `points` replaces, `plus` is added."""

    points: int | None
    plus: int | None
    who: str
    why: str
    at: str


def now() -> str:
    """The time as the gradebook writes it: UTC, whole seconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


class Gradebook:
    """An open gradebook. `writing` takes the lock of the one writer until it is closed.

    Raises UsageError for a file that is none, that is missing (unless writing) or being written.
    """

    def __init__(self, path: Path, *, writing: bool = False) -> None:
        self.path = path
        self._lock: int | None = None
        if writing:
            self._take_lock()
        elif not path.is_file():
            raise UsageError(
                f"there is no gradebook {path}",
                "`grade batch` makes one; --gradebook FILE names another.",
            )
        try:
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
            self._db.row_factory = sqlite3.Row
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA foreign_keys = ON")
            self._upgrade()
        except sqlite3.DatabaseError as error:
            self._release()
            raise UsageError(f"{path} is no gradebook: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()
        self._release()

    def _take_lock(self) -> None:
        try:
            self._lock = os.open(f"{self.path}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise UsageError(
                f"{self.path} is being written by another command",
                "Wait until it has ended; a gradebook has one writer.",
            ) from None

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _upgrade(self) -> None:
        version = self._version()
        if version == 0:
            with self._transaction():
                if self._version():
                    return  # another process was faster
                if self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
                    raise sqlite3.DatabaseError("it is a database of something else")
                for statement in TABLES.split(";\n"):
                    if statement.strip():
                        self._db.execute(statement)
                self._db.execute(
                    "INSERT INTO settings VALUES ('pseudonyms', ?)", (secrets.token_hex(32),)
                )
                self._db.execute(f"PRAGMA user_version = {VERSION}")
        elif version < VERSION and self._lock is not None:
            # The results of 1 are reduced. One who expects that cannot read on.
            with self._transaction():
                for column in ADDED:
                    self._db.execute(f"ALTER TABLE attempts ADD COLUMN {column}")
                self._db.execute(f"PRAGMA user_version = {VERSION}")
        elif version > VERSION:
            raise UsageError(
                f"{self.path} has version {version} of the tables, expected {VERSION}",
                "Use the grader that wrote it.",
            )

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # ---- students ------------------------------------------------------------------------------

    def add_students(self, students: Iterable[Student]) -> None:
        """Keep or renew what is known of these students."""
        with self._transaction():
            self._db.executemany(
                "INSERT INTO students VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                "name = excluded.name, email = excluded.email, section = excluded.section, "
                "record = excluded.record",
                [(s.id, s.name, s.email, s.section, s.model_dump_json()) for s in students],
            )

    def students(self) -> dict[str, Student]:
        """Every student of the gradebook by id, those of attempts without a roster too."""
        rows = self._db.execute("SELECT record FROM students ORDER BY rowid")
        known = {s.id: s for row in rows if (s := Student.model_validate_json(row["record"]))}
        for row in self._db.execute("SELECT DISTINCT student FROM attempts ORDER BY student"):
            known.setdefault(row["student"], Student(id=row["student"]))
        return known

    def secret(self) -> bytes:
        """What pseudonyms of this gradebook are made with."""
        row = self._db.execute("SELECT value FROM settings WHERE name = 'pseudonyms'").fetchone()
        return bytes.fromhex(row["value"])

    # ---- results -------------------------------------------------------------------------------

    def record(
        self,
        result: Result,
        *,
        students: Sequence[str],
        submission_sha256: str,
        submitted: datetime.datetime,
        key: str,
        time_from: TimeFrom = "file",
        owner: str = "",
        published: bool = True,
    ) -> None:
        """Add one grading for each of `students` in one transaction.

        The time of an attempt that is known already stays as it was.
        """
        packed = zlib.compress(result.model_dump_json(by_alias=True).encode(), 3)
        with self._transaction():
            for student in students:
                attempt = self._attempt(
                    result.assignment, student, submission_sha256, submitted, time_from, owner
                )
                before = self._counting(attempt)
                self._db.execute(
                    "INSERT INTO results (attempt, key, verdict, points, out_of, graded, seconds, "
                    "published, result) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (attempt, key, result.verdict.value, result.score.points,
                     result.score.out_of, now(), result.seconds, int(published), packed),
                )  # fmt: skip
                if published:
                    self._note_grading(result.assignment, student, attempt, before)

    def publish(self, assignment: str, key: str, students: Sequence[str]) -> bool:
        """Make grades of what `--compare` found under this key; whether there was such a result
        for every one of the students."""
        with self._transaction():
            rows = [
                self._db.execute(
                    "SELECT r.id, r.attempt FROM results r JOIN attempts a ON a.id = r.attempt "
                    "WHERE r.key = ? AND r.published = 0 AND a.student = ? AND a.assignment = ? "
                    "ORDER BY r.id DESC",
                    (key, student, assignment),
                ).fetchone()
                for student in students
            ]
            if any(row is None for row in rows):
                return False
            for student, row in zip(students, rows, strict=True):
                before = self._counting(row["attempt"])
                self._db.execute("UPDATE results SET published = 1 WHERE id = ?", (row["id"],))
                self._note_grading(assignment, student, row["attempt"], before)
        return True

    def _attempt(
        self, assignment: str, student: str, sha256: str, submitted: datetime.datetime,
        time_from: TimeFrom, owner: str,
    ) -> int:  # fmt: skip
        when = submitted.astimezone(datetime.UTC).isoformat(timespec="seconds")
        self._db.execute(
            "INSERT INTO attempts (assignment, student, submission_sha256, submitted, time_from, "
            "owner) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (assignment, student, sha256, when, time_from, owner),
        )
        row = self._db.execute(
            "SELECT id FROM attempts WHERE assignment = ? AND student = ? "
            "AND submission_sha256 = ?",
            (assignment, student, sha256),
        ).fetchone()
        return int(row["id"])

    def _note_grading(
        self, assignment: str, student: str, attempt: int, before: sqlite3.Row | None
    ) -> None:
        after = self._counting(attempt)
        what = "graded" if before is None else "regraded"
        if before is not None and _told(before) == _told(after):
            return
        self._note("grade batch", what, assignment, student, _told(before), _told(after), "")

    def _counting(self, attempt: int) -> sqlite3.Row | None:
        """The grading of an attempt that counts: the newest with points, else the newest."""
        found: sqlite3.Row | None = self._db.execute(
            "SELECT verdict, points FROM results WHERE attempt = ? AND published = 1 "
            "ORDER BY points IS NULL, id DESC LIMIT 1",
            (attempt,),
        ).fetchone()
        return found

    def keys(self, assignment: str, *, published: bool | None = True) -> set[tuple[str, str]]:
        """(student, key) of everything that was graded; of unpublished ones too with None.

        What the grader failed at counts as graded: `--only verdict=grader_error` tries it again.
        """
        rows = self._db.execute(
            "SELECT a.student, r.key FROM results r JOIN attempts a ON a.id = r.attempt "
            "WHERE a.assignment = ? AND (? IS NULL OR r.published = ?)",
            (assignment, published, int(bool(published))),
        )
        return {(row["student"], row["key"]) for row in rows}

    def rows(self, assignment: str, *, published: bool = True) -> list[Row]:
        """The grading that counts of each attempt; with `published` False what --compare found,
        the newest of each attempt."""
        order = "r.points IS NOT NULL, r.id" if published else "r.id"
        origin = "a.time_from, a.owner"
        if self._version() < 3:  # not written to since
            origin = "'file' AS time_from, '' AS owner"
        rows = self._db.execute(
            f"SELECT r.id, r.attempt, a.student, a.submitted, {origin}, r.key, r.verdict, "
            "r.points, r.out_of, r.graded FROM results r JOIN attempts a ON a.id = r.attempt "
            f"WHERE a.assignment = ? AND r.published = ? ORDER BY {order}",
            (assignment, int(published)),
        )
        last = {row["attempt"]: Row.model_validate(dict(row)) for row in rows}
        return sorted(last.values(), key=lambda row: (row.student, row.submitted, row.id))

    def assignments(self) -> tuple[str, ...]:
        """Every assignment with an attempt."""
        rows = self._db.execute("SELECT DISTINCT assignment FROM attempts ORDER BY assignment")
        return tuple(row["assignment"] for row in rows)

    def whole(self, row_id: int) -> Result:
        """Everything about one grading, hidden cases too: for the instructor's eyes."""
        row = self._db.execute("SELECT result FROM results WHERE id = ?", (row_id,)).fetchone()
        return result_json.loads(zlib.decompress(row["result"]).decode())

    def result(self, row_id: int, level: Feedback | None = None) -> Result:
        """One grading as its student may see it: under `level`, or as the last batch had it."""
        whole = self.whole(row_id)
        return told(whole, level or self.feedback(whole.assignment))

    def feedback(self, assignment: str) -> Feedback:
        """How much of a result students may see, as the last batch of the assignment had it."""
        row = self._db.execute(
            "SELECT value FROM settings WHERE name = ?", (f"feedback {assignment}",)
        ).fetchone()
        return _LEVEL.validate_python(row["value"]) if row else "full"

    def set_feedback(self, assignment: str, level: Feedback) -> None:
        """Keep how much students may see; it holds for every result, old ones too."""
        self._db.execute(
            "INSERT OR REPLACE INTO settings VALUES (?, ?)", (f"feedback {assignment}", level)
        )

    # ---- an instructor's word ------------------------------------------------------------------

    def override(
        self,
        assignment: str,
        student: str,
        *,
        points: int | None = None,
        plus: int | None = None,
        who: str,
        why: str,
    ) -> None:
        """Set points in place of the automatic ones, or points beside them (`plus`).

        The newest of each kind counts; with neither, both are withdrawn. Nothing is deleted.
        """
        before = self.overrides(assignment).get(student, ())
        with self._transaction():
            for column, value in (("points", points), ("plus", plus)):
                if value is not None or (points is None and plus is None):
                    self._db.execute(
                        "UPDATE overrides SET withdrawn = 1 WHERE assignment = ? AND student = ? "
                        f"AND {column} IS NOT NULL",
                        (assignment, student),
                    )
            withdrawn = points is None and plus is None
            if not withdrawn:
                self._db.execute(
                    "INSERT INTO overrides (assignment, student, points, plus, who, why, at) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (assignment, student, points, plus, who, why, now()),
                )
            after = "" if withdrawn else (f"{points}" if points is not None else f"{plus:+d}")
            told = " ".join(
                f"{o.points}" if o.points is not None else f"{o.plus:+d}" for o in before
            )
            self._note(who, "withdrawn" if withdrawn else "override", assignment, student, told,
                       after, why)  # fmt: skip

    def overrides(self, assignment: str) -> dict[str, tuple[Override, ...]]:
        """What stands of the overrides of each student."""
        found: dict[str, tuple[Override, ...]] = {}
        for row in self._db.execute(
            "SELECT student, points, plus, who, why, at FROM overrides "
            "WHERE assignment = ? AND withdrawn = 0 ORDER BY id",
            (assignment,),
        ):
            data = dict(row)
            student = data.pop("student")
            found[student] = (*found.get(student, ()), Override.model_validate(data))
        return found

    def extend(self, assignment: str, student: str, days: float, *, who: str, why: str) -> None:
        """Move the due date of one student by `days`; the newest extension counts."""
        before = self.extensions(assignment).get(student, 0.0)
        with self._transaction():
            self._db.execute(
                "INSERT INTO extensions (assignment, student, days, who, why, at) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (assignment, student, days, who, why, now()),
            )
            self._note(who, "extension", assignment, student, f"{before:g} days",
                       f"{days:g} days", why)  # fmt: skip

    def extensions(self, assignment: str) -> dict[str, float]:
        """The extension of each student that has one, in days."""
        rows = self._db.execute(
            "SELECT student, days FROM extensions WHERE assignment = ? ORDER BY id", (assignment,)
        )
        return {row["student"]: row["days"] for row in rows}

    def history(self, assignment: str, student: str | None = None) -> list[dict[str, str]]:
        """What happened, oldest first."""
        rows = self._db.execute(
            "SELECT at, who, what, student, before, after, why FROM history "
            "WHERE assignment = ? AND (? IS NULL OR student = ?) ORDER BY id",
            (assignment, student, student),
        )
        return [dict(row) for row in rows]

    def _note(
        self, who: str, what: str, assignment: str, student: str, before: str, after: str, why: str
    ) -> None:
        self._db.execute(
            "INSERT INTO history (at, who, what, assignment, student, before, after, why) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (now(), who, what, assignment, student, before, after, why),
        )


def _told(row: sqlite3.Row | None) -> str:
    """A grading in the words of the history: `accepted, 85 points`."""
    if row is None:
        return ""
    points = "no points" if row["points"] is None else f"{row['points']} points"
    return f"{row['verdict']}, {points}"


def dumped(book: Gradebook, assignment: str) -> str:
    """What the gradebook says of an assignment, without times of grading: to compare two."""
    rows = [
        (r.student, r.submitted.isoformat(), r.key, r.verdict.value, r.points, r.out_of)
        for r in book.rows(assignment)
    ]
    return json.dumps(rows, indent=1)
