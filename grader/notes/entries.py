"""Checks a note: each entry climbs the ladder, each claim gets a verdict and a reason."""

from __future__ import annotations

import re

from grader.notes import claims, facts, form, ladder, paths
from grader.notes.form import FACTS, FactClaim, Kernel
from grader.notes.ladder import Place, Ref, Verdict
from grader.notes.sources import Sources
from grader.result import NoteClaim, NoteEntry

_NOTHING = re.compile(
    r"^\W*(nothing|none|no|not at all|same|the same|identical|it (is|'s) the same|n/?a)\b.{0,40}$"
    r"|\bno differences?\b|\bidentical\b|\bdoes not differ\b|\bdoesn't differ\b",
    re.I | re.S,
)


GENERATED = ("xla-gpu", "compile-cpp", "compile-metal")
"""Backends without a kernel in any file: naming the generator is right, if it is called one."""

LONG = 1000
"""Characters of a sentence that are searched: patterns with gaps are slow on endless text."""


def entry(kernel: Kernel, use: Sources) -> NoteEntry:
    """The verdict on one [[kernel]] entry."""
    version, places = _places(kernel, use)
    ref = ladder.resolve(kernel.framework, version, kernel.commit, use)
    backend = kernel.backend or _backend(places)
    found: dict[str, tuple[Verdict, str]] = {
        "version": (ref.verdict, ref.reason),
        "file": file_claim(kernel, places, ref, backend),
    }
    for fact in FACTS:
        verdict, reason = claims.judge(fact, kernel.facts.get(fact), places, ref)
        if verdict == "unknown" and found["file"][0] == "wrong":
            verdict, reason = "wrong", "no file of this entry is where add runs"
        found[fact] = verdict, reason
    found["elements_per_thread"] = elements_claim(kernel, backend, ref)
    found["differs_from_mine"] = differs_claim(kernel, backend, ref)
    if ref.invented:
        unknown = {claim: why for claim, (verdict, why) in found.items() if verdict == "unknown"}
        found |= {claim: ("wrong", f"{ref.reason}; {why}") for claim, why in unknown.items()}
    listed = tuple(
        NoteClaim(claim=claim, verdict=verdict, reason=reason,
                  line=_line_of(kernel, claim))
        for claim, (verdict, reason) in found.items()
    )  # fmt: skip
    return NoteEntry(
        framework=kernel.framework,
        backend=backend,
        version=ref.tag or kernel.version,
        verdict=entry_verdict(found),
        claims=listed,
        citation=_citation(places),
        line=kernel.line,
    )


def _places(kernel: Kernel, use: Sources) -> tuple[str | None, tuple[Place, ...]]:
    """Every path of an entry looked up; a link's tag stands in for a version left out."""
    written = tuple(paths.clean(file.path, kernel.framework) for file in kernel.files)
    version = kernel.version
    if version is None and kernel.commit is None:
        version = next((w.ref for w in written if w.ref), None)
        if version is not None and re.fullmatch(r"[0-9a-f]{7,40}", version):
            version = None
    ref = ladder.resolve(kernel.framework, version, kernel.commit, use)
    return version, tuple(ladder.locate(one, ref, use) for one in written)


def file_claim(
    kernel: Kernel, places: tuple[Place, ...], ref: Ref, backend: str | None
) -> tuple[Verdict, str]:
    """Whether the files of an entry, taken together, are where the add runs."""
    if not places:
        return "wrong", "no file is named"
    shown = "; ".join(f"{_name(place)}: {place.reason.rstrip('.')}" for place in places)
    verdicts = [place.verdict for place in places]
    other = _other_backend(places, backend)
    if other:
        return "wrong", other
    dtypes = _dtypes(kernel, places)
    useful = [p for p in places if p.verdict != "wrong"]
    if not useful:
        return "wrong", shown
    if backend in GENERATED:
        said = " ".join([*(f.role for f in kernel.files), kernel.differs or "",
                         *(c.none or "" for c in kernel.facts.values())])  # fmt: skip
        if re.search(r"generat|emit|fusion|no (kernel|source)", said, re.I):
            return "right", shown
        return "partly", f"say that the kernel is generated; {shown}"
    if any(p.accepted is None for p in useful) and not any(p.accepted == "full" for p in useful):
        return ("wrong" if "wrong" in verdicts and "unknown" not in verdicts else "unknown"), shown
    lacking = _lacking(useful)
    if lacking:
        return "partly", f"on the way, but {lacking}; {shown}"
    if dtypes:
        return "partly", f"{dtypes}; {shown}"
    if "wrong" in verdicts or "partly" in verdicts:
        return "partly", shown
    return ("unknown" if all(v == "unknown" for v in verdicts) else "right"), shown


def _lacking(places: list[Place]) -> str:
    """What a set of files leaves out; empty when one is a full answer or parts add up to one."""
    records = [(p, p.sheets[0].record) for p in places if p.sheets and p.sheets[0].record]
    known = [(p, r) for p, r in records if r is not None and r.accepted in ("full", "partial")]
    if any(r.accepted == "full" for _, r in known):
        return ""
    missing = []
    for fact in FACTS:
        has = False
        for place, record in known:
            if fact == "operation" and (
                record.calls or (record.dtypes and "float32" not in record.dtypes)
            ):
                continue
            absent = record.absent.get(claims.BASE[fact], "")
            has = has or absent.startswith(("never", "closed", "sometimes"))
            has = has or bool(claims.spans_of(fact, place.sheets[0].spans.items()))
        if not has:
            missing.append("add of float32" if fact == "operation" else claims.WORDS[fact])
    if len(known) == 1 and not missing:
        calls = known[0][1].calls
        return f"it is one part: add {calls}" if calls else "it is only one part of the answer"
    if not missing:
        return ""
    verb = "is" if len(missing) == 1 else "are"
    return f"the {' and the '.join(missing)} {verb} not in it"


def _dtypes(kernel: Kernel, places: tuple[Place, ...]) -> str:
    """A loop of other dtypes than the lesson's float32, not called one."""
    records = [p.sheets[0].record for p in places if p.sheets and p.sheets[0].record is not None]
    full = [r for r in records if r is not None and r.accepted == "full"]
    if not full or any(not r.dtypes or "float32" in r.dtypes for r in full):
        return ""
    said = " ".join(
        [
            *(f.role for f in kernel.files),
            kernel.differs or "",
            *(s for f in kernel.files for s in f.symbols),
        ]
    )
    if re.search(r"\bu?int(eger)?s?\d*\b|integer", said, re.I):
        return ""
    return f"this is the loop of {full[0].dtypes[0]} to {full[0].dtypes[-1]}, not of float32"


def _other_backend(places: tuple[Place, ...], backend: str | None) -> str:
    """A file of another backend than the entry names, as a CPU loop for a CUDA kernel."""
    if backend is None:
        return ""
    records = [
        s.record
        for p in places
        for s in p.sheets[:1]
        if s.record is not None and not p.written.generated
    ]
    theirs = {r.backend for r in records if r.accepted == "full"}
    shared = (
        {("cpu", "cuda"), ("metal", "cuda")}
        if any(r.accepted != "full" for r in records)
        else set()
    )
    if theirs and backend not in theirs and not any((backend, t) in shared for t in theirs):
        return f"these files are {places[0].sheets[0].record.framework}'s for {_and(theirs)}, not for {backend}"  # type: ignore[union-attr]  # noqa: E501
    return ""


def elements_claim(kernel: Kernel, backend: str | None, ref: Ref) -> tuple[Verdict, str]:
    """Elements per thread against the table of backends."""
    said = None if kernel.elements is None else kernel.elements[:LONG]
    rows = _rows(kernel, backend, ref)
    if said is None:
        return "wrong", "nothing is said about the elements per thread"
    if not rows:
        return "unknown", "the elements per thread of this backend are not known"
    truth = "; ".join(dict.fromkeys(row.elements_text for row in rows))
    numbers = [int(n) for n in re.findall(r"(?<![\w.])\d{1,5}(?![\w.]*\d)", said)]
    if any(re.search(row.words, said) for row in rows):
        return "right", f"it is {truth}"
    if numbers and any(n in row.elements for row in rows for n in numbers[:4]):
        return "right", f"it is {truth}"
    return ("wrong" if numbers else "unknown"), f"it is {truth}"


def differs_claim(kernel: Kernel, backend: str | None, ref: Ref) -> tuple[Verdict, str]:
    """The difference from the student's own kernel: named, and one that is there."""
    said = kernel.differs
    rows = _rows(kernel, backend, ref)
    if said is None or (len("".join(said.split())) < 8 and not _NOTHING.search(said.strip())):
        return "wrong", "say in a sentence what differs from your own kernel"
    topics = {pattern: text for row in rows for pattern, text in row.differs.items()}
    said = said[:LONG]
    if not topics:
        return "unknown", "a person has to read this"
    named = [text for pattern, text in topics.items() if re.search(pattern, said)]
    rest = [text for text in topics.values() if text not in named]
    if _NOTHING.search(said.strip()) and not named:
        return "wrong", f"it does differ: {'; '.join(topics.values())}"
    if named:
        more = f"; also: {'; '.join(rest)}" if rest else ""
        return "right", f"{'; '.join(named)}{more}"
    return "unknown", f"a person has to read this; known differences: {'; '.join(rest)}"


def entry_verdict(found: dict[str, tuple[Verdict, str]]) -> Verdict:
    """The files decide whether an entry is wrong or unknown; any lost claim makes it partly."""
    file = found["file"][0]
    if file in ("wrong", "unknown"):
        return file
    told = [verdict for claim, (verdict, _) in found.items() if claim != "version"]
    return "right" if all(v in ("right", "unknown") for v in told) else "partly"


def _rows(kernel: Kernel, backend: str | None, ref: Ref) -> tuple[facts.Backend, ...]:
    tag = ref.tag if ref.tag and ref.tag.startswith("v") else None
    if backend is None:
        return ()
    return facts.backend_at(kernel.framework, backend, tag)


def _backend(places: tuple[Place, ...]) -> str | None:
    """The backend the files belong to, when the note does not name one."""
    for wanted in ("full", "partial"):
        for place in places:
            record = place.sheets[0].record if place.sheets else None
            if record is not None and record.accepted == wanted and record.backend != "any":
                return record.backend
    return None


def _line_of(kernel: Kernel, claim: str) -> int:
    if claim == "file":
        return kernel.files[0].line if kernel.files else kernel.line
    fact: FactClaim | None = kernel.facts.get(claim)
    return fact.line if fact else kernel.lines.get(claim, kernel.line)


def _citation(places: tuple[Place, ...]) -> str | None:
    """Repository, tag, path and lines of what is known about the files, without a link."""
    cited = []
    for place in places:
        record = place.sheets[0].record if place.sheets else None
        if record is None or record.accepted == "no" or place.verdict == "wrong":
            continue
        cited.append(cite(record, place.sheets[0]))
    return "; ".join(cited) or None


def cite(record: facts.Record, sheet: ladder.Sheet) -> str:
    """`numpy/numpy v2.0.2 numpy/_core/... (bounds check line 110, add lines 115-116)`."""
    parts = []
    for fact in FACTS:
        found = claims.spans_of(fact, sheet.spans.items())
        if found:
            first, last = found[0][1]
            at = f"line {first}" if first == last else f"lines {first}-{last}"
            parts.append(f"{claims.WORDS[fact]} {at}")
    lines = f" ({', '.join(parts)})" if parts else ""
    return f"{record.repo} {sheet.ref} {sheet.path}{lines}"


def _name(place: Place) -> str:
    return form.shown(place.written.path)


def _and(names: set[str]) -> str:
    return " and ".join(sorted(names))
