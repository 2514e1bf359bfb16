"""The file that `grade run` was given, and what it includes."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence
from pathlib import Path

from grader.errors import UsageError
from grader.languages import cuda_c
from grader.languages.cuda_includes import included_name, includes, is_file

_INCLUDED = (
    ".h", ".cuh", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".ipp", ".tpp", ".cu", ".cpp", ".cc", ".c",
)  # fmt: skip
_INCLUDE_FOLDERS = ("include", "inc", "../include", "../inc")
_MOST_FILES = 500
_DEFINITION = re.compile(r"[A-Za-z_]\w*(\([\w, .]*\))?(=[^\n\0]*)?")


def read(path: Path) -> str:
    """The text of a file that can be run. Raises UsageError."""
    if path.suffix not in cuda_c.SUFFIXES:
        from grader.languages import metal  # 0.1 s to import

        if path.suffix not in metal.SUFFIXES:
            raise UsageError(f"expected a CUDA C file (.cu) or a Metal file (.metal), found {path}")
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: byte {error.start}") from None


def definitions(words: Sequence[str]) -> tuple[str, ...]:
    """What `-D` was given, as compilers take it. Raises UsageError."""
    for word in words:
        if not _DEFINITION.fullmatch(word):
            raise UsageError(f"expected -D NAME or NAME=VALUE, found {word!r}", "As in -D N=1024.")
    return tuple(words)


def headers_beside(
    path: Path, others: Sequence[Path] = (), folders: Sequence[Path] = ()
) -> dict[str, str]:
    """What the file, the `others` of its program and their headers include, where it lies beside
    the including file or in the program's folder, by its path from there; what lies in one of
    `folders` (-I), or in a folder `include` or `inc` there or beside that folder, by the name an
    include gives it. Raises UsageError for a folder that is none.

    Where a name is made by a macro, all headers below the folder count as included.
    """
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"expected a folder after -I, found {folder}, which is none")
    places = [path.parent, *folders, *(path.parent / name for name in _INCLUDE_FOLDERS)]
    found: dict[str, str] = {}
    waiting = [(path.name, _text(path))] + [(from_folder(path, o), _text(o)) for o in others]
    while waiting and len(found) < _MOST_FILES:
        file, text = waiting.pop()
        for _, _, operand in includes(text):
            name = included_name(operand)
            names = _all_headers(path.parent) if name is None else _places(file, name)
            for wanted in names:
                known = wanted in found or wanted.startswith("/")
                place = next((p / wanted for p in places if is_file(p / wanted)), None)
                if wanted.endswith(_INCLUDED) and not known and place is not None:
                    found[wanted] = _text(place)
                    waiting.append((wanted, found[wanted]))
    return found


def texts_beside(path: Path, others: Sequence[Path]) -> dict[str, str]:
    """The `others` of a program, by their path from the folder that `path` lies in."""
    return {from_folder(path, other): _text(other) for other in others}


def is_source(word: str) -> bool:
    """Whether a word of the command names a file that can be part of a program."""
    return word.endswith((".cu", ".cpp", ".cc", ".cxx", ".c")) and Path(word).is_file()


def from_folder(path: Path, other: Path) -> str:
    """`other` by its path from the folder that `path` lies in."""
    return Path(os.path.relpath(other, path.parent)).as_posix()


def _places(file: str, name: str) -> list[str]:
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(file), name))
    return list(dict.fromkeys((beside, posixpath.normpath(name))))


def _all_headers(folder: Path) -> list[str]:
    patterns = ("*.h", "*.cuh", "*.hpp", "*/*.h", "*/*.cuh", "*/*.hpp")
    return sorted(f.relative_to(folder).as_posix() for p in patterns for f in folder.glob(p))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig", errors="replace")
