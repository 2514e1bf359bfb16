"""What compute-sanitizer prints, read into findings; logs written after NVIDIA's manual."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader.devices import sanitizer
from grader.errors import NotGradableError, UsageError
from grader.result import Severity

MEMCHECK = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at vec_add(const float *, const float *, float *, int)+0x160 in kernel.cu:12
=========     by thread (232,0,0) in block (3,0,0)
=========     Address 0x7f1ac0e00fa0 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f1ac0e00000 of size 4000 bytes
=========
========= Invalid __global__ write of size 4 bytes
=========     at vec_add(const float *, const float *, float *, int)+0x160 in kernel.cu:12
=========     by thread (233,0,0) in block (3,0,0)
=========     Address 0x7f1ac0e00fa4 is out of bounds
=========
========= Invalid __shared__ read of size 8 bytes
=========     at 0x578 in /home/me/exercise/kernel.cu:20:tile(float *)
=========     by thread (0,1,0) in block (0,0,2)
=========     Address 0x405 is misaligned
=========
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to "unspecified launch failure" on CUDA API call to cuCtxSynchronize.
========= ERROR SUMMARY: 4 errors
"""  # noqa: E501 - as it is printed

RACECHECK = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at reduce(int *)+0x90 in kernel.cu:13
=========     and Read access at reduce(int *)+0xa0 in kernel.cu:14 [2048 hazards]
=========     and Write access at reduce(int *)+0xb0 in kernel.cu:15 [16 hazards]
=========
========= Warning: Race reported between Read access at reduce(int *)+0xc0 in kernel.cu:30
=========     and Write access at reduce(int *)+0xd0 in kernel.cu:31 [1 hazard]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""

INITCHECK = """\
========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at scan(int *)+0x70 in kernel.cu:41
=========     by thread (31,0,0) in block (1,0,0)
=========     Address 0x7f3c7ec000fc
=========
========= ERROR SUMMARY: 1 error
"""

SYNCCHECK = """\
========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in block.
=========     at reverse(int *)+0xb0 in kernel.cu:20
=========     by thread (17,0,0) in block (0,0,0)
=========
========= Barrier error detected. Invalid arguments.
=========     at warp(int *)+0xd0 in kernel.cu:25
=========     by thread (3,0,0) in block (0,0,0)
=========
========= ERROR SUMMARY: 2 errors
"""

CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"


def test_memcheck() -> None:
    beside, odd = sanitizer.parse(MEMCHECK, "memcheck", "vec_add.cu")
    assert (beside.kind, beside.access, beside.space) == ("out_of_bounds", "write", "global")
    assert (beside.file, beside.line, beside.count) == ("vec_add.cu", 12, 2)
    assert (beside.thread, beside.block) == ((232, 0, 0), (3, 0, 0))
    assert beside.severity is Severity.ERROR
    assert "out of bounds" in beside.message
    assert (odd.kind, odd.access, odd.space, odd.line) == ("misaligned", "read", "shared", 20)
    assert (odd.size_bytes, odd.block) == (8, (0, 0, 2))


def test_racecheck() -> None:
    error, warning = sanitizer.parse(RACECHECK, "racecheck", "kernel.cu")
    assert (error.kind, error.access, error.line, error.count) == ("race", "write", 13, 2064)
    assert error.other is not None
    assert (error.other.access, error.other.line) == ("read", 14)
    assert error.severity is Severity.ERROR
    assert warning.severity is Severity.WARNING
    assert (warning.access, warning.line, warning.count) == ("read", 30, 1)


def test_initcheck() -> None:
    (fault,) = sanitizer.parse(INITCHECK, "initcheck", "kernel.cu")
    assert (fault.kind, fault.access, fault.line) == ("uninitialised", "read", 41)


def test_synccheck() -> None:
    barrier, mask = sanitizer.parse(SYNCCHECK, "synccheck", "kernel.cu")
    assert (barrier.kind, barrier.line, barrier.thread) == ("bad_barrier", 20, (17, 0, 0))
    assert (mask.kind, mask.line) == ("warp_mask", 25)


@pytest.mark.parametrize("text", ["", CLEAN, "the program's own output\n", "=========\n"])
def test_nothing_is_found_where_nothing_was(text: str) -> None:
    assert sanitizer.parse(text, "memcheck", "kernel.cu") == []


def test_tools_of_the_command_line() -> None:
    assert sanitizer.tools("memcheck, racecheck") == ("memcheck", "racecheck")
    for bad in ("", "memchek", "memcheck,all"):
        with pytest.raises(UsageError, match="expected --sanitizer"):
            sanitizer.tools(bad)


def test_without_the_program_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitizer, "program", lambda: None)
    with pytest.raises(NotGradableError, match="compute-sanitizer"):
        sanitizer.check([], ["memcheck"], file="kernel.cu")


@pytest.mark.parametrize("tool", sanitizer.TOOLS)
def test_its_options_are_options_of_the_program(tool: str) -> None:
    where = sanitizer.program()
    if where is None:
        pytest.skip("compute-sanitizer is not installed")
    helped = subprocess.run([where, "--help"], capture_output=True, text=True, check=False).stdout
    for word in sanitizer.argv(where, tool, Path("log"), ["python"]):
        if word.startswith("--"):
            assert word in helped
