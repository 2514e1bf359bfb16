"""Builds a CUDA program: the host half by clang, the device half as every kernel is built."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader import __version__, cache, sandbox
from grader.errors import InternalError, NotGradableError
from grader.languages import Artefact, cuda_c, metal_clang
from grader.programs import symbols, toolchain
from grader.result import Build, Diagnostic

KIND = "programs"
LIMITS = sandbox.Limits(wall_seconds=120, cpu_seconds=120, processes=8)
_JOB = "grader.programs.host_build:build_job"
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Built:
    """A program that can run: its executable in the cache, its device half, its kernels."""

    executable: Path
    artefact: Artefact | None
    kernels: Mapping[str, str]
    texts: Mapping[str, str]
    name: str


def build(
    text: str,
    file_name: str,
    headers: Mapping[str, str],
    step: Callable[[str], None] = lambda text: None,
    *,
    harness: str = "",
    beside: Mapping[str, str] | None = None,
) -> tuple[tuple[Build, ...], Built | None]:
    """Both halves; None beside the builds where a compiler said no.

    `harness` is host code of ours with a `main()`, put behind the text; `beside` are C++ files of
    the program that are compiled for the host and linked.

    Raises NotGradableError where there is no compiler, or the program uses what is not served.
    """
    libraries = toolchain.libraries(step)
    step(f"building {file_name}")
    headers_folder = toolkit()
    request = {"text": text, "file_name": file_name, "headers": dict(headers)}
    request |= {"harness": harness, "beside": dict(beside or {})}
    key = cache.key(
        KIND,
        __version__,
        metal_clang.version(),
        _own_sources(),
        json.dumps(request, sort_keys=True),
    )
    found = _kept(key)
    if found is None:
        used = {"libraries": str(libraries), "runtime": str(toolchain.runtime_object())}
        found = _ask(request | used | {"toolkit": headers_folder}, libraries, headers_folder)
        _keep(key, found)
    header, _ = found
    diagnostics = tuple(Diagnostic.model_validate(d) for d in header["diagnostics"])
    host = Build(
        language="cuda-c", compiler="clang (host)", version=metal_clang.version(),
        ok=not any(d.severity == "error" for d in diagnostics), diagnostics=diagnostics,
        log="\n".join(d.message for d in diagnostics),
    )  # fmt: skip
    if not host.ok:
        return (host,), None
    kernels: dict[str, str] = header["kernels"]
    instances = tuple(sorted({name for name in kernels.values() if "<" in name}))
    builds: tuple[Build, ...] = (host,)
    artefact = None
    if kernels or "__global__" in text or "__device__" in text or "__constant__" in text:
        device, artefact = cuda_c.build(text, file_name, (), headers=headers, kernels=instances)
        builds = (host, *device)
        if artefact is None:
            return builds, None
    executable = cache.root() / KIND / f"{key}.run"
    return builds, Built(
        executable,
        artefact,
        kernels,
        {**headers, **(beside or {}), file_name: text},
        Path(file_name).stem,
    )


def symbols_of(built: Built) -> list[dict[str, Any]]:
    """For each variant the entry of every kernel that the host launches."""
    variants = built.artefact.variants if built.artefact else ()
    return [
        {
            symbol: found
            for symbol, name in built.kernels.items()
            if (found := symbols.entry(symbol, name, variant.entries)) is not None
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


def _kept(key: str) -> tuple[dict[str, Any], bytes] | None:
    data = cache.read(KIND, f"{key}.json")
    if data is None:
        return None
    header: dict[str, Any] = json.loads(data)
    if header["built"] and not (cache.root() / KIND / f"{key}.run").exists():
        return None
    return header, b""


def _keep(key: str, found: tuple[dict[str, Any], bytes]) -> None:
    header, program = found
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
) -> tuple[dict[str, Any], bytes]:
    program = metal_clang.compiler()
    assert program is not None, "toolchain.missing() was asked"
    reading: list[str | Path] = [program.parent, libraries, _HERE, *([toolkit] if toolkit else [])]
    reply = sandbox.call(_JOB, request, limits=LIMITS, read=reading)
    if reply.exit.cause == "refused":
        raise NotGradableError(f"no sandboxed process could be started: {reply.exit.detail}")
    if reply.header is None and reply.exit.cause == "exited":
        raise InternalError(f"the host build failed: {reply.error}")
    if reply.header is None:
        message = f"compiling was stopped ({reply.exit.detail or reply.exit.cause})"
        said = Diagnostic(file=request["file_name"], severity="error", message=message)
        return {"diagnostics": [said.model_dump()], "kernels": {}}, b""
    header = reply.header
    try:
        [Diagnostic.model_validate(d) for d in header["diagnostics"]]
        kernels = header["kernels"]
        if not all(isinstance(k, str) and isinstance(v, str) for k, v in kernels.items()):
            raise TypeError("kernels")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InternalError(f"the host build child sent a malformed reply: {error}") from None
    return header, reply.blobs[0] if reply.blobs else b""
