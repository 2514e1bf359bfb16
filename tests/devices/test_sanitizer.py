"""What compute-sanitizer prints, read into findings; logs written after NVIDIA's manual.

The forms are those of version 2026.4 and of older ones; the names in them are ours.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from grader.devices import cuda, sanitizer, sanitizer_log
from grader.errors import NotGradableError, UsageError
from grader.result import Severity
from tests.devices import conformance, recorded_cupy

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
    beside, odd = sanitizer_log.parse(MEMCHECK, "memcheck", "kernel.cu")
    assert (beside.kind, beside.access, beside.space) == ("out_of_bounds", "write", "global")
    assert (beside.file, beside.line, beside.count) == ("kernel.cu", 12, 2)
    assert (beside.thread, beside.block) == ((232, 0, 0), (3, 0, 0))
    assert beside.severity is Severity.ERROR
    assert "out of bounds" in beside.message
    assert (odd.kind, odd.access, odd.space, odd.line) == ("misaligned", "read", "shared", 20)
    assert (odd.size_bytes, odd.block) == (8, (0, 0, 2))


def test_racecheck() -> None:
    error, warning = sanitizer_log.parse(RACECHECK, "racecheck", "kernel.cu")
    assert (error.kind, error.access, error.line, error.count) == ("race", "write", 13, 2064)
    assert error.other is not None
    assert (error.other.access, error.other.line) == ("read", 14)
    assert error.severity is Severity.ERROR
    assert warning.severity is Severity.WARNING
    assert (warning.access, warning.line, warning.count) == ("read", 30, 1)


def test_initcheck() -> None:
    (fault,) = sanitizer_log.parse(INITCHECK, "initcheck", "kernel.cu")
    assert (fault.kind, fault.access, fault.line) == ("uninitialised", "read", 41)


def test_synccheck() -> None:
    barrier, mask = sanitizer_log.parse(SYNCCHECK, "synccheck", "kernel.cu")
    assert (barrier.kind, barrier.line, barrier.thread) == ("bad_barrier", 20, (17, 0, 0))
    assert (mask.kind, mask.line) == ("warp_mask", 25)


FRAMES = """\
========= COMPUTE-SANITIZER
========= Barrier error detected. Invalid arguments
=========     at __cuda_sm70_warpsync+0x30
=========     by thread (0,0,0) in block (0,0,0)
=========     Device Frame:__syncwarp(unsigned int)+0xf0 in /usr/include/sm_30_intrinsics.hpp:110
=========     Device Frame:scan(int *)+0x3c0 in /home/me/exercise/kernel.cu:48
=========
========= Barrier error detected. Divergent thread(s) in block.
=========     at [clone scan(int *)] outline()+0x11f0 in tile.cuh:42
=========     by thread (32,0,0) in block (0,0,0)
=========         Device Frame: tile(int *)+0xe40 in other.cuh:60
=========
========= ERROR SUMMARY: 2 errors
"""


def test_the_line_is_that_of_the_file_handed_in_where_it_calls_a_header() -> None:
    """An intrinsic is a function of a header: line 110 of it was blamed on the kernel's file."""
    mask, elsewhere = sanitizer_log.parse(FRAMES, "synccheck", "kernel.cu")
    assert (mask.kind, mask.file, mask.line) == ("warp_mask", "kernel.cu", 48)
    assert (elsewhere.kind, elsewhere.file, elsewhere.line) == ("bad_barrier", "tile.cuh", 42)


FORMS = {
    "Invalid __global__ atomic of size 4 bytes": ("out_of_bounds", "error", "atomic", 4),
    "Invalid __local__ write of size 1,024 bytes": ("out_of_bounds", "error", "write", 1024),
    "Potential invalid __shared__ read of size 4 bytes":
        ("out_of_bounds", "warning", "read", 4),
    "Uninitialized __shared__ memory read of size 4 bytes": ("uninitialised", "error", "read", 4),
    "Barrier error detected. Missing wait.": ("bad_barrier", "error", None, None),
    "WARNING: Race reported between Write access at k()+0x10 in kernel.cu:5":
        ("race", "warning", "write", None),
    "ERROR: Race reported between Atomic access at k()+0x10 in kernel.cu:5":
        ("race", "error", "atomic", None),
    "Race reported between Read access at k()+0x10 in kernel.cu:5":
        ("race", "error", "read", None),
    "Deadlock detected in Cuda::barrier wait called by threads starting at (0,0,0) in block "
    "(0,0,0), (active mask: 0xffffffff), barrier address: 0x0 at kernel+0x1190 in kernel.cu:98":
        ("deadlock", "error", None, None),
}  # fmt: skip


@pytest.mark.parametrize("heading", list(FORMS))
def test_every_form_of_a_heading(heading: str) -> None:
    (fault,) = sanitizer_log.parse(f"========= {heading}\n", "memcheck", "kernel.cu")
    assert (fault.kind, fault.severity.value, fault.access, fault.size_bytes) == FORMS[heading]


NOISE = (
    "Leaked 64 bytes at 0x400200200",
    "Malloc/Free error encountered : Double free",
    'Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to "unspecified launch failure"',
    "Target application returned an error",
    "Unused __global__ memory in allocation 0x7fed9f400000 of size 100 bytes",
)


@pytest.mark.parametrize("heading", NOISE)
def test_what_is_no_finding_about_a_kernel(heading: str) -> None:
    assert sanitizer_log.parse(f"========= {heading}\n", "memcheck", "kernel.cu") == ()


@pytest.mark.parametrize("word", ["Address", "Access at", "Access to"])
@pytest.mark.parametrize(
    ("address", "where", "index"),
    [
        (0x7000_0FA0, "is 1 bytes after the nearest allocation at 0x70000000 of size 4,000 bytes",
         1000),
        (0x6FFF_FFFC, "is 4 bytes before the nearest allocation at 0x70000000 of size 4,000 bytes",
         -1),
    ],
)  # fmt: skip
def test_a_buffer_has_its_name_and_the_element(
    word: str, address: int, where: str, index: int
) -> None:
    log = (
        "========= Invalid __global__ write of size 4 bytes\n"
        "=========     at misaligned_too(float *)+0x160 in kernel.cu:12\n"
        f"=========     {word} {address:#x} is out of bounds\n"
        f"=========     and {where}\n"
    )
    laid = [
        sanitizer_log.Allocation("A", 0x6000_0000, 4, 1000),
        sanitizer_log.Allocation("C", 0x7000_0000, 4, 1000),
    ]
    (fault,) = sanitizer_log.parse(log, "memcheck", "kernel.cu", laid)
    assert fault.kind == "out_of_bounds"  # whatever the kernel is called
    assert (fault.buffer, fault.index, fault.extent) == ("C", index, 1000)
    assert f"write of C[{index}], but C has 1000 elements" in fault.message


BROKEN = {
    "": "it wrote no log",
    "========= COMPUTE-SANITIZER\n========= Error: couldn't find exit code.\n":
        "Error: couldn't find exit code.",
    "========= Internal Sanitizer Error: it didn't track the launch. Errors might go undetected.\n"
    "========= ERROR SUMMARY: 0 errors\n": "Errors might go undetected",
}  # fmt: skip


@pytest.mark.parametrize("text", list(BROKEN))
def test_a_log_that_breaks_off_is_no_proof_of_anything(text: str) -> None:
    assert BROKEN[text] in sanitizer_log.incomplete(text)


@pytest.mark.parametrize("text", [MEMCHECK, RACECHECK, INITCHECK, SYNCCHECK, CLEAN, FRAMES])
def test_a_log_with_a_summary_is_whole(text: str) -> None:
    assert sanitizer_log.incomplete(text) == ""


@pytest.mark.parametrize("text", ["", CLEAN, "the program's own output\n", "=========\n"])
def test_nothing_is_found_where_nothing_was(text: str) -> None:
    assert sanitizer_log.parse(text, "memcheck", "kernel.cu") == ()


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
    for word in sanitizer.argv(where, tool, Path("log"), ["python"]):
        if word.startswith("--"):
            assert sanitizer.knows(where, word)


@pytest.mark.skipif(sanitizer.program() is None, reason="compute-sanitizer is not installed")
def test_without_a_card_the_program_itself_says_nothing_that_counts(tmp_path: Path) -> None:
    """Its log then has no summary; `0 findings` would be a lie."""
    where = sanitizer.program()
    assert where is not None
    if cuda.missing() is None:
        pytest.skip("there is a card here")
    words = sanitizer.argv(where, "memcheck", tmp_path / "log", [sys.executable, "-c", "pass"])
    subprocess.run(words, capture_output=True, check=False)
    assert sanitizer_log.incomplete((tmp_path / "log").read_text())


# ---- the program that it watches -----------------------------------------------------------------


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """compute-sanitizer is a script: it runs the program here and writes the log that is set."""
    logs = {"log": CLEAN, "program": "runs"}

    def run(words: Sequence[str]) -> str:
        folder, blobs = words[-2:]
        if logs["program"] == "runs":
            importlib.import_module("grader.devices.sanitized").main(Path(folder), int(blobs))
        Path(words[list(words).index("--log-file") + 1]).write_text(logs["log"])
        return "ModuleNotFoundError: cupy" if logs["program"] == "dies" else ""

    monkeypatch.setattr(sanitizer, "program", lambda: Path("compute-sanitizer"))
    monkeypatch.setattr(sanitizer, "knows", lambda where, option: True)
    monkeypatch.setattr(sanitizer, "_run", run)
    with recorded_cupy.installed():
        monkeypatch.delitem(sys.modules, "grader.devices.sanitized", raising=False)
        yield logs
        sys.modules.pop("grader.devices.sanitized", None)


def test_buffers_are_allocations_of_their_own_and_only_contents_are_filled(
    watched: dict[str, str],
) -> None:
    """In one arena memcheck would see no read beside a buffer, and initcheck nothing unwritten."""
    work, wanted = conformance.work(conformance.KERNELS[0])
    assert sanitizer.check([work], ["memcheck"], file="kernel.cu") == {work.case: []}
    laid = recorded_cupy.GPU.allocated
    assert [pointer.storage.data.size for pointer in laid] == [4000, 4000, 4000]
    given = work.inputs.arrays()
    for pointer, name in zip(laid, "ab", strict=False):
        assert pointer.storage.data.tobytes() == given[name].tobytes()
    assert laid[2].storage.data.tobytes() == wanted["out"].tobytes()  # the kernel really ran
    copied = [one for one in recorded_cupy.GPU.asked if one[0] == "memcpyAsync"]
    assert len(copied) == 2  # nothing into `out`, and nothing back


def test_a_finding_of_a_case_names_its_buffer(watched: dict[str, str]) -> None:
    work, _ = conformance.work(conformance.KERNELS[0])
    sanitizer.check([work], ["memcheck"], file="kernel.cu")
    place = recorded_cupy.GPU.allocated[2].address
    recorded_cupy.restart()
    watched["log"] = (
        "========= Invalid __global__ read of size 4 bytes\n"
        f"=========     Address {place + 4004:#x} is out of bounds\n"
        f"=========     and is 5 bytes after the nearest allocation at {place:#x} of size 4,000"
        " bytes\n========= ERROR SUMMARY: 1 error\n"
    )
    (fault,) = sanitizer.check([work], ["memcheck"], file="kernel.cu")[work.case]
    assert (fault.buffer, fault.index, fault.extent) == ("out", 1001, 1000)


def test_a_kernel_that_is_stopped_is_no_failure_of_the_program(watched: dict[str, str]) -> None:
    trap = next(kernel for kernel in conformance.MISTAKES if kernel.name == "trap")
    work, _ = conformance.work(trap)
    assert sanitizer.check([work], ["memcheck"], file="kernel.cu") == {"trap": []}


@pytest.mark.parametrize(
    ("program", "log", "said"),
    [
        ("dies", CLEAN, "ended before it (ModuleNotFoundError: cupy)"),
        ("runs", "========= COMPUTE-SANITIZER\n", "could not watch to the end: COMPUTE-SANITIZER"),
        ("runs", "", "it wrote no log"),
    ],
)
def test_a_program_that_was_not_watched_to_the_end_is_not_clean(
    watched: dict[str, str], program: str, log: str, said: str
) -> None:
    watched |= {"program": program, "log": log}
    work, _ = conformance.work(conformance.KERNELS[0])
    with pytest.raises(NotGradableError, match="could not watch to the end") as raised:
        sanitizer.check([work], ["memcheck"], file="kernel.cu")
    assert said in raised.value.message
