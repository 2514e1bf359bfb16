"""The engine's device math without the engine, built for this CPU and for the oldest one."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

SOURCES = Path(__file__).parents[3] / "grader" / "vgpu"
PARTS = ("math", "rounding", "formats", "tensor")
FLAGS = ("-O2", "-std=c99", "-ffreestanding", "-fno-math-errno", "-ffp-contract=off")
CTYPES = {
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "s64": ctypes.c_int64,
    "int": ctypes.c_int,
    "pointer": ctypes.c_void_p,
}


@dataclass(frozen=True)
class Device:
    """Compiled device math: `function("vg_ex2f", "f32", "f32")` is callable."""

    engine: Any

    def function(self, name: str, result: str | None, *arguments: str) -> Callable[..., Any]:
        """The C function `name` with these types; `KeyError` where there is none."""
        address = self.engine.get_function_address(name)
        if not address:
            raise KeyError(name)
        kind = ctypes.CFUNCTYPE(
            CTYPES[result] if result else None, *(CTYPES[argument] for argument in arguments)
        )
        return kind(address)

    def warps(self, name: str, *sources: np.ndarray, out: type = np.float32) -> np.ndarray:
        """A `_v32` function over arrays of any length (padded with zeros to whole warps)."""
        length = len(sources[0])
        padded = [np.concatenate([x, np.zeros(-length % 32, x.dtype)]) for x in sources]
        result = np.zeros(len(padded[0]), out)
        call = self.function(name, None, *("pointer",) * (len(sources) + 1))
        for start in range(0, len(result), 32):
            call(result[start:].ctypes.data, *(x[start:].ctypes.data for x in padded))
        return result[:length]


def compile_device(folder: Path, options: tuple[str, ...]) -> Device:
    """Compile every part with these extra options and load it into this process."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    for part in PARTS:
        out = folder / f"{part}.o"
        command = [sys.executable, "-m", "ziglang", "clang", "-c", *FLAGS, *options]
        subprocess.run([*command, str(SOURCES / f"{part}.c"), "-o", str(out)], check=True)
        engine.add_object_file(str(out))
    engine.finalize_object()
    return Device(engine)


@pytest.fixture(scope="session")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    """Device math built for this CPU."""
    return compile_device(tmp_path_factory.mktemp("native"), ("-march=native",))


@pytest.fixture(scope="session")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    """Device math built for the architecture's oldest CPU."""
    return compile_device(tmp_path_factory.mktemp("baseline"), ())
