"""What every child may read: Python, the packages, this package, and the system's libraries.

Not the directory this package lies in: in a checkout that is where the references are.
"""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from pathlib import Path

import grader
from grader import cache

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
    sites = [
        *(python[name] for name in ("purelib", "platlib")),
        *site.getsitepackages(),
        *([site.getusersitepackages()] if site.ENABLE_USER_SITE else []),
    ]
    wanted = [
        *(python[name] for name in ("stdlib", "platstdlib", "include")),
        *sites,
        *named_by_pth(sites),
        sysconfig.get_config_var("LIBDIR") or "",
        interpreter_file(),
        str(PACKAGE),
        *SYSTEM,
    ]
    return tuple(dict.fromkeys(path for path in wanted if path and Path(path).exists()))


def named_by_pth(sites: Iterable[str]) -> list[str]:
    """Folders of the import path that a .pth file names: packages installed to be edited, conda's.

    Not one in which, or above which, lies what no child may see: the checkout with its references,
    the folder somebody works in, the home, the cache, everybody's temporary files.
    """
    imported = {Path(path).resolve() for path in sys.path if Path(path).is_absolute()}
    own = (PACKAGE.parent, Path.cwd())
    private = (*own, Path.home(), cache.root().resolve(), Path(tempfile.gettempdir()).resolve())
    found = []
    for folder in dict.fromkeys(sites):
        for file in sorted(Path(folder).glob("*.pth")):
            try:
                lines = file.read_text(encoding="utf-8-sig", errors="replace").splitlines()
            except OSError:
                continue
            # A line that begins with "import" is code, and runs in no child.
            for line in (one.strip() for one in lines if not one.startswith(("#", "import"))):
                place = Path(folder, line).resolve()
                above = any(path.is_relative_to(place) for path in private)
                inside = any(place.is_relative_to(path) for path in own)
                if line and place in imported and not (above or inside):
                    found.append(str(place))
    return found


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
