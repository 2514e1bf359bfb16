"""Writes `.clangd`, so that kernels do not show red in an editor: `python -m grader.editor`.

clangd, the language server of VS Code, Neovim, Emacs and others, reads the file in the folder it
stands in and those below. It gets the headers that the grader itself compiles with, whose place
differs between machines: the file is made on each and not handed in.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.languages import cuda_clang, metal_clang
from grader.languages.cuda_includes import PRELUDE
from grader.programs import host_build

FILE = ".clangd"
MARK = "# Written by `python -m grader.editor`; run it again after installing another grader."
PROGRAMS = r".*(program|solve)\.cu"
"""Files with a host side; in the others only the kernels are compiled, as the grader does."""

_CUDA = (
    "-xcuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_80",
    "--target=x86_64-unknown-linux-gnu", "-std=c++17", "-nostdinc", "-nostdinc++",
    "-Wno-unknown-cuda-version", "-Xclang", "-target-feature", "-Xclang", "+ptx70",
)  # fmt: skip
_METAL = (f"--target={metal_clang.STRICT_TARGET}", *metal_clang.LANGUAGE_OPTIONS)
# Headers of host code may stay in a kernel's file; they stand for nothing.
_KERNELS_ONLY = ("pp_file_not_found",)
# Metal's threadgroup variables are C++ variables with an address space, which clang has none of
# inside a function; the grader moves them before it compiles.
_METAL_ONLY = ("as_qualified_auto_decl",)


def clangd() -> str:
    """The content of `.clangd` for this machine: one document for each kind of file."""
    headers = cuda_clang.HEADERS
    host = headers.with_name("cuda_host_headers")
    kernels = [*_CUDA, *_system([headers, host]), "-include", str(headers / "cuda_prelude.h"),
               "-include", str(host / PRELUDE)]  # fmt: skip
    programs = [option for option in host_build.options_for(None) if option not in ("-w", "-g")]
    library = metal_clang.HEADERS
    metal = [*_METAL, *_system([library]), "-include", str(library / "metal_prelude")]
    documents = (
        _document(r".*\.cuh?", kernels, exclude=PROGRAMS, suppress=_KERNELS_ONLY),
        _document(PROGRAMS, programs),
        _document(r".*\.metal", metal, suppress=_METAL_ONLY),
    )
    return f"{MARK}\n" + "---\n".join(documents)


def _system(folders: Sequence[Path]) -> Iterator[str]:
    for folder in folders:
        yield from ("-isystem", str(folder))


def _document(
    path: str, options: Sequence[str], *, exclude: str = "", suppress: Sequence[str] = ()
) -> str:
    # JSON is YAML, and quotes what a path may hold.
    condition = {"PathMatch": path} | ({"PathExclude": exclude} if exclude else {})
    return (
        f"If: {json.dumps(condition)}\n"
        f"CompileFlags:\n  Add: {json.dumps(list(options))}\n"
        f"Diagnostics:\n  Suppress: {json.dumps(list(suppress))}\n  UnusedIncludes: None\n"
    )


def write(folder: Path) -> Path:
    """Write the file into `folder`. Raises FileExistsError for one that somebody else wrote."""
    path = folder / FILE
    if path.exists() and not path.read_text(encoding="utf-8").startswith(MARK):
        raise FileExistsError(f"{path} is there already and not by the grader: move it away")
    path.write_text(clangd(), encoding="utf-8")
    return path


if __name__ == "__main__":
    try:
        print(f"wrote {write(Path.cwd())}")
    except FileExistsError as error:
        sys.exit(str(error))
