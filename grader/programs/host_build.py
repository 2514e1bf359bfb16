"""Compiles and links the host half of a CUDA program: what the sandboxed build child does.

clang in CUDA mode turns `<<<>>>` into calls of the runtime (runtime/host.c) and registers every
kernel; lld links with the libraries of toolchain.py. Nothing but clang and lld runs.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from grader.languages import metal_clang
from grader.programs import host_messages, symbols, toolchain, unserved
from grader.programs.host_messages import HARNESS
from grader.programs.host_source import host_halves
from grader.result import Diagnostic

HERE = Path(__file__).parent
HEADERS = HERE / "headers"
RUNTIME = HERE / "runtime"

_AS_WRITTEN = (
    "-O1", "-fwrapv", "-fno-strict-aliasing", "-fno-delete-null-pointer-checks",
    "-fno-finite-loops", "-Xclang", "-fno-strict-return",
)  # fmt: skip
"""Quick, but host code that overflows, looks at bytes under another type, uses a null pointer,
waits for ever or forgets to return does what it does under nvcc, whose host compiler is not asked
to optimise."""

_CUDA = (
    "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib",
    "-Xclang", "-target-sdk-version=12.8", "-Xclang", "-fcuda-include-gpubinary",
    "-Xclang", "device-code", "-std=c++17", *_AS_WRITTEN, "-g", "-gdwarf-4",
    "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fPIE", "-Wno-everything",
    "-Wdeprecated-declarations", "-ferror-limit=20", "-fno-color-diagnostics",
    "-fno-diagnostics-show-option",
    "-fdebug-compilation-dir=.", "-D__CUDACC__", "-D__NVCC__", "-D__CUDACC_VER_MAJOR__=13",
    "-D__CUDACC_VER_MINOR__=0", "-pthread",
)  # fmt: skip


def build_job(
    request: dict[str, Any], blobs: Sequence[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    """In the child: the program, the kernels it launches and what the compiler said."""
    file, beside = request["file_name"], request["beside"]
    files = {file: request["text"], **{k: v for k, v in beside.items() if k.endswith(".cu")}}
    _lay_out({**request["headers"], **files}, beside)
    if request["harness"]:
        _wrap(file, request["harness"])
    said: list[Diagnostic] = []
    kernels: list[dict[str, str]] = []
    given = [f"-D{definition}" for definition in request["defines"]]
    codes = []
    for number, name in enumerate(files):
        # What stands for the device code tells the runtime which file a kernel is of.
        Path("device-code").write_text(f"{number} compiled elsewhere")
        source = ["-S", "-emit-llvm", name, "-o", "host.ll"]
        done = _clang([*options_for(request["toolkit"]), *given, f"-I{Path(name).parent}", *source])
        if done.returncode:
            return _answer(host_messages.failed(done.stderr, name))
        said += host_messages.of_clang(done.stderr, name)
        codes.append(Path("host.ll").read_text(errors="replace"))
        found = symbols.launched(codes[-1])
        kernels.append({f"{number}:{k}": v for k, v in found.items()} if number else found)
    objects = []
    for number, code in enumerate(symbols.share_variables(codes)):
        Path("host.ll").write_text(code)
        objects.append(f"host{number}.o")
        assembled = ["-fPIE", "-c", "host.ll", "-o", objects[-1]]
        _checked(_clang([f"--target={toolchain.target()}", *assembled]))
    for number, (name, text) in enumerate(beside.items()):
        if name in files:
            continue
        _write(name, text)
        objects.append(f"beside{number}.o")
        done = _clang([*_beside(request["toolkit"]), *given, "-c", name, "-o", objects[-1]])
        if done.returncode:
            return _answer(host_messages.failed(done.stderr, name))
    unlinked = _link(Path(request["libraries"]), request["runtime"], objects)
    if unlinked is not None:
        return _answer([host_messages.of_linker(unlinked, file)])
    header, _ = _answer(said)
    return header | {"kernels": kernels}, [Path("program").read_bytes()]


def _answer(said: Sequence[Diagnostic]) -> tuple[dict[str, Any], list[bytes]]:
    return {"diagnostics": [d.model_dump(mode="json") for d in said], "kernels": []}, []


def options_for(toolkit: str | None) -> list[str]:
    """clang's options for a host half; `toolkit` is the folder with the toolkit's headers."""
    system = [unserved.FOLDER, str(HEADERS)]
    system += [toolkit, f"{toolkit}/cccl"] if toolkit else []
    return [
        *_CUDA, f"--target={toolchain.target()}", "-iquote", ".", "-I.", f"-I{RUNTIME}",
        *(word for path in system for word in ("-isystem", path)),
        *toolchain.include_options(), "-include", "cuda_runtime.h",
    ]  # fmt: skip


def _beside(toolkit: str | None) -> list[str]:
    """Options for a C++ file of the program: host code, which may call the runtime."""
    system = [unserved.FOLDER, str(HEADERS), str(RUNTIME), *([toolkit] if toolkit else [])]
    return [
        "-x", "c++", "-std=c++17", *_AS_WRITTEN, "-g", "-gdwarf-4",
        "-fno-omit-frame-pointer", "-fPIE", "-w", "-fno-color-diagnostics",
        "-fdebug-compilation-dir=.", f"--target={toolchain.target()}", "-I.",
        *toolchain.include_options(), *(word for path in system for word in ("-idirafter", path)),
    ]  # fmt: skip


def _wrap(file: str, harness: str) -> None:
    """The student's text with a `main()` of ours; one of their own is left aside."""
    path = Path(file)
    text = path.read_text(encoding="utf-8")
    path.write_text(
        f'#define main grade_main_of_the_file\n#line 1 "{file}"\n{text}\n#undef main\n'
        f'#line 1 "{HARNESS}"\n{harness}',
        encoding="utf-8",
    )


def _lay_out(files: Mapping[str, str], beside: Mapping[str, str]) -> None:
    """Write the CUDA files and headers; what lies above the program's folder (`../`) lies above it
    here too, and so will the files `beside`."""
    above = max(PurePosixPath(name).parts.count("..") for name in (*files, *beside))
    if above:
        folder = Path(*["folder"] * above)
        folder.mkdir(parents=True)
        os.chdir(folder)
    for name, text in host_halves(files).items():
        _write(name, text)
    every = {**files, **beside}
    for name, text in unserved.stand_ins(every.values(), every).items():
        _write(f"{unserved.FOLDER}/{name}", text)


def _write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _clang(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return _run(["clang", *arguments])


def _run(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(metal_clang.compiler()), *arguments],
        capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _checked(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        raise RuntimeError(f"the host half was not assembled: {done.stderr[:2000]}")


def _link(libraries: Path, runtime: str, objects: Sequence[str]) -> str | None:
    """Link `program`; what the linker said where it failed."""
    order = (libraries / toolchain.ORDER).read_text().split()
    first = [name for name in order if name.endswith("crt1.o")]
    done = _run(
        ["ld.lld", "--entry", "_start", "-z", "stack-size=16777216", "--gc-sections",
         "--eh-frame-hdr", "-znow", "-pie", "-o", "program",
         "--dynamic-linker", (libraries / toolchain.LOADER).read_text(),
         *(str(libraries / name) for name in first), runtime, *objects,
         "--as-needed",
         *(str(libraries / name) for name in order if name not in first)]
    )  # fmt: skip
    return done.stderr if done.returncode else None
