"""Finds the submissions in a folder, however the system they came from lays them out.

Nothing of a submission is opened here but Gradescope's metadata: an archive is unpacked when it is
graded, in a child, so that a bad one costs that submission only.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from grader.batch import commits, origin
from grader.batch.origin import TimeFrom
from grader.batch.roster import Roster, Student
from grader.errors import UsageError
from grader.result import Record
from grader.sandbox.archive import SUFFIXES as ARCHIVES

KERNELS = (".cu", ".metal", ".py")
BESIDE = (".toml", ".cuh", ".h", ".hpp", ".inl")
"""What may stand beside a kernel: notes and headers."""
METADATA = "submission_metadata.yml"
_CANVAS_FILE = re.compile(r"^(?P<who>[^_]+)_(?:LATE_)?(?P<id>\d+)_\d+_(?P<file>.+)$")
_MOODLE = re.compile(
    r"^(?P<who>.+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?$"
)
_BLACKBOARD = re.compile(
    r"^.+_(?P<who>[^_]+)_attempt_\d{4}(?:-\d\d){5}(?:_(?P<file>.+)|(?P<about>\.txt))$"
)
_HANDED_IN = re.compile(r"^(?P<who>.+)_\d{8}T\d{6}Z_[0-9a-f]{12}$", re.ASCII)
"""What `grade submit` puts into a drop folder: who, the assignment, when, and of which contents."""
_LARGEST_METADATA = 64 << 20
_MOST_FILES, _MOST_BYTES = 2000, 64 << 20


class Found(Record):
    """One submission: where it lies, whose it is, when it was handed in, and its hash.

    `sha256` covers names and contents of everything that was handed in. `submitted` is a time that
    counts only if `time_from` says that it is known; else it merely puts attempts in order. `owner`
    is the user whose file it is, `changed` when a file with a time in its name was written; both
    are of use in a folder, and nothing is known of them in an archive.
    """

    path: Path
    students: tuple[str, ...]
    submitted: datetime.datetime
    sha256: str
    time_from: TimeFrom = "file"
    owner: str = ""
    changed: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True)
class Times:
    """How times are read: whether the folder was unpacked from an archive, whose own times have
    no zone, and the zone of those names that say none."""

    unpacked: bool = False
    zone: datetime.tzinfo = datetime.UTC


class Skipped(Record):
    """Something in the folder that is not graded, and why."""

    name: str
    reason: str


class Finding(Record):
    """What a folder holds: its layout in words, the submissions, what was skipped; and what of
    the submissions an instructor should look at."""

    layout: str
    found: tuple[Found, ...]
    skipped: tuple[Skipped, ...] = ()
    remarks: tuple[str, ...] = ()


def discover(
    folder: Path, assignment: str, roster: Roster | None = None, times: Times | None = None
) -> Finding:
    """The submissions of `assignment` in `folder`, sorted by student.

    With a roster, what is nobody's on it is skipped. Raises UsageError where there is nothing.
    """
    times = times or Times()
    if not folder.is_dir():
        raise UsageError(
            f"expected a folder of submissions, found {folder}",
            "Unpack the archive of the class first." if folder.is_file() else "",
        )
    if (folder / METADATA).is_file():
        finding = _gradescope(folder, assignment, roster)
    else:
        nested = _classroom_folder(folder, assignment)
        inside = nested or folder
        finding = _entries(inside, assignment, roster, times)
    return _once(finding, folder, roster)


def _classroom_folder(folder: Path, assignment: str) -> Path | None:
    """`<slug>-submissions` inside the folder: of this assignment, or the only one."""
    named = sorted(p for p in folder.iterdir() if p.is_dir() and p.name.endswith("-submissions"))
    mine = [p for p in named if p.name.removesuffix("-submissions") == assignment]
    if mine:
        return mine[0]
    others = [p for p in folder.iterdir() if not p.name.startswith(".") and p not in named]
    return named[0] if len(named) == 1 and not others else None


def _entries(folder: Path, assignment: str, roster: Roster | None, times: Times) -> Finding:
    found: list[Found] = []
    skipped: list[Skipped] = []
    slug = folder.name.removesuffix("-submissions") if folder.name.endswith("-submissions") else ""
    layouts: set[str] = set()
    by_students: dict[tuple[str, ...], dict[Path, str]] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == "__MACOSX":
            continue
        if path.is_symlink():
            skipped.append(Skipped(name=path.name, reason="it is a link"))
            continue
        if not _is_text(path):
            shown = os.fsencode(path.name).decode(errors="replace")
            skipped.append(Skipped(name=shown, reason="its name is not UTF-8"))
            continue
        if (blackboard := _BLACKBOARD.match(path.name)) and blackboard["about"]:
            continue  # what Blackboard says of the submission
        kind, *who = _owner(path, assignment, slug, roster)
        if not kind:
            skipped.append(Skipped(name=path.name, reason=who[0]))
            continue
        known = {word: _student(word, roster) for word in who}
        skipped += [
            Skipped(name=path.name, reason=f"{word} is not on the roster")
            for word, student in known.items()
            if student is None
        ]
        students = tuple(dict.fromkeys(student for student in known.values() if student))
        if students:
            layouts.add(kind)
            by_students.setdefault(students, {})[path] = kind
    whose: dict[str, str] = {}
    if not times.unpacked:
        users = {origin.owner(path) for kinds in by_students.values() for path in kinds}
        whose = _user_names(users, (s for students in by_students for s in students), roster)
    for students, kinds in by_students.items():
        paths, before = _newest(list(kinds), students, whose, times)
        skipped += before
        path = paths[0]
        flat = {p: name for p in paths if (name := _flat(p))}
        if len(paths) > 1:
            path = _gathered(flat)
        place = kernel_folder(path, assignment) if path.is_dir() else path
        if path.is_dir() and not any(files(place)):
            skipped.append(Skipped(name=path.name, reason="the folder has no files"))
            continue
        one = Found(path=place, students=students, submitted=_time(place), sha256=digest(place))
        found.append(_dated(one, path, {p: kinds[p] for p in paths}, times))
    return Finding(
        layout=", ".join(sorted(layouts)) or "nothing", found=tuple(found), skipped=tuple(skipped)
    )


def _newest(
    paths: list[Path], students: tuple[str, ...], whose: Mapping[str, str], times: Times
) -> tuple[list[Path], list[Skipped]]:
    """What counts of all that lies there of the same students: one entry, or the files of one
    hand-in that a download laid side by side; and what does not.

    A file that one of the students put there counts before one that another student did.
    """
    by = {p: whose.get(origin.owner(p)) if whose else None for p in paths}
    them = " and ".join(students)
    others = [p for p in paths if by[p] not in (None, *students)]
    kept = paths if len(others) == len(paths) else [p for p in paths if p not in others]
    skipped = [
        Skipped(name=p.name, reason=f"{by[p]} put it there, and {them} handed in as well")
        for p in paths
        if p not in kept
    ]
    named = {p: when for p in kept if (when := origin.in_name(p.name, times.zone))}
    # Two hand-ins of one person are a choice that is not ours: the newest one counts.
    newest = max(kept, key=lambda p: named[p].timestamp() if p in named else p.stat().st_mtime)
    flat = [p for p in kept if _flat(p) and named.get(p) == named.get(newest)]
    counts = flat if newest in flat else [newest]
    skipped += [
        Skipped(name=p.name, reason=f"{newest.name} of {them} is newer")
        for p in kept
        if p not in counts
    ]
    return counts, skipped


def _user_names(
    users: Iterable[str], students: Iterable[str], roster: Roster | None
) -> dict[str, str]:
    """Which of these users is which student; without a roster one that is called alike."""
    known = set(students)
    found = {}
    for user in filter(None, users):
        student = roster.find(user) if roster else None
        if student or (roster is None and user in known):
            found[user] = student.id if student else user
    return found


def _dated(one: Found, path: Path, kinds: Mapping[Path, str], times: Times) -> Found:
    """A submission with what is known of when it was handed in and by whom."""
    first = next(iter(kinds))
    who = "" if times.unpacked else origin.owner(first)
    known: dict[str, object] = {}
    if named := origin.in_name(first.name, times.zone):
        known = {"submitted": named, "time_from": "name"}
        if _HANDED_IN.match(_stem(first)) and not times.unpacked:
            known["changed"] = _time(first)
    elif when := commits.time(one.path, path):
        known = {"submitted": when, "time_from": "commit"}
    elif times.unpacked or any(kind in origin.TIMELESS for kind in kinds.values()):
        known = {"time_from": origin.without_time([p.name for p in kinds])}
    return one.model_copy(update={"owner": who, **known})


def _owner(path: Path, assignment: str, slug: str, roster: Roster | None) -> tuple[str, ...]:
    """What kind of entry this is and the words for its students; no kind, and why, for others."""
    stem = _stem(path)
    if stem == path.name and not path.is_dir():
        return "", "it is neither a folder, an archive nor a kernel file"
    kind = "a folder per student" if path.is_dir() else "an archive per student"
    if path.is_file() and path.name.lower().endswith(KERNELS):
        kind = "a file per student"
    if dropped := _HANDED_IN.match(stem):
        if not dropped["who"].endswith(f"_{assignment}"):
            return "", "it was handed in for another assignment"
        group = dropped["who"].removesuffix(f"_{assignment}")
        return "a drop folder of `grade submit`", *filter(None, group.split("+"))
    if canvas := _CANVAS_FILE.match(stem):
        known = roster.find(canvas["id"]) if roster else None
        return "Canvas's download", known.id if known else canvas["who"]
    if moodle := _MOODLE.match(stem):
        # Names may be anonymous, or those of two students: the participant's number is one's own.
        known = roster.find(f"Participant {moodle['id']}") if roster else None
        return "Moodle's download", known.id if known else moodle["who"]
    if blackboard := _BLACKBOARD.match(path.name):
        return "Blackboard's download", blackboard["who"]
    if slug and stem.startswith(f"{slug}-"):
        return "Classroom's clones", stem.removeprefix(f"{slug}-")
    return kind, stem


def _stem(path: Path) -> str:
    """The name of an archive or a kernel's file without its ending; that of others as it is."""
    for suffix in (*ARCHIVES, *KERNELS, *(BESIDE if _flat(path) else ())):
        if path.is_file() and path.name.lower().endswith(suffix):
            return path.name[: -len(suffix)]
    return path.name


def _flat(path: Path) -> str:
    """The name a student gave to a file of a download without folders, or nothing."""
    if not path.is_file() or not path.name.lower().endswith((*KERNELS, *BESIDE)):
        return ""
    matches = (pattern.match(path.name) for pattern in (_CANVAS_FILE, _MOODLE, _BLACKBOARD))
    name = next((str(match["file"] or "") for match in matches if match), "")
    return re.sub(r"-\d+(\.\w+)$", r"\1", name)  # Canvas numbers what is handed in again


def _gathered(files: Mapping[Path, str]) -> Path:
    """A folder of our own with the files that a download laid side by side, as they were called.

    Of two of one name the newest stays.
    """
    folder = Path(tempfile.mkdtemp(dir=_flats().name))
    for path in sorted(files, key=lambda p: p.stat().st_mtime):
        if path.stat().st_size <= _MOST_BYTES:
            shutil.copy2(path, folder / Path(files[path]).name)
    return folder


@functools.cache
def _flats() -> tempfile.TemporaryDirectory[str]:
    """Removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="grade-flat-")


def _student(word: str, roster: Roster | None) -> str | None:
    if roster is None:
        return word
    student = roster.find(word)
    if student is None and "_" in word:  # `user_name.cu`: the user, then whatever it is called
        student = roster.find(word.partition("_")[0])
    return student.id if student else None


def kernel_folder(folder: Path, assignment: str) -> Path:
    """The folder with the kernel: one called like the assignment, itself, or the only one below."""
    if (folder / assignment).is_dir() and not (folder / assignment).is_symlink():
        return folder / assignment
    if any(p.suffix.lower() in KERNELS for p in folder.iterdir() if p.is_file()):
        return folder
    below = [p for p in sorted(folder.iterdir()) if p.is_dir() and not p.name.startswith(".")]
    only = below[0] if len(below) == 1 else folder
    return folder if only.is_symlink() or not _is_text(only) else only


def _is_text(path: Path) -> bool:
    """Whether a gradebook can hold the name."""
    try:
        path.name.encode()
    except UnicodeEncodeError:
        return False
    return True


# ---- Gradescope --------------------------------------------------------------------------------


def _gradescope(folder: Path, assignment: str, roster: Roster | None) -> Finding:
    found: list[Found] = []
    skipped: list[Skipped] = []
    entries = list(metadata((folder / METADATA).read_text(encoding="utf-8")[:_LARGEST_METADATA]))
    for name, created, people in entries:
        path = folder / name
        if not path.is_dir() or path.is_symlink():
            skipped.append(Skipped(name=name, reason="its folder is missing"))
            continue
        students = []
        for person in people:
            words = (person.get("email", ""), person.get("sid", ""), person.get("name", ""))
            if roster is None:
                student = next((word for word in words if word), None)
            else:
                student = next((s.id for w in words if w and (s := roster.find(w))), None)
            if student is None:
                skipped.append(
                    Skipped(name=f"{name}, {words[2] or words[0]}", reason="not on the roster")
                )
            else:
                students.append(student)
        if not students:
            if not people:
                skipped.append(Skipped(name=name, reason="the metadata name nobody"))
            continue
        place = kernel_folder(path, assignment)
        found.append(
            Found(
                path=place,
                students=tuple(students),
                submitted=created or _time(place),
                sha256=digest(place),
                time_from="metadata" if created else "unknown",
            )
        )
    listed = {name for name, _, _ in entries}
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in listed and not path.name.startswith("."):
            skipped.append(Skipped(name=path.name, reason=f"{METADATA} does not list it"))
    return Finding(layout="Gradescope's export", found=tuple(found), skipped=tuple(skipped))


_KEY = re.compile(r"^(?P<indent> *)(?P<dash>- )?(?P<key>:?[\w@.-]+):(?: (?P<value>.*))?$")


def metadata(text: str) -> Iterator[tuple[str, datetime.datetime | None, list[dict[str, str]]]]:
    """Folder, time and submitters of each entry of `submission_metadata.yml`.

    Gradescope writes Ruby's YAML with symbols for keys, and whole test results below each entry;
    only the three keys that matter here are read, line by line, so no YAML a student could have
    put into a result is ever constructed.
    """
    name, created = "", None
    people: list[dict[str, str]] = []
    within = ""
    for line in text.splitlines():
        match = _KEY.match(line)
        if match is None:
            continue
        key = match["key"].lstrip(":")
        value = (match["value"] or "").strip().strip("'\"")
        indent = len(match["indent"]) + (2 if match["dash"] else 0)
        if indent == 0:
            if name:
                yield name, created, people
            name, created, people, within = match["key"].rstrip(":"), None, [], ""
        elif indent == 2 and not match["dash"]:
            within = key
            if key == "created_at":
                created = moment(value)
        elif within == "submitters":
            if match["dash"]:
                people.append({})
            if people and key in ("name", "email", "sid"):
                people[-1][key] = value
    if name:
        yield name, created, people


def moment(text: str) -> datetime.datetime | None:
    """A time as Gradescope and Git write it; None for anything else. No zone means UTC."""
    text = re.sub(r"(\.\d{6})\d+", r"\1", text.strip().replace(" UTC", "+00:00"))
    text = re.sub(r" ([+-]\d\d:?\d\d)$", r"\1", text)
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)


# ---- contents and times ------------------------------------------------------------------------


def files(place: Path) -> Iterator[Path]:
    """Files that were handed in, sorted; hidden folders such as `.git` and ours are not."""
    if not place.is_dir():
        yield place
        return
    count = 0
    for folder, inner, names in os.walk(place):
        inner[:] = sorted(n for n in inner if not n.startswith(".") and n != "__pycache__")
        for name in sorted(names):
            count += 1
            if count > _MOST_FILES:
                return
            yield Path(folder, name)


def digest(place: Path) -> str:
    """SHA-256 over names and contents of a folder or file; links count by where they point."""
    whole = hashlib.sha256()
    left = _MOST_BYTES
    for path in files(place):
        status = path.lstat()
        name = path.relative_to(place).as_posix() if path != place else path.name
        if stat.S_ISREG(status.st_mode):
            inner = hashlib.sha256()
            try:
                with path.open("rb") as file:
                    while left > 0 and (piece := file.read(min(left, 1 << 20))):
                        inner.update(piece)
                        left -= len(piece)
            except OSError as error:
                inner.update(f"unreadable {error.errno}".encode())
            content = inner.hexdigest()
        elif stat.S_ISLNK(status.st_mode):
            content = f"link {os.readlink(path)}"  # noqa: PTH115  # text, never followed
        else:
            content = f"kind {stat.S_IFMT(status.st_mode)}"
        whole.update(f"{content} {status.st_size} ".encode() + os.fsencode(name) + b"\n")
    return whole.hexdigest()


def _time(place: Path) -> datetime.datetime:
    """When the newest file was changed (UTC); now for what claims to be of the future."""
    newest = max((path.lstat().st_mtime for path in files(place)), default=0.0)
    newest = min(max(newest, 0.0), datetime.datetime.now(datetime.UTC).timestamp())
    return datetime.datetime.fromtimestamp(newest, datetime.UTC).replace(microsecond=0)


def _once(finding: Finding, folder: Path, roster: Roster | None) -> Finding:
    """Each student once: of several submissions by one person the last one counts, and before it
    none that a student put there who is not of the group."""
    last: dict[str, Found] = {}
    everybody = {student for found in finding.found for student in found.students}
    whose = _user_names({found.owner for found in finding.found}, everybody, roster)

    def order(found: Found) -> tuple[bool, datetime.datetime]:
        return whose.get(found.owner, found.students[0]) in found.students, found.submitted

    for found in finding.found:
        for student in found.students:
            if student not in last or order(found) > order(last[student]):
                last[student] = found
    kept, skipped = [], list(finding.skipped)
    for found in finding.found:
        mine = tuple(s for s in found.students if last[s] is found)
        lost = [s for s in found.students if last[s] is not found]
        skipped += [
            Skipped(name=found.path.name, reason=f"another one of {s} counts") for s in lost
        ]
        if mine:
            kept.append(found.model_copy(update={"students": mine}))
    if not kept and not skipped:
        raise UsageError(
            f"no submissions in {folder}",
            "Expected a folder, an archive or a kernel file for each student.",
        )
    kept.sort(key=lambda f: f.students)
    remarks = origin.under_other_names(kept, whose)
    return finding.model_copy(
        update={"found": tuple(kept), "skipped": tuple(skipped), "remarks": remarks}
    )


def missing(roster: Roster, found: Iterable[Found]) -> tuple[Student, ...]:
    """Students on the roster that handed nothing in."""
    there = {student for submission in found for student in submission.students}
    return tuple(student for student in roster.students if student.id not in there)
