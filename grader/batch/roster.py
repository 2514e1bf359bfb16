"""Who is in the class, from the CSV of whatever system keeps the roster.

Read are plain files with a header, GitHub Classroom's roster, and Canvas's gradebook export. The
columns may stand in any order; a byte-order mark, quotes and semicolons are fine.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from grader.errors import UsageError
from grader.result import Record

COLUMNS: dict[str, tuple[str, ...]] = {
    "id": ("id", "identifier", "student id", "sid", "user id", "username", "user", "login"),
    "name": ("name", "full name", "student", "student name", "display name"),
    "first": ("first name", "firstname", "given name"),
    "last": ("last name", "lastname", "surname", "family name"),
    "email": ("email", "email address", "e-mail", "mail"),
    "github": ("github_username", "github username", "github", "github user"),
    "sis_id": ("sis user id", "sis id", "id number", "student number"),
    "sis_login": ("sis login id",),
    "section": ("section", "sections", "group"),
}
"""Headers of the systems we know, in lower case; the first column that has one counts."""


class Student(Record):
    """One student. `id` names them in the gradebook; `others` are further names they go by."""

    id: str
    name: str = ""
    email: str = ""
    github: str = ""
    section: str = ""
    others: tuple[str, ...] = ()

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Everything this student may be found under, the best first."""
        known = (self.id, self.github, self.email, self.email.split("@")[0], *self.others)
        return tuple(dict.fromkeys(word for word in known if word))


class Roster(Record):
    """The students in the order of the file, and what was odd about it."""

    students: tuple[Student, ...]
    remarks: tuple[str, ...] = ()

    def find(self, word: str) -> Student | None:
        """The one student that goes by `word`; None where there is none or more than one.

        An identifier counts before a name; upper and lower case are the same.
        """
        wanted = folded(word)
        found = [s for s in self.students if wanted in {folded(i) for i in s.identifiers}]
        if not found:
            plain = letters(word)
            found = [s for s in self.students if plain and plain in _names(s)]
        return found[0] if len(found) == 1 else None


def _names(student: Student) -> set[str]:
    last, comma, first = student.name.partition(",")
    turned = f"{first} {last}" if comma else student.name
    words = turned.split()
    backwards = " ".join([*words[1:], words[0]]) if words else ""
    surname_first = " ".join([words[-1], *words[:-1]]) if words else ""
    return {letters(turned), letters(backwards), letters(surname_first)} - {""}


def folded(word: str) -> str:
    """A word as identifiers are compared: composed, without case or blanks around it."""
    return unicodedata.normalize("NFC", word).strip().casefold()


def letters(word: str) -> str:
    """A name without accents, blanks and punctuation: `Müller, Jo-Ann` is `mullerjoann`."""
    plain = unicodedata.normalize("NFKD", word)
    return "".join(c for c in plain if c.isalnum()).casefold()


def read(path: Path) -> Roster:
    """Read a roster. Raises UsageError for a file that is none, naming what is missing."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    return parse(decoded(data, path.name), path.name)


def decoded(data: bytes, name: str) -> str:
    """Text of a CSV file: UTF-8 with or without a mark, or what Excel makes of it.

    Raises UsageError.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(
            f"{name}:{line}: not UTF-8: byte 0x{data[error.start]:02x}",
            "Save it as CSV UTF-8 in the spreadsheet.",
        ) from None


def parse(text: str, name: str = "roster") -> Roster:
    """A roster from the text of a CSV file. Raises UsageError."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter(text)))
    except csv.Error as error:
        raise UsageError(f"{name} cannot be read: {error}", "Save it as CSV UTF-8.") from None
    header = next((i for i, row in enumerate(rows) if any(cell.strip() for cell in row)), None)
    if header is None:
        raise UsageError(f"{name} is empty", "A roster has a header and one line per student.")
    columns = _columns(rows[header])
    # In Canvas's export `ID` is its own number; people go by the login, and that is what the
    # folders of other systems are called after.
    canvas = "sis_login" in columns or (
        "name" in columns and rows[header][columns["name"]].strip().casefold() == "student"
    )
    if not {"id", "email", "github", "sis_login"} & set(columns):
        found = ", ".join(cell.strip() for cell in rows[header]) or "nothing"
        raise UsageError(
            f"{name}:{header + 1}: expected a column that identifies a student "
            f"(id, identifier, email, github_username, SIS Login ID), found {found}",
            "Give the first line the names of the columns.",
        )
    return _students(rows[header + 1 :], columns, name, header + 2, canvas=canvas)


def delimiter(text: str) -> str:
    """What stands between the cells: spreadsheets of many countries write semicolons."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return max(",;\t", key=first.count)


def _columns(header: Sequence[str]) -> dict[str, int]:
    words = [re.sub(r"\s+", " ", cell.strip().casefold()) for cell in header]
    found = {}
    for key, names in COLUMNS.items():
        place = next((words.index(word) for word in names if word in words), None)
        if place is not None:
            found[key] = place
    return found


def _students(
    rows: Sequence[Sequence[str]], columns: dict[str, int], name: str, first: int, *, canvas: bool
) -> Roster:
    students: dict[str, Student] = {}
    remarks: list[str] = []
    owners: dict[str, str] = {}
    for line, row in enumerate(rows, first):
        cells = {key: row[i].strip() if i < len(row) else "" for key, i in columns.items()}
        if not any(cell.strip() for cell in row):
            continue
        if canvas and cells.get("name", "").startswith(("Points Possible", "Student, Test")):
            continue
        student = _student(cells, canvas=canvas)
        if not student.id:
            remarks.append(f"{name}:{line}: no identifier; this line was left out")
            continue
        key = folded(student.id)
        if key in students:
            same = students[key] == student
            remarks.append(
                f"{name}:{line}: {student.id} is there twice"
                + ("" if same else ", with other details; the first one counts")
            )
            continue
        for word in student.identifiers:
            if folded(word) in owners and "@" not in student.email.partition("@")[0]:
                remarks.append(
                    f"{name}:{line}: {word} also means {owners[folded(word)]}; a submission "
                    "under that name is nobody's"
                )
            owners.setdefault(folded(word), student.id)
        students[key] = student
    if not students:
        raise UsageError(f"{name} has no students", "A roster has one line per student.")
    return Roster(students=tuple(students.values()), remarks=tuple(remarks))


def _student(cells: dict[str, str], *, canvas: bool) -> Student:
    get = cells.get
    name = get("name", "") or " ".join(filter(None, (get("first", ""), get("last", ""))))
    order = ("sis_login", "github", "email", "id") if canvas else (
        "id", "github", "email", "sis_login")  # fmt: skip
    words = [word for key in order if (word := get(key, ""))]
    # Moodle's `Participant 123` is a number of the one assignment: people go by anything else.
    words.sort(key=lambda word: word.startswith("Participant "))
    id_ = words[0] if words else ""
    others = [get("id", ""), get("sis_id", ""), get("sis_login", "")]
    return Student(
        id=id_,
        name=name,
        email=get("email", "") or (get("sis_login", "") if "@" in get("sis_login", "") else ""),
        github=get("github", ""),
        section=get("section", ""),
        others=tuple(dict.fromkeys(word for word in others if word and word != id_)),
    )
