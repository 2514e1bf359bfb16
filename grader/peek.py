"""What the frameworks run for an operation: `grade peek add`.

For each framework and backend: the lesson's steps (check, allocate, pick a kernel, launch
geometry, launch, return) and the three facts (global id, bounds check, operation), each with
file and line at the installed version, or the one that is named, or else the newest known. What
is not known is said to be unknown. numpy runs beside it; so does whatever else is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from grader.errors import UsageError
from grader.languages.inductor_run import Measured
from grader.notes import claims, entries, facts, form, ladder, sources
from grader.notes.facts import Backend, Record, Step
from grader.notes.ladder import Ref, Sheet
from grader.notes.sources import Sources
from grader.peek_live import Profiled
from grader.result import Record as ResultRecord

OPERATIONS = ("add", "multiply", "maximum", "exp", "where")
ALIASES = {"mul": "multiply", "max": "maximum", "select": "where"}
BACKENDS = (
    ("numpy", "cpu"),
    ("pytorch", "cpu"),
    ("pytorch", "cuda"),
    ("pytorch", "mps"),
    ("pytorch", "compile-triton"),
    ("mlx", "metal"),
    ("mlx", "cuda"),
    ("mlx", "cpu"),
    ("cupy", "cuda"),
)
STEPS = {
    "check": "check",
    "allocate": "allocate",
    "pick": "pick a kernel",
    "geometry": "launch geometry",
    "launch": "launch",
    "return": "return",
}
FACTS = {"global_id": "global id", "bounds_check": "bounds check", "operation": "operation"}


class Line(ResultRecord):
    """One step or fact: where it stands. `line` is null where the file's lines are not known.

    Then `near` may say which line it is at the nearest release that is known.
    """

    name: str
    text: str
    path: str | None = None
    line: int | None = None
    last_line: int | None = None
    near: str = ""


class Kernel(ResultRecord):
    """What one framework runs on one backend at one version.

    `version_from` says why this version: it is installed, it was named, or it is the newest of
    which anything is known. `ran` is what happened here, where the framework is installed;
    `generated` are the kernels that torch.compile wrote here, run on the virtual GPU. `live` is
    what the profiler saw, where that was asked for, `disagrees` what of it the facts do not say.
    """

    framework: str
    backend: str
    version: str
    version_from: Literal["installed", "named", "newest known"]
    title: str = ""
    steps: tuple[Line, ...] = ()
    facts: tuple[Line, ...] = ()
    elements_per_thread: str = ""
    citation: str = ""
    lesson: str = ""
    ran: str = ""
    generated: tuple[Measured, ...] = ()
    live: tuple[Profiled, ...] = ()
    disagrees: tuple[str, ...] = ()


class Peek(ResultRecord):
    """The answer of `grade peek`."""

    operation: str
    kernels: tuple[Kernel, ...]


def peek(
    operation: str,
    framework: str | None = None,
    version: str | None = None,
    use: Sources | None = None,
    run: bool = True,
    live: bool = False,
) -> Peek:
    """What the frameworks (or one of them) run for `operation`.

    Raises UsageError for an operation or a framework that is not known, or a version without a
    framework. With `run` false nothing is executed; with `live` PyTorch's profiler looks on.
    """
    name = ALIASES.get(operation.strip().lower(), operation.strip().lower())
    if name not in OPERATIONS:
        raise UsageError(f"no such operation: {operation}", f"There are: {', '.join(OPERATIONS)}.")
    if version is not None and framework is None:
        raise UsageError("a version needs a framework", "Add --framework numpy, for example.")
    wanted = _wanted(framework)
    use = use or Sources()
    ran: Mapping[tuple[str, str], str] = {}
    from grader import peek_live, peek_run

    if run:
        ran = peek_run.run(name, {one for one, _ in wanted})
    profiled = peek_live.profile(name) if live else {}
    kernels = []
    for one, backend in wanted:
        ref, origin = _version(one, version, use)
        asked = _Asked(name, one, backend, ref, use)
        kernel = _kernel(asked, origin, ran.get((one, backend), ""))
        if run and backend == "compile-triton":
            kernel = kernel.model_copy(update={"generated": peek_run.generated(name)})
        if one == "pytorch" and backend in profiled:
            kernel = _live(kernel, profiled[backend])
        kernels.append(kernel)
    return Peek(operation=name, kernels=tuple(kernels))


def _live(kernel: Kernel, found: tuple[Profiled, ...]) -> Kernel:
    """The kernel with what the profiler saw of it."""
    from grader import peek_live

    rows = facts.backend_at(kernel.framework, kernel.backend, kernel.version)
    row = rows[0] if rows and kernel.title else None
    disagrees = peek_live.disagreements(found, row)
    return kernel.model_copy(update={"live": found, "disagrees": disagrees})


def _wanted(framework: str | None) -> list[tuple[str, str]]:
    if framework is None:
        return list(BACKENDS)
    known = form.FRAMEWORKS.get(framework.strip().lower())
    found = [
        (name, backend)
        for name, backend in BACKENDS
        if known is not None and name == known[0] and known[1] in (None, backend)
    ]
    if not found:
        names = "numpy, pytorch, torch.compile, mlx, cupy"
        raise UsageError(f"nothing is known about {framework}", f"There are: {names}.")
    return found


@dataclass(frozen=True)
class _Asked:
    """One question: an operation of a framework's backend at a version."""

    operation: str
    framework: str
    backend: str
    ref: Ref
    use: Sources


def _kernel(
    asked: _Asked, origin: Literal["installed", "named", "newest known"], ran: str
) -> Kernel:
    operation, framework, backend = asked.operation, asked.framework, asked.backend
    ref = asked.ref
    tag = ref.tag or "main"
    rows = facts.backend_at(framework, backend, tag)
    row = rows[0] if rows else None
    steps = tuple(_step(asked, step, shown) for step, shown in STEPS.items())
    if operation == "add":
        found, citation = _facts_of_add(asked, row)
    else:
        found = tuple(_step(asked, fact, shown) for fact, shown in FACTS.items())
        citation = _cite(framework, tag, found)
    return Kernel(
        framework=framework,
        backend=backend,
        version=tag,
        version_from=origin,
        title=row.title if row is not None and operation == "add" else "",
        steps=steps,
        facts=found,
        elements_per_thread=row.elements_text if row is not None and operation == "add" else "",
        citation=citation,
        lesson=row.lesson if row is not None and operation == "add" else "",
        ran=ran,
    )


def _version(
    framework: str, version: str | None, use: Sources
) -> tuple[Ref, Literal["installed", "named", "newest known"]]:
    """The release to speak of. Raises UsageError when the version named is none."""
    if version is not None:
        ref = ladder.resolve(framework, version, None, use)
        if ref.verdict == "wrong":
            raise UsageError(f"{version} is no version: {ref.reason}")
        return ref, "named"
    installed = sources.installed_version(framework) if use.packages else None
    if installed is not None:
        return ladder.resolve(framework, installed, None, use), "installed"
    newest = facts.releases(framework)[-1].tag
    return ladder.resolve(framework, newest, None, use), "newest known"


def _step(asked: _Asked, step: str, shown: str) -> Line:
    """One step at a version: its line from the table, else from the installed file's text."""
    ref = asked.ref
    row = next(
        (
            one
            for one in facts.steps()
            if one.framework == asked.framework
            and one.backend in (asked.backend, "*")
            and one.step == step
            and asked.operation in one.ops
        ),
        None,
    )
    if row is None:
        return Line(name=shown, text="unknown")
    path = _path_at(row, ref)
    line = row.lines.get(ref.tag or "")
    if line is None and path is not None and row.pattern is not None and ref.tag is not None:
        given = sources.read(asked.framework, ref.tag, ref.tag.lstrip("v"), path, asked.use)
        if given is not None and given.text is not None:
            line = facts.line_of(given.text, row.after, row.pattern)
    near = next((f"line {row.lines[tag]} at {tag}" for tag in ref.near if tag in row.lines), "")
    return Line(name=shown, text=row.text, path=path, line=line, near="" if line else near)


def _path_at(row: Step, ref: Ref) -> str | None:
    """Where the file stands at a version: the first place that the index lists."""
    index = facts.index(row.framework)
    for path in row.path:
        if index is not None and any(
            tag in index.tags and index.has(path, tag) for tag in ref.near
        ):
            return path
    return row.path[0] if row.path else None


def _facts_of_add(asked: _Asked, row: Backend | None) -> tuple[tuple[Line, ...], str]:
    """The three facts of the add with their lines, from the records of the backend."""
    sheets = _sheets(asked)
    lines, used = [], []
    for fact, shown in FACTS.items():
        text = getattr(row, fact) if row is not None else "unknown"
        at = _where(fact, sheets)
        if at is None:
            lines.append(Line(name=shown, text=text))
            continue
        sheet, (first, last) = at
        used.append(sheet)
        said = f"line {first} at {sheet.ref}"
        lines.append(
            Line(
                name=shown,
                text=text,
                path=sheet.path,
                line=first if sheet.exact else None,
                last_line=last if sheet.exact and last != first else None,
                near="" if sheet.exact else said,
            )
        )
    cited = {
        entries.cite(sheet.record, sheet): None
        for sheet in used
        if sheet.record is not None and sheet.exact
    }
    return tuple(lines), "; ".join(cited)


def _sheets(asked: _Asked) -> list[Sheet]:
    """What is known of the backend's files at a version, where they may exist at it."""
    order = {"full": 0, "partial": 1}
    wanted: dict[str, Record] = {}
    for record in facts.records():
        ours = record.framework == asked.framework and record.accepted in order
        shared = record.path.endswith("ufunc/add.h")  # one functor for the CPU and for CUDA
        backends = ("cpu", "cuda") if shared else (record.backend,)
        if ours and record.exists and asked.backend in backends:
            wanted[record.path] = record
    paths = sorted(wanted, key=lambda path: (order[wanted[path].accepted], path))
    found = []
    for path in paths:
        sheet = next(iter(ladder.sheets_at(path, asked.ref, asked.use)), None)
        if sheet is not None and sheet.record is not None and ladder.may_exist(path, asked.ref):
            found.append(sheet)
    return [sheet for sheet in found if sheet.record and sheet.record.accepted != "no"]


def _where(fact: str, sheets: list[Sheet]) -> tuple[Sheet, tuple[int, int]] | None:
    """The first sheet with a line for the fact; exact ones first, and for the operation one
    that holds the add itself rather than the call of a functor."""

    def rank(sheet: Sheet) -> tuple[bool, bool, bool, int]:
        record = sheet.record
        assert record is not None
        calls = fact == "operation" and record.calls is not None
        wrong_dtype = bool(record.dtypes) and "float32" not in record.dtypes
        known = sum(bool(claims.spans_of(name, sheet.spans.items())) for name in FACTS)
        return wrong_dtype, not sheet.exact, calls, -known

    for sheet in sorted(sheets, key=rank):
        found = claims.spans_of(fact, sheet.spans.items())
        if found:
            return sheet, found[0][1]
    return None


def _cite(framework: str, tag: str, lines: tuple[Line, ...]) -> str:
    index = facts.index(framework)
    repo = index.repo if index is not None else framework
    cited = [
        f"{repo} {tag} {line.path} ({line.name} line {line.line})"
        for line in lines
        if line.path is not None and line.line is not None
    ]
    return "; ".join(cited)


def where(line: Line) -> str:
    """`path:12`, `path:12-14`, `path: line unknown`, or nothing where there is no such place."""
    if line.path is None:
        return ""
    if line.line is None:
        return f"{line.path}, line unknown" + (f" ({line.near})" if line.near else "")
    last = f"-{line.last_line}" if line.last_line else ""
    return f"{line.path}:{line.line}{last}"
