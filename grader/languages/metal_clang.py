"""Runs clang on Metal text: to PTX's intermediate language, and a second time to check pointers.

Clang's NVPTX target lets a pointer into any address space become one without a space, which Metal
forbids. Another target does not; it parses the same text and its messages about exactly that count.
"""

from __future__ import annotations

import functools
import importlib.util
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HEADERS = Path(__file__).with_name("metal_headers")
TARGET = "nvptx64-nvidia-cuda"
PROCESSOR = "sm_80"
PTX_VERSION = "ptx70"
STRICT_TARGET = "x86_64-unknown-linux-gnu"

LANGUAGE_OPTIONS = (
    "-x", "c++", "-std=c++17", "-nostdinc", "-fno-exceptions", "-fno-rtti",
    "-fconvergent-functions", "-ferror-limit=20", "-fno-color-diagnostics",
    "-Wall", "-Wno-unknown-attributes", "-Wno-ignored-attributes", "-Wno-user-defined-literals",
    "-Wno-reserved-user-defined-literal", "-Wno-duplicate-decl-specifier", "-Wno-unused",
    "-Wno-uninitialized-const-reference", "-Wno-unknown-pragmas", "-Wno-psabi",
    "-Xclang", "-cl-single-precision-constant",
)  # fmt: skip
"""A literal `0.1` is a float, as in Metal."""

CODE_OPTIONS = (
    f"--target={TARGET}", f"-march={PROCESSOR}", "-Xclang", "-target-feature",
    "-Xclang", f"+{PTX_VERSION}", "-O2", "-gline-tables-only",
    "-fdebug-compilation-dir=.", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm",
)  # fmt: skip
"""The front end's own output: both variants are made from it."""


@dataclass(frozen=True)
class Said:
    """What one run of clang answered."""

    ok: bool
    output: str
    log: str


@functools.cache
def compiler() -> Path | None:
    """The program: clang inside the `ziglang` wheel."""
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        return None
    program = Path(found.origin).with_name("zig")
    return program if program.exists() else None


def version() -> str:
    """The wheel's version, which pins clang's."""
    from importlib import metadata

    return metadata.version("ziglang")


def preprocess(file_name: str) -> Said:
    """`file_name` after the preprocessor, Metal's own words and headers left out."""
    empty = Path("metal_empty")
    (empty / "simd").mkdir(parents=True, exist_ok=True)
    for path in HEADERS.rglob("*"):
        if path.is_file():
            (empty / path.relative_to(HEADERS)).touch()
    return _run(
        ["-E", "-x", "c++", "-std=c++17", "-nostdinc", "-D__METAL__=1", "-D__METAL_VERSION__=320",
         "-D__HAVE_BFLOAT__=1", "-iquote", ".", "-isystem", str(empty), file_name]
    )  # fmt: skip


def compile_text(file_name: str) -> tuple[Said, Said]:
    """The intermediate language of a file here, and the strict target's opinion of its pointers."""
    common = [
        *LANGUAGE_OPTIONS,
        "-iquote",
        ".",
        "-isystem",
        str(HEADERS),
        "-include",
        str(HEADERS / "metal_prelude"),
    ]
    code = [*common, *CODE_OPTIONS, "-o", "-", file_name]
    strict = [*common, f"--target={STRICT_TARGET}", "-w", "-fsyntax-only", file_name]
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(_run, (code, strict))
    return first, second


def _run(arguments: Sequence[str]) -> Said:
    program = compiler()
    if program is None:
        raise FileNotFoundError("the ziglang wheel is not installed")
    done = subprocess.run(
        [str(program), "clang", *arguments],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Said(
        done.returncode == 0,
        done.stdout.decode("utf-8", "replace"),
        done.stderr.decode("utf-8", "replace"),
    )
