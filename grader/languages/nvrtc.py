"""NVIDIA's run-time compiler: CUDA C to PTX, with no driver and no card.

NVRTC comes as the wheel `nvidia-cuda-nvrtc`, its binding as `cuda-bindings`; both are absent on
macOS. The calls are those of the NVRTC documentation, in its order: create, add name expressions,
compile, fetch log, PTX and lowered names, destroy.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader import cache
from grader.errors import InternalError

WHEEL = "nvidia-cuda-nvrtc"


@dataclass(frozen=True)
class Compilation:
    """What NVRTC returned: `ptx` is empty and `lowered` has no entries unless `ok`.

    `lowered` maps each name expression to the name of the function in the PTX.
    """

    ok: bool
    log: str
    ptx: str
    lowered: Mapping[str, str]


@functools.cache
def version() -> str:
    """The wheel's version, such as "13.5.37": it decides the code that is generated."""
    return importlib.metadata.version(WHEEL)


def compile_source(
    text: str,
    file_name: str,
    options: Sequence[str],
    *,
    headers: Mapping[str, str] | None = None,
    name_expressions: Sequence[str] = (),
) -> Compilation:
    """Compile `text` under the name `file_name`; `headers` are files that exist only for NVRTC.

    A refusal by the compiler is a Compilation that is not ok; InternalError means that NVRTC
    itself failed (bad option, out of memory).
    """
    nvrtc = _binding()
    headers = headers or {}
    program = _checked(
        nvrtc.nvrtcCreateProgram(
            text.encode(),
            file_name.encode(),
            len(headers),
            [content.encode() for content in headers.values()],
            [name.encode() for name in headers],
        )
    )
    try:
        for expression in name_expressions:
            _checked(nvrtc.nvrtcAddNameExpression(program, expression.encode()))
        encoded = [option.encode() for option in options]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        if status not in (
            nvrtc.nvrtcResult.NVRTC_SUCCESS,
            nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION,
        ):
            detail = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
            raise InternalError(f"NVRTC failed with {status.name}: {detail.strip()}")
        log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return Compilation(ok=False, log=log, ptx="", lowered={})
        return Compilation(
            ok=True,
            log=log,
            ptx=_text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program),
            lowered={
                expression: _checked(
                    nvrtc.nvrtcGetLoweredName(program, expression.encode())
                ).decode()
                for expression in name_expressions
            },
        )
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def install_headers() -> Path | None:
    """The folder with the headers that NVRTC bundles, extracted at first use (26 MB, 0.3 s).

    They are cuda_fp16.h, mma.h, cooperative_groups.h, cub, libcu++ and their kin. NVRTC locks the
    folder, so processes may race here. None where the cache cannot be written: sources without
    such includes compile all the same.
    """
    directory = cache.root() / f"nvrtc-headers-{version()}"
    if (directory / ".nvrtc_headers_version").exists():
        return directory
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    nvrtc = _binding()
    status, _ = nvrtc.nvrtcInstallBundledHeaders(str(directory).encode(), 0)
    return directory if status == nvrtc.nvrtcResult.NVRTC_SUCCESS else None


@functools.cache
def _binding() -> Any:
    """The binding's module: 0.1 s to import, so only where something is compiled.

    The wheel's library is loaded first: the binding would look for it in the folders that `site`
    knows, and a sandboxed child runs without `site`.
    """
    from cuda.bindings import nvrtc

    for file in importlib.metadata.files(WHEEL) or ():
        if file.name.startswith("libnvrtc.so."):
            ctypes.CDLL(str(file.locate()), mode=ctypes.RTLD_GLOBAL)
    return nvrtc


def _checked(reply: tuple[Any, ...]) -> Any:
    """The value of a call of the binding, or InternalError with NVRTC's name for its status."""
    status, *values = reply
    if status != _binding().nvrtcResult.NVRTC_SUCCESS:
        raise InternalError(f"NVRTC failed with {status.name}")
    return values[0] if values else None


def _text(size_of: Any, fetch: Any, program: Any) -> str:
    """A text that NVRTC fills into a buffer of ours, less its closing NUL.

    The buffer is a bytearray: Python shares one object among all equal one-byte `bytes`, and an
    empty log is one byte, which NVRTC writes.
    """
    buffer = bytearray(_checked(size_of(program)))
    _checked(fetch(program, buffer))
    return buffer.rstrip(b"\0").decode(errors="replace")
