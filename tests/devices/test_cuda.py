"""The NVIDIA device without a card: what a probe says, and what errors of the driver mean."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader import devices, vgpu
from grader.devices import cuda, cuda_errors, cuda_ptx, hardware
from grader.errors import NotGradableError
from grader.sandbox import Exit, Reply
from grader.verdict import VERDICT_OF_FAULT
from tests.devices import conformance, recorded_cupy

NODES = ["/dev/nvidia0", "/dev/nvidiactl"]


@pytest.fixture(autouse=True)
def on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")


@pytest.mark.parametrize(
    ("installed", "found", "closed", "said"),
    [
        (False, [], [], "there is no NVIDIA card, or its driver is not loaded"),
        (True, [], [], "there is no NVIDIA card, or its driver is not loaded"),
        (True, NODES, ["/dev/nvidia0"], "no permission to open /dev/nvidia0"),
        (False, NODES, [], "CuPy is not installed: pip install 'grader[cuda]'"),
        (True, NODES, [], None),
    ],
)
def test_what_is_known_without_starting_anything(
    installed: bool, found: list[str], closed: list[str], said: str | None
) -> None:
    reason = cuda._unusable(installed=installed, found=found, closed=closed)
    assert reason is None if said is None else said in (reason or "")


def test_macs_have_no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cuda._unusable(installed=True, found=NODES, closed=[]) == "there is no CUDA on macOS"


@pytest.mark.parametrize(
    ("header", "exit_", "error", "said"),
    [
        ({"sum": 3, "facts": {}}, Exit("exited"), "", None),
        ({"sum": 0, "facts": {}}, Exit("exited"), "", "should store 3, it stored 0"),
        ({"missing": "the device said: out of memory"}, Exit("exited"), "", "out of memory"),
        (
            {"missing": "the device said: no kernel image for this architecture"},
            Exit("exited"),
            "",
            "no kernel image for this architecture",
        ),
        (
            {"missing": "the device said: no device can be seen"},
            Exit("exited"),
            "",
            "not visible in the sandbox",
        ),
        *(
            (
                {"missing": cuda_errors.explain(status, "").message},
                Exit("exited"),
                "",
                "not visible in the sandbox",
            )
            for status in (3, 100, 304, 999)
        ),
        (None, Exit("exited"), "ImportError: libcudart.so.13", "libcudart.so.13"),
        (None, Exit("signalled", 11, "SIGSEGV"), "", "signalled"),
        (None, Exit("wall_timeout", detail="still running after 60 s"), "", "still running"),
    ],
)
def test_what_a_probe_said(
    header: dict[str, Any] | None, exit_: Exit, error: str, said: str | None
) -> None:
    reason = cuda.probed(Reply(exit_, header, error=error))
    assert reason is None if said is None else said in (reason or "")


def test_nodes_are_those_of_cards_and_not_of_other_things(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    for name in (
        "nvidia0", "nvidia11", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset",
        "null",
    ):  # fmt: skip
        (tmp_path / "dev" / name).touch()
    names = {path.name for path in cuda.nodes(tmp_path)}
    assert names == {"nvidia0", "nvidia11", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools"}


def test_slices_of_a_card_are_those_that_this_user_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MIG: the node of a slice is readable where it was given; that of the whole card is root's."""
    caps = tmp_path / "dev" / "nvidia-caps"
    caps.mkdir(parents=True)
    for name in ("nvidia-cap1", "nvidia-cap21", "other"):
        (caps / name).touch()
    monkeypatch.setattr("os.access", lambda path, mode: path.name != "nvidia-cap1")
    assert [path.name for path in cuda.slices(tmp_path)] == ["nvidia-cap21"]


def test_a_child_may_open_the_nodes_and_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def call(job: str, request: object, blobs: object, **more: Any) -> Reply:
        asked.update(more, job=job)
        return Reply(Exit("exited"), {"sum": 3})

    monkeypatch.setattr("grader.sandbox.call", call)
    monkeypatch.setattr(cuda, "nodes", lambda: [Path("/dev/nvidia0")])
    assert cuda.probed(cuda.call("probe_job", {}, [])) is None
    assert asked["devices"] == [Path("/dev/nvidia0")]
    assert asked["job"] == "grader.devices.hardware_jobs:probe_job"
    assert "write" not in asked
    assert asked["limits"].processes == 0


# ---- which device is used ------------------------------------------------------------------------


def test_a_missing_device_that_was_named_is_no_silent_fall_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cuda, "missing", lambda: "no driver")
    with pytest.raises(NotGradableError, match="no driver") as raised:
        hardware.chosen("cuda", "cuda-c")
    assert raised.value.exit_code == 3
    assert hardware.chosen("auto", "cuda-c") is None
    assert hardware.chosen("virtual", "cuda-c") is None


def test_auto_takes_what_is_there_for_the_languages_it_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cuda, "missing", lambda: None)
    assert hardware.chosen("auto", "cuda-c") is cuda
    assert hardware.chosen("auto", "triton") is cuda
    assert hardware.chosen("auto", "metal") is not cuda


def test_a_real_device_is_in_the_table_of_devices() -> None:
    assert set(hardware.REAL) == set(devices.DEVICES) - {"virtual"}


IMPORTS = """
import sys
from pathlib import Path
from grader import grade
result = grade.submit("assignment3", Path(sys.argv[1]), device="auto", small=False, jobs=1)
assert result.verdict.exit_code == 0, result.reason
heavy = {"cupy", "objc", "Metal", "torch", "mlx"} & set(sys.modules)
assert not heavy, heavy
"""


def test_grading_imports_no_cupy_no_pyobjc_and_no_torch(tmp_path: Path) -> None:
    reference = Path(__file__).parents[2] / "reference" / "assignment3" / "kernel.cu"
    (tmp_path / "kernel.cu").write_text(reference.read_text())
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


# ---- errors, and CuPy without a card -----------------------------------------------------------


def test_every_error_of_the_driver_has_an_ending_that_is_one() -> None:
    for status, (_, fault, _, words) in cuda_errors.ERRORS.items():
        error = cuda_errors.explain(status, "")
        assert words in error.message
        assert fault is None or fault in VERDICT_OF_FAULT


@pytest.mark.parametrize(
    ("status", "ended", "fault", "sticky"),
    [
        (700, "stopped", "out_of_bounds", True),
        (716, "stopped", "misaligned", True),
        (710, "assertion", "assertion", True),
        (715, "trap", "trap", True),
        (702, "time", None, True),
        (701, "refused", None, False),
        (2, "unsupported", None, False),
        (209, "unsupported", None, False),
        (12345, "unsupported", None, True),
    ],
)
def test_what_errors_of_the_driver_mean(
    status: int, ended: str, fault: str | None, sticky: bool
) -> None:
    error = cuda_errors.explain(status, "CUDA_ERROR")
    assert (error.ended, error.fault, error.sticky) == (ended, fault, sticky)


NAMES = {
    1: "InvalidValue", 2: "MemoryAllocation", 3: "InitializationError", 9: "InvalidConfiguration",
    34: "StubLibrary", 35: "InsufficientDriver", 46: "DevicesUnavailable",
    98: "InvalidDeviceFunction", 100: "NoDevice", 101: "InvalidDevice", 200: "InvalidKernelImage",
    209: "NoKernelImageForDevice", 218: "InvalidPtx", 221: "JitCompilerNotFound",
    222: "UnsupportedPtxVersion", 304: "OperatingSystem", 500: "SymbolNotFound",
    700: "IllegalAddress", 701: "LaunchOutOfResources", 702: "LaunchTimeout", 710: "Assert",
    714: "HardwareStackError", 715: "IllegalInstruction", 716: "MisalignedAddress",
    717: "InvalidAddressSpace", 718: "InvalidPc", 719: "LaunchFailure",
    720: "CooperativeLaunchTooLarge", 802: "SystemNotReady", 803: "SystemDriverMismatch",
    804: "CompatNotSupportedOnDevice", 999: "Unknown",
}  # fmt: skip
ATTRIBUTES = {
    "multiprocessors": "MultiProcessorCount", "clock_khz": "ClockRate",
    "memory_clock_khz": "MemoryClockRate", "bus_bits": "GlobalMemoryBusWidth",
    "l2_bytes": "L2CacheSize", "major": "ComputeCapabilityMajor",
    "minor": "ComputeCapabilityMinor",
}  # fmt: skip


def test_numbers_of_errors_and_attributes_are_nvidias() -> None:
    runtime = pytest.importorskip("cuda.bindings.runtime", reason="cuda-bindings are not installed")
    assert set(NAMES) == set(cuda_errors.ERRORS)
    for status, name in NAMES.items():
        assert runtime.cudaError_t(status).name == f"cudaError{name}"
    with recorded_cupy.installed() as cuda_card:
        assert set(cuda_card.ATTRIBUTES) == set(ATTRIBUTES)
        for key, name in ATTRIBUTES.items():
            number = cuda_card.ATTRIBUTES[key]
            assert runtime.cudaDeviceAttr(number).name == f"cudaDevAttr{name}"
        limit = runtime.cudaLimit(cuda_card.PERSISTING_L2)
        assert limit.name == "cudaLimitPersistingL2CacheSize"
        too_large = runtime.cudaError_t(cuda_card.COOPERATIVE_TOO_LARGE)
        assert too_large.name == "cudaErrorCooperativeLaunchTooLarge"


def test_without_a_driver_the_card_says_so() -> None:
    pytest.importorskip("cupy", reason="CuPy is not installed")
    if cuda.missing() is None:
        pytest.skip("there is a card here")
    from grader.devices.card import CardError
    from grader.devices.cuda_card import CudaCard

    with pytest.raises(CardError, match=r"driver|device"):
        CudaCard()


@pytest.mark.parametrize(
    ("declared", "cuda_version", "read"),
    [
        ("9.5", 13020, "9.2"),
        ("9.5", 13050, "9.5"),
        ("8.7", 13000, "8.7"),
        ("8.7", 12040, "8.4"),
        ("8.7", 12060, "8.5"),
        ("9.0", 12080, "8.7"),
        ("9.5", 11080, "7.8"),
        ("10.0", 13020, "9.2"),
    ],
)
def test_ptx_declares_no_later_version_than_the_driver_reads(
    declared: str, cuda_version: int, read: str
) -> None:
    """A driver for CUDA 13.2 refuses what says 9.5, whatever is in it: error 222."""
    code = f"// .version 1.0 said here\n\n.version {declared}\n.target sm_80\n// 9.5\n"
    assert cuda_ptx.readable(code, cuda_version) == code.replace(
        f"\n.version {declared}", f"\n.version {read}"
    )


def test_what_has_no_version_stays_as_it_is() -> None:
    assert cuda_ptx.readable("not PTX", 13020) == "not PTX"


@pytest.mark.parametrize("text", [cuda_ptx.PROBE, cuda_ptx.CLOCK])
def test_the_probe_is_for_what_the_compilers_compile_for(text: str) -> None:
    """A card that could run the probe and no kernel would be no device."""
    target = re.compile(r"^\.target (\w+)", re.MULTILINE)
    made, _ = conformance.work(conformance.KERNELS[0])
    (ours,), (theirs,) = target.findall(text), target.findall(made.launches[0].ptx)
    assert ours == theirs


def test_our_own_ptx_does_what_it_says() -> None:
    """On the virtual GPU: a sum, and clocks beside nanoseconds."""
    memory = vgpu.Memory()
    out = memory.allocate(np.zeros(1, np.int32), name="out", access="out")
    vgpu.launch(vgpu.Module.from_ptx(cuda_ptx.PROBE).kernel("probe"), 1, 1, [out], memory=memory)
    assert memory.read(out)[0] == 3
    times = memory.allocate(np.zeros(2, np.uint64), name="times", access="out")
    kernel = vgpu.Module.from_ptx(cuda_ptx.CLOCK).kernel("clock")
    done = vgpu.launch(kernel, 1, 1, [times], memory=memory)
    assert done.ended == "finished", done.reason
    assert memory.read(times)[0] >= 200_000
