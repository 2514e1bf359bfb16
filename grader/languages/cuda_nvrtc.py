"""CUDA C by NVRTC: the options, the contract's name expressions, ptxas for registers."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence

from grader.languages import cuda_contract as contract_check
from grader.languages import nvrtc
from grader.languages.cuda_compilation import NOWHERE, RELOCATABLE, Compilation, Message, Source
from grader.languages.cuda_host_code import CONSTEXPR_OPTION, HOST_MESSAGES
from grader.languages.cuda_includes import NVCC_OPTION, PRELUDE
from grader.languages.nvrtc_log import messages, resources
from grader.mangling import function_name
from grader.result import Diagnostic

NAME = "nvrtc"
NAMES_HOST_CODE = True
UNAVAILABLE: tuple[str, ...] = (
    "curand_",
    "cufftdx",
    "cublasdx",
    "nvshmem",
    "cutlass/",
    "cute/",
    "optix",
)

# sm_80, not compute_80: ptxas then says registers and spills, and rejects bad inline PTX.
_OPTIMISED = ("-arch=sm_80", "-std=c++17", "-lineinfo", "--ptxas-options=-v")
UNOPTIMISED = ("-arch=compute_80", "-std=c++17", "-G")
WITHOUT_PTXAS = ("-arch=compute_80", "-std=c++17", "-lineinfo")
_SHARED = (
    "-D_CG_LIMIT_INCLUDED_DEPENDENCIES",  # cooperative_groups.h in 70 ms, not 1,450 ms
    "-frandom-seed=grade",  # names of internal symbols would differ between two builds
    CONSTEXPR_OPTION,
    NVCC_OPTION,
    f"--pre-include={PRELUDE}",
    "-fmax-errors=5000",  # a program's host code alone can make a hundred
)
# NVRTC searches the folder of the source for what it includes: one that does not exist.
_NO_FOLDER = "/no-such-folder"
_NAME_MAP = "__nv_name_map"
_FILE = re.compile(r'^(\s*\.file\s+\d+ )"([^"]*)"', re.MULTILINE)
_UNRESOLVED = re.compile(r"Unresolved extern function '(\w+)'")
_LOC = re.compile(r"^\s*\.loc\s+\d+ (\d+) \d+")


def version() -> str:
    """The version of the NVRTC wheel."""
    return nvrtc.version()


def options(optimised: bool) -> tuple[str, ...]:
    """The options of a variant."""
    return _OPTIMISED if optimised else UNOPTIMISED


def compile_text(source: Source, text: str, *, optimised: bool = True) -> Compilation:
    """Compile with NVRTC; see `cuda_compilation.Compiler`."""
    chosen = options(optimised)
    return _compile(source, text, (*chosen, RELOCATABLE) if source.relocatable else chosen)


def is_host_code(message: Message) -> bool:
    """NVRTC says in words that a definition belongs to the host."""
    return message.diagnostic.message.startswith(HOST_MESSAGES)


def place(source: Source, message: Message) -> Diagnostic:
    """A message of ptxas names a line of the PTX: made again, it says which source line that is."""
    diagnostic = message.diagnostic
    if diagnostic.file != "ptx":
        return diagnostic
    ptx = _compile(source, source.text, WITHOUT_PTXAS).ptx
    found: re.Match[str] | None = None
    for line in ptx.splitlines()[: diagnostic.line or 0]:
        found = _LOC.match(line) or found
    return diagnostic.model_copy(
        update={
            "file": source.file_name,
            "line": int(found[1]) if found else None,
            "message": _in_words(diagnostic.message),
        }
    )


def _in_words(message: str) -> str:
    """What ptxas says, in the source's words where it is about a function of another file."""
    if missing := _UNRESOLVED.match(message):
        name = function_name(missing[1])
        return (
            f"{name} {NOWHERE}: the device code of each file is compiled by itself (nvcc without "
            "-rdc=true). Define it in a header."
        )
    return f"in PTX: {message}"


def _compile(source: Source, text: str, chosen: Sequence[str]) -> Compilation:
    include = (f"-I{source.toolkit}", f"-I{source.toolkit}/cccl") if source.toolkit else ()
    with contextlib.chdir("/"):  # the working directory is part of the debug information
        done = nvrtc.compile_source(
            f'#line 1 "{source.file_name}"\n{text}',
            f"{_NO_FOLDER}/{source.file_name}",
            (*chosen, *_SHARED, *source.definitions, *include),
            headers=source.headers,
            name_expressions=source.expressions,
        )
    said = tuple(
        _from_contract(message, source)
        for message in messages(done.log, last_line=source.original.count("\n") + 1)
    )
    if not done.ok:
        return Compilation(False, said)
    ptx, constants = contract_check.take_constants(done.ptx)
    return Compilation(
        True, said, _anonymous(ptx, source), done.lowered, constants, resources(done.log)
    )


def _from_contract(message: Message, source: Source) -> Message:
    """What NVRTC says about a name expression concerns an entry: the one it quotes.

    NVRTC has no place for it, and repeats there what the contract's own line already says.
    """
    said = message.diagnostic
    if said.file != _NAME_MAP:
        return message
    quoted = re.search(r"(?s)non-__global__.*&\s*::\s*(\w+)", said.message)
    kernels = [contract.kernel for contract in source.contracts]
    line = kernels.index(quoted[1]) + 1 if quoted and quoted[1] in kernels else None
    update = {"file": contract_check.ENTRIES, "line": line}
    return Message(message.diagnostic.model_copy(update=update), message.number, message.lines)


def _anonymous(ptx: str, source: Source) -> str:
    """The PTX with file names relative to the submission or the toolkit."""

    def shorten(match: re.Match[str]) -> str:
        path = match[2].removeprefix(source.toolkit) if source.toolkit else match[2]
        return f'{match[1]}"{path.removeprefix("/")}"'

    return _FILE.sub(shorten, ptx)
