"""Libraries that programs may include and the virtual GPU does not serve.

Each gets a header of its name that says so, beside the program in the build child, so that the
compiler names the line that includes it, and only where the preprocessor gets there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from grader.languages.cuda_includes import included_name, includes

FOLDER = "unserved"
SAYS = "is not served by the virtual GPU"

_LIBRARIES: tuple[tuple[str, str], ...] = (
    (r"thrust/", "Thrust"),
    (r"curand", "cuRAND"),
    (r"cufft", "cuFFT"),
    (r"cusparse", "cuSPARSE"),
    (r"cusolver", "cuSOLVER"),
    (r"cudnn", "cuDNN"),
    (r"cutensor", "cuTENSOR"),
    (r"cutlass/|cute/", "CUTLASS"),
    (r"npp", "NPP"),
    (r"nvjpeg", "nvJPEG"),
    (r"nccl", "NCCL"),
    (r"nvshmem", "NVSHMEM"),
    (r"mpi\.h", "MPI"),
    (r"nvrtc", "NVRTC"),
    (r"nvml", "NVML"),
    (r"cupti", "CUPTI"),
    (r"helper_cuda_drvapi|cuda_drvapi_dynlink", "the driver API"),
    (r"GL/|GLFW/|cuda_gl_interop|helper_gl|cuda_egl|EGL/|vulkan/", "graphics"),
)
_BLOCK_WIDE = re.compile(r"cub/")


def stand_ins(texts: Iterable[str], own: Mapping[str, str]) -> dict[str, str]:
    """Headers for what `texts` include of such libraries, by the name the include gives."""
    found: dict[str, str] = {}
    for text in texts:
        for _, _, operand in includes(text):
            name = included_name(operand)
            if name is None or name in own:
                continue
            if _BLOCK_WIDE.match(name):
                found[name] = "#include <cub_host.h>\n"
            elif (library := library_of(name)) is not None:
                found[name] = f'#error "{library} {SAYS}"\n'
    return found


def library_of(name: str) -> str | None:
    """The library that a header of this name belongs to; None for one that is served."""
    return next((library for start, library in _LIBRARIES if re.match(start, name)), None)
