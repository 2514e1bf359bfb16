"""Kinds `program` and `solve`: the student's own host code runs, and its cases are judged.

A program reads a file for each input and writes one for each output. A `solve` function gets
device arrays; a `main()` of ours calls it, and the device, not the program, hands in what they hold
at the end, with which elements a kernel wrote.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from grader import cases, expressions, judge, parameters, verdict
from grader.assignment_schema import Assignment, Case
from grader.cases import Inputs
from grader.devices import exchange, virtual
from grader.errors import NotGradableError
from grader.programs import build as building
from grader.programs import run as running
from grader.programs.build import Built
from grader.programs.host_messages import HARNESS
from grader.programs.run import Call, Outcome
from grader.programs.steps import LAUNCHES, steps
from grader.result import (
    Build,
    CaseResult,
    Fault,
    Metrics,
    Mismatch,
    Severity,
    SourceFile,
    Timing,
    Verdict,
)
from grader.run import Ended, Run, Task, Work

LIMITS = replace(running.LIMITS, wall_seconds=120, cpu_seconds=120)
FROM_SYMBOL = ("cudaMemcpyFromSymbol", "cudaMemcpyFromSymbolAsync")
_ENDED: dict[str, Ended] = {
    "unsupported": "unsupported", "fuel": "fuel", "deadlock": "deadlock", "time": "time",
    "memory": "unsupported",
}  # fmt: skip


def grade(
    task: Task,
    source: SourceFile,
    step: Callable[[str], None],
    *,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> tuple[tuple[Build, ...], tuple[CaseResult, ...] | None]:
    """The builds, and the result of every case; None where a compiler said no.

    `headers` are the submission's other files, by their path from its folder.
    """
    assignment = task.assignment
    harness = _harness(assignment) if assignment.kind == "solve" else ""
    builds, built = building.build(source.text or "", source.name, headers, step, harness=harness)
    if built is None:
        if reason := building.unserved(builds):
            raise NotGradableError(reason)
        return builds, None

    late = threading.Event()

    def one(pair: tuple[Case, Inputs]) -> CaseResult:
        case, data = pair
        if late.is_set():
            return _judged(task, source.name, case, data, Run("skipped"))
        return _case(task, built, source.name, case, data, late)

    with ThreadPoolExecutor(max(1, task.jobs)) as pool:
        found = []
        for result in pool.map(one, task.cases):
            found.append(result)
            step(f"ran {len(found)} of {len(task.cases)} cases")
    return builds, tuple(found)


# ---- one case ----------------------------------------------------------------------------------


def _case(
    task: Task, built: Built, file: str, case: Case, data: Inputs, late: threading.Event
) -> CaseResult:
    """One case, run; `late` is set where it took all the time that one has."""
    assignment = task.assignment
    text = {}
    outputs: Mapping[str, np.ndarray]
    written: Mapping[str, np.ndarray]
    if assignment.program is not None:
        outcome = _run_program(assignment, built, data)
        outputs, faults = _files(data, outcome)
        faults += _by_the_host(data, outcome)
        written = {name: np.ones(array.shape, bool) for name, array in outputs.items()}
        text = _printed(assignment, data, outcome)
    else:
        outcome = _run_solve(assignment, built, data)
        outputs, written = _arrays(data, outcome)
        faults = []
    answer = outcome.answer
    ended = _ENDED.get(answer.ended, "finished")
    if ended == "time":
        late.set()
    faults = [*answer.faults, *faults, *_badly_ended(outcome)]
    run = Run(
        ended=ended,
        reason=answer.stopped_reason,
        faults=tuple(faults),
        metrics=Metrics(counts=answer.counts, lines=answer.lines),
        timing=Timing(source="modelled", device=exchange.MODEL, nanoseconds=answer.kernel_ns)
        if answer.kernel_ns
        else None,
        printed=(outcome.stdout + outcome.stderr)[: exchange.PRINTED_CHARACTERS],
        outputs=outputs,
        written=written,
        seconds=answer.host_seconds,
    )
    found = _judged(task, file, case, data, run)
    if assignment.program is not None:
        roles = [buffer.role for buffer in assignment.buffers]
        done = steps(answer.trace, roles.count("input"), roles.count("output"))
        found = found.model_copy(update={"steps": done})
    if "mismatch" in text and found.mismatch is None:
        worse = verdict.of_case("finished", found.faults, text["mismatch"])
        found = found.model_copy(
            update={"mismatch": text["mismatch"], "verdict": verdict.worst([found.verdict, worse])}
        )
    return found


def _judged(task: Task, file: str, case: Case, data: Inputs, run: Run) -> CaseResult:
    work = Work(
        case=case.name, variant="program", values=True, inputs=data, launches=(), checks="all",
        fuel=0, large=case.large,
    )  # fmt: skip
    (found,) = judge.cases(
        task.only([case.name]), [work], [run], file=file, device=virtual.NAME
    )  # fmt: skip
    return found


def _badly_ended(outcome: Outcome) -> list[Fault]:
    """A program that died or gave up, where no finding says so yet."""
    answer = outcome.answer
    told = any(f.kind in ("trap", "host_pointer", "assertion") for f in answer.faults)
    words = None
    if answer.ended == "died" and not told:
        words = "the host program died"
    elif answer.ended == "odd":
        words = "the program spoke to the device in a way that no header of ours does"
    elif answer.ended == "exited" and answer.code and not _host_mistake(answer.faults):
        last = (outcome.stderr or outcome.stdout).strip().splitlines()[-1:]
        said = f": {last[0][:200]}" if last else ""
        words = f"expected exit status 0, found {answer.code}{said}"
    if words is None:
        return []
    return [Fault(kind="trap", severity=Severity.ERROR, message=words, advice=None)]


def _host_mistake(faults: Sequence[Fault]) -> bool:
    """Whether a wrong call is known: a program that checks its calls then ends with an error."""
    return any(
        fault.severity is Severity.ERROR
        and verdict.VERDICT_OF_FAULT[fault.kind] is Verdict.BAD_HOST_CALL
        for fault in faults
    )


# ---- programs ----------------------------------------------------------------------------------


def _run_program(assignment: Assignment, built: Built, data: Inputs) -> Outcome:
    program = assignment.program
    assert program is not None, "the caller has looked"
    arguments = [str(_value(text, data)) for text in program.arguments]
    stdin = _spoken(assignment, "stdin", data)
    files = {f"{b.name}.bin": b.initial.tobytes() for b in data.buffers if b.initial is not None}
    outputs = [f"{b.name}.bin" for b in data.buffers if b.role in ("output", "inout")]
    return running.run(
        built, arguments=arguments, stdin=(stdin or "").encode(), files=files, outputs=outputs,
        limits=LIMITS,
    )  # fmt: skip


def _files(data: Inputs, outcome: Outcome) -> tuple[dict[str, np.ndarray], list[Fault]]:
    """The output files as arrays; a fault for each that is missing or has another size."""
    outputs, faults = {}, []
    for buffer in data.buffers:
        if buffer.role not in ("output", "inout"):
            continue
        count, dtype = int(np.prod(buffer.shape)), np.dtype(buffer.dtype)
        found = outcome.files.get(f"{buffer.name}.bin")
        if found is not None and len(found) == count * dtype.itemsize:
            outputs[buffer.name] = np.frombuffer(found, dtype).reshape(buffer.shape)
            continue
        size = "no such file" if found is None else f"{len(found)} bytes"
        faults.append(
            Fault(
                kind="unwritten",
                severity=Severity.ERROR,
                access="write",
                buffer=buffer.name,
                index=0,
                extent=count,
                count=count,
                message=f"expected {buffer.name}.bin with {count * dtype.itemsize} bytes, "
                f"found {size}",
                advice=f"Write the {count} elements of {buffer.name} to {buffer.name}.bin.",
            )
        )
    return outputs, faults


def _kernel_made_something(trace: Sequence[Call]) -> bool:
    """Whether a launch wrote device memory, or may have written a variable that was then read."""
    launched = False
    for call in trace:
        if call.outputs or (launched and not call.status and call.api in FROM_SYMBOL):
            return True
        launched = launched or (not call.status and call.api in LAUNCHES)
    return False


def _by_the_host(data: Inputs, outcome: Outcome) -> list[Fault]:
    """A fault for each output that is there though no kernel wrote anything: the host's work."""
    if _kernel_made_something(outcome.answer.trace):
        return []
    if outcome.answer.ended != "exited":
        return []
    counts = {b.name: int(np.prod(b.shape)) for b in data.buffers if b.role in ("output", "inout")}
    launched = sum(outcome.answer.launches.values())
    found = f"{launched} launches that write nothing" if launched else "no launch"
    return [
        Fault(
            kind="unwritten",
            severity=Severity.ERROR,
            access="write",
            buffer=name,
            index=0,
            extent=count,
            count=count,
            message=f"expected a kernel to compute {name}, found {found}: the host did it",
            advice="Compute on the device: copy in, launch, copy out.",
        )
        for name, count in counts.items()
        if count and f"{name}.bin" in outcome.files
    ]


def _printed(assignment: Assignment, data: Inputs, outcome: Outcome) -> dict[str, Mismatch]:
    """What it printed beside what it should have; trailing blanks do not count."""
    wanted = _spoken(assignment, "stdout", data)
    if wanted is None or outcome.answer.ended != "exited" or outcome.answer.code:
        return {}
    expected = [line.rstrip() for line in wanted.rstrip().split("\n")]
    actual = [line.rstrip() for line in outcome.stdout.rstrip().split("\n")]
    wrong = [
        k
        for k in range(max(len(expected), len(actual)))
        if expected[k : k + 1] != actual[k : k + 1]
    ]
    if not wrong:
        return {}
    first = wrong[0]
    should = expected[first] if first < len(expected) else "(nothing)"
    found = actual[first] if first < len(actual) else "(nothing)"
    return {
        "mismatch": Mismatch(
            output="stdout",
            index=(first + 1,),
            expected=should[:200],
            actual=found[:200],
            wrong=len(wrong),
            total=len(expected),
            message=f"line {first + 1} of standard output should be {should[:200]!r}, "
            f"found {found[:200]!r}",
            advice="Print exactly what the statement says.",
        )
    }


def _spoken(assignment: Assignment, name: str, data: Inputs) -> str | None:
    """What `stdin` or `stdout` of `inputs.py` returns; None where there is no such function."""
    module = cases.run_trusted(assignment.folder / "inputs.py")
    function = vars(module).get(name)
    return None if function is None else str(function(data.arrays(), dict(data.sizes)))


def _value(text: str | int, data: Inputs) -> int | float:
    if isinstance(text, int):
        return text
    if text in data.scalars:
        value: int | float = data.scalars[text].item()
        return value
    return expressions.evaluate(text, data.sizes)


# ---- solve -------------------------------------------------------------------------------------


def _harness(assignment: Assignment) -> str:
    """A `main()` that calls the student's function with arrays that the device holds ready."""
    solve = assignment.solve
    assert solve is not None, "the rules of assignment.toml"
    declared = [parameters.split(text, "cuda-c") for text in solve.parameters]
    types = ", ".join(p.type for p in declared)
    shown = ", ".join(solve.parameters)
    passed, words = [], 0
    for text, parameter in zip(solve.args, declared, strict=True):
        if assignment.buffer(text) is not None:
            passed.append(f'({parameter.type})grade::given("{text}")')
            continue
        words += 1
        reads = (
            "atof(words[{0}])"
            if "float" in parameter.type or "double" in parameter.type
            else ("atoll(words[{0}])")
        )
        passed.append(f"({parameter.type}){reads.format(words)}")
    return f"""
#include <type_traits>
namespace grade {{
static void* given(const char* name) {{
  Call c;
  c.with(name, strlen(name));
  c("given", "{HARNESS}", 0);
  return (void*)c.results[0];
}}
}}
static_assert(std::is_same<decltype(&{solve.function}), void (*)({types})>::value,
              "expected void {solve.function}({shown})");
int main(int count, char** words) {{
  {solve.function}({", ".join(passed)});
  grade_call("cudaDeviceSynchronize", "{HARNESS}", 0, 0, 0, 0, 0, 0, 0, 0);
  return 0;
}}
"""


def _run_solve(assignment: Assignment, built: Built, data: Inputs) -> Outcome:
    solve = assignment.solve
    assert solve is not None, "the rules of assignment.toml"
    arguments = [str(_value(text, data)) for text in solve.args if assignment.buffer(text) is None]
    return running.run(built, arguments=arguments, given=data.buffers, limits=LIMITS)


def _arrays(
    data: Inputs, outcome: Outcome
) -> tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]]:
    if outcome.answer.ended != "exited":
        return {}, {}
    return outcome.outputs, outcome.written
