"""The author-time lint: an assignment that a wrong kernel could pass is found before students do.

Each rule makes an answer that must not pass, in the spirit of a lazy or mistaken kernel, and asks
whether any case tells it from the right one. Sizes are looked at as well: a missing guard shows
only where a size is no multiple of the warp and of the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from grader import cases, check, expressions
from grader.assignment_schema import Assignment, Buffer, Case, Language
from grader.cases import Expected, Inputs
from grader.result import Record

WARP = 32
Answers = Sequence[tuple[Case, Inputs, Mapping[str, Expected]]]


class Finding(Record):
    """What is wrong with an assignment: the rule it breaks, and what its author should do."""

    rule: str
    message: str


def lint(assignment: Assignment) -> tuple[Finding, ...]:
    """Everything the rules find. Raises AssignmentError for an `inputs.py` that cannot be run."""
    answers: list[tuple[Case, Inputs, Mapping[str, Expected]]] = []
    for case in assignment.cases:
        data = cases.inputs(assignment, case)
        answers.append((case, data, cases.expected(assignment, data)))
    found = [*_sizes(assignment, [(case, data) for case, data, _ in answers])]
    for buffer in assignment.outputs():
        found += _answers(assignment, buffer, answers)
    found += _last_elements(assignment, answers)
    return tuple(found)


# ---- answers that must not pass ----------------------------------------------------------------

Wrong = Callable[[Inputs, Expected], "np.ndarray | None"]


def _answers(assignment: Assignment, buffer: Buffer, answers: Answers) -> Iterator[Finding]:
    for rule, words, make in _rules(assignment, buffer):
        asked = False
        for case, data, expected in answers:
            wanted = expected[buffer.name]
            answer = make(data, wanted) if case.weight else None
            if answer is None or not answer.size:
                continue
            asked = True
            if check.wrong_elements(
                answer, wanted.value, assignment.tolerance.get(buffer.dtype), wanted.scale
            ).any():
                break
        else:
            if asked:
                yield Finding(
                    rule=rule,
                    message=f"{buffer.name}: {words} passes every case. Tighten the tolerance, or "
                    "add a case whose values or sizes tell it from the right answer.",
                )


def _rules(assignment: Assignment, buffer: Buffer) -> Iterator[tuple[str, str, Wrong]]:
    dtype = np.dtype(buffer.dtype)
    yield "zeros", "an answer of zeros", lambda data, wanted: np.zeros(wanted.value.shape, dtype)
    yield "ones", "an answer of ones", lambda data, wanted: np.ones(wanted.value.shape, dtype)
    for source in _given(assignment):
        yield "copy", f"a copy of {source.name}", partial(_copy, source.name, dtype)
    yield "last element", "all but the last element", lambda data, wanted: _all_but(wanted, dtype)
    yield "last row", "all but the last row", lambda data, wanted: _all_but_row(wanted, dtype)
    if buffer.dtype == "float32":
        yield "half precision", "an answer in half precision", _rounded_to_half


def _stored(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(dtype)


def _given(assignment: Assignment) -> tuple[Buffer, ...]:
    return tuple(buffer for buffer in assignment.buffers if buffer.role in ("input", "inout"))


def _copy(name: str, dtype: np.dtype, data: Inputs, wanted: Expected) -> np.ndarray | None:
    """The first elements of an input in the place of the output; None where it has too few."""
    source = data.arrays()[name]
    if source.size < wanted.value.size:
        return None
    return _stored(source.reshape(-1)[: wanted.value.size].reshape(wanted.value.shape), dtype)


def _spoilt(values: np.ndarray) -> np.ndarray:
    """The same with another number in the last place."""
    changed = values.copy()
    last = changed.reshape(-1)[-1:]
    last[...] = np.where(last == 0, 1, 0)
    return changed


def _all_but(wanted: Expected, dtype: np.dtype) -> np.ndarray | None:
    return _spoilt(_stored(wanted.value, dtype)) if wanted.value.size > 1 else None


def _all_but_row(wanted: Expected, dtype: np.dtype) -> np.ndarray | None:
    if wanted.value.ndim < 2 or wanted.value.shape[0] < 2 or not wanted.value.size:
        return None
    answer = _stored(wanted.value, dtype)
    answer[-1] = np.where(answer[-1] == 0, 1, 0)
    return answer


def _last_elements(assignment: Assignment, answers: Answers) -> Iterator[Finding]:
    """The last element of every input matters to some output in some case."""
    for source in _given(assignment):
        if not any(_matters(assignment, source.name, *answer) for answer in answers):
            yield Finding(
                rule="last input",
                message=f"{source.name}: a kernel that ignores its last element passes every case. "
                "Tighten the tolerance, or add a small case.",
            )


def _matters(
    assignment: Assignment, name: str, case: Case, data: Inputs, expected: Mapping[str, Expected]
) -> bool:
    array = data.arrays()[name]
    if not case.weight or not array.size:
        return False
    without = array.copy()
    without.reshape(-1)[-1] = 0
    changed = cases.expected(assignment, data.replaced({name: without}))
    for buffer in assignment.outputs():
        wanted = expected[buffer.name]
        answer = _stored(changed[buffer.name].value, np.dtype(buffer.dtype))
        tolerance = assignment.tolerance.get(buffer.dtype)
        if check.wrong_elements(answer, wanted.value, tolerance, wanted.scale).any():
            return True
    return False


def _rounded_to_half(data: Inputs, wanted: Expected) -> np.ndarray:
    """The right answer rounded to half precision, as far as half precision reaches.

    The mildest way of computing with too few digits: what fails here, fails for the others.
    """
    half = np.finfo(np.float16)
    size = np.abs(wanted.value)
    within = (size >= half.tiny) & (size <= half.max)
    answer = _stored(wanted.value, np.dtype("float32"))
    answer[within] = _stored(answer[within], np.dtype("float16"))
    return answer


# ---- sizes that must occur ---------------------------------------------------------------------


def _sizes(assignment: Assignment, prepared: Sequence[tuple[Case, Inputs]]) -> Iterator[Finding]:
    """Every size that an array's shape depends on has cases that fill no warp and no block."""
    names: set[str] = set()
    for buffer in assignment.buffers:
        if buffer.role != "scratch":
            for extent in buffer.shape:
                names |= expressions.names(str(extent))
    for name in (size for size in assignment.sizes if size in names):
        numbers = {data.sizes[name] for case, data in prepared if case.weight}
        if not any(number % WARP for number in numbers):
            yield Finding(
                rule="sizes",
                message=f"{name} is a multiple of {WARP} in every case: a kernel without a guard "
                "passes. Add a case with a prime.",
            )
        for language in assignment.languages:
            blocks = _extents(assignment, language, prepared)
            if not any(all(number % block for block in blocks) for number in numbers):
                extents = ", ".join(map(str, blocks))
                yield Finding(
                    rule="sizes",
                    message=f"{name} is a multiple of one of the extents of a block ({extents}) in "
                    f"every {language} case. Add a case that is none.",
                )


def _extents(
    assignment: Assignment, language: Language, prepared: Sequence[tuple[Case, Inputs]]
) -> tuple[int, ...]:
    """Extents of the blocks of a language's launches beyond 1."""
    found: set[int] = set()
    for case, data in prepared:
        if language not in case.languages:
            continue
        for launch in cases.launches(assignment, language, case, data.sizes):
            found |= {extent for extent in launch.block if extent > 1}
    return tuple(sorted(found))
