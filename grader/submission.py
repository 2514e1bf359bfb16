"""What a student handed in: the kernel file of each language and the notes file.

Everything is read here, once, with a bound on its size and nothing followed out of the folder;
whatever cannot be graded as it is raises RefusedError with a paragraph the student can act on.
"""

from __future__ import annotations

import errno
import hashlib
import os
import posixpath
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.assignment_schema import Assignment, Language
from grader.errors import RefusedError, UsageError
from grader.result import Record, SourceFile

LARGEST_BYTES = 1 << 20
SUFFIXES: Mapping[Language, str] = {"cuda-c": ".cu", "metal": ".metal", "triton": ".py"}
_MOST_ENTRIES = 10_000
HEADERS = (".h", ".cuh", ".hpp", ".inl", ".metal")
"""What a kernel file may include of its own folder."""
_MOST_HEADERS, _MOST_HEADER_BYTES = 64, 1 << 20


class Submission(Record):
    """The files that count. `sources` has one file for each language found, with its text.

    `headers` are the files of the folder that the kernels include, by their path from there.
    `mentions` says which files were seen and do not count, and why; `sha256` covers the names and
    contents of the files that do.
    """

    folder: Path
    sources: tuple[SourceFile, ...]
    notes: SourceFile | None
    mentions: tuple[str, ...]
    sha256: str
    headers: tuple[SourceFile, ...] = ()


def read(
    path: Path,
    assignment: Assignment,
    language: Language | None = None,
    file: str | None = None,
) -> Submission:
    """Read the submission at `path`, a folder or one kernel file.

    `language` keeps only that one; `file`, relative to the folder, selects one kernel file.
    Raises UsageError for a path, language or file that is not there, RefusedError for a
    submission that cannot be graded.
    """
    if language is not None and language not in assignment.languages:
        raise UsageError(
            f"{assignment.name} is not set in {language}: it is in "
            f"{', '.join(assignment.languages)}"
        )
    try:
        mode = path.stat().st_mode
    except OSError as error:
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        reason = "there is no such file or folder" if missing else error.strerror
        raise UsageError(f"{path}: {reason}") from None
    if not stat.S_ISDIR(mode):
        folder, file = path.parent, path.name
        _check_name(file)
    else:
        folder = path
        if file is not None and not os.path.lexists(folder / file):
            raise UsageError(f"{folder / file}: there is no such file")
    mentions: list[str] = []
    if file is not None:
        chosen = {_language_of(file, assignment, language): folder / file}
    else:
        chosen = _choose(folder, assignment, language, mentions)
    sources = _read_all(folder, chosen, assignment, mentions)
    headers = _read_headers(folder, sources, mentions)
    notes = _read_notes(folder, assignment, mentions)
    return Submission(
        folder=folder,
        sources=sources,
        notes=notes,
        mentions=tuple(mentions),
        sha256=_digest((*sources, *headers, *((notes,) if notes else ()))),
        headers=headers,
    )


def _language_of(file: str, assignment: Assignment, language: Language | None) -> Language:
    suffix = Path(file).suffix.lower()
    for known in assignment.languages:
        if suffix == SUFFIXES[known] and language in (None, known):
            return known
    raise RefusedError(
        f"expected {_kinds(assignment, language)}, found {Path(file).name}",
        "Name the file by its language, or name another file.",
    )


def _kinds(assignment: Assignment, language: Language | None) -> str:
    kinds = [f"a {SUFFIXES[known]} file ({known})" for known in assignment.languages
             if language in (None, known)]  # fmt: skip
    return " or ".join(kinds)


def _choose(
    folder: Path, assignment: Assignment, language: Language | None, mentions: list[str]
) -> dict[Language, Path]:
    """The kernel file of each language: the only one, or the one named as the starter is."""
    names = _entries(folder)
    chosen: dict[Language, Path] = {}
    wanted = [known for known in assignment.languages if language in (None, known)]
    named = [s for known in wanted if (s := assignment.files.starter(known)) in names]
    for known in wanted:
        candidates = [name for name in names if Path(name).suffix.lower() == SUFFIXES[known]]
        starter = assignment.files.starter(known)
        if starter in candidates:
            chosen[known] = folder / starter
            for other in candidates:
                if other != starter:
                    mentions.append(f"{other} was not graded: {starter} is the one that counts")
        elif named and len(candidates) > 1:
            # Beside the starter's file others are tests, plots, earlier tries.
            mentions += [
                f"{other} was not graded: {' and '.join(named)} "
                f"{'is the one that counts' if len(named) == 1 else 'are those that count'}"
                for other in candidates
            ]
        elif len(candidates) > 1:
            raise RefusedError(
                f"expected one {SUFFIXES[known]} file, found {len(candidates)}: "
                f"{', '.join(candidates[:8])}, and none of them is called {starter}",
                f"Call the one to grade {starter}, or select it with --file.",
            )
        elif candidates:
            chosen[known] = folder / candidates[0]
    if not chosen:
        raise RefusedError(
            f"expected {_kinds(assignment, language)} in {folder}, found "
            + (", ".join(names[:8]) + (" …" if len(names) > 8 else "") if names else "no file"),
            _where_it_may_be(folder, assignment, language),
        )
    return chosen


def _entries(folder: Path) -> list[str]:
    """Names of everything in the folder that is not a folder and not hidden, sorted."""
    names = []
    try:
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries):
                if count == _MOST_ENTRIES:
                    raise RefusedError(f"{folder} has more than {_MOST_ENTRIES} files")
                if not entry.name.startswith(".") and not entry.is_dir():
                    _check_name(entry.name)
                    names.append(entry.name)
    except OSError as error:
        raise RefusedError(f"{folder} cannot be read: {error.strerror}") from None
    return sorted(names)


def _check_name(name: str) -> None:
    """Raise RefusedError for a name that no report could hold."""
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(name).decode(errors="replace")
        raise RefusedError(
            f"the file name {shown} is not UTF-8", "Rename the file, or leave it out."
        ) from None


def _where_it_may_be(folder: Path, assignment: Assignment, language: Language | None) -> str:
    for inner in sorted(child for child in folder.iterdir() if child.is_dir())[:50]:
        if inner.name.startswith(".") or inner.is_symlink():
            continue
        for known in assignment.languages:
            starter = assignment.files.starter(known)
            if language in (None, known) and (inner / starter).is_file():
                return f"There is one in a folder below: name {inner} instead."
    return f"Start from student_template/{assignment.name}, or name the folder that has the kernel."


def _read_all(
    folder: Path, chosen: Mapping[Language, Path], assignment: Assignment, mentions: list[str]
) -> tuple[SourceFile, ...]:
    """Read the chosen files; one that cannot be graded is mentioned if another one can.

    A starter that nobody wrote in counts only where there is nothing else: it builds, so it would
    earn more than a file that does not build yet, and the report would be about a language the
    student never chose.
    """
    sources: list[SourceFile] = []
    refused: list[RefusedError] = []
    for language, path in chosen.items():
        try:
            sources.append(_read_file(folder, path, language))
        except RefusedError as error:
            refused.append(error)
    written = [source for source in sources if not _is_starter(source, assignment)]
    if refused and not written:
        raise refused[0]
    mentions += [f"not graded: {error.message}" for error in refused]
    untouched = [source.name for source in sources if source not in written]
    if untouched:
        one = len(untouched) == 1
        mentions.append(
            " and ".join(untouched)
            + (f" {'was' if one else 'were'} not graded:" if written else "")
            + ("" if written else " is" if one else " are")
            + f" still as the starter {'has it' if one else 'has them'}"
        )
    return tuple(written or sources)


def _is_starter(source: SourceFile, assignment: Assignment) -> bool:
    """Whether a file is the starter, whatever an editor or git did to its white space."""
    language: Language = source.language  # type: ignore[assignment]  # a kernel has one
    starter = assignment.starter(language)
    if starter is None:
        return False
    return (source.text or "").split() == starter.read_text(encoding="utf-8").split()


def _read_headers(
    folder: Path, sources: Iterable[SourceFile], mentions: list[str]
) -> tuple[SourceFile, ...]:
    """What CUDA C and Metal sources include of the folder, and what that includes.

    Names of the grader's own headers are not taken; a file that cannot be read is mentioned, and
    the compiler then says what is missing.
    """
    from grader.languages.cuda_includes import included_name, includes, is_file

    found: dict[str, SourceFile] = {}
    waiting = [source for source in sources if source.language != "triton"]
    tried = {source.name for source in waiting}
    left = _MOST_HEADER_BYTES
    while waiting:
        file = waiting.pop()
        for _, _, operand in includes(file.text or ""):
            name = included_name(operand) or ""
            path = posixpath.normpath(posixpath.join(posixpath.dirname(file.name), name))
            taken = path in tried or path.startswith(("/", "..", "grade_"))
            if taken or not path.endswith(HEADERS) or not is_file(folder / path):
                continue
            tried.add(path)
            try:
                header = _read_file(folder, folder / path, None, empty_is_fine=True)
            except RefusedError as error:
                mentions.append(f"not included: {error.message}")
                continue
            left -= len(header.text or "")
            if left < 0 or len(found) == _MOST_HEADERS:
                raise RefusedError(
                    f"{file.name} includes more than {_MOST_HEADERS} files or "
                    f"{_MOST_HEADER_BYTES:,} bytes of the submission",
                    "Hand in what the kernel needs.",
                )
            found[path] = header.model_copy(update={"name": path})
            waiting.append(found[path])
    return tuple(found[name] for name in sorted(found))


def _read_notes(folder: Path, assignment: Assignment, mentions: list[str]) -> SourceFile | None:
    """`notes.toml`, or the Markdown note of the same stem; a bad one does not stop the kernel."""
    if assignment.notes is None:
        return None
    named = Path(assignment.files.notes)
    for name in (named.name, named.with_suffix(".md").name):
        if os.path.lexists(folder / name):
            try:
                return _read_file(folder, folder / name, None)
            except RefusedError as error:
                mentions.append(f"the notes were not read: {error.message}")
    return None


def _read_file(
    folder: Path, path: Path, language: Language | None, *, empty_is_fine: bool = False
) -> SourceFile:
    """One text file inside `folder`. Raises RefusedError."""
    name = path.name
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        message = f"{name} is a link that leads nowhere"
        raise RefusedError(message, "Hand in the file itself.") from None
    if not real.is_relative_to(folder.resolve()):
        raise RefusedError(
            f"{name} leads out of the submission's folder, to {real}", "Hand in the file itself."
        )
    data = _read_bytes(name, real)
    if not data.strip() and not empty_is_fine:
        raise RefusedError(f"{name} is empty", "Write the kernel and submit again.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise RefusedError(f"{name} is UTF-16, expected UTF-8", "Save it as UTF-8 in your editor.")
    if b"\0" in data:
        raise RefusedError(
            f"{name} is a binary file: byte {data.index(0)} is NUL",
            "Hand in the source, not what the compiler made of it.",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise RefusedError(
            f"{name}:{line}: not UTF-8: byte 0x{data[error.start]:02x}",
            "Save it as UTF-8 in your editor.",
        ) from None
    if "\n" not in text:  # the line ends of old editors; no compiler takes them for any
        text = text.replace("\r", "\n")
    return SourceFile(
        name=name, sha256=hashlib.sha256(data).hexdigest(), language=language, text=text
    )


def _read_bytes(name: str, path: Path) -> bytes:
    """At most LARGEST_BYTES of a regular file; nothing else is ever opened for long.

    Opened without blocking, since a FIFO without a writer would wait for ever.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        raise RefusedError(f"{name} cannot be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise RefusedError(f"{name} is not a regular file", "Hand in the file itself.")
        data = b"" if status.st_size > LARGEST_BYTES else opened.read(LARGEST_BYTES + 1)
    if max(status.st_size, len(data)) > LARGEST_BYTES:
        size = max(status.st_size, len(data))
        raise RefusedError(
            f"{name} has {size:,} bytes, expected at most {LARGEST_BYTES:,}",
            "Hand in the source alone.",
        )
    return data


def _digest(files: Iterable[SourceFile]) -> str:
    lines = sorted(f"{file.sha256}  {file.name}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
