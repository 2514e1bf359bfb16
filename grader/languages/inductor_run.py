"""Runs a kernel that torch.compile generated on the virtual GPU, beside our reference kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader import assignment as assignments
from grader import parameters
from grader.cases import BufferData, Inputs
from grader.devices import virtual
from grader.errors import GradeError
from grader.languages import Contract, Parameter, triton
from grader.languages.inductor import MEANINGS, ROWS, Generated
from grader.languages.triton_races import settle
from grader.result import Fault, Metrics, Record
from grader.run import Argument, Launched, Run, Work

FUEL = 400_000_000
REFERENCES = {"add": "assignment3"}
"""Assignments whose Triton reference does the same as an operation."""

COMPARED = ("warp_instructions", "global_load_requests", "global_sectors", "dram_bytes", "flops")
"""Counts worth a look side by side (docs/cost-model.md)."""

Array = np.ndarray[Any, np.dtype[Any]]


class Measured(Record):
    """What a generated kernel did, and what the reference kernel did on the same size."""

    generated: Generated
    right: bool
    faults: tuple[Fault, ...]
    metrics: Metrics
    reference: Metrics | None = None


def measure(found: Generated) -> Measured:
    """Run the kernel with every check on random numbers; numpy in float64 says if it is right."""
    given = _inputs(found)
    run = _run(
        ptx=found.ptx,
        entry=found.entry,
        grid=found.grid,
        block=found.block,
        shared_bytes=found.shared_bytes,
        kinds=found.parameters,
        given=given,
        numbers=_numbers(found),
        shape=_shapes(found)[1],
    )
    expected = _numpy(found.operation, given)
    right = run.ended == "finished" and np.allclose(
        run.outputs["out"], expected, rtol=1e-5, atol=1e-6
    )
    return Measured(
        generated=found,
        right=bool(right),
        faults=settle(run.faults, ""),
        metrics=run.metrics or Metrics(),
        reference=_reference(found),
    )


def _shapes(found: Generated) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes of an input and of the output."""
    along_rows = MEANINGS[found.operation][1]
    whole = (ROWS, found.size) if along_rows else (found.size,)
    return whole, ((ROWS,) if found.operation in ("sum", "amax") else whole)


def _inputs(found: Generated) -> list[Array]:
    rng = np.random.default_rng(7)
    shape = _shapes(found)[0]
    count = MEANINGS[found.operation][0]
    arrays = [rng.uniform(0.1, 1, shape).astype(np.float32) for _ in range(count)]
    if found.operation == "where":
        arrays[0] = (arrays[0] > 0.5).astype(np.uint8)
    return list(arrays)


def _numbers(found: Generated) -> list[int]:
    """The scalars: the number of elements, or of rows and of columns."""
    return [ROWS, found.size] if MEANINGS[found.operation][1] else [found.size]


def _numpy(operation: str, given: list[Array]) -> Array:
    wide = [array.astype(np.float64) for array in given]
    if operation == "softmax":
        exponentials = np.exp(wide[0])
        return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))
    if operation in ("sum", "amax"):
        return np.asarray(getattr(wide[0], operation.removeprefix("a"))(axis=1))
    own: dict[str, Callable[[], Array]] = {
        "sub": lambda: wide[0] - wide[1],
        "mul": lambda: wide[0] * wide[1],
        "div": lambda: wide[0] / wide[1],
        "relu": lambda: np.maximum(wide[0], 0),
        "sigmoid": lambda: 1 / (1 + np.exp(-wide[0])),
        "rsqrt": lambda: 1 / np.sqrt(wide[0]),
        "where": lambda: np.where(wide[0] > 0, wide[1], wide[2]),
    }
    if operation in own:
        return np.asarray(own[operation]())
    return np.asarray(getattr(np, operation)(*wide))


def _run(
    *,
    ptx: str,
    entry: str,
    grid: int,
    block: tuple[int, int, int],
    shared_bytes: int,
    kinds: tuple[str, ...],
    given: list[Array],
    numbers: list[int],
    shape: tuple[int, ...],
) -> Run:
    """One launch: the pointers are the inputs and then the output, the scalars `numbers`."""
    buffers = [
        BufferData(f"in{i}", "input", array.dtype.name, array.shape, array)
        for i, array in enumerate(given)
    ]
    buffers.append(BufferData("out", "output", "float32", shape, None))
    pointers = [Argument(buffer=buffer.name) for buffer in buffers]
    left = list(numbers)
    arguments = []
    for kind in kinds:
        if kind.startswith("*"):
            arguments.append(pointers.pop(0) if pointers else Argument())
        else:
            dtype = parameters.meaning(kind, triton.NAME).dtype or "int32"
            value = np.dtype(dtype).type(left.pop(0))
            arguments.append(Argument(dtype=dtype, data=value.tobytes().hex()))
    work = Work(
        case="torch.compile",
        variant="generated",
        values=True,
        inputs=Inputs(case="torch.compile", sizes={}, buffers=tuple(buffers), scalars={}),
        launches=(
            Launched(
                ptx=ptx,
                entry=entry,
                grid=(grid, 1, 1),
                block=block,
                shared_bytes=shared_bytes,
                arguments=tuple(arguments),
            ),
        ),
        checks="all",
        fuel=FUEL,
    )
    return virtual.run([work])[0]


def _reference(found: Generated) -> Metrics | None:
    """What the reference kernel of the assignment does on the same size, where there is one."""
    name = REFERENCES.get(found.operation)
    if name is None:
        return None
    try:
        path = assignments.load(name).reference("triton")
        if path is None:
            return None
        kinds = (*("*fp32",) * 3, "i32")
        contract = Contract(
            kernel="vec_add",
            parameters=tuple(Parameter(name=f"p{i}", type=kind) for i, kind in enumerate(kinds)),
            constants={"BLOCK": 1024},
            calls=({"p3": found.size},),
        )
        _, artefact = triton.build(path.read_text(encoding="utf-8"), path.name, (contract,))
    except GradeError:
        return None
    if artefact is None:
        return None
    (variant,) = [v for v in artefact.variants if v.optimised]
    assert variant.block is not None, "Triton's code fixes its block"
    run = _run(
        ptx=variant.ptx,
        entry=variant.entries["vec_add"],
        grid=-(-found.size // variant.constants["BLOCK"]),
        block=variant.block,
        shared_bytes=variant.shared_bytes["vec_add"],
        kinds=tuple(p.type for p in variant.parameters["vec_add"]),
        given=_inputs(found),
        numbers=_numbers(found),
        shape=_shapes(found)[1],
    )
    return run.metrics
