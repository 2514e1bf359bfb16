"""CUDA C: from source to PTX in a sandboxed child, by NVIDIA's own compiler or by clang.

The compiler works on hostile text, so it runs in a child that sees nothing but the text and the
toolkit's headers. What comes back is validated here. Builds are kept by content.

`nvrtc` is NVIDIA's run-time compiler; `clang`, with headers of ours, serves where there is none
(macOS) and wherever it is chosen. Metrics depend on the compiler, verdicts do not.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from grader import __version__, cache
from grader.errors import InternalError, NotGradableError, UsageError
from grader.languages import Artefact, Contract, build_child, metal_clang
from grader.languages.build_child import LIMITS, Heard, Reply
from grader.languages.cuda_compilation import Compiler
from grader.result import Build, Diagnostic

NAME = "cuda-c"
SUFFIXES = (".cu",)

COMPILERS = {
    "nvrtc": "grader.languages.cuda_nvrtc",
    "clang": "grader.languages.cuda_clang",
}
CLANG_HEADERS = Path(__file__).with_name("cuda_headers")
HOST_HEADERS = Path(__file__).with_name("cuda_host_headers")

NO_CLANG = "clang is not installed: pip install ziglang"
_JOB = f"{__name__}:build_job"
_PROBE = 'extern "C" __global__ void probe(float* a) { a[threadIdx.x] = 1.0f; }'


@functools.cache
def missing(compiler: str | None = None) -> str | None:
    """Why CUDA C cannot be compiled here, or None after a kernel of ours really compiled.

    Without a name it is the compiler that `build` takes then.
    """
    chosen = compiler or default_compiler()
    if chosen == "clang":
        return _clang_missing()
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


def default_compiler() -> str:
    """The compiler that is taken without being asked for: NVRTC where it is installed."""
    installed = importlib.util.find_spec("cuda") and importlib.util.find_spec("cuda.bindings")
    return "nvrtc" if installed else "clang"


def build(
    text: str,
    file_name: str,
    contracts: Sequence[Contract],
    *,
    headers: Mapping[str, str] | None = None,
    kernels: Sequence[str] = (),
    compiler: str | None = None,
    defines: Sequence[str] = (),
    relocatable: bool = False,
) -> tuple[tuple[Build, ...], Artefact | None]:
    """Compile a submission in a sandboxed child: optimised and unoptimised.

    `headers` are the submission's other files, by the name an include gives them. Without
    contracts every kernel of the file is an entry, and `kernels` names template instances.
    `compiler` is `nvrtc` or `clang`, `defines` what its -D is given. `relocatable` code may use
    what other files define (nvcc's -rdc=true) and is to be linked with theirs.
    Raises NotGradableError where there is no compiler, no child can be started, or the submission
    uses what is CUDA but not graded here.
    """
    chosen = compiler or default_compiler()
    version, toolkit = toolchain(chosen)
    request = {
        "compiler": chosen,
        "text": text,
        "file_name": file_name,
        "contracts": [contract.model_dump() for contract in contracts],
        "headers": dict(headers or {}),
        "kernels": list(kernels),
        "defines": list(defines),
        "relocatable": relocatable,
    }
    name = cache.key(NAME, __version__, version, _library(), json.dumps(request, sort_keys=True))
    asked = {**request, "toolkit": toolkit and str(toolkit)}
    return build_child.kept(NAME, name, lambda: _ask(asked))


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
            defines=request["defines"],
            relocatable=request["relocatable"],
            compiler=_module(request["compiler"]),
        )
        reply = Reply(builds=builds, artefact=artefact)
    except UnsupportedError as error:
        reply = Reply(builds=(), artefact=None, not_gradable=str(error))
    return build_child.answer(reply, request["file_name"])


# ---- the parent --------------------------------------------------------------------------------


def _ask(request: dict[str, Any]) -> Heard:
    """What the child answers, and whether it ended by itself."""
    from grader import sandbox

    reading = [request["toolkit"]] if request["toolkit"] else []
    limits = LIMITS
    if request["compiler"] == "clang":  # a program of its own, and what lies beside it
        program = metal_clang.compiler()
        reading += [HOST_HEADERS, *([program.parent] if program else [])]
        limits = replace(LIMITS, processes=8)
    reply = sandbox.call(_JOB, request, limits=limits, read=reading)

    def died(message: str) -> Build:
        compiler = _module(request["compiler"])
        said = Diagnostic(file=request["file_name"], severity="error", message=message)
        return Build(
            language=NAME,
            compiler=request["compiler"],
            version=compiler.version(),
            ok=False,
            options=compiler.options(True),
            diagnostics=(said,),
            seconds=reply.exit.wall_seconds,
        )

    return build_child.heard("the CUDA C build", reply, limits, died)


def _module(compiler: str) -> Compiler:
    """The module that drives a compiler. Raises UsageError for a name that is none."""
    if compiler not in COMPILERS:
        raise UsageError(f"expected a compiler of {', '.join(COMPILERS)}; found {compiler!r}")
    return cast(Compiler, importlib.import_module(COMPILERS[compiler]))


def toolchain(compiler: str) -> tuple[str, Path | None]:
    """The compiler's version and the folder of its headers. Raises NotGradableError."""
    module = _module(compiler)
    try:
        if compiler == "nvrtc":
            from grader.languages import nvrtc

            return module.version(), nvrtc.install_headers()
    except ImportError:
        raise NotGradableError(missing(compiler) or "NVRTC does not work here") from None
    if metal_clang.compiler() is None:
        raise NotGradableError(NO_CLANG)
    return module.version(), CLANG_HEADERS


def _clang_missing() -> str | None:
    if metal_clang.compiler() is None:
        return NO_CLANG
    try:
        builds, artefact = build(_PROBE, "probe.cu", (), compiler="clang")
    except (InternalError, NotGradableError) as error:
        return f"clang does not work here: {error}"
    said = next((d.message for b in builds for d in b.diagnostics), "no reason given")
    return None if artefact else f"clang rejects a trivial kernel: {said}"


@functools.cache
def _library() -> str:
    """A digest of our headers and of the code that drives the compilers: they decide a build."""
    here = Path(__file__).parent
    found = [*CLANG_HEADERS.rglob("*"), *HOST_HEADERS.rglob("*"), *here.glob("*.py")]
    files = sorted(path for path in found if path.is_file())
    return cache.key(*(data for path in files for data in (path.name, path.read_bytes())))
