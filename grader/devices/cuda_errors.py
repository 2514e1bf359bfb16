"""What errors of CUDA's driver and runtime mean for the kernel that was launched."""

from __future__ import annotations

from grader.devices.card import CardError, Ending

# Numbers of cudaError_t and CUresult, which are the same (driver_types.h).
ERRORS: dict[int, tuple[Ending, str | None, bool, str]] = {
    1: ("refused", None, False, "invalid value"),
    2: ("unsupported", None, False, "out of memory"),
    3: ("unsupported", None, True, "the driver could not be initialised"),
    9: ("refused", None, False, "invalid configuration"),
    34: ("unsupported", None, True, "libcuda is a stub: there is no driver"),
    35: ("unsupported", None, True, "the driver is missing, or too old for this CuPy"),
    46: ("unsupported", None, True, "busy, or in exclusive use by another process"),
    98: ("refused", None, False, "invalid device function"),
    100: ("unsupported", None, True, "no device can be seen"),
    101: ("unsupported", None, True, "there is no such device"),
    200: ("unsupported", None, False, "invalid kernel image"),
    209: ("unsupported", None, False, "no kernel image for this architecture"),
    218: ("unsupported", None, False, "invalid PTX"),
    221: ("unsupported", None, False, "the driver's PTX compiler is missing"),
    222: ("unsupported", None, False, "PTX is newer than the driver"),
    304: ("unsupported", None, True, "the system refused what the driver asked of it"),
    500: ("unsupported", None, False, "there is no such kernel"),
    700: ("stopped", "out_of_bounds", True, "illegal memory access"),
    701: ("refused", None, False, "out of registers or shared memory"),
    702: ("time", None, True, "launch timed out"),
    710: ("assertion", "assertion", True, "assertion failed"),
    714: ("trap", "trap", True, "hardware stack error"),
    715: ("trap", "trap", True, "illegal instruction or trap"),
    716: ("stopped", "misaligned", True, "misaligned address"),
    717: (
        "stopped",
        "out_of_bounds",
        True,
        "access to an address space that the address is not in",
    ),
    718: ("stopped", "out_of_bounds", True, "invalid program counter"),
    719: ("trap", "trap", True, "launch failure"),
    720: ("refused", None, False, "more blocks than fit at once, for a cooperative launch"),
    802: ("unsupported", None, True, "the system is not ready"),
    803: ("unsupported", None, True, "the driver's library and its kernel module differ"),
    804: ("unsupported", None, True, "this card cannot use the forward-compatible driver"),
    999: ("unsupported", None, True, "unknown error"),
}


def explain(status: int, text: str) -> CardError:
    """The error of a status of the driver or the runtime; what is not known is ours to look at."""
    if status in ERRORS:
        ended, fault, sticky, words = ERRORS[status]
        return CardError(ended, f"the device said: {words}", fault=fault, sticky=sticky)
    return CardError("unsupported", f"CUDA error {status}: {text}", sticky=True)
