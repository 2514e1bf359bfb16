"""Native code: the C runtime and translated kernels, compiled once and kept by content.

`store` holds objects by key in this process; a parent fills it from its cache and passes objects
on to children, which never write a cache (`provide`, `take_fresh`).
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import platform
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader import cache
from grader.vgpu.program import Unsupported

ENGINE = "1"
SOURCES = ("math.c", "rounding.c", "formats.c", "tensor.c", "runtime/engine.c")
FLAGS = (
    "-c", "-O2", "-std=gnu11", "-ffreestanding", "-fno-math-errno", "-ffp-contract=off",
    "-march=native", "-fPIC",
)  # fmt: skip
HERE = Path(__file__).parent

store: dict[str, bytes] = {}
_fresh: dict[str, bytes] = {}


def provide(objects: dict[str, bytes]) -> None:
    """Objects another process made: looked up before anything is compiled."""
    store.update(objects)


def take_fresh() -> dict[str, bytes]:
    """Objects compiled in this process since the last call."""
    out = dict(_fresh)
    _fresh.clear()
    return out


def keep(key: str, data: bytes) -> None:
    """Remember an object made here."""
    store[key] = data
    _fresh[key] = data


def find(key: str) -> bytes | None:
    """An object by key, from this process or the user's cache."""
    if key not in store:
        data = cache.read("native", key)
        if data is None:
            return None
        store[key] = data
    return store[key]


@functools.cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@functools.cache
def host() -> str:
    """CPU and engine, as part of every key: code is made for one machine."""
    llvm = _llvm()
    features = llvm.get_host_cpu_features().flatten()
    text = f"{ENGINE} {llvm.llvm_version_info} {platform.machine()} {llvm.get_host_cpu_name()}"
    return hashlib.sha256(f"{text} {features}".encode()).hexdigest()


@functools.cache
def source_digest(suffixes: tuple[str, ...]) -> str:
    """Digest of the engine's own sources: a changed engine translates anew."""
    digest = hashlib.sha256()
    for path in sorted(HERE.rglob("*")):
        if path.suffix in suffixes:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def translator() -> str:
    """What decides the native code of a kernel besides its PTX."""
    return host() + source_digest((".py", ".h"))


_LINES = re.compile(
    r"^[ \t]*\.loc[ \t]+[\d \t]+(?:,[ \t]*function_name[ \t]+[\w$]+(?:[ \t]*\+[ \t]*\d+)?"
    r",[ \t]*inlined_at[ \t]+[\d \t]+)?\n"
    r'|^[ \t]*\.file[ \t]+\d+[ \t]+"[^"\n]*"\n',
    re.MULTILINE,
)
_SECTIONS = re.compile(
    r"^[ \t]*\.section[ \t]+\.debug_\w+[ \t]*\n?[ \t]*\{\n[\w$+\-.,: \t\n]*\}[ \t]*\n",
    re.MULTILINE,
)
"""What PTX says of its source in whole lines of their own; anything odd stays in the text."""


def code_only(ptx: str) -> str:
    """PTX without lines, files and debug sections: what is left decides the native code.

    Where names and comments alone differ, two students' kernels are one. Debug sections stay
    beside local memory: they say where each array in it lies.
    """
    left = _LINES.sub("", ptx)
    return left if ".local" in left else _SECTIONS.sub("", left)


def digest(ptx: str) -> str:
    """SHA-256 of what decides the native code of a PTX text."""
    return hashlib.sha256(code_only(ptx).encode()).hexdigest()


def digest_of_linked(texts: Sequence[str]) -> str:
    """The same of PTX texts that are linked in this order."""
    return hashlib.sha256(" ".join(("linked", *map(digest, texts))).encode()).hexdigest()


def key(digest: str, kernel: str, shadow: bool) -> str:
    """Under which the native code of a kernel is kept; `digest` is that of its PTX."""
    return hashlib.sha256(f"{translator()} {digest} {kernel} {shadow}".encode()).hexdigest()


def compiler() -> Path:
    """The zig binary of the ziglang wheel, whose `clang` subcommand is bare clang."""
    import ziglang

    return Path(ziglang.__file__).parent / "zig"


@functools.cache
def runtime_objects() -> tuple[bytes, ...]:
    """The C runtime as object code, compiled at first use."""
    out = []
    for name, key in zip(SOURCES, runtime_keys(), strict=True):
        data = find(key)
        if data is None:
            data = _compile(HERE / name)
            keep(key, data)
            cache.write("native", key, data)
        out.append(data)
    return tuple(out)


def runtime_keys() -> tuple[str, ...]:
    """Keys of the runtime's objects in `store`."""
    made_from = f"{host()}{source_digest(('.c', '.h'))}{FLAGS}"
    return tuple(hashlib.sha256(f"{made_from} {name}".encode()).hexdigest() for name in SOURCES)


def _compile(source: Path) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.o"
        command = [str(compiler()), "clang", *FLAGS, str(source), "-o", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"the engine's runtime did not compile: {done.stderr[:2000]}")
        return out.read_bytes()


def _machine() -> Any:
    llvm = _llvm()
    target = llvm.Target.from_default_triple()
    # An MCJIT engine takes ownership of its target machine: a new one each time.
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=1,
        reloc="pic",
        codemodel="small",
        jit=True,
    )


def assemble(ir: str) -> bytes:
    """LLVM IR text to object code."""
    llvm = _llvm()
    machine = _machine()
    try:
        module = llvm.parse_assembly(ir)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()
        raise Unsupported(f"code that does not translate ({reason[0] if reason else ''})") from None
    module.triple = llvm.get_process_triple()
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
    return bytes(machine.emit_object(module))


class Code:
    """A kernel loaded beside the runtime; keep it alive as long as its addresses are used."""

    def __init__(self, kernel: bytes) -> None:
        llvm = _llvm()
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
        for data in (*runtime_objects(), kernel):
            self.engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(data))
        self.engine.finalize_object()
        self.table = self.engine.get_global_value_address("block_table")
        address = self.engine.get_function_address("rt_launch")
        self.launch = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32)(address)
