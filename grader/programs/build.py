"""Builds a CUDA program: the host half by clang, the device half as every kernel is built."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader import __version__, cache, sandbox
from grader.errors import InternalError, NotGradableError
from grader.languages import Artefact, build_child, cuda_c, metal_clang
from grader.programs import device_build, symbols, toolchain
from grader.programs.unserved import SAYS
from grader.result import Build, Diagnostic

KIND = "programs"
LIMITS = replace(build_child.LIMITS, cpu_seconds=120, processes=8)
_JOB = "grader.programs.host_build:build_job"
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Unit:
    """One CUDA file of a program: its device half, and its kernels' C++ names by the host's symbol.

    A symbol of a file after the first has the file's number before it, `1:_Z3addPf`.
    """

    artefact: Artefact | None
    kernels: Mapping[str, str]


@dataclass(frozen=True)
class Built:
    """A program that can run: its executable in the cache, the device half of each CUDA file.

    `linked` says that the device code of all files is one module.
    """

    executable: Path
    units: tuple[Unit, ...]
    texts: Mapping[str, str]
    name: str
    linked: bool = False


def build(
    text: str,
    file_name: str,
    headers: Mapping[str, str],
    step: Callable[[str], None] = lambda text: None,
    *,
    harness: str = "",
    beside: Mapping[str, str] | None = None,
    defines: Sequence[str] = (),
) -> tuple[tuple[Build, ...], Built | None]:
    """Both halves; None beside the builds where a compiler said no.

    `harness` is host code of ours with a `main()`, put behind the text; `beside` are the program's
    other files: CUDA files (.cu), each a unit of its own as nvcc makes them, and C++ files.
    `defines` are what -D gives a compiler.

    Raises NotGradableError where there is no compiler, or the program uses what is not served.
    """
    libraries = toolchain.libraries(step)
    step(f"building {file_name}")
    headers_folder = toolkit()
    request = {"text": text, "file_name": file_name, "headers": dict(headers)}
    request |= {"harness": harness, "beside": dict(beside or {})}
    request["defines"] = list(defines)
    key = cache.key(
        KIND,
        __version__,
        metal_clang.version(),
        _own_sources(),
        json.dumps(request, sort_keys=True),
    )
    header = _kept(key)
    if header is None:
        used = {"libraries": str(libraries), "runtime": str(toolchain.runtime_object())}
        header, program = _ask(
            request | used | {"toolkit": headers_folder}, libraries, headers_folder
        )
        if program is not None:
            _keep(key, header, program)
    diagnostics = tuple(Diagnostic.model_validate(d) for d in header["diagnostics"])
    host = Build(
        language="cuda-c", compiler="clang (host)", version=metal_clang.version(),
        ok=not any(d.severity == "error" for d in diagnostics), diagnostics=diagnostics,
        log="\n".join(d.message for d in diagnostics),
    )  # fmt: skip
    if not host.ok:
        return (host,), None
    for lambda_place in filter(
        None, (symbols.lambda_of(n) for k in header["kernels"] for n in k.values())
    ):
        file, line, kernel = lambda_place
        raise NotGradableError(
            f"{file}:{line}: a lambda is given to the kernel {kernel}, which the virtual GPU does "
            "not serve (nvcc does with --extended-lambda)",
            "Write a struct with __device__ operator() and a member for each captured variable.",
        )
    files = cuda_files(file_name, text, beside or {})
    device = device_build.build(files, headers, header["kernels"], defines)
    if device.note:
        host = host.model_copy(update={"diagnostics": (*host.diagnostics, device.note)})
    builds = (host, *device.builds)
    if device.artefacts is None:
        return builds, None
    units = tuple(map(Unit, device.artefacts, header["kernels"]))
    executable = cache.root() / KIND / f"{key}.run"
    texts = {**headers, **(beside or {}), file_name: text}
    return builds, Built(executable, units, texts, Path(file_name).stem, device.linked)


def unserved(builds: Sequence[Build]) -> str | None:
    """Where a program does not build because it uses what is not served, which is no mistake."""
    for diagnostic in (d for build in builds for d in build.diagnostics):
        if diagnostic.severity == "error" and SAYS in diagnostic.message:
            return f"{diagnostic.file}:{diagnostic.line}: {diagnostic.message}"
    return None


def cuda_files(file_name: str, text: str, beside: Mapping[str, str]) -> dict[str, str]:
    """The CUDA files of a program in their order: each is one compilation."""
    return {file_name: text, **{k: v for k, v in beside.items() if k.endswith(".cu")}}


def symbols_of(unit: Unit) -> list[dict[str, str]]:
    """For each variant the entry of every kernel that the host launches."""
    variants = unit.artefact.variants if unit.artefact else ()
    return [
        {
            symbol: found
            for symbol, name in unit.kernels.items()
            if (found := symbols.entry(symbols.plain(symbol), name, variant.entries)) is not None
        }
        for variant in variants
    ]


def toolkit() -> str | None:
    """The folder with the headers that NVRTC brings; None without it."""
    if cuda_c.default_compiler() != "nvrtc":
        return None
    _, folder = cuda_c.toolchain("nvrtc")
    return str(folder) if folder else None


def _own_sources() -> str:
    files = sorted(p for p in _HERE.rglob("*") if p.suffix in (".h", ".c", ".py"))
    return cache.key(*(path.read_bytes() for path in files))


def _kept(key: str) -> dict[str, Any] | None:
    header = cache.read_json(KIND, f"{key}.json")
    if header is None:
        return None
    if header["built"] and not (cache.root() / KIND / f"{key}.run").exists():
        return None
    return header


def _keep(key: str, header: dict[str, Any], program: bytes) -> None:
    if program:
        cache.write(KIND, f"{key}.run", program)
        path = cache.root() / KIND / f"{key}.run"
        try:
            path.chmod(0o700)
        except OSError as error:
            raise NotGradableError(f"{path} cannot be written: {error.strerror}") from None
    cache.write(KIND, f"{key}.json", json.dumps(header | {"built": bool(program)}).encode())


def _ask(
    request: dict[str, Any], libraries: Path, toolkit: str | None
) -> tuple[dict[str, Any], bytes | None]:
    """What the child answers and the program, empty where it did not build; None for one that was
    ended by a limit, which may do better next time.
    """
    program = metal_clang.compiler()
    assert program is not None, "toolchain.missing() was asked"
    reading: list[str | Path] = [program.parent, libraries, _HERE, *([toolkit] if toolkit else [])]
    reply = sandbox.call(_JOB, request, limits=LIMITS, read=reading)
    if (why := build_child.stopped("the host build", reply, LIMITS)) is not None:
        said = Diagnostic(file=request["file_name"], severity="error", message=why)
        return {"diagnostics": [said.model_dump()], "kernels": []}, None
    header = reply.header or {}
    try:
        [Diagnostic.model_validate(d) for d in header["diagnostics"]]
        files = cuda_files(request["file_name"], request["text"], request["beside"])
        failed = any(d["severity"] == "error" for d in header["diagnostics"])
        if not failed and len(header["kernels"]) != len(files):
            raise TypeError("kernels")
        for kernels in header["kernels"]:
            if not all(isinstance(k, str) and isinstance(v, str) for k, v in kernels.items()):
                raise TypeError("kernels")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InternalError(f"the host build child sent a malformed reply: {error}") from None
    return header, reply.blobs[0] if reply.blobs else b""
