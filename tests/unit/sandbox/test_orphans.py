"""A process that grades leaves none behind, not even one that ended and was never asked how.

This process stands in for process 1 of a container without an init: orphans that the one that
grades does not take in come to it, and stay.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.sandbox import orphans

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux gives orphans to an ancestor"
)

ORPHANS = "(sleep 1000 &) ; (exit 3 &) ; exit 4"
PROGRAM = f"""
import shutil, sys
from grader.sandbox import Limits, Warm, call, run
from grader.sandbox.layers import layers
read = [shutil.which("sleep"), "/bin/sh", sys.argv[1]]
done = run(["/bin/sh", "-c", {ORPHANS!r}], read=read, limits=Limits(processes=8))
assert (done.cause, done.code) == ("exited", 4), done
with Warm(read=read) as warm:
    assert call("grader.sandbox.probes:echo", {{}}, warm=warm).exit.cause == "exited"
layers()
"""


def test_nothing_is_left_for_process_1(tmp_path: Path) -> None:
    orphans.adopt()
    before = _children()
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], check=False)
    assert done.returncode == 0
    assert _children() == before


def test_a_group_is_ended_to_the_last_process() -> None:
    orphans.adopt()
    script = "(sleep 1000 & sleep 1000 & exec sleep 1000) & sleep 1000 & echo made; exec sleep 1000"
    with subprocess.Popen(
        ["/bin/sh", "-c", script], start_new_session=True, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        orphans.stop(process)
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)


def _children() -> set[int]:
    """Pids whose parent this process is, ended or not."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid():
                found.add(int(entry.name))
    return found
