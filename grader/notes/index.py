"""Rebuilds the fact files from git checkouts: `python -m grader.notes.index CHECKOUT...`

For each checkout (numpy, MLX, CuPy or PyTorch; told apart by their folders) and each release that
is known, or is named by `--release TAG`, it rewrites the paths of the index, the line hashes of
the files that count and the lines of the steps that `grade peek` shows, and compares the blobs
of the records. For a release that is new, the records of the release before it are carried over:
a line is found again by its hash; what is not found again is said, to be looked up by a person.
`--installed` does the same, as far as it goes, with the headers of installed packages.
"""

from __future__ import annotations

import argparse
import base64
import fnmatch
import json
import lzma
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.notes import facts, facts_check, sources
from grader.notes.facts import line_hash, split_lines, version_key

MARKS = {
    "numpy": re.compile(r"numpy/(_core|core)/src/umath/"),
    "mlx": re.compile(r"mlx/backend/"),
    "cupy": re.compile(r"cupy/_core/"),
    "pytorch": re.compile(r"aten/src/ATen/"),
}
Row = dict[str, Any]
Say = Callable[[str], None]


class Data:
    """The fact files, read whole, changed in memory and written at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.records: list[Row] = json.loads((folder / "facts.json").read_text("utf-8"))
        self.releases: list[Row] = json.loads((folder / "releases.json").read_text("utf-8"))
        self.steps: list[Row] = json.loads((folder / "steps.json").read_text("utf-8"))
        self.paths: Row = json.loads(lzma.decompress((folder / "paths.json.xz").read_bytes()))
        self.lines: Row = json.loads(lzma.decompress((folder / "lines.json.xz").read_bytes()))

    def write(self, folder: Path) -> None:
        """Writes the files in their canonical form: sorted, one record on a line."""
        wanted = {row["blob"] for row in self.records if hashed(row)}
        self.lines = {blob: self.lines[blob] for blob in sorted(wanted & self.lines.keys())}
        self.records.sort(key=record_order)
        self.releases.sort(key=lambda row: (row["framework"], version_key(row["tag"])))
        _write_rows(folder / "facts.json", self.records)
        _write_rows(folder / "releases.json", self.releases)
        _write_rows(folder / "steps.json", self.steps)
        for name, value in (("paths", self.paths), ("lines", self.lines)):
            packed = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
            (folder / f"{name}.json.xz").write_bytes(lzma.compress(packed, preset=9))


def record_order(row: Row) -> tuple[Any, ...]:
    """Framework, backend, release in version order, path."""
    return row["framework"], row["backend"], version_key(row["ref"]), row["path"]


def hashed(row: Row) -> bool:
    """Whether the lines of a record's file are hashed."""
    return bool(
        row["accepted"] != "no"
        and row["blob"]
        and row["line_count"] < facts_check.HASHED_BELOW_LINES
    )


def _write_rows(file: Path, rows: Iterable[Row]) -> None:
    body = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    file.write_text(f"[\n{body}\n]\n", "utf-8")


@dataclass(frozen=True)
class Tree:
    """What a source knows of a framework at a release: blob of each path, and how to read one."""

    framework: str
    tag: str
    commit: str | None
    blobs: Mapping[str, str]
    submodules: tuple[str, ...]
    read: Callable[[str], str | None]

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"{self.framework} {self.tag}"


def git(folder: Path, *arguments: str) -> bytes | None:
    """Standard output of a git command, None when it fails."""
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def listed(folder: Path, commit: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Blob of each path of a commit, and the submodule folders."""
    blobs, submodules = {}, []
    entries = (git(folder, "ls-tree", "-r", "-z", commit) or b"").decode("utf-8", "replace")
    for entry in entries.split("\0")[:-1]:
        about, _, path = entry.partition("\t")
        _, kind, blob = about.split()
        if kind == "commit":
            submodules.append(path)
        else:
            blobs[path] = blob
    return blobs, tuple(submodules)


def framework_of(blobs: Iterable[str]) -> str | None:
    """Which framework a tree belongs to."""
    for path in blobs:
        for name, mark in MARKS.items():
            if mark.match(path):
                return name
    return None


def tree_at(folder: Path, framework: str, tag: str) -> Tree | None:
    """The tree of a tag of a checkout, None where it has no such tag."""
    found = git(folder, "rev-parse", "--verify", "--quiet", f"refs/tags/{tag}^{{commit}}")
    if not found:
        return None
    commit = found.decode().strip()
    blobs, submodules = listed(folder, commit)

    def read(path: str) -> str | None:
        content = git(folder, "cat-file", "blob", blobs[path]) if path in blobs else None
        return None if content is None else content.decode("utf-8", "replace")

    return Tree(framework, tag, commit, blobs, submodules, read)


def rebuild(data: Data, folder: Path, new: list[str], say: Say) -> None:
    """Refreshes everything a checkout can tell. `new` are tags to add where it has them."""
    framework = framework_of(listed(folder, "HEAD")[0])
    if framework is None:
        say(f"{folder}: none of numpy, MLX, CuPy, PyTorch")
        return
    known = list(data.paths[framework]["tags"])
    for tag in [*known, *(tag for tag in new if tag not in known)]:
        tree = tree_at(folder, framework, tag)
        if tree is None:
            if tag in known:
                say(f"{framework} {tag}: not in this checkout, left as it is")
            continue
        if tag not in known:
            _add_release(data, tree)
            _carry(data, tree, say)
        _set_paths(data.paths[framework], tree)
        for row in data.releases:
            if (row["framework"], row["tag"]) == (framework, tag):
                if row["commit"] != tree.commit:
                    say(f"{tree.name}: the tag is {tree.commit}, known as {row['commit']}")
                row["complete"] = True
        _refresh_records(data, tree, say)
        _refresh_steps(data, tree, say)


def _add_release(data: Data, tree: Tree) -> None:
    index = data.paths[tree.framework]
    index["tags"].append(tree.tag)
    index["complete"].append(False)
    row = {"framework": tree.framework, "tag": tree.tag, "commit": tree.commit, "complete": True}
    data.releases.append(row)


def _set_paths(index: Row, tree: Tree) -> None:
    """Sets the tag's bit on exactly the paths of its tree."""
    at = index["tags"].index(tree.tag)
    index["complete"][at] = True
    left_out = index["not_indexed"]
    kept = {p for p in tree.blobs if not any(fnmatch.fnmatchcase(p, one) for one in left_out)}
    for kind, present in (("paths", kept), ("submodules", set(tree.submodules))):
        masks = index[kind]
        for path in present | masks.keys():
            mask = masks.get(path, 0) & ~(1 << at) | (path in present) << at
            if mask:
                masks[path] = mask
            else:
                del masks[path]
        index[kind] = dict(sorted(masks.items()))


def _refresh_records(data: Data, tree: Tree, say: Say) -> None:
    """Compares the records of a release with its tree, and hashes what should be hashed."""
    for row in data.records:
        path = row["path"]
        if (row["framework"], row["ref"]) != (tree.framework, tree.tag) or path not in tree.blobs:
            continue
        if row["blob"] != tree.blobs[path]:
            say(f"{tree.name} {path}: blob {tree.blobs[path]}, known as {row['blob']}")
        elif hashed(row):
            lines = split_lines(tree.read(path) or "")
            if len(lines) != row["line_count"]:
                say(f"{tree.name} {path}: {len(lines)} lines, known as {row['line_count']}")
            packed = b"".join(line_hash(line) for line in lines)
            data.lines[row["blob"]] = base64.b64encode(packed).decode()


def _carry(data: Data, tree: Tree, say: Say) -> None:
    """Records of a new release from those of the release before it."""
    older = {
        row["ref"]
        for row in data.records
        if row["framework"] == tree.framework and version_key(row["ref"]) < version_key(tree.tag)
    }
    if not older:
        say(f"{tree.name}: no older release has records to carry over")
        return
    before = (tree.framework, max(older, key=version_key))
    for row in [row for row in data.records if (row["framework"], row["ref"]) == before]:
        path = row["path"]
        there = row.get("exists") is not False
        if (path in tree.blobs) != there:
            say(f"{tree.name}: {path} {'is gone' if there else 'exists'}, unlike at {before[1]}")
            continue
        if not there:
            continue
        lines = split_lines(tree.read(path) or "")
        fresh = {"blob": tree.blobs[path], "line_count": len(lines), "evidence": "tag"}
        if row["blob"] != tree.blobs[path]:
            fresh["lines"] = _found_again(row, lines, data, f"{tree.name}: {path}", say)
        data.records.append({**row, "ref": tree.tag, "commit": tree.commit, **fresh})


def _found_again(row: Row, lines: list[str], data: Data, name: str, say: Say) -> Row:
    """The lines of a record in a changed file; a name whose line is not found is left out."""
    old = base64.b64decode(data.lines.get(row["blob"], ""))
    own = [line_hash(line) for line in lines]
    found: Row = {}
    for key, span in row["lines"].items():
        if span is None:
            found[key] = None
            continue
        wanted = [old[4 * (n - 1) : 4 * n] for n in range(span[0], span[1] + 1)]
        starts = [i for i in range(len(own)) if own[i : i + len(wanted)] == wanted]
        if starts:
            first = min(starts, key=lambda i: abs(i + 1 - span[0])) + 1
            found[key] = [first, first + span[1] - span[0]]
        elif row["accepted"] != "no":
            say(f"{name}: {key}, lines {span} of the release before, is not found: look it up")
    return found


def _refresh_steps(data: Data, tree: Tree, say: Say) -> None:
    """The lines of the steps at a release, looked up by their patterns."""
    for row in data.steps:
        if row["framework"] != tree.framework or row["pattern"] is None:
            continue
        read = ((path, tree.read(path)) for path in row["path"])
        path, content = next(((p, c) for p, c in read if c is not None), (None, None))
        if content is None:
            continue
        row["lines"].pop(tree.tag, None)
        line = facts.line_of(content, row["after"], row["pattern"])
        if line is not None:
            row["lines"][tree.tag] = line
        else:
            say(f"{tree.name} {path}: no line matches {row['pattern']!r} ({row['step']})")
        row["lines"] = dict(sorted(row["lines"].items(), key=lambda one: version_key(one[0])))


def refresh_installed(data: Data, say: Say) -> None:
    """The same for the files an installed package ships, where its version is a known release."""
    for framework in sources.PACKAGES:
        version = sources.installed_version(framework)
        tag = None if version is None else "v" + version.partition("+")[0]
        if tag is None or tag not in data.paths[framework]["tags"]:
            say(f"{framework}: installed is {version or 'nothing'}, which is no known release")
            continue

        def read(path: str, framework: str = framework) -> str | None:
            found = sources.in_package(framework, path)
            return found.text if found else None

        blobs = {}
        for row in data.records:
            if (row["framework"], row["ref"]) == (framework, tag) and row["blob"] is not None:
                content = read(row["path"])
                if content is not None:
                    blobs[row["path"]] = facts.blob_id(content.encode())
        tree = Tree(framework, tag, None, blobs, (), read)
        _refresh_records(data, tree, say)
        _refresh_steps(data, tree, say)


def main(arguments: list[str] | None = None) -> int:
    """Rebuilds, writes and proves the data; the exit code is 1 when it is not sound."""
    parser = argparse.ArgumentParser(prog="python -m grader.notes.index", description=__doc__)
    parser.add_argument("checkout", nargs="*", type=Path, help="git repositories with the tags")
    parser.add_argument("--release", action="append", default=[], metavar="TAG", help="a new one")
    parser.add_argument("--installed", action="store_true", help="use installed packages as well")
    parser.add_argument(
        "--out", type=Path, default=facts.FOLDER, help="where the files are written"
    )
    given = parser.parse_args(arguments)
    if not given.checkout and not given.installed:
        parser.error("name at least one checkout, or --installed")
    data = Data(facts.FOLDER)
    for folder in given.checkout:
        rebuild(data, folder, given.release, print)
    if given.installed:
        refresh_installed(data, print)
    given.out.mkdir(parents=True, exist_ok=True)
    data.write(given.out)
    if given.out != facts.FOLDER:
        (given.out / "backends.json").write_bytes((facts.FOLDER / "backends.json").read_bytes())
    found = facts_check.problems(given.out)
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
