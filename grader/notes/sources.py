"""Where the text of a framework's file may come from: an installed package, a checkout, a clone.

No framework is imported: a package is found by its folder, its version by its metadata. Git is
asked with hooks and lazy fetching off; the network is used only when `network` is true.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from grader import cache as kept
from grader.notes import facts, paths

MAX_FILE_BYTES = 4 * 1024 * 1024
GIT_SECONDS = 20
CLONE_SECONDS = 300

PACKAGES = {
    "numpy": ("numpy", ("numpy",)),
    "pytorch": ("torch", ("torch",)),
    "mlx": ("mlx", ("mlx", "mlx-metal", "mlx-cpu", "mlx-cuda")),
    "cupy": ("cupy", ("cupy", "cupy-cuda13x", "cupy-cuda12x", "cupy-cuda11x")),
}
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")


@dataclass(frozen=True)
class Sources:
    """What a check may look at beyond the facts.

    `checkouts` maps a framework to a folder the user named (git repository or plain tree);
    `network` allows a blobless clone of the framework's repository.
    """

    packages: bool = True
    checkouts: Mapping[str, Path] = field(default_factory=dict)
    network: bool = False


@dataclass(frozen=True)
class Found:
    """The text of a file of the repository, and who gave it. `text` is None: no such file."""

    text: str | None
    source: str


@cache
def installed_version(framework: str) -> str | None:
    """The version of the installed package, None where it is not installed."""
    if framework not in PACKAGES or _folder(framework) is None:
        return None
    for name in PACKAGES[framework][1]:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


@cache
def _folder(framework: str) -> Path | None:
    """The folder that holds the package (site-packages), found without importing it."""
    try:
        spec = importlib.util.find_spec(PACKAGES[framework][0])
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))).parent


@cache
def installed_commit(framework: str) -> str | None:
    """The commit an installed PyTorch was built from (`torch.version.git_version`), unimported."""
    folder = _folder(framework)
    if framework != "pytorch" or folder is None:
        return None
    try:
        text = (folder / "torch" / "version.py").read_text("utf-8")
    except OSError:
        return None
    found = re.search(r"^git_version\s*=\s*'([0-9a-f]{40})'", text, re.M)
    return found[1] if found else None


def unwrapped(text: str) -> str:
    """The repository's bytes of an installed header of PyTorch 2.10 or later.

    The package puts one line on top and `#else` + `#error` behind; a header that did not end in
    a newline must not gain one, so the cut is at the newline before `#else`, not by line count.
    """
    if not text.startswith("#if !defined(TORCH_STABLE_ONLY)"):
        return text
    body = text[text.index("\n") + 1 :]
    end = body.rfind("#else\n#error")
    return body if end < 1 else body[: body.rfind("\n", 0, end)]


def in_package(framework: str, path: str) -> Found | None:
    """The file in the installed package, as the repository has it."""
    folder, version = _folder(framework) if framework in PACKAGES else None, None
    if folder is not None:
        version = installed_version(framework)
    if folder is None or version is None:
        return None
    for name in paths.installed_names(framework, path):
        file = folder / name
        if file.is_file() and file.stat().st_size <= MAX_FILE_BYTES:
            text = file.read_bytes().decode("utf-8", "replace")
            return Found(unwrapped(text), f"installed {PACKAGES[framework][0]} {version}")
    return None


def in_checkout(folder: Path, ref: str | None, path: str, lazy: bool = False) -> Found | None:
    """The file in a checkout at `ref`; in a plain folder (or without ref) as it lies there.

    None when the checkout cannot tell: no such folder, or no such ref in it.
    """
    if (
        ref is not None
        and _TAG.fullmatch(ref)
        and _git(folder, "rev-parse", "--git-dir") is not None
    ):
        commit = _git(folder, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if commit is None:
            return None
        name = f"{commit.decode().strip()}:{path}"
        size = _git(folder, "cat-file", "-s", name, lazy=lazy)
        if size is None:
            return Found(None, f"checkout at {ref}")
        if int(size) > MAX_FILE_BYTES:
            return None
        content = _git(folder, "cat-file", "blob", name, lazy=lazy)
        if content is None:
            return None
        return Found(content.decode("utf-8", "replace"), f"checkout at {ref}")
    file = folder / path
    if not folder.is_dir():
        return None
    if not file.is_file():
        return Found(None, "checkout")
    if not file.resolve().is_relative_to(folder.resolve()) or file.stat().st_size > MAX_FILE_BYTES:
        return None
    return Found(file.read_bytes().decode("utf-8", "replace"), "checkout")


@cache
def clone(framework: str, tag: str) -> Path | None:
    """A blobless clone of one release in the user's cache; None when it cannot be had."""
    repo = paths.REPOSITORIES.get(framework)
    if repo is None or not _TAG.fullmatch(tag):
        return None
    folder = kept.root() / "checkouts" / f"{framework}-{tag}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = folder.with_name(f"{folder.name}.{os.getpid()}")
    done = _run(
        ["git", "clone", "-q", "--depth", "1", "--filter=blob:none", "--no-checkout",
         "-b", tag, f"https://github.com/{repo}.git", str(partial)],
        CLONE_SECONDS,
        lazy=True,
    )  # fmt: skip
    if done is None:
        return None
    partial.rename(folder)
    return folder


def _git(folder: Path, *arguments: str, lazy: bool = False) -> bytes | None:
    command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
               "-C", str(folder), *arguments]  # fmt: skip
    return _run(command, CLONE_SECONDS if lazy else GIT_SECONDS, lazy)


def _run(command: list[str], seconds: int, lazy: bool) -> bytes | None:
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    if not lazy:
        environment["GIT_NO_LAZY_FETCH"] = "1"
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=seconds, env=environment, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def read(
    framework: str, tag: str | None, version: str | None, path: str, sources: Sources
) -> Found | None:
    """Rungs three to five: package (same version only), named checkout, clone. None: unknown."""
    installed = installed_version(framework) if sources.packages else None
    if installed is not None and version is not None and same_version(installed, version):
        found = in_package(framework, path)
        if found is not None:
            return found
    if framework in sources.checkouts:
        found = in_checkout(sources.checkouts[framework], tag, path)
        if found is not None:
            return found
    if sources.network and tag is not None:
        folder = clone(framework, tag)
        if folder is not None:
            return in_checkout(folder, tag, path, lazy=True)
    return None


def same_version(left: str, right: str) -> bool:
    """2.13.0+cpu and v2.13.0 are the same release."""
    return facts.version_key(_public(left)) == facts.version_key(_public(right))


def _public(version: str) -> str:
    return version.lstrip("v").partition("+")[0]
