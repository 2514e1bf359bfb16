"""From clang's intermediate language to PTX, twice: optimised, and with every access kept.

Runs LLVM (llvmlite) on what the front end made of the text. Metal's `constant` space is a type
only: the host's bytes reach a kernel as a value and constant tables lie in global memory, so its
pointers become generic ones here, after the front end judged them.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any

from grader.languages.metal_clang import PROCESSOR, PTX_VERSION, TARGET
from grader.languages.metal_source import Edits
from grader.languages.metal_wrapper import CONSTANT_PREFIX

_CONSTANT_SPACE = " addrspace(4)"
_CAST = re.compile(r"addrspacecast (\(?)ptr")
_CONSTANT = re.compile(
    rf"^@{CONSTANT_PREFIX}(\w+) = [^\n]*\bconstant i64 (-?\d+)[^\n]*\n", re.MULTILINE
)
_ENTRY = re.compile(r"^define [^@\n]*ptx_kernel [^@\n]*@([\w$.]+)\([^\n]*\)", re.MULTILINE)
_MASK = re.compile(r"= sext(?= <\d+ x i1>)")
_CHOICE = re.compile(
    r"(?P<name>%\S+) = icmp slt(?= <\d+ x i\d+> \S+, zeroinitializer[^\n]*\n"
    r"\s*%\S+ = select <\d+ x i1> (?P=name),)"
)
_LOC = re.compile(r"^(\s*\.loc\s+)(\d+) (\d+) (\d+)(.*)$", re.MULTILINE)
_FILE = re.compile(r'^(\s*\.file\s+(\d+) )"([^"]*)"(.*)\n', re.MULTILINE)


def take_constants(code: str) -> tuple[str, dict[str, int]]:
    """The code without the constants that `wrapper_text` asks for, and their values."""
    values = {name: int(value) for name, value in _CONSTANT.findall(code)}
    code = _CONSTANT.sub("", code)
    return re.sub(r"^@llvm\.(?:compiler\.)?used = [^\n]*\n", "", code, flags=re.MULTILINE), values


def generic_constants(code: str) -> str:
    """`code` with constant memory as generic memory.

    A cast between the two, which then goes from `ptr` to `ptr`, becomes a bitcast.
    """
    code = code.replace(_CONSTANT_SPACE, "")

    def settle(match: re.Match[str]) -> str:
        return f"bitcast {match[1]}ptr" if _same_space(code, match.end()) else match[0]

    return _CAST.sub(settle, code)


def true_is_one(code: str) -> str:
    """`code` with comparisons of vectors as Metal's bool vectors: true is 1, where clang has -1.

    Clang's `mask ? a : b` asks for the sign, which then says nothing.
    """
    code = _CHOICE.sub(r"\g<name> = icmp ne", code)
    return _MASK.sub("= zext", code)


def _same_space(code: str, offset: int) -> bool:
    """Whether the cast whose operand's `ptr` ends at `offset` goes from generic to generic."""
    if code.startswith(" addrspace(", offset):
        return False
    depth = 0
    for i in range(offset, len(code)):
        if code[i] == "(":
            depth += 1
        elif code[i] == ")":
            depth -= 1
        elif depth == 0 and code.startswith(" to ptr", i):
            return not code.startswith(" addrspace(", i + len(" to ptr"))
        elif code[i] == "\n":
            break
    return False


def limit_threads(code: str, limits: Mapping[str, int]) -> str:
    """Entries with `[[max_total_threads_per_threadgroup(n)]]` say so."""

    def add(match: re.Match[str]) -> str:
        limit = limits.get(match[1])
        return match[0] + (f' "nvvm.maxntid"="{limit}"' if limit else "")

    return _ENTRY.sub(add, code)


def to_ptx(code: str, entries: Sequence[str], *, optimised: bool) -> str:
    """PTX of `code` with the functions that `entries` reach.

    Unoptimised code keeps every access to device and threadgroup memory at its line and column;
    only locals move into registers and constant branches are folded.
    """
    llvm = _llvm()
    module = llvm.parse_assembly(code)
    for function in module.functions:
        if not function.is_declaration and function.name not in entries:
            function.linkage = "internal"
    machine = llvm.Target.from_triple(TARGET).create_target_machine(
        cpu=PROCESSOR, features=f"+{PTX_VERSION}", opt=2 if optimised else 0
    )
    tuning = llvm.create_pipeline_tuning_options(speed_level=2 if optimised else 0)
    # A GPU's lanes are its vectors. The vectoriser found none here, and died on bfloat loops.
    tuning.loop_vectorization = False
    builder = llvm.create_pass_builder(machine, tuning)
    if optimised:
        passes = builder.getModulePassManager()
    else:
        passes = llvm.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
        passes.add_sroa_pass()
        passes.add_sccp_pass()
        passes.add_simplify_cfg_pass()
        passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)
    text: str = machine.emit_assembly(module)
    return text


def settle_places(ptx: str, edits: Mapping[str, Edits], library: str) -> str:
    """`ptx` with file names relative to the submission and columns of the student's text.

    A file that the compiler met by two names (`./a.h`, by its include, and `a.h`, by our entry) has
    one number: the kernel's own lines are those of the entry's file.
    """
    found = {m[2]: m[3].removeprefix("./").removeprefix(library) for m in _FILE.finditer(ptx)}
    names = {number: posixpath.normpath(name.lstrip("/")) for number, name in found.items()}
    first = {name: number for number, name in reversed(names.items())}

    def shorten(match: re.Match[str]) -> str:
        name = names[match[2]]
        return f'{match[1]}"{name}"{match[4]}\n' if first[name] == match[2] else ""

    def move(match: re.Match[str]) -> str:
        name = names.get(match[2], "")
        number = first.get(name, match[2])
        column = int(match[4])
        if name in edits:
            column = edits[name].column(int(match[3]), column)
        return f"{match[1]}{number} {match[3]} {column}{match[5]}"

    return _LOC.sub(move, _FILE.sub(shorten, ptx))


@functools.cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm
