"""Grades what is not in the gradebook yet: each submission in children of its own.

Threads ask, or a cluster's workers; children do the work, and only the thread that called writes
the gradebook: one transaction per submission. Killed at any moment, the next run finds what is
there and goes on.
"""

from __future__ import annotations

import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from grader import grade, yardstick
from grader.assignment_schema import Assignment
from grader.batch import keys
from grader.batch.gradebook import Gradebook
from grader.batch.layouts import Found, kernel_folder
from grader.errors import AssignmentError, RefusedError
from grader.result import Record, Result
from grader.sandbox import archive
from grader.yardstick import Yardsticks


class Job(Record):
    """One submission to grade, and the key its result is kept under."""

    found: Found
    key: str


class Outcome(Record):
    """How a run ended: what was graded, and whether it was stopped before the end."""

    graded: int
    left: int
    seconds: float


Done = Callable[[Job, Result], None]


def jobs(assignment: Assignment, found: Sequence[Found]) -> list[Job]:
    """Every submission with its resume key."""
    setting = keys.setting(assignment)
    return [Job(found=f, key=keys.key(setting, f.sha256)) for f in found]


class Graders(Protocol):
    """Who grades: threads with children of their own, or a cluster."""

    at_a_time: int

    def start(self, job: Job) -> Future[Any]:
        """Begin a job; the future is done when it is."""
        ...

    def result(self, job: Job, future: Future[Any]) -> Result:
        """The result of a job that is done. Raises GradeError where nothing can be graded."""
        ...


class Threads:
    """Grades on this machine, `at_a_time` submissions in children of their own."""

    def __init__(self, assignment: Assignment, at_a_time: int, pool: Executor) -> None:
        self.at_a_time = at_a_time
        self._one = partial(one, assignment, yardsticks=yardstick.kept(assignment))
        self._pool = pool

    def start(self, job: Job) -> Future[Result]:
        """Grade in a thread."""
        return self._pool.submit(self._one, job.found.path)

    def result(self, job: Job, future: Future[Any]) -> Result:
        """What the thread returned."""
        found: Result = future.result()
        return found


@contextmanager
def here(assignment: Assignment, at_a_time: int) -> Iterator[Threads]:
    """Graders on this machine."""
    with ThreadPoolExecutor(max_workers=at_a_time) as pool:
        yield Threads(assignment, at_a_time, pool)


def run(
    graders: Graders,
    wanted: Sequence[Job],
    book: Gradebook,
    *,
    published: bool = True,
    done: Done = lambda job, result: None,
    stopping: Callable[[int], None] = lambda running: None,
) -> Outcome:
    """Have `wanted` graded and record each result as it comes.

    The first Ctrl-C waits for those that are being graded (`stopping` is told how many), a second
    one raises KeyboardInterrupt. Raises AssignmentError where the assignment cannot be used.
    """
    started = time.perf_counter()
    waiting = iter(wanted)
    graded = 0
    with _interruptible() as stop:
        running: dict[Future[Any], Job] = {}

        def refill() -> None:
            while len(running) < graders.at_a_time and not stop.is_set():
                job = next(waiting, None)
                if job is None:
                    return
                running[graders.start(job)] = job

        refill()
        told = False
        while running:
            finished, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in finished:
                job = running.pop(future)
                result = graders.result(job, future)
                book.record(
                    result,
                    students=job.found.students,
                    submission_sha256=job.found.sha256,
                    submitted=job.found.submitted,
                    time_from=job.found.time_from,
                    owner=job.found.owner,
                    key=job.key,
                    published=published,
                )
                graded += 1
                done(job, result)
            if stop.is_set() and running and not told:
                stopping(len(running))
                told = True
            refill()
    return Outcome(graded=graded, left=len(wanted) - graded, seconds=time.perf_counter() - started)


def one(assignment: Assignment, path: Path, yardsticks: Yardsticks | None = None) -> Result:
    """Grade the submission at `path`: a folder, a file or an archive.

    Whatever goes wrong is the result of this submission alone; only an assignment that cannot be
    used is raised. `yardsticks` are those that other submissions were graded with. A real device
    measures where the assignment names it; submissions that are graded at a time take turns.
    """
    named = assignment.speed is not None and assignment.speed.device != "virtual"
    device = "auto" if named else "virtual"
    graded = partial(grade.submit, assignment, device=device, jobs=1, yardsticks=yardsticks,
                     whole=True)  # fmt: skip
    try:
        if path.is_file() and path.name.lower().endswith(archive.SUFFIXES):
            with tempfile.TemporaryDirectory(prefix="grade-unpacked-") as folder:
                archive.unpack(path, Path(folder))
                return graded(kernel_folder(Path(folder), assignment.name))
        return graded(path)
    except RefusedError as error:
        return grade.refused(assignment, error)
    except AssignmentError:
        raise
    except Exception as error:
        return grade.failed(assignment, error)


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Inside, the first Ctrl-C sets the event and a second one is a KeyboardInterrupt."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.getsignal(signal.SIGINT)

    def first(number: int, frame: FrameType | None) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, first)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
