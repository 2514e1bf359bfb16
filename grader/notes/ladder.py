"""The ladder: which release a note names, and what is known about each path at that release.

Rungs, best first: facts, path index, installed package, a checkout the user names, a clone where
the network is allowed, unknown. "Not listed" is "does not exist" only where the index is complete.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from grader.notes import facts, paths, sources
from grader.notes.facts import Record, Span
from grader.notes.paths import Written
from grader.notes.sources import Sources

Verdict = Literal["right", "partly", "wrong", "unknown"]
WORST_FIRST: tuple[Verdict, ...] = ("wrong", "unknown", "partly", "right")

# Renames that share no file name: framework, old path, new path, first version of the new one.
MOVES = (
    ("mlx", "mlx/backend/cuda/binary.cu", "mlx/backend/cuda/binary/binary.cuh", "0.29.0"),
    ("mlx", "mlx/backend/accelerate/primitives.cpp", "mlx/backend/cpu/binary.h", "0.22.1"),
    ("mlx", "mlx/backend/common/binary.cpp", "mlx/backend/cpu/binary.cpp", "0.22.1"),
)
_VERSION = re.compile(r"v?\d{1,5}(?:\.\d{1,5}){0,3}(?:\.?(?:rc|a|b|post|dev)\d{0,9})?")


@dataclass(frozen=True)
class Ref:
    """The release a note names. `tag` is its name (known or not); `near` the known ones to use.

    `known`: the facts or the index hold it, and `near` is just it. Otherwise `near` are the
    known releases on either side, or all of them when the note names none. `invented`: there never
    was such a release, so nothing about it can be unknown.
    """

    framework: str
    tag: str | None
    known: bool
    near: tuple[str, ...]
    verdict: Verdict
    reason: str
    invented: bool = False


@dataclass(frozen=True)
class Sheet:
    """A file at a release: its lines as far as they are known. `exact`: the release named."""

    path: str
    ref: str
    exact: bool
    record: Record | None
    spans: Mapping[str, Span | None]
    hashes: bytes | None = field(default=None, repr=False)
    text: tuple[str, ...] | None = field(default=None, repr=False)
    source: str = "facts"


@dataclass(frozen=True)
class Place:
    """What became of one path of a note. `accepted` is that of its best sheet."""

    written: Written
    path: str
    verdict: Verdict
    reason: str
    accepted: Literal["full", "partial", "no"] | None = None
    sheets: tuple[Sheet, ...] = field(default=())


def resolve(framework: str, version: str | None, commit: str | None, use: Sources) -> Ref:
    """Which release a version, a tag or a commit names."""
    known = tuple(release.tag for release in facts.releases(framework))

    def ref(tag: str | None, near: tuple[str, ...], verdict: Verdict, reason: str) -> Ref:
        return Ref(framework, tag, tag in near and len(near) == 1, near, verdict, reason)

    by_commit = _of_commit(framework, commit, use) if commit else None
    if version is None or not version.strip():
        if by_commit is not None:
            return ref(by_commit, _near(known, by_commit), "right", f"the commit is {by_commit}")
        if commit:
            if not re.fullmatch(r"[0-9a-fA-F]{7,40}", commit.strip()):
                return ref(None, (*reversed(known), "main"), "wrong",
                           "expected a commit of 7 to 40 hexadecimal digits")  # fmt: skip
            return ref(None, known[-1:] or ("main",), "unknown",
                       "this commit is none of the releases that are known")  # fmt: skip
        return ref(None, (*reversed(known), "main"), "partly",
                   "name the version or the commit: paths and lines move")  # fmt: skip
    plain = version.strip().rpartition("==")[2].strip().partition("+")[0].lower()
    plain = re.sub(r"^(?:numpy|pytorch|torch|mlx|cupy|jax|release|version|tag)[\s/@-]+", "", plain)
    if plain in ("main", "master", "head", "trunk"):
        return ref("main", ("main", *known[-1:]) if known else ("main",), "unknown",
                   "a branch moves; name a release or a commit")  # fmt: skip
    if not _VERSION.fullmatch(plain):
        return ref(None, (*reversed(known), "main"), "wrong",
                   'expected a version, as "2.6.0"')  # fmt: skip
    tag = "v" + plain.removeprefix("v")
    if by_commit is not None and facts.version_key(by_commit) != facts.version_key(tag):
        return ref(tag, _near(known, tag), "wrong",
                   f"version and commit differ: the commit is {by_commit}")  # fmt: skip
    if tag in known:
        return ref(tag, (tag,), "right", f"{tag} is a release")
    key = facts.version_key(tag)
    same = [one for one in known if facts.version_key(one)[: len(key)] == key and len(key) < 3]
    if same:
        return ref(same[-1], (same[-1],), "right", f"taken as {same[-1]}")
    near = _near(known, tag)
    if never := facts.no_such_release(framework, tag):
        return replace(ref(tag, near, "wrong", never), invented=True)
    newest = next(reversed(facts.series(framework)), (0, 0))
    newer = f": it is newer than {newest[0]}.{newest[1]}, the newest known" if key > newest else ""
    return ref(tag, near, "unknown",
               f"{tag} was not examined{newer}; the nearest known: {_and(near)}")  # fmt: skip


def _near(known: tuple[str, ...], tag: str) -> tuple[str, ...]:
    """The known release itself, or those just before and behind it; `main` where none is known."""
    if tag in known:
        return (tag,)
    key = facts.version_key(tag)
    before = [one for one in known if facts.version_key(one) < key]
    behind = [one for one in known if facts.version_key(one) > key]
    return (*before[-1:], *behind[:1]) or ("main",)


def _of_commit(framework: str, commit: str | None, use: Sources) -> str | None:
    wanted = (commit or "").strip().lower()
    if not re.fullmatch(r"[0-9a-f]{7,40}", wanted):
        return None
    for release in facts.releases(framework):
        if release.commit.startswith(wanted):
            return release.tag
    if use.packages and (sources.installed_commit(framework) or "-").startswith(wanted):
        return "v" + (sources.installed_version(framework) or "").partition("+")[0]
    if any(
        r.framework == framework and (r.commit or "-").startswith(wanted) for r in facts.records()
    ):
        return "main"
    return None


def locate(written: Written, ref: Ref, use: Sources) -> Place:
    """Climbs the ladder for one path."""
    if written.problem:
        return _on_one_machine(written, ref, use)
    if written.generated:
        return _generated(written, ref)
    theirs = paths.REPOSITORIES.get(ref.framework, "")
    if written.repo and written.repo.split("/")[1].lower() not in (theirs.split("/")[-1], "xla"):
        return Place(written, written.path, "wrong",
                     f"the link is into {written.repo}; {ref.framework} is {theirs}")  # fmt: skip
    path = _spelled(written.path, ref)
    if path != written.path:
        written = written.hinted(f"in the repository the path is {path}", path)
    sheets = sheets_at(path, ref, use)
    if sheets:
        return _judge(written, path, ref, sheets)
    near = _near_hit(path, ref)
    if near is not None:
        other, hint = near
        found = sheets_at(other, ref, use)
        place = _judge(written, other, ref, found) if found else None
        verdict: Verdict = "wrong" if place is None or place.verdict == "wrong" else "partly"
        if place is None or place.verdict == "wrong":
            reason = hint if place is None else f"{hint}; {place.reason}"
        else:
            reason = f"{hint}: {place.reason}"
        return Place(written, other, verdict, reason, place.accepted if place else None, found)
    return _nowhere(written, path, ref, use)


def _on_one_machine(written: Written, ref: Ref, use: Sources) -> Place:
    """A path that is none of a repository: half right where it ends in one of this release."""
    parts = written.path.split("/")
    tails = ("/".join(parts[start:]) for start in range(1, len(parts) - 1))
    tail = next((one for one in tails if _exists(one, ref)), None)
    if tail is None or ".." in parts:
        return Place(written, written.path, "wrong", written.problem)
    place = locate(replace(written, path=tail, problem=""), ref, use)
    verdict: Verdict = "partly" if place.verdict == "right" else place.verdict
    reason = _join(written.problem, f"in the repository it is {tail}", place.reason)
    return replace(place, verdict=verdict, reason=reason)


def sheets_at(path: str, ref: Ref, use: Sources) -> tuple[Sheet, ...]:
    """What is known about a path: exact first, else at the releases near the one named."""
    records = {record.ref: record for record in facts.records_of(ref.framework, path)}
    found: list[Sheet] = []
    if ref.tag is not None and ref.tag in records and ref.known:
        return (_with_text(_of_record(records[ref.tag], exact=True), ref, use),)
    index = facts.index(ref.framework)
    version = None if ref.tag is None else ref.tag.lstrip("v")
    given = sources.read(ref.framework, ref.tag, version, path, use) if ref.tag else None
    nearest = _nearest(tuple(records.values()), ref)
    if given is not None and given.text is not None and ref.tag is not None:
        lines = tuple(facts.split_lines(given.text))
        spans = _found_again(nearest[0], lines) if nearest else {}
        found.append(
            Sheet(path, ref.tag, True, nearest[0] if nearest else None, spans,
                  facts.hashes_of(given.text), lines, given.source)
        )  # fmt: skip
        return tuple(found)
    listed = [
        tag for tag in ref.near if index is not None and tag in index.tags and index.has(path, tag)
    ]
    if given is not None and given.text is None:
        return ()
    # A record of another release helps only where the path may exist at the one named.
    gone = index is not None and all(
        tag in index.tags and index.says_absent(path, tag) for tag in ref.near
    )
    if ref.known and gone and not any(record.exists is False for record in nearest[:1]):
        return ()
    found += [_of_record(record, exact=ref.tag is None and record.exists) for record in nearest]
    if not found and listed:
        found.append(Sheet(path, listed[0], ref.known, None, {}, source="path index"))
    return tuple(found)


def _with_text(sheet: Sheet, ref: Ref, use: Sources) -> Sheet:
    """A file too long to be hashed, with its text where that is at hand."""
    record = sheet.record
    if sheet.hashes is not None or record is None or record.accepted == "no" or ref.tag is None:
        return sheet
    given = sources.read(ref.framework, ref.tag, ref.tag.lstrip("v"), sheet.path, use)
    if given is None or given.text is None:
        return sheet
    if record.blob is not None and facts.blob_id(given.text.encode()) != record.blob:
        return sheet
    return replace(sheet, text=tuple(facts.split_lines(given.text)), source=given.source)


def _nearest(records: tuple[Record, ...], ref: Ref) -> list[Record]:
    """Records of the releases nearest to the one named; all, newest first, when none is."""
    if ref.tag is None:
        tags = [record for record in records if record.ref.startswith("v")]
        return tags[::-1] + [record for record in records if not record.ref.startswith("v")]
    key = facts.version_key(ref.tag)
    before = [one for one in records if facts.version_key(one.ref) <= key]
    behind = [one for one in records if facts.version_key(one.ref) > key]
    return before[-1:] + behind[:1]


def _of_record(record: Record, exact: bool) -> Sheet:
    return Sheet(record.path, record.ref, exact, record, record.lines, facts.hashes(record.blob))


def _found_again(record: Record, lines: tuple[str, ...]) -> dict[str, Span | None]:
    """The spans of a record of another release, looked up in the text of this one.

    A line of a fact is found again by its hash; of several the one nearest to the old place.
    """
    hashes = facts.hashes(record.blob)
    own = [facts.line_hash(line) for line in lines]
    spans: dict[str, Span | None] = {}
    for name, span in record.lines.items():
        if span is None:
            spans[name] = None
            continue
        if hashes is None:
            continue
        first, last = span
        wanted = [hashes[4 * (n - 1) : 4 * n] for n in range(first, last + 1)]
        at = [i for i in range(len(own)) if own[i : i + len(wanted)] == wanted]
        if at:
            start = min(at, key=lambda i: abs(i + 1 - first)) + 1
            spans[name] = (start, start + last - first)
    return spans


def _judge(written: Written, path: str, ref: Ref, sheets: tuple[Sheet, ...]) -> Place:
    """The verdict on a path that something is known about."""
    best = sheets[0]
    if ref.tag is None:  # no version: what holds at any known release
        best = min(sheets, key=lambda s: ("full", "partial", "no").index(_accepted(s) or "no"))
        sheets = (best, *(s for s in sheets if s is not best))
    record = best.record
    hints = "; ".join(written.hints)
    at = "" if best.exact and ref.tag is not None else f" (read at {best.ref})"
    why = (record.why.rstrip(".") + at if at else record.why) if record else ""
    if record is None:
        reason = (
            f"exists at {best.ref}, but is none of the files that are known to take part in add"
        )
        return Place(written, path, "unknown", _join(reason, hints), None, sheets)
    if record.accepted == "no":
        return Place(written, path, "wrong", _join(why, hints), "no", sheets)
    verdict: Verdict = "right"
    beyond = ref.tag is not None and not ref.known and len(ref.near) == 1  # no release behind it
    if not best.exact and (beyond or not _listed_near(path, ref)):
        verdict = "unknown"
    if written.ref and ref.tag and written.ref not in (ref.tag, ref.tag.lstrip("v")):
        hints = _join(f"the link shows {written.ref}, the note says {ref.tag}", hints)
    return Place(written, path, verdict, _join(why, hints), record.accepted, sheets)


def may_exist(path: str, ref: Ref) -> bool:
    """Whether a path exists at a release near the one named, or may without being listed."""
    index = facts.index(ref.framework)
    return any(
        index is None
        or tag not in index.tags
        or not (index.complete[index.tags.index(tag)] and index.says_absent(path, tag))
        or any(r.ref == tag and r.exists for r in facts.records_of(ref.framework, path))
        for tag in ref.near
    )


def _listed_near(path: str, ref: Ref) -> bool:
    """Whether the path is known to exist at every release near the one named."""
    index = facts.index(ref.framework)
    records = {record.ref for record in facts.records_of(ref.framework, path) if record.exists}
    return all(
        tag in records or (index is not None and tag in index.tags and index.has(path, tag))
        for tag in ref.near
    )


def _generated(written: Written, ref: Ref) -> Place:
    """A kernel that torch.compile writes: no file of the repository, judged by its shape."""
    if ref.framework != "pytorch":
        return Place(written, written.path, "wrong", "only torch.compile writes such a file")
    found = tuple(
        _of_record(record, exact=False)
        for record in facts.records()
        if record.path.startswith("$TORCHINDUCTOR_CACHE_DIR")
    )
    reason = "torch.compile writes this file for each call site; its lines are judged by shape"
    return Place(written, written.path, "right", reason, "full", found)


def _accepted(sheet: Sheet) -> Literal["full", "partial", "no"] | None:
    return sheet.record.accepted if sheet.record else None


def _spelled(path: str, ref: Ref) -> str:
    """Takes the name of an archive or of the repository off the front; finds generated files."""
    if _exists(path, ref):
        return path
    head, _, tail = path.partition("/")
    archive = rf"{ref.framework}|{paths.REPOSITORIES[ref.framework].split('/')[1]}|torch"
    if tail and re.match(archive, head, re.I) and _exists(tail, ref):
        return tail
    name = path.rpartition("/")[2]
    if name in ("UfuncCUDA_add.cu", "UfuncCPUKernel_add.cpp"):
        return f"build/aten/src/ATen/{name}"
    return path


def _exists(path: str, ref: Ref) -> bool:
    if any(record.ref in ref.near for record in facts.records_of(ref.framework, path)):
        return True
    index = facts.index(ref.framework)
    return index is not None and any(tag in index.tags and index.has(path, tag) for tag in ref.near)


def _near_hit(path: str, ref: Ref) -> tuple[str, str] | None:
    """A path that was nearly right: (the path meant, what was off)."""
    index = facts.index(ref.framework)
    if index is None:
        return None
    tags = [tag for tag in ref.near if tag in index.tags]
    listed = facts.listing(ref.framework, ref.near)
    name = path.rpartition("/")[2]
    same_name = listed.named.get(name, ())
    at = ref.tag or (tags[0] if tags else "")
    if ref.framework == "numpy":
        for old, new in (("numpy/core/", "numpy/_core/"), ("numpy/_core/", "numpy/core/")):
            swapped = path.replace(old, new, 1) if path.startswith(old) else ""
            if swapped in listed.paths:
                return swapped, f"numpy/core became numpy/_core at 2.0; at {at} it is {swapped}"
    for framework, old, new, since in MOVES:
        if framework == ref.framework and path == old and new in listed.paths:
            return new, f"moved to {new} at {since}"
        if framework == ref.framework and path == new and old in listed.paths:
            return old, f"before {since} it was {old}"
    if path.lower() in listed.folded:
        spelled = listed.folded[path.lower()]
        return spelled, f"upper and lower case matter: it is {spelled}"
    twins = [p for p in same_name if facts.records_of(ref.framework, p)]
    ends = [p for p in same_name if p.endswith("/" + path)]
    if len(ends) > 1:  # the file the facts know, where a short name fits several
        ends = [p for p in ends if p in twins] if len(set(ends) & set(twins)) == 1 else ends
    if len(ends) == 1:
        return ends[0], f"give the whole path, {ends[0]}"
    if len(ends) > 1 and "/" not in path:
        return None
    was = index.tags_of(path)
    if len(twins) == 1 and len(name) > 4:
        where = f"exists at {_and(was[-1:])}, not at {at}" if was else f"does not exist at {at}"
        return twins[0], f"{where}; {twins[0]} does"
    return None


def _nowhere(written: Written, path: str, ref: Ref, use: Sources) -> Place:
    """A path that no rung finds: wrong only where the index is complete."""
    index = facts.index(ref.framework)
    at = ref.tag or "any known release"
    hints = "; ".join(written.hints)
    if ref.tag is not None:
        given = sources.read(ref.framework, ref.tag, ref.tag.lstrip("v"), path, use)
        if given is not None and given.text is None:
            reason = f"does not exist in the {given.source}"
            return Place(written, path, "wrong", _join(reason, hints))
    if index is None:
        return Place(
            written, path, "unknown", _join(f"nothing is known about {ref.framework}'s tree", hints)
        )
    tags = [tag for tag in ref.near if tag in index.tags]
    for tag in tags:
        folder = index.submodule(path, tag)
        if folder is not None:
            if ref.framework == "numpy" and folder.endswith("highway"):
                reason = (
                    f"{folder} is a submodule, not part of numpy's tree, and add does not use it"
                )
                return Place(written, path, "wrong", reason, "no")
            return Place(
                written, path, "unknown", _join(f"{folder} is a submodule: not indexed", hints)
            )
    ends = [p for p in index.paths if p.endswith("/" + path)]
    if len(ends) > 1 and "/" not in path:
        return Place(
            written, path, "partly", f"give the whole path: {len(ends)} files have this name"
        )
    newer = not ref.known and ref.tag is not None and len(ref.near) == 1
    if tags and not newer and all(index.says_absent(path, tag) for tag in tags):
        was = index.tags_of(path)
        reason = f"does not exist at {at}"
        if was and facts.version_key(was[0]) > facts.version_key(ref.tag or "v0"):
            reason += f"; it is there at {was[0]}"
        elif was:
            reason += f"; it was there at {was[-1]}"
        candidates = {
            r.path for r in facts.records() if r.framework == ref.framework and r.accepted != "no"
        }
        near = difflib.get_close_matches(path[:300], candidates - {path}, 1, 0.75)
        if near:
            reason += f"; did you mean {near[0]}?"
        return Place(written, path, "wrong", _join(reason, hints))
    if not index.tags_of(path):
        for other in paths.REPOSITORIES:
            theirs = facts.index(other)
            if other != ref.framework and theirs is not None and theirs.tags_of(path):
                reason = f"that is a file of {other}, not of {ref.framework}"
                return Place(written, path, "wrong", _join(reason, hints))
    reason = f"cannot be checked here: not every path of {at} is known"
    return Place(written, path, "unknown", _join(reason, hints))


def _join(*parts: str) -> str:
    *first, last = [part for part in parts if part] or [""]
    return "; ".join((*(part.rstrip(".") for part in first), last))


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(names)
