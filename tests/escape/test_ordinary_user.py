"""The attacks again as an ordinary user, where the suite itself runs as root.

Nothing that holds a submission may depend on being root, or on not being root. In a private mount
namespace, folders that only root may enter (a Python below /root) are made reachable first.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NOBODY = 65534

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="the suite runs as an ordinary user already"
)


def reachable(folder):
    """Shell lines that make `folder` enterable by everybody, inside a private mount namespace."""
    closed = [path for path in reversed(folder.parents) if not path.stat().st_mode & 0o001]
    if not closed:
        return []
    return [
        "hold=$(mktemp -d)",
        f'mount --bind "{folder}" "$hold"',
        f'mount -t tmpfs -o mode=755 tmpfs "{closed[0]}"',
        f'mkdir -p "{folder}"',
        f'mount --bind "$hold" "{folder}"',
    ]


@pytest.fixture
def home():
    """A home of its own: pytest's directories are closed to other users."""
    folder = Path(tempfile.mkdtemp(prefix="home-"))
    yield folder
    shutil.rmtree(folder)


REST = (
    *("test_archives.py", "test_classes.py", "test_handed_in.py", "test_programs.py"),
    "test_submissions.py",
)


@pytest.mark.parametrize(
    "file", ["test_break_out.py", *(pytest.param(name, marks=pytest.mark.slow) for name in REST)]
)
def test_every_attack_as_an_ordinary_user(home, file):
    for program in ("unshare", "setpriv", "mount"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    python = Path(sys.base_prefix).resolve()
    root = HERE.parent.parent
    folders = {python, Path(sys.prefix).resolve(), root}
    lines = [line for folder in sorted(folders) for line in reachable(folder)]
    os.chown(home, NOBODY, NOBODY)
    words = [
        *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-x", "-m", "not slow"),
        *("--basetemp", str(home / "tests"), str(HERE / file)),
    ]
    script = "\n".join(["set -e", *lines, 'exec "$@"'])
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *words],
        cwd=root,
        env={
            **os.environ,
            "HOME": str(home),
            "TMPDIR": str(home),
            "GRADE_CACHE": str(home / "cache"),
        },
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    if "unshare failed" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no private mounts here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
