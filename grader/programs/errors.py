"""CUDA's error codes with their names and words (CUDA Runtime API, cudaError)."""

from __future__ import annotations

SUCCESS = 0
INVALID_VALUE = 1
MEMORY_ALLOCATION = 2
INVALID_CONFIGURATION = 9
INVALID_PITCH = 12
INVALID_SYMBOL = 13
INVALID_CHANNEL = 20
INVALID_FILTER = 26
INVALID_NORMALISATION = 27
INVALID_DEVICE_FUNCTION = 98
INVALID_DEVICE = 101
INVALID_HANDLE = 400
NOT_READY = 600
OUT_OF_RESOURCES = 701
LAUNCH_TIMEOUT = 702
ASSERT = 710
ALREADY_REGISTERED = 712
NOT_REGISTERED = 713
LAUNCH_FAILURE = 719
COOPERATIVE_TOO_LARGE = 720
CAPTURE_INVALIDATED = 901
CAPTURE_UNJOINED = 904
CAPTURE_ISOLATION = 905

ERRORS: dict[int, tuple[str, str]] = {
    0: ("cudaSuccess", "no error"),
    1: ("cudaErrorInvalidValue", "invalid argument"),
    2: ("cudaErrorMemoryAllocation", "out of memory"),
    3: ("cudaErrorInitializationError", "initialization error"),
    4: ("cudaErrorCudartUnloading", "driver shutting down"),
    9: ("cudaErrorInvalidConfiguration", "invalid configuration argument"),
    12: ("cudaErrorInvalidPitchValue", "invalid pitch argument"),
    13: ("cudaErrorInvalidSymbol", "invalid device symbol"),
    17: ("cudaErrorInvalidDevicePointer", "invalid device pointer"),
    21: ("cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"),
    20: ("cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"),
    26: (
        "cudaErrorInvalidFilterSetting",
        "linear filtering not supported for non-float type",
    ),
    27: (
        "cudaErrorInvalidNormSetting",
        "read as normalized float not supported for 32-bit non float type",
    ),
    98: ("cudaErrorInvalidDeviceFunction", "invalid device function"),
    100: ("cudaErrorNoDevice", "no CUDA-capable device is detected"),
    101: ("cudaErrorInvalidDevice", "invalid device ordinal"),
    400: ("cudaErrorInvalidResourceHandle", "invalid resource handle"),
    401: (
        "cudaErrorIllegalState",
        "the operation cannot be performed in the present state",
    ),
    600: ("cudaErrorNotReady", "device not ready"),
    700: ("cudaErrorIllegalAddress", "an illegal memory access was encountered"),
    701: ("cudaErrorLaunchOutOfResources", "too many resources requested for launch"),
    702: ("cudaErrorLaunchTimeout", "the launch timed out and was terminated"),
    710: ("cudaErrorAssert", "device-side assert triggered"),
    712: (
        "cudaErrorHostMemoryAlreadyRegistered",
        "part or all of the requested memory range is already mapped",
    ),
    713: (
        "cudaErrorHostMemoryNotRegistered",
        "pointer does not correspond to a registered memory region",
    ),
    716: ("cudaErrorMisalignedAddress", "misaligned address"),
    719: ("cudaErrorLaunchFailure", "unspecified launch failure"),
    720: ("cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"),
    801: ("cudaErrorNotSupported", "operation not supported"),
    900: (
        "cudaErrorStreamCaptureUnsupported",
        "operation not permitted when stream is capturing",
    ),
    901: (
        "cudaErrorStreamCaptureInvalidated",
        "operation failed due to a previous error during capture",
    ),
    902: (
        "cudaErrorStreamCaptureMerge",
        "operation would result in a merge of separate capture sequences",
    ),
    903: (
        "cudaErrorStreamCaptureUnmatched",
        "capture was not ended in the same stream as it began",
    ),
    904: ("cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"),
    905: (
        "cudaErrorStreamCaptureIsolation",
        "dependency created on uncaptured work in another stream",
    ),
    906: (
        "cudaErrorStreamCaptureImplicit",
        "operation would make the legacy stream depend on a capturing blocking stream",
    ),
    907: (
        "cudaErrorCapturedEvent",
        "operation not permitted on an event last recorded in a capturing stream",
    ),
    910: (
        "cudaErrorGraphExecUpdateFailure",
        "the graph update was not performed because it included changes which violated "
        "constraints specific to instantiated graph update",
    ),
}


def name(code: int) -> str:
    """`cudaErrorInvalidValue` for 1."""
    return ERRORS.get(code, ("unrecognized error code", ""))[0]


def text(code: int) -> str:
    """`invalid argument` for 1."""
    return ERRORS.get(code, ("", "unrecognized error code"))[1]
