"""What a student wrote as a path, brought to the path inside the framework's repository.

Windows slashes, links to the file, paths inside an installed package and paths with the name of
an unpacked archive in front all name a file clearly enough; each is accepted with a hint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import unquote

REPOSITORIES = {
    "numpy": "numpy/numpy",
    "pytorch": "pytorch/pytorch",
    "mlx": "ml-explore/mlx",
    "cupy": "cupy/cupy",
    "jax": "jax-ml/jax",
    "triton": "triton-lang/triton",
}

# Repository folder -> the same files inside the installed package, longest first.
INSTALLED = {
    "pytorch": (
        (
            "aten/src/ATen/native/native_functions.yaml",
            "torchgen/packaged/ATen/native/native_functions.yaml",
        ),
        ("aten/src/ATen/native/tags.yaml", "torchgen/packaged/ATen/native/tags.yaml"),
        ("aten/src/ATen/templates/", "torchgen/packaged/ATen/templates/"),
        ("aten/src/ATen/", "torch/include/ATen/"),
        ("torch/csrc/", "torch/include/torch/csrc/"),
        ("c10/", "torch/include/c10/"),
        ("torch/_inductor/", "torch/_inductor/"),
        ("torchgen/", "torchgen/"),
        ("torch/", "torch/"),
    ),
    "mlx": (("mlx/", "mlx/include/mlx/"),),
    "cupy": (("cupy/", "cupy/"), ("cupy_backends/", "cupy_backends/")),
    "numpy": (("numpy/", "numpy/"),),
}  # fmt: skip

_LINK = re.compile(
    r"(?:https?://)?(?:www\.)?github\.com/([^/\s]+/[^/\s]+)/(?:blob|tree|raw|blame)/([^/\s]+)/([^?#]+)"
    r"|(?:https?://)?raw\.githubusercontent\.com/([^/\s]+/[^/\s]+)/(?:refs/(?:tags|heads)/)?([^/\s]+)/([^?#]+)"
)
_FRAGMENT = re.compile(r"[#:]L?(\d{1,7})(?:-L?(\d{1,7}))?$")
_CACHE = re.compile(r"torchinductor|TORCHINDUCTOR_CACHE_DIR|output_code\.py$", re.I)


@dataclass(frozen=True)
class Written:
    """A path as a student wrote it, made plain.

    `hints` are what to know about the spelling; `ref` is the tag or branch a link named;
    `packaged` says that the path was one inside an installed package; `problem` that the text
    is no path inside a repository at all. `generated` marks a file torch.compile writes.
    """

    path: str
    hints: tuple[str, ...] = ()
    ref: str | None = None
    repo: str | None = None
    packaged: bool = False
    generated: bool = False
    problem: str = ""

    def hinted(self, hint: str, path: str | None = None, packaged: bool = False) -> Written:
        """The same with one more hint, and perhaps another path."""
        return replace(
            self,
            path=self.path if path is None else path,
            hints=(*self.hints, hint),
            packaged=self.packaged or packaged,
        )


def clean(text: str, framework: str) -> Written:
    """Undoes slashes, links, quotes, line suffixes and package folders."""
    raw = text.strip().strip("`'\"<>").strip()
    if _CACHE.search(raw):
        return Written(raw, generated=True)
    found = Written(raw)
    link = _LINK.match(raw)
    if link:
        repo, ref, path = (part for part in link.groups() if part is not None)
        found = Written(unquote(path), ref=unquote(ref), repo=repo.removesuffix(".git"))
        found = found.hinted("a link was taken as the path in the repository")
    elif re.match(r"[a-z][a-z0-9+.-]*://", raw, re.I):
        return Written(raw, problem="expected a path inside the repository, found a link elsewhere")
    if "\\" in found.path:
        found = found.hinted(
            "write the path with / as in the repository", found.path.replace("\\", "/")
        )
    found = replace(found, path=_FRAGMENT.sub("", found.path).rstrip("/"))
    found = _inside_package(found, framework)
    plain = re.sub(r"^(?:\./)+|(?<=/)(?:\./)+", "", re.sub(r"/{2,}", "/", found.path))
    found = replace(found, path=plain)
    if ".." in plain.split("/"):
        return replace(found, problem="expected a path inside the repository, found one with ../")
    if plain.startswith(("/", "~")) or re.match(r"[A-Za-z]:", plain):
        return replace(
            found, problem="expected a path inside the repository, found one of a single machine"
        )
    if not plain:
        return replace(found, problem="expected a path, found nothing")
    return found


def _inside_package(found: Written, framework: str) -> Written:
    """Maps a path inside an installed package to the repository's."""
    _, site, tail = found.path.rpartition("site-packages/")
    if not site:
        _, site, tail = found.path.rpartition("dist-packages/")
    inner = tail if site else found.path
    for repository, installed in INSTALLED.get(framework, ()):
        if installed != repository and inner.startswith(installed):
            path = repository + inner[len(installed) :]
            if path.startswith("aten/src/ATen/ops/"):  # written by the build, in no repository
                return replace(found, path=inner, packaged=True)
            hint = f"that path is the one inside the package; in the repository it is {path}"
            return found.hinted(hint, path, packaged=True)
    if site:
        return found.hinted(f"in the repository the path is {inner}", inner, packaged=True)
    return found


def installed_names(framework: str, path: str) -> Iterator[str]:
    """Where the installed package would keep a file of the repository."""
    for repository, installed in INSTALLED.get(framework, ()):
        if path.startswith(repository):
            yield installed + path[len(repository) :]
