"""What is run: the `Task` of an assignment, the `Work` a device is asked for, the `Run` it made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from grader import cases, parameters
from grader.assignment_schema import Assignment, Case, Language
from grader.cases import Expected, Inputs, ReadyLaunch
from grader.errors import NotGradableError
from grader.languages import Artefact, Contract, Variant
from grader.result import Dim3, Fault, Metrics, Record, Timing

FUEL_FLOOR = 1_000_000
FUEL_MULTIPLE = 100
"""Fuel of a launch in warp instructions: 100 times the reference's count under the same build, at
least a million. One thread that does the work of all needs some 32 times a good kernel's count."""

Order = Literal["forward", "reversed"]
Checks = Literal["all", "bounds"]
Ended = Literal[
    "finished", "trap", "assertion", "fuel", "deadlock", "unsupported", "refused", "time",
    "stopped", "skipped",
]  # fmt: skip
"""The engine's words, `refused` for a launch that CUDA would refuse, `time` for a net that caught
what the instruction budget should have, `stopped` where hardware ended a kernel for what a fault
names, `skipped` for what was not run since it would use up its budget as well: another build of the
case that did, or a large case after a small one that did."""


class Argument(Record):
    """One kernel argument of a launch: a buffer by name, a scalar as bytes, or a null pointer."""

    buffer: str | None = None
    dtype: str | None = None
    data: str | None = None


class Launched(Record):
    """One launch of a work: which PTX, which entry, and with what.

    `threads` is the exact grid of Metal's dispatchThreads; None where blocks are whole.
    `threadgroup_bytes` are the lengths that a Mac is told; here they lie in `shared_bytes`.
    """

    ptx: str
    entry: str
    grid: Dim3
    block: Dim3
    shared_bytes: int
    arguments: tuple[Argument, ...]
    registers: int | None = None
    threads: Dim3 | None = None
    threadgroup_bytes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Work:
    """One case on one build: what a run child does in one go.

    `variant` is the name of the build; `values` says whether its outputs are wanted, since of a
    build for checking only the faults count. `fuel` bounds the warp instructions of each launch.
    """

    case: str
    variant: str
    values: bool
    inputs: Inputs
    launches: tuple[Launched, ...]
    checks: Checks
    fuel: int
    large: bool = False
    order: Order = "forward"

    @property
    def elements(self) -> int:
        """How many elements its buffers hold: what its run time goes with."""
        return sum(int(np.prod(buffer.shape)) for buffer in self.inputs.buffers)


@dataclass(frozen=True)
class Run:
    """How one work ended. `outputs` and `written` are empty unless the work wanted values."""

    ended: Ended
    reason: str = ""
    faults: tuple[Fault, ...] = ()
    metrics: Metrics | None = None
    timing: Timing | None = None
    printed: str = ""
    outputs: Mapping[str, np.ndarray] = field(default_factory=dict)
    written: Mapping[str, np.ndarray] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def instructions(self) -> int:
        """Warp instructions executed: what fuel is measured in."""
        return int(self.metrics.counts.get("warp_instructions", 0)) if self.metrics else 0


@dataclass(frozen=True)
class Task:
    """An assignment in one language, ready to run: its cases with their inputs, its contracts.

    `jobs` is how many children may run at a time; `asked` holds what the oracle has said.
    """

    assignment: Assignment
    language: Language
    cases: tuple[tuple[Case, Inputs], ...]
    contracts: tuple[Contract, ...]
    jobs: int = 1
    compiler: str | None = None
    asked: dict[str, Mapping[str, Expected]] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(
        assignment: Assignment,
        language: Language,
        *,
        small: bool,
        jobs: int,
        compiler: str | None = None,
    ) -> Task:
        """The task of an assignment; `small` leaves out the large cases.

        `compiler` is the one that was asked for, of a language that has several.
        """
        ready = tuple(
            (case, cases.inputs(assignment, case))
            for case in assignment.cases
            if language in case.languages and not (small and case.large)
        )
        contracts = cases.contracts(assignment, language, ready)
        return Task(assignment, language, ready, contracts, jobs, compiler)

    def expected(self, case: Case, data: Inputs) -> Mapping[str, Expected]:
        """What the oracle says of every output of a case; asked once. Raises AssignmentError."""
        if case.name not in self.asked:
            self.asked[case.name] = cases.expected(self.assignment, data)
        return self.asked[case.name]

    def only(self, names: Collection[str]) -> Task:
        """The same task with some of its cases."""
        return replace(self, cases=tuple(pair for pair in self.cases if pair[0].name in names))


def plan(
    task: Task,
    artefact: Artefact,
    *,
    fuel: Callable[[str, str], int],
    values: str | None = None,
    order: Order = "forward",
) -> list[Work]:
    """The works of every case: the build `values` (by default the first), then those for checking.

    `fuel` gives the budget of a case under a build. A large case runs on the build for values
    alone, with bounds checks only; in reversed order only the values are of interest. Raises
    NotGradableError where a build lacks code for a launch.
    """
    first = values if values is not None else artefact.names[0]
    works = []
    for case, data in task.cases:
        alone = case.large or order == "reversed"
        for name in [first] if alone else [first, *artefact.checking(first)]:
            ready, constants = geometry(task, artefact, name, case, data)
            works.append(
                Work(
                    case=case.name,
                    variant=name,
                    values=name == first,
                    inputs=cases.for_build(task.assignment, task.language, case, data, constants),
                    launches=tuple(
                        _launched(artefact, task.contracts, name, launch, data) for launch in ready
                    ),
                    checks="bounds" if case.large else "all",
                    fuel=fuel(case.name, name),
                    large=case.large,
                    order=order,
                )
            )
    return works


def geometry(
    task: Task, artefact: Artefact, name: str, case: Case, data: Inputs
) -> tuple[tuple[ReadyLaunch, ...], Mapping[str, int]]:
    """The launches of a case under a build, and the constants that its code has for them.

    Where code is specialised on arguments (Triton), its constants may be a function of them.
    """
    variant = next(v for v in artefact.variants if v.name == name)
    declared: dict[str, int] = dict(variant.constants)

    def launches() -> tuple[ReadyLaunch, ...]:
        return cases.launches(
            task.assignment,
            task.language,
            case,
            data.sizes,
            declared=declared,
            block=variant.block,
        )

    ready = launches()
    chosen = [_selected(artefact, task.contracts, name, launch, data)[0] for launch in ready]
    for each in chosen:
        declared |= each.constants
    return (ready if declared == variant.constants else launches()), declared


def _selected(
    artefact: Artefact, contracts: Sequence[Contract], name: str, launch: ReadyLaunch, data: Inputs
) -> tuple[Variant, dict[str, np.generic]]:
    """The code for a launch, and its scalar arguments by the contract's names."""
    scalars = {
        parameter: data.scalars[argument.name]
        if argument.kind == "scalar"
        else np.dtype(argument.dtype).type(argument.value)
        for parameter, argument in _given(artefact, contracts, launch).items()
        if argument.kind != "buffer"
    }
    call = {parameter: scalar.item() for parameter, scalar in scalars.items()}
    variant = artefact.select(name, launch.kernel, call)
    if variant is None:
        raise NotGradableError(f"the build {name!r} has no code for {launch.kernel} with {call}")
    return variant, scalars


def _given(
    artefact: Artefact, contracts: Sequence[Contract], launch: ReadyLaunch
) -> dict[str, cases.Argument]:
    """What a launch passes for each parameter of the contract."""
    contract = next(c for c in contracts if c.kernel == launch.kernel)
    names = [
        parameter.name
        for parameter in contract.parameters
        if parameters.is_argument(parameter.type, artefact.language)
    ]
    return dict(zip(names, launch.arguments, strict=True))


def _launched(
    artefact: Artefact, contracts: Sequence[Contract], name: str, launch: ReadyLaunch, data: Inputs
) -> Launched:
    given = _given(artefact, contracts, launch)
    variant, scalars = _selected(artefact, contracts, name, launch, data)
    arguments = {
        parameter: Argument(buffer=argument.name)
        if argument.kind == "buffer"
        else _bytes(scalars[parameter])
        for parameter, argument in given.items()
    }
    starts, threadgroup_bytes = _threadgroup_memory(launch.threadgroup_bytes)
    own = variant.parameters.get(launch.kernel)
    # A language that owns the block (Triton) also knows what shared memory its code needs.
    owned = variant.block is not None
    shared_bytes = launch.shared_bytes + threadgroup_bytes
    grid, threads = exact(launch)
    return Launched(
        ptx=variant.ptx,
        entry=variant.entries[launch.kernel],
        grid=grid,
        block=variant.block or launch.block,
        threads=threads,
        shared_bytes=variant.shared_bytes.get(launch.kernel, 0) if owned else shared_bytes,
        registers=variant.registers.get(variant.entries[launch.kernel]),
        arguments=tuple(arguments.values())
        if own is None
        else tuple(
            _bytes(scalars[name], parameters.meaning(declared, artefact.language).dtype)
            if name in scalars
            else arguments.get(name, starts.get(name, Argument()))
            for name, declared in ((parameter.name, parameter.type) for parameter in own)
        ),
    )


def exact(launch: ReadyLaunch) -> tuple[Dim3, Dim3 | None]:
    """The grid in blocks, and in threads where the launch is Metal's dispatchThreads."""
    if launch.dispatch == "threadgroups":
        return launch.grid, None
    x, y, z = (-(-n // size) for n, size in zip(launch.grid, launch.block, strict=True))
    return (x, y, z), launch.grid


def _threadgroup_memory(sizes: Sequence[int]) -> tuple[dict[str, Argument], int]:
    """Where each `[[threadgroup(n)]]` argument starts, by that name, and the bytes of all.

    Each starts at a multiple of 16 bytes, as setThreadgroupMemoryLength wants lengths to be.
    """
    starts: dict[str, Argument] = {}
    end = 0
    for n, size in enumerate(sizes):
        starts[f"threadgroup({n})"] = _bytes(np.uint32(end))
        end += -(-size // 16) * 16
    return starts, end


def _bytes(scalar: np.generic, dtype: str | None = None) -> Argument:
    """A scalar as the entry takes it: `dtype` where its own type is wider than the contract's."""
    if dtype is not None:
        scalar = np.dtype(dtype).type(scalar)
    return Argument(dtype=scalar.dtype.name, data=scalar.tobytes().hex())
