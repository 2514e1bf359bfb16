"""The line: submission -> build -> run -> verdict -> score -> report.

The only module that knows the order. Student code is compiled and run in children; here are the
oracle, the comparison and the points.
"""

from __future__ import annotations

import datetime
import functools
import os
import platform
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

from grader import (
    __version__,
    advice,
    baselines,
    devices,
    feedback,
    judge,
    measure,
    submission,
    verdict,
    yardstick,
)
from grader import (
    assignment as assignments,
)
from grader.assignment_schema import Assignment, Language
from grader.devices import virtual
from grader.devices.hardware import alone
from grader.errors import InternalError, NotGradableError, RefusedError
from grader.framework_devices import Where
from grader.languages import Artefact
from grader.languages import language as language_module
from grader.reference import Reference
from grader.result import (
    Build,
    CaseResult,
    Diagnostic,
    Hardware,
    Notes,
    Result,
    Severity,
    SourceFile,
    Timing,
    Verdict,
)
from grader.run import Run, Task, Work, plan
from grader.score import score
from grader.submission import Submission
from grader.yardstick import Yardsticks

Step = Callable[[str], None]

GRADER_FAILED = "The grader failed; this is not about your kernel."


def submit(
    name: str | Assignment,
    path: Path | None = None,
    *,
    file: str | None = None,
    language: str | None = None,
    device: str = "auto",
    tools: Sequence[str] = (),
    frameworks: bool = False,
    compiler: str | None = None,
    jobs: int | None = None,
    small: bool = False,
    step: Step = lambda text: None,
    yardsticks: Yardsticks | None = None,
    whole: bool = False,
) -> Result:
    """Grade the submission at `path` and return what its student may see of the result.

    `name` is an assignment's name or folder, or the assignment itself, loaded already. With several
    languages each is graded and the best result counts. `compiler` chooses one for CUDA C, `nvrtc`
    or `clang`. `tools` of compute-sanitizer look at it on an NVIDIA card. `frameworks` times
    numpy and others beside it.
    `small` leaves out the large cases. `whole` returns all that was found, for the instructor.
    `yardsticks` are kept from submission to
    submission, made with the same assignment, `small`, `jobs` and `compiler`. Raises UsageError
    and AssignmentError, where nothing can be graded; what is wrong with the submission, the
    machine or the grader is a verdict.
    """
    started = time.perf_counter()
    assignment = name if isinstance(name, Assignment) else assignments.load(name)
    chosen = _language(language)
    devices.device(device)
    step("reading the submission")
    try:
        where = place(assignment.name if isinstance(name, Assignment) else name, path)
        handed_in = submission.read(where, assignment, chosen, file)
    except RefusedError as error:
        return refused(assignment, error, chosen, started)
    jobs = jobs or os.cpu_count() or 1
    yardsticks = yardsticks or yardstick.kept(assignment, small=small, jobs=jobs, compiler=compiler)
    found = [
        _grade(
            assignment,
            handed_in,
            source,
            yardsticks,
            device=device,
            tools=tools,
            frameworks=frameworks,
            small=small,
            step=step,
            started=started,
        )
        for source in handed_in.sources
    ]
    best = max(found, key=_merit)
    others = tuple(
        {"language": r.language, "verdict": r.verdict.value, "points": r.score.points}
        for r in found
        if r is not best
    )
    said = tuple(
        _also_graded(source.name, result, small=small)
        for source, result in zip(handed_in.sources, found, strict=True)
        if result is not best
    )
    best = best.model_copy(update={"others": others, "mentions": (*best.mentions, *said)})
    return best if whole else feedback.told(best, assignment.feedback)


def _also_graded(name: str, result: Result, *, small: bool) -> str:
    """What became of a kernel in another language than the one that counts."""
    became = result.verdict.value.replace("_", " ")
    if not small and result.score.points is not None:
        became += f", {result.score.points} of {result.score.out_of} points"
    return f"{name} was graded too: {became}; --language {result.language} shows it"


def place(name: str, path: Path | None) -> Path:
    """Where the submission is: the path given, else a folder called like the assignment, else here.

    An assignment named by its folder is not itself the submission; a student's folder that names
    its assignment is.
    """
    if path is not None:
        return path
    named = Path(name)
    if named.is_dir() and not (named / "assignment.toml").exists():
        return named
    default = Path(named.name)
    same = default.resolve() == named.resolve()
    return default if default.is_dir() and not same else Path()


def _language(name: str | None) -> Language | None:
    if name is None:
        return None
    language_module(name)
    chosen: Language = name  # type: ignore[assignment]  # it is in the table of languages
    return chosen


def _merit(result: Result) -> tuple[int, int]:
    """Which of several graded languages counts: the most points, then the milder verdict."""
    return (-1 if result.score.points is None else result.score.points), result.verdict.rank


# ---- one language ------------------------------------------------------------------------------


def _grade(
    assignment: Assignment,
    handed_in: Submission,
    source: SourceFile,
    yardsticks: Yardsticks,
    *,
    device: str,
    tools: Sequence[str],
    frameworks: bool,
    small: bool,
    step: Step,
    started: float,
) -> Result:
    name: Language = source.language  # type: ignore[assignment]  # submission.read set it
    result = functools.partial(
        _result, assignment, handed_in=handed_in, language=name, started=started
    )
    builds: tuple[Build, ...] = ()
    hardware: Hardware | None = None
    mentions: tuple[str, ...] = ()
    try:
        held = yardsticks(name)
        task = held.task
        bench = measure.bench(device, task, tools)
        module = language_module(name, task.compiler)
        step(f"building {source.name}")
        artefact: Artefact | None = None
        if assignment.kind != "kernel":
            from grader.programs import grading

            builds, ran = grading.grade(task, source, step, **_headers(handed_in, name))
            if ran is None:
                return _build_failed(result, builds)
            graded = ran
        else:
            with ThreadPoolExecutor(1) as beside:
                reference = beside.submit(lambda: held.known)
                builds, artefact = module.build(
                    source.text or "", source.name, task.contracts, **_headers(handed_in, name)
                )
                if artefact is None:
                    return _build_failed(result, builds)
                if problems := _odd_constants(task, artefact, source):
                    failed = {"ok": False, "diagnostics": (*builds[0].diagnostics, *problems)}
                    return _build_failed(result, (builds[0].model_copy(update=failed), *builds[1:]))
                step("running the reference")
                known = reference.result()
            build, graded = _best_build(task, artefact, known, source, step)
            if bench is not None:
                try:
                    with alone(bench.module.NAME):
                        graded = measure.beside(
                            bench,
                            task,
                            artefact,
                            build,
                            known,
                            graded,
                            file=source.name,
                            text=source.text or "",
                            tools=tools,
                            step=step,
                        )
                    hardware = bench.facts
                except (NotGradableError, InternalError) as error:
                    if bench.binding:
                        raise
                    # A card that nobody asked for decides nothing, its failures neither.
                    mentions = (f"not measured on the {bench.facts.name}: {error.message}",)
            if frameworks:
                where: Where = bench.facts.device if bench is not None else "cpu"
                graded = baselines.beside(task, graded, where, step)
    except NotGradableError as error:
        return result(
            Verdict.NOT_GRADABLE,
            builds=builds,
            reason=error.message,
            next_step=error.hint or _elsewhere(name),
        )
    except InternalError as error:
        return result(
            Verdict.GRADER_ERROR,
            builds=builds,
            reason=f"{GRADER_FAILED} {error.message}",
            next_step="Submit again; if it fails again, tell your instructor. "
            "An earlier grade stands.",
        )
    found = verdict.worst(case.verdict for case in graded)
    return result(
        found,
        builds=builds,
        graded=graded,
        artefact=None if small else artefact,
        hardware=hardware,
        mentions=mentions,
        reason=advice.reason(found, graded),
        next_step=advice.next_step(
            found,
            graded,
            source=source.text or "",
            language=source.language,
            starter=advice.still_starter(source.name, handed_in.mentions),
        ),
    )


def _headers(handed_in: Submission, name: Language) -> dict[str, dict[str, str]]:
    """The submission's own headers, for a language that includes any."""
    if name == "triton" or not handed_in.headers:
        return {}
    return {"headers": {file.name: file.text or "" for file in handed_in.headers}}


def _best_build(
    task: Task, artefact: Artefact, known: Reference, source: SourceFile, step: Step
) -> tuple[str, tuple[CaseResult, ...]]:
    """The build that gives values, and the cases on it.

    Of several (autotune choices) the worst that is wrong counts; if all are right, the best one.
    """
    tries: list[tuple[str, tuple[CaseResult, ...]]] = []
    for build in dict.fromkeys(v.name for v in artefact.variants if v.optimised):
        works = plan(task, artefact, fuel=known.fuel, values=build)
        runs = virtual.run(works, jobs=task.jobs, step=step)
        graded = judge.cases(
            task,
            works,
            runs,
            file=source.name,
            device=virtual.NAME,
            source=source.text or "",
        )
        graded = _worded(task, artefact, build, source, graded)
        graded = _reversed(task, artefact, known, graded, list(zip(works, runs, strict=True)))
        tries.append((build, tuple(_beside(case, known) for case in graded)))
    wrong = [one for one in tries if _worst(one[1]) is not Verdict.ACCEPTED]
    if wrong:  # a tuner may pick any choice: one that is wrong makes the kernel wrong
        return min(wrong, key=lambda one: _worst(one[1]).rank)
    return max(tries, key=lambda one: score(task.assignment, _worst(one[1]), one[1]).points or -1)


def _worded(
    task: Task, artefact: Artefact, build: str, source: SourceFile, graded: list[CaseResult]
) -> list[CaseResult]:
    """Findings in the words of a language that has its own: Metal's, or programs and masks."""
    if task.language == "cuda-c":
        return graded
    from grader.languages import metal_advice, triton_advice

    if task.language == "metal":
        return metal_advice.word(graded)

    return triton_advice.word(graded, task, artefact, build, source.text or "")


def _worst(graded: Sequence[CaseResult]) -> Verdict:
    return verdict.worst(case.verdict for case in graded)


def _beside(case: CaseResult, known: Reference) -> CaseResult:
    """The case with what the reference did on it, and the ratio of their times."""
    run = known.run(case.name)
    timing: Timing | None = case.timing
    if timing is not None and run is not None and run.timing is not None:
        ratio = timing.nanoseconds / run.timing.nanoseconds
        timing = timing.model_copy(update={"ratio_to_reference": ratio})
    return case.model_copy(update={"reference": run, "timing": timing})


def _reversed(
    task: Task,
    artefact: Artefact,
    known: Reference,
    graded: Sequence[CaseResult],
    done: Sequence[tuple[Work, Run]],
) -> list[CaseResult]:
    """Cases with a race are run once more with warps and blocks in reverse order."""
    racy = {
        case.name
        for case in graded
        if any(f.kind == "race" and f.severity is Severity.ERROR for f in case.faults)
    }
    if not racy:
        return list(graded)
    forward = {work.case: (work, run) for work, run in done if work.values}
    again = plan(
        task.only(racy),
        artefact,
        fuel=known.fuel,
        values=done[0][0].variant,
        order="reversed",
    )
    said = {
        work.case: judge.order_matters(forward[work.case][1], run)
        for work, run in zip(again, virtual.run(again, jobs=task.jobs), strict=True)
    }
    return [
        case.model_copy(update={"reason": said[case.name]})
        if case.name in said and case.verdict is Verdict.RACE
        else case
        for case in graded
    ]


# ---- results -----------------------------------------------------------------------------------


def _result(
    assignment: Assignment,
    found: Verdict,
    *,
    handed_in: Submission | None,
    language: str | None,
    started: float,
    builds: tuple[Build, ...] = (),
    graded: tuple[CaseResult, ...] = (),
    artefact: Artefact | None = None,
    hardware: Hardware | None = None,
    mentions: tuple[str, ...] = (),
    reason: str = "",
    next_step: str = "",
) -> Result:
    files = (*handed_in.sources, *handed_in.headers) if handed_in else ()
    noted = _notes(assignment, handed_in, artefact)
    names = [s.name for s in handed_in.sources if s.language == language] if handed_in else []
    starters = [n for n in names if handed_in and advice.still_starter(n, handed_in.mentions)]
    scored = score(assignment, found, graded, noted, untouched=bool(starters))
    if found is Verdict.ACCEPTED:
        next_step = advice.faster(scored)
    return Result(
        assignment=assignment.name,
        language=language,
        device=virtual.NAME,
        hardware=hardware,
        verdict=found,
        reason=reason,
        next_step=next_step,
        score=scored,
        notes=noted,
        builds=builds,
        cases=graded,
        submission_sha256=handed_in.sha256 if handed_in else "",
        files=files,
        mentions=(*(handed_in.mentions if handed_in else ()), *mentions),
        versions=_versions(builds),
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        seconds=round(time.perf_counter() - started, 3),
    )


def _notes(
    assignment: Assignment, handed_in: Submission | None, artefact: Artefact | None
) -> Notes | None:
    """What was found out about the notes; they have points of their own and no verdict.

    With an artefact the kernel stands beside those of the frameworks the notes are about.
    """
    if assignment.notes is None or handed_in is None:
        return None
    if handed_in.notes is None:
        return Notes(file=None)
    from grader import notes  # its facts take longer to load than most kernels to grade
    from grader.notes import compare

    text, name = handed_in.notes.text or "", handed_in.notes.name
    return compare.beside(notes.check_text(text, name, assignment.notes), artefact)


def refused(
    assignment: Assignment,
    error: RefusedError,
    language: str | None = None,
    started: float | None = None,
) -> Result:
    """The result of a submission that cannot be graded as it was handed in."""
    started = time.perf_counter() if started is None else started
    return _result(
        assignment,
        Verdict.REFUSED,
        handed_in=None,
        language=language,
        started=started,
        reason=error.message,
        next_step=error.hint,
    )


def failed(assignment: Assignment, error: Exception) -> Result:
    """The result where the grader itself failed in a way it did not expect."""
    return _result(
        assignment,
        Verdict.GRADER_ERROR,
        handed_in=None,
        language=None,
        started=time.perf_counter(),
        reason=f"{GRADER_FAILED} {type(error).__name__}: {error}",
        next_step="Grade it again; an earlier grade stands.",
    )


MOST_OF_A_CONSTANT = 1 << 20
"""Of a constant whose values the assignment does not list: it sizes launches and buffers."""


def _odd_constants(task: Task, artefact: Artefact, source: SourceFile) -> tuple[Diagnostic, ...]:
    """Errors for constants to which the source gives a value that no launch can have."""
    problems: dict[str, Diagnostic] = {}
    for constant in task.assignment.constants:
        if task.language not in constant.languages:
            continue
        for variant in artefact.variants:
            value = variant.constants.get(constant.name, constant.default)
            if constant.allowed:
                expected = "one of " + ", ".join(map(str, constant.allowed))
                fits = value in constant.allowed
            else:
                expected = f"from 1 to {MOST_OF_A_CONSTANT}"
                fits = 1 <= value <= MOST_OF_A_CONSTANT
            if not fits:
                message = f"expected {constant.name} to be {expected}, found {value}"
                problems[message] = Diagnostic(
                    file=source.name,
                    line=_line_of(constant.name, source.text or ""),
                    severity="error",
                    message=message,
                )
    return tuple(problems.values())


def _line_of(name: str, text: str) -> int | None:
    """The first line that says `name` outside a comment of its own."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    lines = enumerate(text.splitlines(), 1)
    return next((n for n, line in lines if word.search(re.split("//|#(?= )", line)[0])), None)


def _build_failed(result: Callable[..., Result], builds: tuple[Build, ...]) -> Result:
    diagnostics = tuple(d for build in builds for d in build.diagnostics)
    compilers = " and ".join(dict.fromkeys(build.compiler for build in builds if not build.ok))
    return result(
        Verdict.BUILD_FAILED,
        builds=builds,
        reason=advice.of_build(diagnostics, compilers),
        next_step=advice.next_step(Verdict.BUILD_FAILED, diagnostics=diagnostics),
    )


def _elsewhere(language: str) -> str:
    return (
        f"`grade devices` says what {language} needs. "
        "The dev container of the student template has every language."
    )


def _versions(builds: Sequence[Build]) -> dict[str, str]:
    """What decides a grade, with exact versions; compilers are those that were asked."""
    known = {"grader": __version__}
    known |= {build.compiler: build.version for build in builds}
    known |= _installed()
    known["python"] = platform.python_version()
    known["machine"] = f"{platform.system()} {platform.machine()}"
    return known


@functools.cache
def _installed() -> dict[str, str]:
    return {package: metadata.version(package) for package in ("llvmlite", "numpy")}
