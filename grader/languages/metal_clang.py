"""Runs clang on Metal text: to PTX's intermediate language, and a second time to check pointers.

Clang's NVPTX target lets a pointer into any address space become one without a space, which Metal
forbids. Another target does not; it parses the same text and its messages about exactly that count.
"""

from __future__ import annotations

import functools
import importlib.util
import subprocess
import tempfile
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
    "-fdebug-compilation-dir=.", "-Xclang", "-disable-llvm-passes",
)  # fmt: skip
"""The front end's own output: both variants are made from it."""


_COMMON = (*LANGUAGE_OPTIONS, "-iquote", ".", "-isystem", str(HEADERS))
_PRELUDE = ("-include", str(HEADERS / "metal_prelude"))
# Metal's compiler knows its library without an #include, too.
_LIBRARY = (*_PRELUDE, "-include", str(HEADERS / "metal_entry"))
_TARGETS = {"code": CODE_OPTIONS, "strict": (f"--target={STRICT_TARGET}",)}


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


def precompile(folder: Path) -> bool:
    """Put the library into `folder` as clang keeps what it has parsed, once for each target.

    Saves a tenth of a second of every compilation. Whether both are there; a folder that cannot be
    written to is no error.
    """
    wanted = [(target, folder / f"{name}.pch") for name, target in _TARGETS.items()]
    if all(path.exists() for _, path in wanted):
        return True
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            for options, path in wanted:
                made = Path(scratch) / path.name
                library = ["-xc++-header", "-Xclang", "-emit-pch", "-o", str(made)]
                done = _run([*_COMMON, *_PRELUDE, *options, *library, str(HEADERS / "metal_entry")])
                if not done.ok:
                    return False
                made.replace(path)
    except OSError:
        return False
    return True


def compile_text(file_name: str, precompiled: Path | None = None) -> tuple[Said, Said]:
    """A file here in the intermediate language, and the strict target's opinion of its pointers.

    `precompiled` is a folder of `precompile`: the library need not be parsed again.
    """

    def arguments(name: str, *more: str) -> list[str]:
        library: tuple[str, ...] = _LIBRARY
        if precompiled is not None:
            path = str(precompiled / f"{name}.pch")
            # The folder's name holds a digest of everything that decides its content.
            library = ("-Xclang", "-fno-validate-pch", "-include-pch", path)
        return [*_COMMON, *library, *_TARGETS[name], *more, file_name]

    code = arguments("code", "-S", "-emit-llvm", "-o", "-")
    strict = arguments("strict", "-w", "-ferror-limit=0", "-fsyntax-only")
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
