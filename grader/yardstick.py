"""What a submission is measured with, made once for all that are graded in one run."""

from __future__ import annotations

import threading
from collections.abc import Callable

from grader import reference
from grader.assignment_schema import Assignment, Language
from grader.reference import Reference
from grader.run import Task


class Yardstick:
    """An assignment in one language: its inputs, and what the reference did on them.

    Safe to use from several threads.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self._lock = threading.Lock()
        self._known: Reference | None = None

    @property
    def known(self) -> Reference:
        """The reference's runs. Raises AssignmentError for a reference that does not build."""
        with self._lock:
            if self._known is None:
                self._known = reference.measure(self.task)
            return self._known


Yardsticks = Callable[[Language], Yardstick]


def kept(
    assignment: Assignment, *, small: bool = False, jobs: int = 1, compiler: str | None = None
) -> Yardsticks:
    """The yardstick of each language, made when it is first asked for.

    The function that is returned raises AssignmentError where the assignment cannot be used.
    """
    made: dict[Language, Yardstick] = {}
    lock = threading.Lock()

    def of(language: Language) -> Yardstick:
        with lock:
            if language not in made:
                task = Task.of(assignment, language, small=small, jobs=jobs, compiler=compiler)
                made[language] = Yardstick(task)
            return made[language]

    return of
