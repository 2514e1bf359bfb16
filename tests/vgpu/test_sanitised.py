"""No launch touches memory outside its buffers: the engine under AddressSanitizer."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.vgpu import native

ROOT = Path(__file__).parents[2]
ENDED = {"malformed", "refused", "no kernel", "finished", "unsupported", "fuel", "trap", "deadlock"}


def preloads() -> list[str]:
    """gcc's sanitizer runtimes; none where they are not installed."""
    gcc = shutil.which("gcc")
    if gcc is None or sys.platform != "linux":
        return []
    found = []
    for name in ("libasan.so", "libubsan.so"):
        command = [gcc, f"-print-file-name={name}"]
        path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        found += [path] if Path(path).is_absolute() else []
    return found if len(found) == 2 else []


PRELOADS = preloads()
pytestmark = pytest.mark.skipif(not PRELOADS, reason="gcc's libasan and libubsan are needed")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sanitised")


def sanitised(cache: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`python -m tests.vgpu.sanitised ARGUMENTS` with the sanitizers loaded."""
    nvidia = importlib.util.find_spec("nvidia")
    places = nvidia.submodule_search_locations if nvidia else None
    libraries = [str(p.parent) for place in places or () for p in Path(place).rglob("libnvrtc.so*")]
    environment = {
        **os.environ,
        "GRADE_CACHE": str(cache),
        "LD_PRELOAD": " ".join(PRELOADS),
        # The sanitizer's dlopen does not look beside the library that asks.
        "LD_LIBRARY_PATH": os.pathsep.join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "halt_on_error=1",
    }
    command = [sys.executable, "-m", "tests.vgpu.sanitised", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def lines(done: subprocess.CompletedProcess[str], count: int) -> list[str]:
    """What a run that ended well printed: `count` lines."""
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-5000:]
    found = done.stdout.splitlines()
    assert len(found) == count
    return found


@pytest.mark.slow
def test_an_access_outside_ends_the_process(cache: Path) -> None:
    """The sanitizer is really there: a buffer said to be larger than it is ends the process."""
    done = sanitised(cache, "probe", 0, 1)
    assert done.returncode != 0
    assert "AddressSanitizer: use-after-poison" in done.stderr


@pytest.mark.slow
def test_random_launches_stay_in_their_buffers(cache: Path) -> None:
    ends = [line.split()[1] for line in lines(sanitised(cache, "launches", 0, 60), 60)]
    assert set(ends) <= ENDED
    assert ends.count("finished") > 40


@pytest.mark.slow
def test_many_random_launches_stay_in_their_buffers(cache: Path) -> None:
    for seed in range(1000, 3000, 250):
        lines(sanitised(cache, "launches", seed, 250), 250)


@pytest.mark.slow
def test_mutants_stay_in_their_buffers(cache: Path) -> None:
    for seed in range(100, 106):
        ends = {
            line.partition(" ")[2] for line in lines(sanitised(cache, "mutants", seed, 150), 150)
        }
        assert ends <= ENDED


@pytest.mark.slow
def test_tiny_kernels_stay_in_their_buffers(cache: Path) -> None:
    pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC has no wheel for this platform")
    count = len(list((Path(__file__).parent / "kernels").glob("*/*.cu")))
    for first in range(0, count, 20):
        some = min(20, count - first)
        found = lines(sanitised(cache, "kernels", first, 20), some)
        assert all(line.endswith(" as expected") for line in found), found


def test_flags_are_part_of_what_the_runtime_is_kept_under(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a runtime made for the sanitizer would be taken for the usual one, or the reverse."""
    before = native.runtime_keys()
    monkeypatch.setattr(native, "FLAGS", (*native.FLAGS, "-O3"))
    assert not set(before) & set(native.runtime_keys())
