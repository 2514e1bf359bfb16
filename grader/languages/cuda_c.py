"""CUDA C: NVIDIA's own compiler, in a sandboxed child, from source to PTX.

The compiler works on hostile text, so it runs in a child that sees nothing but the text and the
toolkit's headers. What comes back is validated here. Builds are kept by content.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from grader import __version__, cache
from grader.errors import InternalError, NotGradableError
from grader.languages import Artefact, Contract
from grader.result import Build, Diagnostic, Record
from grader.sandbox.records import Exit, Limits

NAME = "cuda-c"
SUFFIXES = (".cu",)

LIMITS = Limits(wall_seconds=60, cpu_seconds=60)
_JOB = f"{__name__}:build_job"
_PROBE = 'extern "C" __global__ void probe(float* a) { a[threadIdx.x] = 1.0f; }'


class _Reply(Record):
    """What the child answers; the PTX texts travel beside it."""

    builds: tuple[Build, ...]
    artefact: Artefact | None
    unsupported: str = ""


@functools.cache
def missing() -> str | None:
    """Why CUDA C cannot be compiled here, or None after a kernel of ours really compiled."""
    try:
        from grader.languages import nvrtc

        compilation = nvrtc.compile_source(_PROBE, "probe.cu", ["-arch=compute_80"])
    except ImportError as error:
        return (
            f"NVIDIA's run-time compiler is not installed ({error}). It has wheels for Linux and "
            "Windows: pip install cuda-bindings nvidia-cuda-nvrtc"
        )
    except (InternalError, RuntimeError, OSError) as error:
        return f"NVIDIA's run-time compiler does not work here: {error}"
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
    Raises NotGradableError where there is no compiler, no child can be started, or the submission
    uses what is CUDA but not graded here.
    """
    try:
        from grader.languages import nvrtc

        version = nvrtc.version()
        toolkit = nvrtc.install_headers()
    except ImportError:
        raise NotGradableError(missing() or "CUDA C cannot be compiled here") from None
    request = {
        "text": text,
        "file_name": file_name,
        "contracts": [contract.model_dump() for contract in contracts],
        "headers": dict(headers or {}),
        "kernels": list(kernels),
    }
    name = cache.key(NAME, __version__, version, json.dumps(request, sort_keys=True))
    kept = cache.read(NAME, name)
    reply = _remembered(kept) if kept else None
    if reply is None:
        reply, ended_well = _ask({**request, "toolkit": toolkit and str(toolkit)})
        if ended_well:  # a child that was ended by a limit may do better next time
            cache.write(NAME, name, reply.model_dump_json().encode())
    if reply.unsupported:
        raise NotGradableError(reply.unsupported)
    return reply.builds, reply.artefact


# ---- the child ---------------------------------------------------------------------------------


def build_job(
    request: dict[str, Any], blobs: Sequence[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    """What the child does with the request of `build`; the PTX of each variant is a blob."""
    from grader.languages.cuda_compile import compile_submission
    from grader.languages.cuda_messages import UnsupportedError

    try:
        builds, artefact = compile_submission(
            request["text"],
            request["file_name"],
            [Contract.model_validate(contract) for contract in request["contracts"]],
            submission_headers=request["headers"],
            toolkit=request["toolkit"],
            kernels=request["kernels"],
        )
    except UnsupportedError as error:
        unsupported = _Reply(builds=(), artefact=None, unsupported=str(error))
        return unsupported.model_dump(mode="json"), []
    header = _Reply(builds=builds, artefact=artefact).model_dump(mode="json")
    variants = (header["artefact"] or {}).get("variants", ())
    return header, [variant.pop("ptx").encode() for variant in variants]


# ---- the parent --------------------------------------------------------------------------------


def _ask(request: dict[str, Any]) -> tuple[_Reply, bool]:
    """What the child answers, and whether it ended by itself."""
    from grader import sandbox

    toolkit = request["toolkit"]
    reply = sandbox.call(_JOB, request, limits=LIMITS, read=[toolkit] if toolkit else [])
    if reply.exit.cause == "refused":
        raise NotGradableError(f"no sandboxed process could be started: {reply.exit.detail}")
    if reply.exit.cause == "exited" and reply.header is None:
        raise InternalError(f"the CUDA C build failed: {reply.error}")
    if reply.header is None:
        return _Reply(builds=(_died(request["file_name"], reply.exit),), artefact=None), False
    header = reply.header
    try:
        variants = (header["artefact"] or {}).get("variants", ())
        for variant, ptx in zip(variants, reply.blobs, strict=True):
            variant["ptx"] = ptx.decode()
        return _Reply.model_validate(header), True
    except (ValidationError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InternalError(f"the CUDA C child sent a malformed reply: {error}") from None


def _died(file_name: str, ended: Exit) -> Build:
    """The build of a submission on which the compiler was ended, or ended itself."""
    from grader.languages import cuda_attempt, cuda_compile, nvrtc

    message = {
        "wall_timeout": f"compiling took more than {LIMITS.wall_seconds:.0f} s",
        "cpu_limit": f"compiling took more than {LIMITS.cpu_seconds:.0f} s of CPU time",
        "memory": "compiling took more memory than a build may have",
        "output_cap": "the compiler wrote more than a build may write",
    }.get(ended.cause, f"the compiler ended on this file ({ended.detail or ended.cause})")
    return Build(
        language=NAME,
        compiler=cuda_compile.COMPILER,
        version=nvrtc.version(),
        ok=False,
        options=cuda_attempt.OPTIMISED,
        diagnostics=(Diagnostic(file=file_name, severity="error", message=message),),
        seconds=ended.wall_seconds,
    )


def _remembered(data: bytes) -> _Reply | None:
    try:
        return _Reply.model_validate_json(data)
    except ValidationError:
        return None
