"""`grade batch --scheduler`: the same grades, whatever happens to the workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from rich.console import Console

from grader import assignment as assignments
from grader.batch import cluster, command, keys
from grader.batch.gradebook import Gradebook, dumped
from grader.batch.layouts import digest
from grader.errors import AssignmentError, UsageError
from tests.batch import made_class

NAME = "assignment3"


def ordered(place: Path) -> cluster.Order:
    assignment = assignments.load(NAME)
    return cluster.order(assignment, keys.setting(assignment), place)


def test_a_submission_arrives_as_it_was_sent(tmp_path: Path) -> None:
    place = tmp_path / "ann"
    (place / "inner").mkdir(parents=True)
    (place / "kernel.cu").write_bytes(b"\xff\x00not text")
    (place / "inner" / "tile.cuh").write_text("#define TILE 16\n")
    (place / "link.cu").symlink_to("/etc/passwd")
    os.mkfifo(place / "pipe.cu")
    (place / "huge.cu").write_bytes(b"x" * (3 << 20))
    target = tmp_path / "worker" / "ann"
    cluster._unpack(ordered(place), target)
    assert (target / "link.cu").readlink() == Path("/etc/passwd")
    assert (target / "pipe.cu").is_fifo()
    assert (target / "huge.cu").stat().st_size == 3 << 20
    for odd in ("huge.cu", "pipe.cu"):
        (place / odd).unlink()
        (target / odd).unlink()
    assert digest(target) == digest(place)


def test_a_file_alone_arrives_under_its_name(tmp_path: Path) -> None:
    (tmp_path / "ann.zip").write_bytes(b"PK")
    target = tmp_path / "worker" / "ann.zip"
    cluster._unpack(ordered(tmp_path / "ann.zip"), target)
    assert target.read_bytes() == b"PK"


def test_another_assignment_on_the_worker_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kernel.cu").write_text("")
    told = ordered(tmp_path).model_copy(update={"setting": "other", "weak_sandbox": True})
    with pytest.raises(AssignmentError, match="another assignment3, grader or compiler"):
        cluster.graded(told.model_dump_json())


class Fake:
    """A client of a scheduler with the workers it is given."""

    def __init__(self, *resources: dict[str, float]) -> None:
        self.workers = {str(n): {"nthreads": 1, "resources": r} for n, r in enumerate(resources)}

    def scheduler_info(self, most: int) -> dict[str, object]:
        return {"workers": self.workers}


def test_jobs_never_wait_for_a_worker_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="no workers"):
        cluster.Cluster._demand(Fake(), {})
    with pytest.raises(UsageError, match="resource gpu, found none"):
        cluster.Cluster._demand(Fake({}, {"metal": 1}), {"gpu": 1})
    cluster.Cluster._demand(Fake({}, {"gpu": 1}), {"gpu": 1})


def test_a_scheduler_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask distributed is an extra")
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    assignment = assignments.load(NAME)
    with (
        pytest.raises(UsageError, match="cannot be reached"),
        cluster.connected("tcp://127.0.0.1:9", assignment, 1),
    ):
        pass


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(UsageError, match="is not installed"),
        cluster.connected("local", assignments.load(NAME), 1),
    ):
        pass


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask distributed is an extra")
    made_class.make(tmp_path / "class", 24)

    def grade(gradebook: str, scheduler: str | None) -> str:
        command.batch(
            NAME, tmp_path / "class", roster_file=None, workers=2, hidden_folder=None,
            gradebook=tmp_path / gradebook, chosen=command.Selection(), compare=False, quiet=True,
            console=Console(file=open(os.devnull, "w")),  # noqa: PTH123, SIM115
            scheduler=scheduler, weak_sandbox=True,
        )  # fmt: skip
        with Gradebook(tmp_path / gradebook) as book:
            assert len(book.history(NAME)) == 24
            return dumped(book, NAME)

    killed = []

    def kill_one(pids: list[int]) -> None:
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and not killed:
            time.sleep(0.05)
            if not (tmp_path / "cluster.db").is_file():
                continue
            with Gradebook(tmp_path / "cluster.db") as book:
                if len(book.rows(NAME)) >= 3:
                    os.kill(pids[0], signal.SIGKILL)
                    killed.append(len(book.rows(NAME)))

    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None,
        silence_logs=50,
    ) as workers, distributed.Client(workers) as client:  # fmt: skip
        pids = list(client.run(os.getpid).values())
        assert len(set(pids)) == 3
        watcher = threading.Thread(target=kill_one, args=(pids,))
        watcher.start()
        found = grade("cluster.db", workers.scheduler_address)
        watcher.join()
        after = client.run(os.getpid).values()
    assert killed and killed[0] < 24, "the worker was to die while others worked"
    assert pids[0] not in after
    assert found == grade("here.db", None)


@pytest.mark.slow
def test_the_command_starts_a_cluster_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask distributed is an extra")
    made_class.make(tmp_path / "class", 4)
    done = subprocess.run(
        [sys.executable, "-m", "grader", "batch", NAME, "--submissions", str(tmp_path / "class"),
         "--gradebook", str(tmp_path / "book.db"), "--scheduler", "local", "--jobs", "2",
         "--weak-sandbox", "--quiet"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "graded 4 in" in done.stdout
    assert "Traceback" not in done.stderr
