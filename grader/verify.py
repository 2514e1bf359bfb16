"""Proves that an assignment grades as it should.

The reference of every language must be accepted with full points, its notes included; every known
submission in `submissions/<verdict>/` must get the verdict of its folder and the findings and
points that its own header names; the starters must build and not be accepted; no wrong answer may
pass (`lint`), the frameworks installed must agree with the oracle, and the README with
`assignment.toml`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import Field

from grader import assignment as assignments
from grader import expectations, frameworks, grade, lint, statement, warm
from grader.assignment_schema import Assignment
from grader.devices import hardware, virtual
from grader.errors import AssignmentError, GradeError
from grader.framework_devices import Where
from grader.result import Record, Result, Verdict
from grader.submission import SUFFIXES

STARTED = "builds, not accepted"
"""What a starter must do."""

NOT_STARTED = (
    Verdict.ACCEPTED, Verdict.BUILD_FAILED, Verdict.REFUSED, Verdict.NOT_GRADABLE,
    Verdict.GRADER_ERROR,
)  # fmt: skip


class Check(Record):
    """One thing verified; `detail` says what differs where it is not `ok`."""

    assignment: str
    what: Literal["assignment", "reference", "submission", "starter", "lint", "framework", "readme"]
    name: str
    expected: str
    found: str
    ok: bool
    detail: str = ""
    seconds: float = 0.0


class Verification(Record):
    """Everything `grade verify` checked."""

    schema_: str = Field(default="grade/verification/v1", alias="schema")
    checks: tuple[Check, ...]
    seconds: float

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)


class Subject(Record):
    """A submission to grade, and what must come out."""

    assignment: Assignment
    what: Literal["reference", "submission", "starter"]
    path: Path
    language: str | None
    expected: str

    @property
    def name(self) -> str:
        """`reference (cuda-c)`, `starter (cuda-c)` or `out_of_bounds/no_guard.cu`."""
        if self.what != "submission":
            return f"{self.what} ({self.language})"
        return f"{self.path.parent.name}/{self.path.name}"


def verify(
    names: Sequence[str],
    *,
    jobs: int,
    device: str = virtual.NAME,
    compiler: str | None = None,
    step: Callable[[str], None] = lambda text: None,
) -> Verification:
    """Verify assignments by name, all that are found where none is named.

    `jobs` submissions are graded at a time, those in CUDA C by the `compiler` named; `device` is
    that of `grade submit`, for kernels in the languages it runs. Raises UsageError for a name that
    is not there and NotGradableError for a device that is missing; an assignment that cannot be
    used is a failed check.
    """
    hardware.demand(device)
    started = time.perf_counter()
    checks: list[Check] = []
    found: list[Subject] = []
    rest: list[Callable[[], Iterator[Check]]] = []
    for name in names or tuple(assignments.available()):
        try:
            assignment = assignments.load(name)
            found += tuple(subjects(assignment))
            rest += [partial(_static, assignment), partial(_frameworks, assignment, device)]
        except AssignmentError as error:
            checks.append(_broken(name, error))
    with warm.children(many=True), ThreadPoolExecutor(max(1, jobs)) as pool:
        for check in pool.map(partial(_check, device=device, compiler=compiler), found):
            checks.append(check)
            step(f"verified {len(checks)}: {check.assignment} {check.name}")
        for made in pool.map(lambda make: tuple(make()), rest):
            checks += made
    return Verification(checks=tuple(checks), seconds=round(time.perf_counter() - started, 3))


def subjects(assignment: Assignment) -> Iterator[Subject]:
    """The references and the known submissions of an assignment. Raises AssignmentError."""
    for language in assignment.languages:
        path = assignment.reference(language)
        if path is None:
            raise AssignmentError(
                f"{assignment.folder}: there is no reference kernel for {language}",
                f"Put it at reference/{assignment.name}/kernel{SUFFIXES[language]}.",
            )
        yield Subject(
            assignment=assignment,
            what="reference",
            path=path,
            language=language,
            expected=Verdict.ACCEPTED.value,
        )
        starter = assignment.starter(language)
        if starter is None:
            raise AssignmentError(
                f"{assignment.folder}: there is no starter for {language}",
                f"Put it at student_template/{assignment.name}/"
                f"{assignment.files.starter(language)}.",
            )
        yield Subject(
            assignment=assignment,
            what="starter",
            path=starter,
            language=language,
            expected=STARTED,
        )
    folder = assignment.folder / "submissions"
    for verdict in sorted(path for path in folder.glob("*") if path.is_dir()):
        if verdict.name not in set(Verdict):
            raise AssignmentError(f"{verdict}: expected the name of a verdict")
        for path in sorted(verdict.iterdir()):
            if not path.name.startswith("."):
                yield Subject(
                    assignment=assignment,
                    what="submission",
                    path=path,
                    language=None,
                    expected=verdict.name,
                )


def _check(subject: Subject, device: str = virtual.NAME, compiler: str | None = None) -> Check:
    started = time.perf_counter()
    try:
        result = graded(subject, device, compiler)
        found, detail = result.verdict.value, _difference(subject, result)
        if subject.what == "starter" and result.verdict not in NOT_STARTED:
            found = STARTED
    except GradeError as error:
        found, detail = "not graded", error.message
    except Exception as error:  # a bug of ours is named with what showed it, and the rest goes on
        failed = grade.failed(subject.assignment, error)
        found, detail = failed.verdict.value, failed.reason
    return Check(
        assignment=subject.assignment.name,
        what=subject.what,
        name=subject.name,
        expected=subject.expected,
        found=found,
        ok=found == subject.expected and not detail,
        detail=detail,
        seconds=round(time.perf_counter() - started, 3),
    )


def graded(subject: Subject, device: str = virtual.NAME, compiler: str | None = None) -> Result:
    """The result of a subject, graded as a student's submission is. Raises GradeError."""
    folder = str(subject.assignment.folder.resolve())
    return grade.submit(
        folder,
        subject.path,
        language=subject.language,
        device=_device(subject, device),
        compiler=compiler,
        jobs=1,
    )


def _device(subject: Subject, device: str) -> str:
    """The device that was asked for, or the virtual GPU for what that device does not run."""
    suffixes = {path.suffix for path in _sources(subject.path)}
    spoken = [language for language, suffix in SUFFIXES.items() if suffix in suffixes]
    fits = subject.assignment.kind == "kernel" and hardware.runs(device, spoken)
    return device if fits else virtual.NAME


def _difference(subject: Subject, result: Result) -> str:
    """What differs from what must come out; empty where nothing does."""
    if subject.what == "starter":
        return result.reason if result.verdict in NOT_STARTED else ""
    if result.verdict.value != subject.expected:
        return result.reason
    if subject.what == "reference":
        lost = [
            f"{line.item} {line.points}/{line.out_of} ({line.why})"
            for line in result.score.lines
            if line.points < line.out_of
        ]
        return f"the reference loses points: {'; '.join(lost)}" if lost else ""
    missing: list[str] = []
    for path in _sources(subject.path):
        verdict, expected = expectations.read(path.read_text(errors="replace"), str(path))
        if verdict is not None and verdict != subject.expected:
            missing.append(f"its header says {verdict}, its folder {subject.expected}")
        for one in expectations.missing(expected, result):
            instead = expectations.found_instead(one, result)
            missing.append(f"expected {one}, found {instead}" if instead else f"not found: {one}")
    return "; ".join(missing)


def _sources(path: Path) -> list[Path]:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [file for file in files if file.suffix in SUFFIXES.values() and file.is_file()]


def _static(assignment: Assignment) -> Iterator[Check]:
    """The lint and the README."""
    started = time.perf_counter()
    try:
        found = [f"{finding.rule}: {finding.message}" for finding in lint.lint(assignment)]
    except AssignmentError as error:
        yield _broken(assignment.name, error)
        return
    yield _findings(assignment, "lint", "no wrong answer passes", found, started)
    started = time.perf_counter()
    said = statement.disagreements(assignment)
    yield _findings(assignment, "readme", "README.md", said, started)


def _frameworks(assignment: Assignment, device: str) -> Iterator[Check]:
    """The oracle beside each framework that is installed, on the device where it can be used."""
    started = time.perf_counter()
    where: Where = device if device in ("cuda", "metal") else "cpu"  # type: ignore[assignment]
    try:
        asked = frameworks.agreements(assignment, where)
    except AssignmentError as error:
        yield _broken(assignment.name, error)
        return
    for one in asked:
        if one.missing is None:
            problems = [one.problem] if one.problem else []
            yield _findings(assignment, "framework", one.framework, problems, started)
            started = time.perf_counter()


def _findings(
    assignment: Assignment,
    what: Literal["lint", "readme", "framework"],
    name: str,
    problems: Sequence[str],
    started: float,
) -> Check:
    return Check(
        assignment=assignment.name,
        what=what,
        name=f"{what} ({name})",
        expected="agrees",
        found="differs" if problems else "agrees",
        ok=not problems,
        detail="; ".join(problems),
        seconds=round(time.perf_counter() - started, 3),
    )


def _broken(name: str, error: AssignmentError) -> Check:
    return Check(
        assignment=name,
        what="assignment",
        name="assignment.toml",
        expected="usable",
        found="not usable",
        ok=False,
        detail=error.message,
    )
