"""What every child may read: Python, the packages, this package, and the system's libraries.

Not the directory this package lies in: in a checkout that is where the references are.
"""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig
from pathlib import Path

import grader

PACKAGE = Path(grader.__file__).resolve().parent

SYSTEM = (
    *("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/include"),
    *("/lib", "/lib32", "/lib64", "/nix/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/usr/share/zoneinfo"),
    *("/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu"),
    *("/dev/zero", "/dev/urandom"),
)
WRITABLE_DEVICES = ("/dev/null",)


def home(scratch: str) -> dict[str, str]:
    """The variables by which programs find a place of their own: all of them the child's."""
    return {"HOME": scratch, "TMPDIR": scratch, "XDG_CACHE_HOME": f"{scratch}/.cache"}


@functools.cache
def toolkit() -> tuple[str, ...]:
    """Existing files and folders that are readable in every child, without repetitions."""
    python = sysconfig.get_paths()
    wanted = [
        *(python[name] for name in ("stdlib", "platstdlib", "purelib", "platlib", "include")),
        *site.getsitepackages(),
        *([site.getusersitepackages()] if site.ENABLE_USER_SITE else []),
        sysconfig.get_config_var("LIBDIR") or "",
        interpreter_file(),
        str(PACKAGE),
        *SYSTEM,
    ]
    return tuple(dict.fromkeys(path for path in wanted if path and Path(path).exists()))


def interpreter_file() -> str:
    """The interpreter itself, behind the links of a virtual environment."""
    return os.path.realpath(sys.executable)


def import_path() -> list[str]:
    """The import path for a child: the package's own parent last, and not the current directory.

    `python -m grader` puts that first, and it may be a student's.
    """
    here = (str(Path.cwd()), str(PACKAGE.parent))
    paths = [path for path in sys.path if Path(path).is_absolute() and path not in here]
    return [*paths, str(PACKAGE.parent)]
