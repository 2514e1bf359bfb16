"""Compiles and links the host half of a CUDA program: what the sandboxed build child does.

clang in CUDA mode turns `<<<>>>` into calls of the runtime (runtime/host.c) and registers every
kernel; lld links with the libraries of toolchain.py. Nothing but clang and lld runs.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from grader.languages import metal_clang
from grader.programs import symbols, toolchain
from grader.programs.host_source import host_half
from grader.result import Diagnostic

HERE = Path(__file__).parent
HEADERS = HERE / "headers"
RUNTIME = HERE / "runtime"
HARNESS = "grade_harness.cu"
"""The name of the `main()` of ours behind a `solve` function."""

_CUDA = (
    "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib",
    "-Xclang", "-target-sdk-version=12.8", "-Xclang", "-fcuda-include-gpubinary",
    "-Xclang", "device-code", "-std=c++17", "-O1", "-g", "-gdwarf-4", "-fno-omit-frame-pointer",
    "-fno-optimize-sibling-calls", "-fPIE", "-w", "-ferror-limit=20", "-fno-color-diagnostics",
    "-fdebug-compilation-dir=.", "-D__CUDACC__", "-D__NVCC__", "-D__CUDACC_VER_MAJOR__=13",
    "-D__CUDACC_VER_MINOR__=0", "-pthread",
)  # fmt: skip
_C = ("-x", "c", "-std=gnu11", "-O2", "-fPIE", "-fno-omit-frame-pointer", "-w", "-D_GNU_SOURCE")
_HEAD = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): "
    r"(?P<severity>fatal error|error): (?P<message>.*)$"
)


def build_job(
    request: dict[str, Any], blobs: Sequence[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    """In the child: the program, the kernels it launches and what the compiler said."""
    file = request["file_name"]
    _lay_out({**request["headers"], file: request["text"]})
    if request["harness"]:
        _wrap(file, request["harness"])
    options = options_for(request["toolkit"])
    done = _clang([*options, "-S", "-emit-llvm", file, "-o", "host.ll"])
    if done.returncode:
        found = _messages(done.stderr, file)
        return {"diagnostics": [d.model_dump() for d in found], "kernels": {}}, []
    code = Path("host.ll").read_text(errors="replace")
    common = [f"--target={toolchain.target()}", *toolchain.include_options(), f"-I{RUNTIME}"]
    _checked(_clang([f"--target={toolchain.target()}", "-fPIE", "-c", "host.ll", "-o", "host.o"]))
    _checked(_clang([*_C, *common, "-c", str(RUNTIME / "host.c"), "-o", "runtime.o"]))
    objects = []
    for number, (name, text) in enumerate(request["beside"].items()):
        Path(name).write_text(text, encoding="utf-8")
        objects.append(f"beside{number}.o")
        done = _clang([*_beside(request["toolkit"]), "-c", name, "-o", objects[-1]])
        if done.returncode:
            found = _messages(done.stderr, name)
            return {"diagnostics": [d.model_dump() for d in found], "kernels": {}}, []
    said = _link(Path(request["libraries"]), objects)
    if said is not None:
        return {"diagnostics": [_link_message(said, file).model_dump()], "kernels": {}}, []
    header = {"diagnostics": [], "kernels": symbols.launched(code)}
    return header, [Path("program").read_bytes()]


def options_for(toolkit: str | None) -> list[str]:
    """clang's options for a host half; `toolkit` is the folder with the toolkit's headers."""
    system = [str(HEADERS), *([toolkit, f"{toolkit}/cccl"] if toolkit else [])]
    return [
        *_CUDA, f"--target={toolchain.target()}", "-iquote", ".", "-I.", f"-I{RUNTIME}",
        *(word for path in system for word in ("-isystem", path)),
        *toolchain.include_options(), "-include", "cuda_runtime.h",
    ]  # fmt: skip


def _beside(toolkit: str | None) -> list[str]:
    """Options for a C++ file of the program that holds no CUDA."""
    system = [str(HEADERS), *([toolkit] if toolkit else [])]
    return [
        "-x", "c++", "-std=c++17", "-O1", "-g", "-gdwarf-4", "-fno-omit-frame-pointer", "-fPIE",
        "-w", "-fno-color-diagnostics", "-fdebug-compilation-dir=.",
        f"--target={toolchain.target()}", "-I.",
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


def _lay_out(files: Mapping[str, str]) -> None:
    """Write the files; headers above the program's folder (`../`) lie above it here too."""
    above = max(PurePosixPath(name).parts.count("..") for name in files)
    if above:
        folder = Path(*["folder"] * above)
        folder.mkdir(parents=True)
        os.chdir(folder)
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(host_half(text), encoding="utf-8")
    Path("device-code").write_bytes(b"compiled elsewhere")


def _clang(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return _run(["clang", *arguments])


def _run(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(metal_clang.compiler()), *arguments],
        capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _checked(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        raise RuntimeError(f"the host runtime did not compile: {done.stderr[:2000]}")


def _link(libraries: Path, objects: Sequence[str]) -> str | None:
    """Link `program`; what the linker said where it failed."""
    order = (libraries / toolchain.ORDER).read_text().split()
    first = [name for name in order if name.endswith("crt1.o")]
    done = _run(
        ["ld.lld", "--entry", "_start", "-z", "stack-size=16777216", "--gc-sections",
         "--eh-frame-hdr", "-znow", "-pie", "-o", "program",
         "--dynamic-linker", (libraries / toolchain.LOADER).read_text(),
         *(str(libraries / name) for name in first), "host.o", "runtime.o", *objects, "--as-needed",
         *(str(libraries / name) for name in order if name not in first)]
    )  # fmt: skip
    return done.stderr if done.returncode else None


def _messages(log: str, file: str) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for line in log.splitlines():
        if match := _HEAD.match(line):
            name = match["file"].removeprefix("./")
            if name == HARNESS:
                found.append(_contract(match["message"], file))
                continue
            own = not Path(name).is_absolute()
            found.append(
                Diagnostic(
                    file=name if own else file,
                    line=int(match["line"]) if own else None,
                    column=int(match["column"]) if own else None,
                    severity="error",
                    message=match["message"]
                    if own
                    else f"in {Path(name).name}: {match['message']}",
                )
            )
    unique = list(dict.fromkeys(found))
    return unique or [Diagnostic(file=file, severity="error", message=log.strip()[-500:])]


def _contract(message: str, file: str) -> Diagnostic:
    """What the compiler says of our call of the student's function, in the contract's words."""
    expected = re.search(r"expected (void .*)$", message)
    if expected:
        given = re.search(r"std::is_same<void \(\*\)(\([^)]*\))", message)
        found = f", found {given[1]}" if given else ""
        message = f"expected {expected[1]}{found}"
    return Diagnostic(file=file, severity="error", message=message)


def _link_message(said: str, file: str) -> Diagnostic:
    undefined = re.findall(r"undefined symbol: (.+)", said)
    if "main" in undefined:
        message = "expected a function main(), found none: this is no whole program"
    elif undefined:
        names = ", ".join(dict.fromkeys(undefined[:3]))
        message = f"declared but defined nowhere: {names}"
    else:
        message = said.strip()[-500:]
    return Diagnostic(file=file, severity="error", message=message)
