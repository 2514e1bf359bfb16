"""What the reference kernel of the same language does on every case: the yardstick.

It is built and run like a submission, once; what it did is kept by the content of everything that
decides it.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from grader import __version__, cache, cases, judge
from grader.assignment_schema import Assignment
from grader.devices import virtual
from grader.errors import AssignmentError
from grader.languages import Artefact, language
from grader.result import Record, ReferenceRun
from grader.run import FUEL_FLOOR, FUEL_MULTIPLE, Task, plan

REFERENCE_FUEL = 20_000_000_000
"""A reference's own budget: only a reference that hangs meets it."""


class CaseRun(Record):
    """The reference on one case, with its warp instructions under each build."""

    run: ReferenceRun
    instructions: dict[str, int]


class Reference(Record):
    """The reference of one language on every case; empty where it is not installed."""

    cases: dict[str, CaseRun] = {}

    def run(self, case: str) -> ReferenceRun | None:
        """What the reference did on a case."""
        return self.cases[case].run if case in self.cases else None

    def fuel(self, case: str, build: str) -> int:
        """The budget of a submission on a case under a build, in warp instructions."""
        known = self.cases[case].instructions if case in self.cases else {}
        count = known.get(build, max(known.values(), default=0))
        return max(FUEL_FLOOR, FUEL_MULTIPLE * count)


def measure(task: Task) -> Reference:
    """The reference's runs, from the cache or made now.

    Raises AssignmentError for a reference that does not build.
    """
    path = task.assignment.reference(task.language)
    if path is None:
        return Reference()
    text = path.read_text(encoding="utf-8")
    name = cache.key(
        "reference",
        __version__,
        cache.code(Path(__file__).parent),
        text,
        _content(task.assignment),
        cases.secret(),
        task.language,
        task.compiler or "",
        *(case.name for case, _ in task.cases),
    )
    kept = cache.read("reference", name)
    if kept is not None:
        try:
            return Reference.model_validate_json(kept)
        except ValidationError:
            pass  # damaged: measure again
    artefact = build(task)
    assert artefact is not None  # there is a path
    found = _run(task, artefact, file=path.name, source=text)
    cache.write("reference", name, found.model_dump_json().encode())
    return found


def build(task: Task) -> Artefact | None:
    """The reference kernel, built; None where it is not installed.

    Raises AssignmentError for a reference that does not build.
    """
    path = task.assignment.reference(task.language)
    if path is None:
        return None
    module = language(task.language, task.compiler)
    builds, artefact = module.build(path.read_text("utf-8"), path.name, task.contracts)
    if artefact is None:
        said = next((d.message for build in builds for d in build.diagnostics), "no reason given")
        raise AssignmentError(f"{path}: the reference does not build: {said}")
    return artefact


def _run(task: Task, artefact: Artefact, *, file: str, source: str) -> Reference:
    works = plan(task, artefact, fuel=lambda case, build: REFERENCE_FUEL)
    runs = virtual.run(works, jobs=task.jobs)
    counts: dict[str, dict[str, int]] = {}
    for work, run in zip(works, runs, strict=True):
        counts.setdefault(work.case, {})[work.variant] = run.instructions
    judged = judge.cases(task, works, runs, file=file, device=virtual.NAME, source=source)
    return Reference(
        cases={
            case.name: CaseRun(
                run=ReferenceRun(
                    verdict=case.verdict,
                    faults=case.faults,
                    metrics=case.metrics,
                    timing=case.timing,
                ),
                instructions=counts[case.name],
            )
            for case in judged
        }
    )


def _content(assignment: Assignment) -> str:
    texts = [
        (assignment.folder / name).read_text(encoding="utf-8")
        for name in ("assignment.toml", "inputs.py")
    ]
    return cache.key(*texts)
