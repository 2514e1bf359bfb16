"""The resume key: one hash of everything that decides a grade.

The same key is the same grade, so a submission whose key is in the gradebook is not graded again.
"""

from __future__ import annotations

import functools
from collections.abc import Set as AbstractSet
from importlib import metadata
from pathlib import Path

from grader import __version__, cache, cases
from grader.assignment_schema import Assignment

COMPILERS = ("nvidia-cuda-nvrtc", "ziglang", "triton", "llvmlite", "numpy")
_SOURCES = (".py", ".c", ".h", ".json", ".toml", ".j2", ".css", ".js")
_PACKAGE = Path(__file__).parent.parent


def versions() -> dict[str, str]:
    """The versions of the grader and of every package that decides a grade."""
    found = {"grader": __version__}
    for package in COMPILERS:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "none"
    return found


@functools.cache
def code() -> str:
    """A hash over the grader's own files: a version number does not change while it is developed.

    What only reads grades (reports, the class) decides none.
    """
    return _hash(_PACKAGE, left_out={_PACKAGE / "batch", _PACKAGE / "report"})


@functools.cache
def writers() -> str:
    """A hash over what reports are written with: the code that writes them and that it asks."""
    return cache.key(code(), _hash(_PACKAGE / "report"), *versions().values())


def _hash(folder: Path, left_out: AbstractSet[Path] = frozenset()) -> str:
    parts: list[str | bytes] = []
    for path in sorted(folder.rglob("*")):
        headers = path.parent.name.endswith("_headers")
        if not path.is_file() or left_out & set(path.parents):
            continue
        if path.suffix in _SOURCES or headers:
            parts += [path.relative_to(folder).as_posix(), path.read_bytes()]
    return cache.key(*parts)


def setting(assignment: Assignment, device: str = "virtual") -> str:
    """A hash of all that decides a grade but the submission: the same for a whole run.

    Hidden cases are part of the assignment's record, their secret only as a hash.
    """
    parts: list[str | bytes] = [
        assignment.model_dump_json(exclude={"feedback"}),  # what is told changes no grade
        (assignment.folder / "inputs.py").read_bytes(),
        cache.key(cases.secret()),
        code(),
        device,
        *(f"{name} {version}" for name, version in versions().items()),
    ]
    for language in assignment.languages:
        reference = assignment.reference(language)
        parts.append(reference.read_bytes() if reference else b"")
    return cache.key(*parts)


def key(setting_: str, submission_sha256: str) -> str:
    """The resume key of one submission under a `setting`."""
    return cache.key(setting_, submission_sha256)
