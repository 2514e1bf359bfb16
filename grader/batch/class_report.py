"""The class report from a gradebook: `grade batch` ends with it, `grade export` makes it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from grader.batch import settings
from grader.batch.gradebook import Gradebook
from grader.batch.grades import Grade, grades, pseudonym
from grader.errors import UsageError
from grader.report import class_files
from grader.result import Result


def write(
    book: Gradebook,
    name: str,
    *,
    found: Sequence[Grade] | None = None,
    result_of: Callable[[int], Result] | None = None,
    folder: Path | None = None,
    step: Callable[[int], None] = lambda done: None,
) -> Path:
    """Write the class report of an assignment and return the path of its page.

    By default it stands beside the gradebook and shows every grade; `found` and `result_of` are
    others to show, under pseudonyms. Raises UsageError where it cannot be written.
    """
    chosen = settings.load(book.path.parent / settings.NAME)
    folder = folder or book.path.parent / f"{name}-class"
    secret = book.secret()

    def known_as(student: str) -> str:
        return student if found is not None else pseudonym(secret, student)

    try:
        return class_files.write(
            folder,
            name,
            found if found is not None else grades(book, name, chosen),
            result_of or book.whole,
            remark=class_files.INSTRUCTORS if result_of is None else "",
            pseudonym=known_as if chosen.leaderboard else None,
            step=step,
        )
    except OSError as error:
        raise UsageError(
            f"the class report cannot be written to {folder}: {error.strerror}",
            f"The gradebook is whole; `grade export {name} --to class --out DIR` writes the "
            "report to another place.",
        ) from None
