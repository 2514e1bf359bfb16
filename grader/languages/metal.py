"""Metal: clang's NVPTX target with a metal_stdlib of our own, in a sandboxed child.

Clang works on hostile text, so it runs in a child that sees nothing but the text and our headers.
What comes back is validated here. Builds are kept by content.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from grader import __version__, cache
from grader.errors import InternalError, NotGradableError
from grader.languages import Artefact, Contract, bounded
from grader.result import Build, Diagnostic, Record
from grader.sandbox.records import Exit, Limits

NAME = "metal"
SUFFIXES = (".metal",)

LIMITS = Limits(wall_seconds=60, cpu_seconds=60, processes=8)
_JOB = f"{__name__}:build_job"
_PROBE = "kernel void probe(device float* a, uint i [[thread_position_in_grid]]) { a[i] = 1; }"


class _Reply(Record):
    """What the child answers; the PTX texts travel beside it."""

    builds: tuple[Build, ...]
    artefact: Artefact | None
    not_gradable: str = ""


@functools.cache
def missing() -> str | None:
    """Why Metal cannot be compiled here, or None after a kernel of ours really compiled."""
    from grader.languages import metal_clang

    if metal_clang.compiler() is None:
        return "clang is not installed: pip install ziglang"
    try:
        builds, artefact = build("#include <metal_stdlib>\n" + _PROBE, "probe.metal", ())
    except (InternalError, NotGradableError) as error:
        return f"clang does not work here: {error}"
    if artefact is None:
        said = next((d.message for b in builds for d in b.diagnostics), "no reason given")
        return f"clang rejects a trivial kernel: {said}"
    return None


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
    contracts every kernel of the file is an entry, or those that `kernels` names. Raises
    NotGradableError where there is no compiler, no child can be started, or the text uses what no
    device here has.
    """
    from grader.languages import metal_clang

    if metal_clang.compiler() is None:
        raise NotGradableError("clang is not installed", "Install it: pip install ziglang")
    request = {
        "text": text,
        "file_name": file_name,
        "contracts": [contract.model_dump() for contract in contracts],
        "headers": dict(headers or {}),
        "kernels": list(kernels),
    }
    name = cache.key(
        NAME, __version__, metal_clang.version(), _library(), json.dumps(request, sort_keys=True)
    )
    kept = cache.read(NAME, name)
    reply = _remembered(kept) if kept else None
    if reply is None:
        reply, ended_well = _ask(request)
        if ended_well:  # a child that was ended by a limit may do better next time
            cache.write(NAME, name, reply.model_dump_json().encode())
    if reply.not_gradable:
        raise NotGradableError(reply.not_gradable)
    return reply.builds, reply.artefact


# ---- the child ---------------------------------------------------------------------------------


def build_job(
    request: dict[str, Any], blobs: Sequence[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    """What the child does with the request of `build`; the PTX of each variant is a blob."""
    from grader.languages.metal_compile import compile_submission

    try:
        builds, artefact = compile_submission(
            request["text"],
            request["file_name"],
            [Contract.model_validate(contract) for contract in request["contracts"]],
            headers=request["headers"],
            kernels=request["kernels"],
            precompiled=request["precompiled"],
        )
        builds, artefact = bounded(builds, artefact, request["file_name"])
        reply = _Reply(builds=builds, artefact=artefact)
    except NotGradableError as error:
        reply = _Reply(builds=(), artefact=None, not_gradable=error.message)
    header = reply.model_dump(mode="json")
    variants = (header["artefact"] or {}).get("variants", ())
    return header, [variant.pop("ptx").encode() for variant in variants]


# ---- the parent --------------------------------------------------------------------------------


def _ask(request: dict[str, Any]) -> tuple[_Reply, bool]:
    """What the child answers, and whether it ended by itself."""
    from grader import sandbox
    from grader.languages import metal_clang

    program = metal_clang.compiler()
    reading = [metal_clang.HEADERS, *([program.parent] if program else [])]
    library = cache.root() / NAME / f"library-{_library()}-{_installed()}"
    precompiled = metal_clang.precompile(library)
    if precompiled:
        reading.append(library)
    request = {**request, "precompiled": str(library) if precompiled else None}
    reply = sandbox.call(_JOB, request, limits=LIMITS, read=reading)
    if reply.exit.cause == "refused":
        raise NotGradableError(f"no sandboxed process could be started: {reply.exit.detail}")
    if reply.exit.cause == "exited" and reply.header is None:
        raise InternalError(f"the Metal build failed: {reply.error}")
    if reply.header is None:
        return _Reply(builds=(_died(request["file_name"], reply.exit),), artefact=None), False
    header = reply.header
    try:
        variants = (header["artefact"] or {}).get("variants", ())
        for variant, ptx in zip(variants, reply.blobs, strict=True):
            variant["ptx"] = ptx.decode()
        return _Reply.model_validate(header), True
    except (ValidationError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InternalError(f"the Metal child sent a malformed reply: {error}") from None


def _died(file_name: str, ended: Exit) -> Build:
    """The build of a submission on which the compiler was ended, or ended itself."""
    from grader.languages import metal_clang, metal_compile

    message = {
        "wall_timeout": f"compiling took more than {LIMITS.wall_seconds:.0f} s",
        "cpu_limit": f"compiling took more than {LIMITS.cpu_seconds:.0f} s of CPU time",
        "memory": "compiling took more memory than a build may have",
        "output_cap": "the compiler wrote more than a build may write",
    }.get(ended.cause, f"the compiler ended on this file ({ended.detail or ended.cause})")
    return Build(
        language=NAME,
        compiler=metal_compile.COMPILER,
        version=metal_clang.version(),
        ok=False,
        options=(*metal_clang.LANGUAGE_OPTIONS, *metal_clang.CODE_OPTIONS),
        log="",
        diagnostics=(Diagnostic(file=file_name, severity="error", message=message),),
        seconds=ended.wall_seconds,
    )


@functools.cache
def _library() -> str:
    """A digest of our headers and of the code that drives the compiler: they decide a build."""
    from grader.languages import metal_clang

    here = Path(__file__).parent
    files = sorted([*metal_clang.HEADERS.rglob("*"), *here.glob("metal*.py")])
    files = [path for path in files if path.is_file()]
    place = [metal_clang.version(), str(metal_clang.HEADERS)]
    return cache.key(*place, *(data for path in files for data in (path.name, path.read_bytes())))


def _installed() -> str:
    """A digest of our headers' times: clang knows a header it has parsed before by its time.

    Beside headers that were installed anew, the same to the byte, it would parse all of them again.
    """
    from grader.languages import metal_clang

    files = sorted(path for path in metal_clang.HEADERS.rglob("*") if path.is_file())
    return cache.key(*(str(path.stat().st_mtime_ns) for path in files))[:16]


def _remembered(data: bytes) -> _Reply | None:
    try:
        return _Reply.model_validate_json(data)
    except ValidationError:
        return None
