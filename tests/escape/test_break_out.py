"""Every attack of attacks_on_*.py, in fresh children and forked ones, with and without bubblewrap.

The assertion is always the same: it got nothing, the canary is untouched, no process and no file
is left, and the sandbox still works.
"""

import contextlib
import os
import platform
import shutil
import tempfile
import time
from pathlib import Path

import attacks_on_files
import attacks_on_limits
import attacks_on_others
import attacks_on_the_kernel
import jobs
import loot
import pytest

from grader.sandbox import Limits, Warm, bubblewrap, call, calls, run
from grader.sandbox.layers import available, missing

MODULES = (attacks_on_files, attacks_on_limits, attacks_on_others, attacks_on_the_kernel)
READ = [Path(module.__file__) for module in (*MODULES, loot, jobs)]
ATTACKS = {
    name: value
    for module in MODULES
    for name, value in vars(module).items()
    if callable(value) and value.__module__ == module.__name__ and not name.startswith("_")
}
SANDBOXES = ["fresh", "fresh in bubblewrap", "warm", "warm in bubblewrap"]

pytestmark = pytest.mark.skipif(
    missing().get("landlock", "not Linux") is not None,
    reason="these attacks are on the Linux layers; here Landlock is missing",
)

HELD = [
    "read_outside",
    "read_the_repository",
    "write_outside",
    "write_into_the_toolkit",
    "change_metadata_outside",
    "link_outside",
    "network",
    "start_processes",
    "leave_the_group",
    "signal_others",
    "starve_others",
    "raise_limits",
    "read_others_memory",
    "look_for_secrets",
    "regain_privileges",
    "rare_kernel_doors",
    "type_into_the_terminal",
    "hide_memory",
    "hide_memory_in_pipes",
    "hide_memory_in_locks",
    "write_without_writing",
    "hold_others_up",
    "litter",
]
ENDED = {
    "outlive_the_cpu_limit": ({"cpu_seconds": 1}, "cpu_limit"),
    "hide_memory_in_page_tables": ({"memory_bytes": 200 << 20}, "memory"),
    "hide_disk_in_files_without_a_name": (
        {"disk_bytes": 64 << 20, "output_bytes": 1 << 20},
        "output_cap",
    ),
    "double_processes": ({"processes": 12}, "processes"),
    "double_processes_by_vfork": ({"processes": 12}, "processes"),
    "ask_for_ever": ({"processes": 2}, "processes"),
    "burn_in_children": ({"processes": 2, "cpu_seconds": 1}, "cpu_limit"),
    "burn_in_orphans": ({"processes": 200, "cpu_seconds": 1}, "cpu_limit"),
    "make_files_too_deep": ({"disk_entries": 500}, "output_cap"),
    "make_files_unlisted": ({"disk_entries": 500}, "output_cap"),
    "make_empty_files": ({"disk_entries": 500}, "output_cap"),
}


def job(name):
    """The attack `name` as a job of the sandbox."""
    return f"{ATTACKS[name].__module__}:{name}"


class Attack:
    """Runs attacks in one kind of sandbox."""

    def __init__(self, warm, canary):
        self.warm = warm
        self.canary = canary

    def __call__(self, name, **limits):
        limits = Limits(**{"wall_seconds": 30, "memory_bytes": 1 << 30, **limits})
        request = {"canary": str(self.canary), "parent": os.getpid()}
        return call(job(name), request, limits=limits, read=READ, warm=self.warm)


@pytest.fixture(scope="module", params=SANDBOXES)
def sandbox(request, tmp_path_factory):
    """Orders the layers that the parameter says; yields the warm process, if it is one."""
    layers = tuple(name for name in available() if name != "bubblewrap")
    if "bubblewrap" in request.param:
        if bubblewrap.missing():
            pytest.skip(f"bubblewrap: {bubblewrap.missing()}")
        layers = ("bubblewrap", *layers)
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setattr(calls, "available", lambda: layers)
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("scratch")))
        patch.setenv("GRADE_SECRET", "hunter2")
        warm = None
        if "warm" in request.param:
            warm = stack.enter_context(Warm(read=READ, layers=layers))
        yield warm
        assert call("jobs:echo", {"alive": 1}, read=READ, warm=warm).header == {"alive": 1}


@pytest.fixture
def attack(sandbox, tmp_path):
    """An attack, with the look round afterwards that every one of them gets."""
    canary = tmp_path / "canary"
    canary.write_bytes(b"expected output")
    before, children = canary.stat(), _children()
    scratch = tempfile.gettempdir()
    already = sorted(Path(scratch).rglob("*"))
    yield Attack(sandbox, canary)
    assert canary.read_bytes() == b"expected output"
    assert sorted(tmp_path.iterdir()) == [canary]
    after = canary.stat()
    for field in ("st_mode", "st_uid", "st_mtime", "st_nlink"):
        assert getattr(after, field) == getattr(before, field)
    assert _children() <= children  # at once: what ended was waited for, orphans too
    assert sorted(Path(scratch).rglob("*")) == already
    assert _escaped() == []
    if sandbox:  # what is shared with the next submission still works
        assert call("jobs:echo", {"alive": 1}, read=READ, warm=sandbox).header == {"alive": 1}


def _children():
    """Pids of this process's descendants, ended ones that nobody waited for too.

    By each one's own word: /proc/PID/task/TID/children may skip some while others end (proc(5)).
    """
    parents = {}
    for pid in _all_pids():
        with contextlib.suppress(OSError):
            stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
            parents[pid] = int(stat.rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _escaped():
    """What an attack of `write_outside` left behind."""
    folders = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", "/usr/lib")
    return [path for folder in folders for path in Path(folder).glob("grade-escaped*")]


@pytest.mark.parametrize("name", HELD)
def test_held(attack, name):
    reply = attack(name)
    assert (reply.header, reply.error) == ({"got": []}, "")


@pytest.mark.parametrize("name", ENDED)
def test_ended(attack, name):
    limits, cause = ENDED[name]
    reply = attack(name, **limits)
    assert (reply.exit.cause, reply.header) == (cause, None)
    # Each process printed a sign: forks that are on their way when the last is counted may pass.
    assert reply.output.count("+") <= 2 * limits.get("processes", 0)


def test_noise_on_the_channel_voids_the_reply(attack):
    reply = attack("babble_on_the_channel")
    assert (reply.header, reply.frames) == (None, ())
    assert "not a frame" in reply.error


@pytest.mark.skipif(platform.machine() != "x86_64", reason="a second set of numbers is x86's")
@pytest.mark.parametrize("name", ["call_in_32_bit", "call_as_x32"])
def test_other_numbers_end_the_process(attack, name):
    reply = attack(name)
    assert (reply.exit.cause, reply.exit.detail) == ("signalled", "SIGSYS")


def test_children_are_not_given_away(attack):
    reply = attack("give_children_away", processes=2)
    assert (reply.header, reply.error) == ({"got": []}, "")


def test_nothing_written_is_executed(attack):
    reply = attack("run_what_it_wrote", processes=2)
    assert (reply.header, reply.error) == ({"got": []}, "")


@pytest.mark.parametrize(
    "name",
    ["read_outside", "read_the_repository", "network", "write_without_writing", "link_outside"],
)
def test_attacks_get_through_where_no_layer_is_on(name, monkeypatch, tmp_path):
    """What proves nothing where it fails everywhere: without layers each of these succeeds."""
    monkeypatch.setattr(calls, "available", lambda: ())
    canary = tmp_path / "canary"
    canary.write_bytes(b"expected output")
    request = {"canary": str(canary), "parent": os.getpid()}
    reply = call(job(name), request, read=READ)
    assert reply.header["got"]


def test_every_attack_is_tried():
    single = {"babble_on_the_channel", "call_in_32_bit", "call_as_x32", "run_what_it_wrote"}
    single.add("give_children_away")
    assert set(ATTACKS) == {*HELD, *ENDED, *single}
    for attack in ATTACKS.values():
        text = attack.__doc__
        assert "Attack:" in text
        assert "Why it must fail:" in text


@pytest.fixture(params=["plain", "bubblewrap"])
def program_layers(request, monkeypatch):
    layers = tuple(name for name in available() if name != "bubblewrap")
    if request.param == "bubblewrap":
        if bubblewrap.missing():
            pytest.skip(f"bubblewrap: {bubblewrap.missing()}")
        layers = ("bubblewrap", *layers)
    monkeypatch.setattr(calls, "available", lambda: layers)


def sh(script, programs=(), **limits):
    read = [path for path in map(shutil.which, programs) if path]
    limits = Limits(**{"wall_seconds": 20, **limits})
    return run(["/bin/sh", "-c", script], read=read, limits=limits)


def test_fork_bomb(program_layers):
    before = _children()
    done = sh("while :; do sleep 1000 & done", ["sleep"], processes=20)
    assert done.cause == "processes"
    assert _children() <= before


def test_a_program_without_room_for_processes_makes_none(program_layers):
    done = sh("sleep 1000 & echo made", ["sleep"], processes=0)
    assert done.cause == "exited"
    assert "annot fork" in done.output or "not permitted" in done.output


def test_a_program_that_leaves_others_behind(program_layers):
    marker = f"1000.{os.getpid()}"
    done = sh(f"(sleep {marker} &) ; sleep 0.2; exit 4", ["sleep"], processes=8)
    assert (done.cause, done.code, done.output) == ("exited", 4, "")
    assert _gone(marker)


@pytest.mark.skipif(shutil.which("setsid") is None, reason="setsid is not installed")
def test_a_daemon_cannot_leave_its_group(program_layers):
    marker = f"1001.{os.getpid()}"
    done = sh(f"setsid sleep {marker}; echo $?", ["setsid", "sleep"], processes=8)
    assert "not permitted" in done.output
    assert _gone(marker)


def _gone(marker):
    """Whether no process with these words is left; one that is killed takes a moment to go."""
    for _ in range(40):
        if not [pid for pid in _all_pids() if marker in _words(pid)]:
            return True
        time.sleep(0.05)
    return False


def _all_pids():
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _words(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def test_a_gigabyte_of_output(program_layers):
    started = time.monotonic()
    done = sh("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done")
    assert done.cause == "output_cap"
    assert len(done.output) <= 1 << 20
    assert time.monotonic() - started < 15


def test_planted_modules_are_not_imported(sandbox, tmp_path):
    """Attack: the submission's folder holds modules named like ones that the grader imports.
    Why it must fail: no part of the submission is on the import path."""
    for name in ("sitecustomize", "usercustomize", "torch", "json", "conftest", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')")
    read = [*READ, tmp_path] if sandbox is None else READ
    reply = call("jobs:imports", {"modules": ["json", "numpy"]}, read=read, warm=sandbox)
    assert reply.header is not None, reply.error
    assert not [path for path in reply.header.values() if str(tmp_path) in path]
