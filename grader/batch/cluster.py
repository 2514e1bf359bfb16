"""The same jobs on Dask distributed: `--scheduler local`, `tcp://…` or `tls://…`.

A worker is the grader's parent process on another machine: it holds the assignment, the oracle
and the secret, and grades in sandboxed children of its own. The submission's files travel with
the job, so that no file system is shared; the gradebook stays here. A worker that grades with
another grader, compiler or assignment is refused, since its grades would be others.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import functools
import importlib
import os
import socket
import stat
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from grader import assignment as assignments
from grader import cases, grade, sandbox, warm, yardstick
from grader.assignment_schema import Assignment, Case
from grader.batch import keys, run
from grader.batch.layouts import files
from grader.errors import AssignmentError, GradeError, UsageError
from grader.report import json as result_json
from grader.result import Record, Result
from grader.submission import LARGEST_BYTES
from grader.yardstick import Yardsticks

LOCAL = "local"
CONNECT_SECONDS = 20
RETRIES = 2
"""A job whose worker died is given to another one, this often."""

NEEDS: Mapping[str, dict[str, float]] = {"cuda": {"gpu": 1}, "metal": {"metal": 1}}
"""The resources that a worker must offer for the device an assignment measures on."""

LARGEST_ARCHIVE = 64 << 20
CASES = TypeAdapter(tuple[Case, ...])


class File(Record):
    """One file of a submission on its way: its bytes (base64), where a link points, or its kind.

    `size` is the true one: of what is too large to be graded only the start travels.
    """

    name: str
    size: int = 0
    data: str | None = None
    link: str | None = None


class Order(Record):
    """A job as a worker gets it."""

    assignment: str
    folder: str
    cases: str
    secret: str
    setting: str
    weak_sandbox: bool
    name: str
    alone: bool
    files: tuple[File, ...]


# ---- here --------------------------------------------------------------------------------------


class Cluster:
    """Grades on the workers of a cluster: what `run.run` asks for its results."""

    def __init__(self, client: Any, assignment: Assignment, *, weak_sandbox: bool) -> None:
        self._assignment = assignment
        self._weak_sandbox = weak_sandbox
        self._setting = keys.setting(assignment)
        needs = NEEDS.get(assignment.speed.device if assignment.speed else "", {})
        self._demand(client, needs)
        self._pool = client.get_executor(pure=False, retries=RETRIES, resources=needs or None)
        threads = sum(w["nthreads"] for w in client.scheduler_info(-1)["workers"].values())
        self.at_a_time = 2 * max(1, threads)  # a worker that is done finds its next job waiting

    @staticmethod
    def _demand(client: Any, needs: Mapping[str, float]) -> None:
        """Raise UsageError where no worker offers what is needed: the jobs would wait for ever."""
        workers = client.scheduler_info(-1)["workers"].values()
        if not workers:
            raise UsageError(
                "the scheduler has no workers", "Start some: `dask worker ADDRESS --nthreads 1`."
            )
        for name, count in needs.items():
            if not any(w["resources"].get(name, 0) >= count for w in workers):
                raise UsageError(
                    f"expected a worker with the resource {name}, found none",
                    f'Start one with `dask worker ADDRESS --nthreads 1 --resources "{name}=1"`.',
                )

    def start(self, job: run.Job) -> Future[str]:
        """Send a job to a worker."""
        sent = order(
            self._assignment, self._setting, job.found.path, weak_sandbox=self._weak_sandbox
        )
        found: Future[str] = self._pool.submit(graded, sent.model_dump_json())
        return found

    def result(self, job: run.Job, future: Future[Any]) -> Result:
        """What a worker found; a job that killed its workers has no grade, and that is our fault.

        Raises GradeError where a worker cannot grade this assignment at all.
        """
        try:
            return result_json.loads(future.result())
        except GradeError:
            raise
        except Exception as error:
            return grade.failed(self._assignment, error)


@contextlib.contextmanager
def connected(
    address: str, assignment: Assignment, workers: int, *, weak_sandbox: bool = False
) -> Iterator[Cluster]:
    """A cluster to grade on; `local` starts one of `workers` processes on this machine.

    Raises UsageError where there is none.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise UsageError(
            "--scheduler needs Dask distributed, which is not installed",
            "pip install 'grader[cluster]'",
        ) from None
    with contextlib.ExitStack() as stack:
        try:
            where: Any = address
            if address == LOCAL:
                where = stack.enter_context(
                    distributed.LocalCluster(
                        n_workers=workers, threads_per_worker=1, processes=True,
                        dashboard_address=None, silence_logs=50,
                    )
                )  # fmt: skip
            client = distributed.Client(where, timeout=CONNECT_SECONDS)
        except (OSError, ValueError, TimeoutError) as error:
            raise UsageError(
                f"--scheduler {address}: cannot be reached: {error}",
                "Expected local, or an address such as tcp://host:8786 of `dask scheduler`.",
            ) from None
        stack.enter_context(client)
        yield Cluster(client, assignment, weak_sandbox=weak_sandbox)


def order(assignment: Assignment, setting: str, path: Path, *, weak_sandbox: bool = False) -> Order:
    """A job in one piece: the submission at `path` and what it is graded with."""
    return Order(
        assignment=assignment.name,
        folder=str(assignment.folder.resolve()),
        cases=CASES.dump_json(assignment.cases).decode(),
        secret=base64.b64encode(cases.secret()).decode(),
        setting=setting,
        weak_sandbox=weak_sandbox,
        name=path.name,
        alone=path.is_file(),
        files=tuple(_packed(path, file) for file in files(path)),
    )


def _packed(place: Path, path: Path) -> File:
    name = path.relative_to(place).as_posix() if path != place else path.name
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return File(name=name, link=str(path.readlink()))
    if not stat.S_ISREG(status.st_mode):
        return File(name=name)
    most = LARGEST_ARCHIVE if path == place else LARGEST_BYTES + 1
    try:
        with path.open("rb") as file:
            data = file.read(most)
    except OSError:
        data = b""
    return File(name=name, size=status.st_size, data=base64.b64encode(data).decode())


# ---- on a worker -------------------------------------------------------------------------------


def graded(text: str) -> str:
    """What a worker does with an order: its result as JSON.

    Raises AssignmentError and NotGradableError, where nothing can be graded on this machine.
    """
    told = Order.model_validate_json(text)
    sandbox.demand(weak_is_allowed=told.weak_sandbox)
    os.environ.pop(cases.SECRET_FILE, None)
    os.environ[cases.SECRET] = base64.b64decode(told.secret).decode()
    assignment, yardsticks = _ready(told.assignment, told.folder, told.cases, told.setting)
    with tempfile.TemporaryDirectory(prefix="grade-order-") as folder:
        place = Path(folder, "submission", told.name)
        _unpack(told, place)
        return result_json.dumps(run.one(assignment, place, yardsticks))


@functools.lru_cache(maxsize=4)
def _ready(name: str, folder: str, listed: str, setting: str) -> tuple[Assignment, Yardsticks]:
    """The assignment as the one who asked has it, and a warm process for its children."""
    mine = assignments.load(folder if Path(folder, "assignment.toml").is_file() else name)
    assignment = mine.model_copy(update={"cases": CASES.validate_json(listed)})
    if keys.setting(assignment) != setting:
        raise AssignmentError(
            f"the worker on {socket.gethostname()} has another {name}, grader or compiler",
            "Install the same versions on every worker, and the same assignment.",
        )
    standing = contextlib.ExitStack()
    standing.enter_context(warm.children(many=True))
    atexit.register(standing.close)
    return assignment, yardstick.kept(assignment)


def _unpack(told: Order, place: Path) -> None:
    if not told.alone:
        place.mkdir(parents=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    for file in told.files:
        target = place if told.alone else place / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.link is not None:
            target.symlink_to(file.link)
        elif file.data is None:
            os.mkfifo(target)
        else:
            with target.open("xb") as out:
                out.write(base64.b64decode(file.data))
                out.truncate(file.size)
