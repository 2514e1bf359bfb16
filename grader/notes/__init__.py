"""Checks a student's note on where a framework hides the same kernel.

    form.py     reads notes.toml (or Markdown front matter) and names every mistake with its line
    facts.py    what is known: records, releases, path index, line hashes, the table of backends
    paths.py    what a student wrote as a path -> the path in the repository
    sources.py  installed packages, checkouts, clones: where a file's text may come from
    ladder.py   which release, and what is known about each path at it
    quotes.py   finds a quoted line by hash;  shape.py  what a line looks like
    claims.py   the verdict on global id, bounds check and operation
    check.py    an entry: path, facts, elements per thread, differences -> NoteEntry

The whole is offline and imports no framework.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader.notes import form
from grader.notes.sources import Sources
from grader.result import Diagnostic, Notes

if TYPE_CHECKING:
    from grader.assignment_schema import NotesRubric

OFFLINE = Sources()


def check(place: Path, rubric: NotesRubric | None = None, use: Sources = OFFLINE) -> Notes:
    """Checks the notes of a folder, or one notes file."""
    file = form.find(place) if place.is_dir() else place
    if file is None:
        missing = "expected notes.toml (or NOTES.md with the same in front), found neither"
        said = Diagnostic(file="notes.toml", severity="error", message=missing)
        return Notes(file=None, problems=(said,))
    return _check(form.read(file), rubric, use)


def check_text(
    text: str, name: str, rubric: NotesRubric | None = None, use: Sources = OFFLINE
) -> Notes:
    """Checks notes whose text is at hand; `name` is the file's, as messages say it."""
    return _check(form.parse(text, name), rubric, use)


def _check(read: form.Form, rubric: NotesRubric | None, use: Sources) -> Notes:
    from grader.notes import entries

    points = rubric.claims if rubric else {}
    found = []
    for kernel in read.kernels:
        entry = entries.entry(kernel, use)
        claims = [c.model_copy(update={"out_of": points.get(c.claim)}) for c in entry.claims]
        found.append(entry.model_copy(update={"claims": tuple(claims)}))
    return Notes(file=read.name, problems=read.problems, entries=tuple(found))
