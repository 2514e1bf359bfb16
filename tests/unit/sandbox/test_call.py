"""A job's reply comes back, and every way a child can end is told apart."""

import sys
from pathlib import Path

import jobs
import pytest

from grader.sandbox import Limits, call, run

READ = [Path(jobs.__file__)]


def do(job, request=None, blobs=(), **limits):
    limits.setdefault("wall_seconds", 20)
    return call(f"jobs:{job}", request or {}, blobs, limits=Limits(**limits), read=READ)


def test_reply_and_blobs():
    blobs = [b"x" * 3_000_000, b"", b"y"]
    reply = do("echo", {"a": [1, "ü"]}, blobs)
    assert (reply.header, list(reply.blobs), reply.error) == ({"a": [1, "ü"]}, blobs, "")
    assert reply.exit.ok


def test_early_frames_come_in_order_before_the_last():
    reply = do("early")
    assert [(frame.header, frame.blobs) for frame in reply.frames] == [({"n": 1}, (b"first",))]
    assert (reply.header, reply.blobs, reply.output) == ({"n": 2}, (b"last",), "between\n")


def test_a_job_that_raises():
    reply = do("raises")
    assert reply.header is None
    assert reply.error == "ValueError: no such thing"


@pytest.mark.parametrize(
    ("job", "limits", "cause"),
    [
        ("spin", {"wall_seconds": 0.3}, "wall_timeout"),
        ("spin", {"cpu_seconds": 1}, "cpu_limit"),
        ("eat", {"memory_bytes": 200 << 20}, "memory"),
        ("prints", {}, "output_cap"),
        ("big_file", {"disk_bytes": 1 << 20}, "output_cap"),
        ("many_files", {"disk_bytes": 1 << 20}, "output_cap"),
        ("thread_bomb", {}, "processes"),
        ("dies", {}, "signalled"),
    ],
)
def test_causes(job, limits, cause):
    reply = do(job, **limits)
    assert (reply.exit.cause, reply.header) == (cause, None)


def test_exit_status():
    reply = do("exits", {"code": 7})
    assert (reply.exit.cause, reply.exit.code, reply.header) == ("exited", 7, None)


def test_a_reply_larger_than_agreed():
    reply = do("echo", {}, [b"x" * 2000], output_bytes=1000)
    assert reply.header is None
    assert "1000 bytes agreed" in reply.error


def test_run_gives_output_and_status():
    done = run(["/bin/sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.cause, done.code, done.output) == ("exited", 3, "out\nerr\n")


def test_run_refuses_a_program_that_is_not_there():
    done = run(["/nowhere/program"])
    assert done.cause == "refused"
    assert "/nowhere/program" in done.detail


def test_a_device_node_is_there_where_ordered():
    """/dev/full stands in for a GPU's node: it can be opened for writing, and no other can."""
    request = {"paths": ["/dev/full", "/dev/random"]}
    closed = do("opens_nodes", request)
    assert closed.header == {"opened": []}
    opened = call(
        "jobs:opens_nodes",
        request,
        limits=Limits(wall_seconds=20),
        read=READ,
        devices=["/dev/full"],
    )
    assert opened.header == {"opened": ["/dev/full"]}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc and seccomp are Linux's")
def test_a_driver_can_do_what_it_does_to_its_own_process_and_no_more():
    """NVIDIA's ends with error 304 where it cannot name a thread or make a file in memory."""
    plain = do("serves_a_driver")
    assert plain.header == {"done": []}
    beside = call(
        "jobs:serves_a_driver", {}, limits=Limits(wall_seconds=20), read=READ,
        devices=["/dev/full"],
    )  # fmt: skip
    assert beside.header == {
        "done": ["lists its threads", "names a thread", "reads its maps",
                 "makes a file in memory", "seals it"],
    }  # fmt: skip
