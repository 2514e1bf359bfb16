"""Metal: clang's NVPTX target with a metal_stdlib of our own, in a sandboxed child.

Clang works on hostile text, so it runs in a child that sees nothing but the text and our headers.
What comes back is validated here. Builds are kept by content.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader import __version__, cache
from grader.errors import InternalError, NotGradableError
from grader.languages import Artefact, Contract, build_child
from grader.languages.build_child import Heard, Reply
from grader.result import Build, Diagnostic

NAME = "metal"
SUFFIXES = (".metal",)

LIMITS = replace(build_child.LIMITS, processes=8)
_JOB = f"{__name__}:build_job"
_PROBE = "kernel void probe(device float* a, uint i [[thread_position_in_grid]]) { a[i] = 1; }"


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
    return build_child.kept(NAME, name, lambda: _ask(request))


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
        reply = Reply(builds=builds, artefact=artefact)
    except NotGradableError as error:
        reply = Reply(builds=(), artefact=None, not_gradable=error.message)
    return build_child.answer(reply, request["file_name"])


# ---- the parent --------------------------------------------------------------------------------


def _ask(request: dict[str, Any]) -> Heard:
    """What the child answers, and whether it ended by itself."""
    from grader import sandbox
    from grader.languages import metal_clang, metal_compile

    program = metal_clang.compiler()
    reading = [metal_clang.HEADERS, *([program.parent] if program else [])]
    library = cache.root() / NAME / f"library-{_library()}-{_installed()}"
    precompiled = metal_clang.precompile(library)
    if precompiled:
        reading.append(library)
    request = {**request, "precompiled": str(library) if precompiled else None}
    reply = sandbox.call(_JOB, request, limits=LIMITS, read=reading)

    def died(message: str) -> Build:
        said = Diagnostic(file=request["file_name"], severity="error", message=message)
        return Build(
            language=NAME,
            compiler=metal_compile.COMPILER,
            version=metal_clang.version(),
            ok=False,
            options=(*metal_clang.LANGUAGE_OPTIONS, *metal_clang.CODE_OPTIONS),
            diagnostics=(said,),
            seconds=reply.exit.wall_seconds,
        )

    return build_child.heard("the Metal build", reply, LIMITS, died)


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
