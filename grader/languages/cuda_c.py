"""CUDA C: NVIDIA's own compiler, in a sandboxed child, from source to PTX."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from grader.errors import InternalError, NotGradableError
from grader.languages import Artefact, Contract
from grader.languages.cuda_compile import LANGUAGE as NAME
from grader.languages.cuda_compile import compile_submission
from grader.result import Build

SUFFIXES = (".cu",)

_JOB = f"{__name__}:build_job"
_PROBE = 'extern "C" __global__ void probe(float* a) { a[threadIdx.x] = 1.0f; }'

__all__ = ["NAME", "SUFFIXES", "build", "build_job", "missing"]


@functools.cache
def missing() -> str | None:
    """Why CUDA C cannot be compiled here, or None after a kernel of ours really compiled."""
    try:
        from grader.languages import nvrtc

        compilation = nvrtc.compile_source(_PROBE, "probe.cu", ["-arch=compute_80"])
    except ImportError as error:
        return f"NVRTC's binding is not installed ({error}): pip install cuda-bindings"
    except (InternalError, RuntimeError, OSError) as error:
        return f"NVRTC does not work here: {error}"
    return None if compilation.ok else f"NVRTC rejects a trivial kernel: {compilation.log}"


def build(
    text: str,
    file_name: str,
    contracts: Sequence[Contract],
    *,
    headers: Mapping[str, str] | None = None,
    kernels: Sequence[str] = (),
) -> tuple[tuple[Build, ...], Artefact | None]:
    """Compile a submission in a sandboxed child: optimised and unoptimised.

    `headers` are the submission's other files, by the name an include gives them. Without
    contracts every kernel of the file is an entry, and `kernels` names template instances.
    Raises NotGradableError where the compiler is missing, InternalError where the child died.
    """
    from grader import sandbox

    toolkit = _toolkit()
    request = {
        "text": text,
        "file_name": file_name,
        "contracts": [contract.model_dump() for contract in contracts],
        "headers": dict(headers or {}),
        "kernels": list(kernels),
        "toolkit": toolkit,
    }
    reply = sandbox.call(_JOB, request, read=[toolkit] if toolkit else [])
    if reply.header is None:
        raise InternalError(f"the CUDA C build ended early: {reply.exit.cause} {reply.error}")
    builds = tuple(Build.model_validate(build) for build in reply.header["builds"])
    if reply.header["artefact"] is None:
        return builds, None
    artefact = reply.header["artefact"]
    for variant, ptx in zip(artefact["variants"], reply.blobs, strict=True):
        variant["ptx"] = ptx.decode()
    return builds, Artefact.model_validate(artefact)


def build_job(
    request: dict[str, Any], blobs: Sequence[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    """What the child does with the request of `build`; the PTX of each variant is a blob."""
    builds, artefact = compile_submission(
        request["text"],
        request["file_name"],
        [Contract.model_validate(contract) for contract in request["contracts"]],
        submission_headers=request["headers"],
        toolkit=request["toolkit"],
        kernels=request["kernels"],
    )
    reply: dict[str, Any] = {
        "builds": [build.model_dump(mode="json") for build in builds],
        "artefact": None,
    }
    if artefact is None:
        return reply, []
    reply["artefact"] = artefact.model_dump(mode="json", exclude={"variants": {"__all__": {"ptx"}}})
    return reply, [variant.ptx.encode() for variant in artefact.variants]


def _toolkit() -> str | None:
    """The folder with the headers NVRTC bundles, installed at first use; None if it cannot be."""
    from grader.languages import nvrtc

    try:
        return str(nvrtc.install_headers())
    except ImportError as error:
        raise NotGradableError(
            f"CUDA C cannot be compiled here: {error}", "pip install cuda-bindings"
        ) from error
    except OSError:
        return None
