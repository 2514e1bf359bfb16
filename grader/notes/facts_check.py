"""Proves that the four fact files and the table of backends agree; `problems()` says what does not.

Run after every edit of the data: `python -m grader.notes.facts_check`. A test runs it too.
"""

from __future__ import annotations

import base64
import fnmatch
import json
import lzma
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from grader.notes.facts import FOLDER, HASH_BYTES, line_hash, version_key

SIZE_LIMIT_BYTES = 600 * 1024
HASHED_BELOW_LINES = 3000

REQUIRED: dict[str, Any] = {
    "framework": str, "backend": str, "repo": str, "ref": str, "commit": (str, type(None)),
    "path": str, "role": str, "symbols": list, "lines": dict, "accepted": str, "why": str,
    "blob": (str, type(None)), "line_count": (int, type(None)), "evidence": str,
}  # fmt: skip
OPTIONAL: dict[str, Any] = {
    "absent": dict, "exists": bool, "wheel_line_offset": int, "dtypes": list, "calls": str,
}  # fmt: skip
BACKENDS = {"cpu", "cuda", "metal", "mps", "compile-triton", "compile-cpp", "compile-metal",
            "xla-gpu", "any"}  # fmt: skip
ACCEPTED = {"full", "partial", "no"}
EVIDENCE = {"tag", "distribution source", "distribution source + wheel", "wheel", "generated",
            "stored index", "stored index (path only)"}  # fmt: skip
ABSENT_KINDS = ("never: ", "elsewhere: ", "closed: ", "sometimes: ")
THREE_FACTS = ("op", "global_id", "bounds_check")
STEPS = ("check", "allocate", "table", "pick", "geometry", "launch", "return", "global_id",
         "bounds_check", "operation")  # fmt: skip
SHA1 = re.compile(r"[0-9a-f]{40}")
MACHINE_PATH = re.compile(r"(?:^|[\s\"'(=])/[A-Za-z0-9_.-]+/|[A-Z]:\\\\")

Row = dict[str, Any]


def problems(folder: Path = FOLDER) -> list[str]:
    """Everything that is wrong with the data, in words; empty when it is sound."""
    rows: list[Row] = json.loads((folder / "facts.json").read_text("utf-8"))
    releases: list[Row] = json.loads((folder / "releases.json").read_text("utf-8"))
    paths: Row = json.loads(lzma.decompress((folder / "paths.json.xz").read_bytes()))
    lines: Row = json.loads(lzma.decompress((folder / "lines.json.xz").read_bytes()))
    table: list[Row] = json.loads((folder / "backends.json").read_text("utf-8"))
    steps: list[Row] = json.loads((folder / "steps.json").read_text("utf-8"))
    release_of = {(r["framework"], r["tag"]): r for r in releases}

    series: dict[str, dict[str, int]] = json.loads((folder / "series.json").read_text("utf-8"))
    found = check_releases(releases, paths) + check_index(paths) + check_series(releases, series)
    order = [(r["framework"], r["backend"], version_key(r["ref"]), r["path"]) for r in rows]
    if order != sorted(order):
        found.append("facts.json: not sorted by framework, backend, ref, path")
    counted = Counter((framework, ref, path) for framework, _, ref, path in order)
    found += [f"facts.json: {key} stands twice" for key, n in counted.items() if n > 1]
    known = {(r["framework"], r["path"]) for r in rows}
    for row in rows:
        wrong = check_record(row) or check_path(
            row, paths.get(row["framework"]), release_of.get((row["framework"], row["ref"]))
        )
        if row.get("calls") and (row["framework"], row["calls"]) not in known:
            wrong.append(f"calls {row['calls']}, which has no record")
        name = f"{row.get('framework')} {row.get('ref')} {row.get('path')}"
        found += [f"facts.json: {name}: {problem}" for problem in wrong]
    found += check_lines(rows, lines) + check_backends(table, rows) + check_steps(steps, paths)
    size = sum(file.stat().st_size for file in folder.iterdir())
    if size > SIZE_LIMIT_BYTES:
        found.append(f"the folder holds {size} bytes, the limit is {SIZE_LIMIT_BYTES}")
    return found


def check_releases(releases: list[Row], paths: Row) -> list[str]:
    """releases.json: unique, sorted, full commits, the same tags as the index."""
    found = []
    if len({(r["framework"], r["tag"]) for r in releases}) != len(releases):
        found.append("releases.json: a framework and tag stand twice")
    if releases != sorted(releases, key=lambda r: (r["framework"], version_key(r["tag"]))):
        found.append("releases.json: not sorted by framework and version")
    found += [
        f"releases.json: {r['framework']} {r['tag']}: commit is not a full SHA-1"
        for r in releases
        if not SHA1.fullmatch(r["commit"])
    ]
    listed = {(r["framework"], r["tag"]): r["complete"] for r in releases}
    indexed = {
        (name, tag): complete
        for name, index in paths.items()
        for tag, complete in zip(index["tags"], index["complete"], strict=True)
    }
    if listed != indexed:
        differ = sorted(set(listed.items()) ^ set(indexed.items()))
        found.append(f"releases.json and paths.json.xz differ: {differ}")
    return found


def check_series(releases: list[Row], series: dict[str, dict[str, int]]) -> list[str]:
    """series.json: holds every release that is known, or those would be said not to exist."""
    found = []
    for row in releases:
        major, minor, patch = version_key(row["tag"])
        if patch > series.get(row["framework"], {}).get(f"{major}.{minor}", -1):
            found.append(f"series.json: {row['framework']} {row['tag']} is missing")
    return found


def check_index(paths: Row) -> list[str]:
    """paths.json.xz: masks name known tags, paths are plain, no tag is empty."""
    found = []
    for name, index in paths.items():
        every_tag = (1 << len(index["tags"])) - 1
        for kind in ("paths", "submodules"):
            bad = [p for p, mask in index[kind].items() if not 0 < mask <= every_tag]
            found += [f"paths.json.xz: {name}: {p}: mask names no known tag" for p in bad]
            found += [
                f"paths.json.xz: {name}: {p}: not a plain relative path"
                for p in index[kind]
                if p.startswith(("/", "./")) or ".." in p.split("/")
            ]
        for position, tag in enumerate(index["tags"]):
            if not any(mask >> position & 1 for mask in index["paths"].values()):
                found.append(f"paths.json.xz: {name} {tag}: no path at all")
    return found


def check_record(row: Row) -> list[str]:
    """One record by itself: fields, ranges inside the file, every null explained."""
    found = [
        f"{key} is missing or has the wrong type"
        for key, kind in REQUIRED.items()
        if not isinstance(row.get(key, ...), kind)
    ]
    found += [f"unknown field {key}" for key in row.keys() - REQUIRED.keys() - OPTIONAL.keys()]
    found += [
        f"{key} has the wrong type"
        for key, kind in OPTIONAL.items()
        if key in row and not isinstance(row[key], kind)
    ]
    if found:
        return found
    for key, allowed in (("backend", BACKENDS), ("accepted", ACCEPTED), ("evidence", EVIDENCE)):
        if row[key] not in allowed:
            found.append(f"{key} {row[key]!r} is not one of {sorted(allowed)}")
    found += [
        f"{key} is not a full SHA-1"
        for key in ("commit", "blob")
        if row[key] is not None and not SHA1.fullmatch(row[key])
    ]
    if (row["blob"] is None) != (row["line_count"] is None):
        found.append("blob and line_count must both be given or both be null")
    if MACHINE_PATH.search(json.dumps(row)):
        found.append("holds an absolute path of some machine")
    absent = row.get("absent", {})
    found += [
        f"absent {name}: must begin with one of {ABSENT_KINDS}"
        for name, text in absent.items()
        if not text.startswith(ABSENT_KINDS)
    ]
    for name, span in row["lines"].items():
        if span is None:
            if name not in absent:
                found.append(f"lines {name} is null and absent does not say why")
            continue
        first, last = span
        if not 1 <= first <= last:
            found.append(f"lines {name}: {span} is not a range")
        elif row["line_count"] is not None and last > row["line_count"]:
            found.append(f"lines {name}: {span} is past the end, line {row['line_count']}")
    found += [
        f"absent {name} contradicts its line number"
        for name, text in absent.items()
        if row["lines"].get(name) is not None and not text.startswith("sometimes: ")
    ]
    if row["accepted"] == "full":
        found += [
            f"full, but says nothing about {name}"
            for name in THREE_FACTS
            if name not in row["lines"]
        ]
    return found


def check_path(row: Row, index: Row | None, release: Row | None) -> list[str]:
    """One record against the path index of its tag."""
    if not row["ref"].startswith("v"):
        return []
    if index is None or release is None:
        return [f"no release {row['framework']} {row['ref']}"]
    found = []
    if release["commit"] != row["commit"]:
        found.append("commit differs from releases.json")
    listed = bool(index["paths"].get(row["path"], 0) >> index["tags"].index(row["ref"]) & 1)
    patterns = index["not_indexed"]
    not_covered = any(fnmatch.fnmatchcase(row["path"], pattern) for pattern in patterns)
    if row.get("exists") is False:
        if listed:
            found.append("said not to exist, but the index lists it")
    elif row["evidence"] == "generated" or row["path"].startswith("torch/include/"):
        if listed:
            found.append("said to be generated, but the index lists it")
    elif not listed and not not_covered:
        found.append("not in the index of its tag")
    return found


def check_lines(rows: list[Row], lines: Row) -> list[str]:
    """lines.json.xz: exactly the blobs it should hold, with a hash for every line."""
    wanted: dict[str, int] = {}
    for row in rows:
        hashed = row["accepted"] != "no" and row["blob"]
        if hashed and row["line_count"] < HASHED_BELOW_LINES:
            wanted[row["blob"]] = row["line_count"]
    found = [f"lines.json.xz: blob {blob} is missing" for blob in wanted.keys() - lines.keys()]
    found += [
        f"lines.json.xz: blob {blob} belongs to no record" for blob in lines.keys() - wanted.keys()
    ]
    for blob in wanted.keys() & lines.keys():
        hashes = base64.b64decode(lines[blob], validate=True)
        if len(hashes) != HASH_BYTES * wanted[blob]:
            found.append(
                f"lines.json.xz: blob {blob}: {len(hashes)} bytes for {wanted[blob]} lines"
            )
        each = {hashes[i : i + HASH_BYTES] for i in range(0, len(hashes), HASH_BYTES)}
        if line_hash("") not in each:
            found.append(f"lines.json.xz: blob {blob} has no empty line: other normalisation?")
    return found


def check_backends(table: list[Row], rows: list[Row]) -> list[str]:
    """backends.json: patterns compile, ranges do not overlap, every full record has its row."""
    found = []
    spans: dict[tuple[str, str], list[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
    for row in table:
        for pattern in (row["words"], *row["differs"]):
            try:
                re.compile(pattern)
            except re.error as error:
                found.append(f"backends.json: {row['title']}: {pattern!r}: {error}")
        first = version_key(row["first"]) if row["first"] else (0,)
        last = version_key(row["last"]) if row["last"] else (10**6 - 1,)
        name = f"{row['framework']} {row['backend']}"
        if first > last:
            found.append(f"backends.json: {name}: first is behind last")
        for other in spans.setdefault((row["framework"], row["backend"]), []):
            if first <= other[1] and other[0] <= last:
                found.append(f"backends.json: {name}: two rows hold at the same version")
        spans[row["framework"], row["backend"]].append((first, last))
    for row in rows:
        if row["accepted"] == "full" and row["ref"].startswith("v"):
            key = version_key(row["ref"])
            held = spans.get((row["framework"], row["backend"]), [])
            if not any(first <= key <= last for first, last in held):
                found.append(f"backends.json: no row for {row['framework']} {row['backend']} "
                             f"{row['ref']}")  # fmt: skip
    return found


def check_steps(steps: list[Row], paths: Row) -> list[str]:
    """steps.json: known steps and tags, patterns compile, every line's file is in the index."""
    found = []
    for row in steps:
        name = f"steps.json: {row['framework']} {row['backend']} {row['step']} {row['ops']}"
        if row["step"] not in STEPS:
            found.append(f"{name}: not one of {', '.join(STEPS)}")
        for pattern in (row["after"], row["pattern"]):
            try:
                re.compile(pattern or "")
            except re.error as error:
                found.append(f"{name}: {pattern!r}: {error}")
        index = paths.get(row["framework"], {"tags": [], "paths": {}})
        for tag, line in row["lines"].items():
            if tag not in index["tags"] or line < 1:
                found.append(f"{name}: line {line} at {tag}, which is no known release")
            elif not any(
                index["paths"].get(path, 0) >> index["tags"].index(tag) & 1 for path in row["path"]
            ):
                found.append(f"{name}: a line at {tag}, but no file of it in the index")
    return found


def main() -> int:
    """Prints the problems; the exit code is 1 when there are any."""
    found = problems()
    for problem in found:
        print(problem)
    print(f"{len(found)} problems" if found else "ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
