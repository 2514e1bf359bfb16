"""A C and C++ library for host programs: built once by the `ziglang` wheel, kept in the cache.

`zig c++` builds libc++ and its kin at its first link, which takes a minute, into a cache it must be
able to write. That link is of a program of ours and happens in the parent; what it linked is kept.
From then on a sandboxed child compiles and links with clang and lld alone, and writes no cache.
"""

from __future__ import annotations

import functools
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from grader import cache
from grader.errors import InternalError, NotGradableError
from grader.languages import metal_clang

KIND = "host-libraries"
GLIBC = "2.28"
"""The C library that programs are linked for: not newer than the one of any supported system."""

HERE = Path(__file__).parent
RUNTIME = HERE / "runtime"
_RUNTIME = (
    "-x", "c", "-std=gnu11", "-O2", "-fPIE", "-fno-omit-frame-pointer", "-w", "-D_GNU_SOURCE",
)  # fmt: skip

_PROGRAM = "#include <iostream>\nint main() { std::cout << 1 << std::endl; }\n"
_MACHINES = {"x86_64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
_ARCHIVE = re.compile(r"\S+/(?:lib[\w+.\-]+\.(?:a|so\.\d+)|\w*crt1\.o)(?= |$)", re.MULTILINE)
_LINKER = re.compile(r"--dynamic-linker (\S+)")
ORDER = "link-order"
LOADER = "dynamic-linker"


def missing() -> str | None:
    """Why no host program can be built here, or None."""
    if not sys.platform.startswith("linux"):
        return "whole CUDA programs run on Linux only (a container will do)"
    if machine() is None:
        return f"there is no C library for {platform.machine()} here"
    if metal_clang.compiler() is None:
        return "clang is not installed: pip install ziglang"
    return None


def state() -> str:
    """Which compiler takes the host half, and whether its library is built; empty where none is."""
    if missing() is not None:
        return ""
    built = (folder() / ORDER).exists()
    library = "is built" if built else "will be built at first use (about a minute)"
    return f"host half by the clang of ziglang {metal_clang.version()}; its C++ library {library}"


def machine() -> str | None:
    """The machine as zig names it; None for one without libraries."""
    return _MACHINES.get(platform.machine())


def target() -> str:
    """The target as clang names it."""
    return f"{machine()}-unknown-linux-gnu"


def folder() -> Path:
    """Where the libraries lie once they are built."""
    return cache.root() / KIND / f"{metal_clang.version()}-{machine()}"


def libraries(step: Callable[[str], None] = lambda text: None) -> Path:
    """The folder with the libraries, built now if need be. Raises NotGradableError."""
    if reason := missing():
        raise NotGradableError(reason)
    place = folder()
    if not (place / ORDER).exists():
        step("building the C++ library for host programs (once, about a minute)")
        _build(place)
    return place


def _build(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as work:
        here = Path(work)
        (here / "program.cpp").write_text(_PROGRAM)
        command = [
            str(metal_clang.compiler()), "c++", "-target", f"{machine()}-linux-gnu.{GLIBC}",
            "-O1", "-fPIE", "-pie", "-v", "program.cpp", "-o", "program",
        ]  # fmt: skip
        own = {"ZIG_GLOBAL_CACHE_DIR": work + "/zig", "ZIG_LOCAL_CACHE_DIR": work + "/local"}
        done = subprocess.run(
            command, cwd=here, env={**os.environ, **own}, capture_output=True, text=True,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        links = [line for line in done.stderr.splitlines() if line.startswith("ld.lld ")]
        if done.returncode or not links:
            raise NotGradableError(
                f"the C++ library for host programs could not be built: {done.stderr[-500:]}"
            )
        kept = here / "kept"
        kept.mkdir()
        order = []
        for found in _ARCHIVE.findall(links[-1]):
            path = here / found
            if "/local/" in str(path) or not path.exists():
                continue
            shutil.copyfile(path, kept / path.name)
            order.append(path.name)
        loader = _LINKER.search(links[-1])
        (kept / LOADER).write_text(loader[1] if loader else "")
        (kept / ORDER).write_text("\n".join(order))
        try:
            kept.rename(place)
        except OSError:
            if not (place / ORDER).exists():  # another process was faster, or the disk is full
                raise NotGradableError(f"{place} cannot be written") from None


@functools.cache
def runtime_object() -> Path:
    """The runtime that every program is linked with, compiled once for its sources.

    Raises NotGradableError where the cache cannot be written.
    """
    sources = sorted(RUNTIME.glob("*.[ch]"))
    place = folder() / f"runtime-{cache.key(*_RUNTIME, *(s.read_bytes() for s in sources))}.o"
    if place.exists():
        return place
    with tempfile.TemporaryDirectory() as work:
        built = Path(work) / "runtime.o"
        options = [*_RUNTIME, f"--target={target()}", *include_options(), f"-I{RUNTIME}"]
        source = str(RUNTIME / "runtime.c")
        done = subprocess.run(
            [str(metal_clang.compiler()), "clang", *options, "-c", source, "-o", built],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode:
            raise InternalError(f"the host runtime did not compile: {done.stderr[:2000]}")
        cache.write(str(place.parent.relative_to(cache.root())), place.name, built.read_bytes())
    if not place.exists():
        raise NotGradableError(f"{place} cannot be written")
    return place


@functools.cache
def _zig_library() -> Path:
    program = metal_clang.compiler()
    assert program is not None, "missing() was asked"
    return program.parent / "lib"


def include_options() -> list[str]:
    """The options that stand for the C and C++ headers: what `zig c++ -v` passes on to clang."""
    lib = _zig_library()
    short = "x86" if machine() == "x86_64" else machine()
    folders = [
        lib / "libcxx/include", lib / "libcxxabi/include", lib / "include",
        lib / f"libc/include/{short}-linux-gnu", lib / f"libc/include/{machine()}-linux-gnu",
        lib / "libc/include/generic-glibc", lib / f"libc/include/{short}-linux-any",
        lib / f"libc/include/{machine()}-linux-any", lib / "libc/include/any-linux-any",
    ]  # fmt: skip
    return [
        "-nostdinc", "-nostdinc++",
        *(word for path in folders if path.exists() for word in ("-isystem", str(path))),
        f"-D__GLIBC_MINOR__={GLIBC.split('.')[1]}",
        "-D_LIBCPP_ABI_VERSION=1", "-D_LIBCPP_ABI_NAMESPACE=__1", "-D_LIBCPP_HAS_THREADS=1",
        "-D_LIBCPP_HAS_MONOTONIC_CLOCK", "-D_LIBCPP_HAS_TERMINAL", "-D_LIBCPP_HAS_MUSL_LIBC=0",
        "-D_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS", "-D_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS",
        "-D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0", "-D_LIBCPP_HAS_FILESYSTEM=1",
        "-D_LIBCPP_HAS_RANDOM_DEVICE", "-D_LIBCPP_HAS_LOCALIZATION", "-D_LIBCPP_HAS_UNICODE",
        "-D_LIBCPP_HAS_WIDE_CHARACTERS", "-D_LIBCPP_HAS_NO_STD_MODULES",
        "-D_LIBCPP_HAS_TIME_ZONE_DATABASE", "-D_LIBCPP_PSTL_BACKEND_SERIAL",
        "-D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE",
        "-D_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
    ]  # fmt: skip
