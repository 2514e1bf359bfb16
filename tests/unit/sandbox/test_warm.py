"""A warm process gives the same answers as a fresh one, and outlives whatever its children do."""

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jobs
import pytest

from grader.sandbox import Limits, Warm, WarmUnavailable, bubblewrap, call, warmed
from grader.sandbox.layers import available, missing

READ = [Path(jobs.__file__)]


@pytest.fixture(scope="module")
def warm():
    with Warm(["json.tool", "numpy"], read=READ) as process:
        yield process


def do(warm, job, request=None, blobs=(), **limits):
    limits.setdefault("wall_seconds", 20)
    return call(f"jobs:{job}", request or {}, blobs, limits=Limits(**limits), read=READ, warm=warm)


def test_reply_blobs_and_frames(warm):
    blobs = [b"x" * 3_000_000, b""]
    reply = do(warm, "echo", {"a": 1}, blobs)
    assert (reply.header, list(reply.blobs)) == ({"a": 1}, blobs)
    assert [frame.header for frame in do(warm, "early").frames] == [{"n": 1}]


def test_modules_are_imported_already(warm):
    assert do(warm, "loaded", {"modules": ["json.tool", "numpy"]}).header == {
        "json.tool": True,
        "numpy": True,
    }


def test_nothing_stays_from_one_call_to_the_next(warm):
    assert do(warm, "remembers").header == {"seen": 1}
    assert do(warm, "remembers").header == {"seen": 1}


@pytest.mark.parametrize("wrapped", [True, False])
def test_temporary_files_are_made_in_the_childs_own_folder(wrapped):
    """What is writable is that folder only, where no bubblewrap is around the warm process."""
    layers = [name for name in available() if wrapped or name != "bubblewrap"]
    with Warm(["tempfile"], read=READ, layers=layers) as process:
        reply = do(process, "writes_a_file_of_its_own")
    assert reply.header, reply.error
    assert reply.header["in"] == reply.header["mine"]


@pytest.mark.parametrize(
    ("job", "limits", "cause"),
    [
        ("spin", {"wall_seconds": 0.3}, "wall_timeout"),
        ("spin", {"cpu_seconds": 1}, "cpu_limit"),
        ("eat", {"memory_bytes": 200 << 20}, "memory"),
        ("prints", {}, "output_cap"),
        ("big_file", {"disk_bytes": 1 << 20}, "output_cap"),
        ("thread_bomb", {}, "processes"),
        ("dies", {}, "signalled"),
    ],
)
def test_causes(warm, job, limits, cause):
    reply = do(warm, job, **limits)
    assert (reply.exit.cause, reply.header) == (cause, None)
    assert do(warm, "echo", {"still": "there"}).header == {"still": "there"}


def test_calls_from_several_threads(warm):
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda n: do(warm, "echo", {"n": n}).header, range(12)))
    assert replies == [{"n": n} for n in range(12)]


def test_a_dead_warm_process_is_started_again(warm):
    os.killpg(warm._process.pid, signal.SIGKILL)
    time.sleep(0.1)
    assert do(warm, "echo", {"n": 1}).header == {"n": 1}


@pytest.mark.skipif(sys.platform != "linux", reason="counts /proc/self/fd")
def test_no_descriptor_is_left_open(warm):
    do(warm, "echo")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        do(warm, "echo")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_module_that_is_not_there():
    with pytest.raises(WarmUnavailable, match="no_such_module"), Warm(["no_such_module"]):
        pass


@pytest.fixture
def unasked(monkeypatch):
    """What was found out about the layers is forgotten, before and after."""
    for question in (bubblewrap.missing, missing):
        question.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    for question in (bubblewrap.missing, missing):
        question.cache_clear()


def test_one_that_started_under_bubblewrap_is_its_own_probe(unasked):
    if "bubblewrap" not in available():
        pytest.skip("bubblewrap does not start here")
    missing.cache_clear()
    unasked.setattr(bubblewrap, "missing", lambda: pytest.fail("it was probed"))
    with Warm(["json.tool"], read=READ) as process:
        assert "bubblewrap" in process.layers
        assert do(process, "echo", {"a": 1}).header == {"a": 1}


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is a program for Linux")
def test_one_that_bubblewrap_does_not_start_starts_without(unasked, tmp_path):
    """Installed and of no use: so it is where a container forbids new namespaces."""
    bwrap = tmp_path / "bwrap"
    bwrap.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    bwrap.chmod(0o755)
    unasked.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with Warm(["json.tool"], read=READ) as process:
        assert process.layers == tuple(name for name in available() if name != "bubblewrap")
        assert do(process, "echo", {"a": 1}).header == {"a": 1}
    assert missing()["bubblewrap"] == "bwrap: No permissions to create new namespace"


def test_warmed_serves_every_call_of_the_block(tmp_path):
    outside = tmp_path / "file"
    outside.write_text("text")
    with warmed(["json.tool"], read=READ):
        assert call("jobs:loaded", {"modules": ["json.tool"]}, read=READ).header["json.tool"]
        # What the warm process was not given is served all the same, if need be by a fresh child.
        reply = call("jobs:reads", {"path": str(outside)}, read=[*READ, outside])
        assert reply.header == {"text": "text"}
    assert not call("jobs:loaded", {"modules": ["json.tool"]}, read=READ).header["json.tool"]


def test_calls_are_served_where_the_warm_process_cannot_start():
    with warmed(["no_such_module"], read=READ):
        assert call("jobs:loaded", {"modules": ["json.tool"]}, read=READ).header


def test_a_call_waits_for_the_warm_process(monkeypatch):
    late = threading.Event()
    start = Warm.__enter__

    def slowly(self):
        late.wait(10)
        return start(self)

    monkeypatch.setattr(Warm, "__enter__", slowly)
    with warmed(["json.tool"], read=READ):
        threading.Timer(0.2, late.set).start()
        assert call("jobs:loaded", {"modules": ["json.tool"]}, read=READ).header["json.tool"]


def test_what_a_wrapped_process_serves(warm, tmp_path):
    inside, outside = READ, [tmp_path]
    assert warm.serves(inside, [])
    assert warm.serves(outside, []) is ("bubblewrap" not in warm.layers)
    assert warm.serves(inside, outside) is ("bubblewrap" not in warm.layers)
