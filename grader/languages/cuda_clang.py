"""CUDA C by clang in CUDA mode, with headers of our own: for machines that have no NVRTC.

Clang comes inside the `ziglang` wheel. It compiles the device half only; LLVM (llvmlite) makes both
variants from what the front end gives. Registers are unknown: nothing assembles the code.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.languages import cuda_contract as contract_check
from grader.languages import metal_clang
from grader.languages.cuda_compilation import Compilation, Message, Source
from grader.languages.cuda_host_code import CONSTEXPR_OPTION
from grader.languages.cuda_includes import NVCC_OPTION, PRELUDE, host_headers
from grader.languages.metal_clang import PROCESSOR, PTX_VERSION
from grader.languages.metal_code import to_ptx
from grader.result import Diagnostic

NAME = "clang"
NAMES_HOST_CODE = False
UNAVAILABLE: tuple[str, ...] = (
    "cub/", "cuda/", "thrust/", "mma.h", "cuda_fp8", "cuda_fp6", "cuda_fp4", "cuda_pipeline",
    "cuda_awbarrier", "curand_", "cufftdx", "cublasdx", "nvshmem", "cutlass/", "cute/", "optix",
)  # fmt: skip

HEADERS = Path(__file__).with_name("cuda_headers")

_OPTIONS = (
    "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", f"--cuda-gpu-arch={PROCESSOR}",
    "--target=x86_64-unknown-linux-gnu",  # whose sizes and alignments the device code takes over
    "-std=c++17", "-O2", "-gline-tables-only",
)  # fmt: skip
_QUIET = (
    "-Xclang", "-target-feature", "-Xclang", f"+{PTX_VERSION}", "-nostdinc", "-nostdinc++",
    "-fno-exceptions", "-ferror-limit=0", "-fno-color-diagnostics", "-fdebug-compilation-dir=.",
    "-Wno-unknown-cuda-version", "-Wno-unused-value", "-Wno-pass-failed",
    "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", CONSTEXPR_OPTION, NVCC_OPTION,
)  # fmt: skip
_SYSTEM = "../system"
_ENTRY_PREFIX = "grade_entry_"
_HEAD = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): "
    r"(?P<severity>fatal error|error|warning|note): (?P<message>.*)$"
)
_NO_MATCH = re.compile(r"no matching function for call to '(\w+)'")
_HOST_CANDIDATE = re.compile(r"call to __host__ function from (__\w+__) function")
_MADE_FOR_ENTRY = re.compile(
    rf"^@{_ENTRY_PREFIX}(\d+) = [^\n]*\bconstant ptr @([\w$.]+)[^\n]*\n", re.MULTILINE
)
_MADE_FOR_CONSTANT = re.compile(
    rf"^@{contract_check.CONSTANT_PREFIX}(\w+) = [^\n]*\bconstant i64 (-?\d+)[^\n]*\n", re.MULTILINE
)
_KERNEL = re.compile(r"^define [^@\n]*\bptx_kernel [^@\n]*@([\w$.]+)\(", re.MULTILINE)
_VISIBLE = re.compile(r"^define (?!internal|linkonce|private)[^@\n]*@([\w$.]+)\(", re.MULTILINE)
_FILE = re.compile(r'^(\s*\.file\s+\d+ )"([^"]*)"(.*)$', re.MULTILINE)


def version() -> str:
    """The version of the wheel that clang comes in."""
    return metal_clang.version()


def options(optimised: bool) -> tuple[str, ...]:
    """The options of a variant: the unoptimised one differs in what LLVM does afterwards."""
    return _OPTIONS if optimised else (*_OPTIONS, "accesses kept")


def compile_text(source: Source, text: str, *, optimised: bool = True) -> Compilation:
    """Compile with clang; see `cuda_compilation.Compiler`."""
    entries = "".join(
        f'#line {number} "{contract_check.ENTRIES}"\n{_entry(number, expression)}\n'
        for number, expression in enumerate(source.expressions, start=1)
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "source")
        place.mkdir()
        (place / source.file_name).write_text(text + "\n\n" + entries, encoding="utf-8")
        _lay_out(source, place, Path(folder, "system"))
        program = [str(metal_clang.compiler()), "clang"]
        done = subprocess.run(
            [
                *program,
                *_OPTIONS,
                *_QUIET,
                *_includes(),
                *source.definitions,
                source.file_name,
                "-o",
                "-",
            ],
            cwd=place,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    said = tuple(_messages(done.stderr.decode(errors="replace"), source))
    if done.returncode:
        return Compilation(False, said)
    code = done.stdout.decode()
    lowered = {
        source.expressions[int(number) - 1]: symbol
        for number, symbol in _MADE_FOR_ENTRY.findall(code)
    }
    constants = {name: int(value) for name, value in _MADE_FOR_CONSTANT.findall(code)}
    code = _MADE_FOR_CONSTANT.sub("", _MADE_FOR_ENTRY.sub("", code))
    kernels = _KERNEL.findall(code)
    strangers = [number for number, e in enumerate(source.expressions, 1)
                 if lowered.get(e) not in kernels]  # fmt: skip
    if strangers:
        return Compilation(False, (*said, *map(_not_a_kernel, strangers)))
    kept = [*kernels, *_VISIBLE.findall(code)] if source.relocatable else kernels
    ptx = _anonymous(to_ptx(code, kept, optimised=optimised))
    return Compilation(True, said, ptx, lowered, constants)


def is_host_code(message: Message) -> bool:
    """Clang compiles host functions too; they fail for want of the headers they use."""
    return True


def place(source: Source, message: Message) -> Diagnostic:
    """Clang's messages have their place."""
    return message.diagnostic


def _entry(number: int, expression: str) -> str:
    """A variable that holds the address of an entry: its initialiser is the symbol's name."""
    address = expression if expression.startswith("(") else f"(&{expression})"
    name = f"{_ENTRY_PREFIX}{number}"
    return (
        f'extern "C" {{ extern __device__ decltype({address}) const {name}; '
        f"__device__ decltype({address}) const {name} = {address}; }}"
    )


def _includes() -> Iterator[str]:
    yield from ("-I", ".", "-isystem", str(HEADERS), "-isystem", _SYSTEM)
    yield from ("-include", str(HEADERS / "cuda_prelude.h"), "-include", f"{_SYSTEM}/{PRELUDE}")


def _lay_out(source: Source, place: Path, system: Path) -> None:
    """Write the submission's headers beside the source and the stand-ins into a folder of theirs.

    A name that leads upwards needs no file: the header it means lies where the folder has it. One
    that no file can have here (too long, below another file) is left for clang to miss; the source
    itself lies there already, with what is added to it.
    """
    stand_ins = host_headers()
    for name, content in source.headers.items():
        parts = Path(name).parts
        if ".." in parts or Path(name).is_absolute() or name == source.file_name:
            continue
        ours = name == PRELUDE or stand_ins.get(name) == content
        folder = system if ours else place
        with contextlib.suppress(OSError):
            if not (HEADERS / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(content, encoding="utf-8")


def _messages(log: str, source: Source) -> Iterator[Message]:
    """Errors and warnings, each with the lines that belong to it; notes stay in the log."""
    block: list[str] = []
    head: re.Match[str] | None = None
    for line in [*log.splitlines(), "end:0:0: error: end"]:
        found = _HEAD.match(line)
        if found is None or found["severity"] == "note":
            if head and not line.startswith("In file included from"):
                block.append(line)
            continue
        if head:
            yield _message(head, block, source)
        head, block = found, [line]


def _message(head: re.Match[str], block: Sequence[str], source: Source) -> Message:
    file = head["file"].removeprefix("./").removeprefix(f"{_SYSTEM}/")
    line, column = int(head["line"]), int(head["column"])
    text = re.sub(r" \[-W[^\]]*\]$", "", head["message"])
    if file.startswith("<") and text.startswith("expected '}'"):
        # What the submission left open is missed where our text ends.
        file, line, column = source.file_name, source.original.count("\n") + 1, 1
    unmatched = _NO_MATCH.match(text)
    called = next((m for row in block if (m := _HOST_CANDIDATE.search(row))), None)
    if unmatched and called:
        text = f"reference to __host__ function '{unmatched[1]}' in {called[1]} function"
    return Message(
        Diagnostic(
            file=file,
            line=line,
            column=column,
            severity="warning" if head["severity"] == "warning" else "error",
            message=text,
        ),
        "",
        tuple(block),
    )


def _not_a_kernel(number: int) -> Message:
    said = Diagnostic(
        file=contract_check.ENTRIES,
        line=number,
        severity="error",
        message="not a __global__ function",
    )
    return Message(said, "", ())


def _anonymous(ptx: str) -> str:
    """The PTX with file names relative to the submission or to our headers."""

    def shorten(match: re.Match[str]) -> str:
        path = match[2].removeprefix("./").removeprefix(str(HEADERS)).removeprefix(f"{_SYSTEM}/")
        return f'{match[1]}"{path.lstrip("/")}"{match[3]}'

    return _FILE.sub(shorten, ptx)
