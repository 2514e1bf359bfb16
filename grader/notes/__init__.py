"""Checks a student's note on where a framework hides the same kernel.

    form.py     reads notes.toml (or Markdown front matter) and names every mistake with its line
    facts.py    what is known: records, releases, path index, line hashes, the table of backends
    paths.py    what a student wrote as a path -> the path in the repository
    sources.py  installed packages, checkouts, clones: where a file's text may come from
    ladder.py   which release, and what is known about each path at it
    quotes.py   finds a quoted line by hash;  shape.py  what a line looks like
    claims.py   the verdict on global id, bounds check and operation
    check.py    an entry: path, facts, elements per thread, differences -> NoteEntry
    points.py   the rubric item

The whole is offline and imports no framework.
"""

from __future__ import annotations

from pathlib import Path

from grader.notes.sources import Sources
from grader.result import Notes, NotesRubric

OFFLINE = Sources()


def check(
    place: Path, rubric: NotesRubric | None = None, use: Sources = OFFLINE
) -> Notes:  # fmt: skip
    """Checks the notes of a folder, or one notes file.

    The rubric is kept in the record, so that a report can show points beside each claim.
    """
    from grader.notes import entries

    found = entries.check_folder(place, use) if place.is_dir() else entries.check_file(place, use)
    if rubric is None:
        return found
    return found.model_copy(update={"rubric": rubric})
