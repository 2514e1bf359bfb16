"""What must hold between the keys of an assignment, beyond each key's own type.

`contradictions` yields a key and a message for everything that does not fit: names that nothing
declares, arguments that differ from the contract, points that do not add up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from grader import expressions, parameters
from grader.assignment_schema import (
    CLAIMS,
    RUBRIC_ITEMS,
    STEPS,
    Assignment,
    Band,
    Buffer,
    Language,
    Launch,
)
from grader.expressions import ExpressionError
from grader.toml_lines import Path

Problem = tuple[Path, str]

FAULT_KINDS = (
    "out_of_bounds", "misaligned", "input_modified", "race", "bad_barrier", "deadlock",
    "warp_mask", "uninitialised", "unwritten", "trap", "assertion", "bad_copy", "use_after_free",
    "leak", "bad_launch", "host_pointer", "unsynchronised_read",
)  # fmt: skip
TOTAL = 100
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def contradictions(assignment: Assignment, folder_name: str) -> Iterator[Problem]:
    """Every key that does not fit the others."""
    if assignment.name != folder_name:
        yield ("name",), f"expected the folder's name {folder_name!r}, found {assignment.name!r}"
    yield from _names(assignment)
    yield from _shapes(assignment)
    if assignment.kind == "kernel":
        for language in assignment.languages:
            yield from _launches(assignment, language)
    else:
        yield from _host(assignment)
    yield from _tolerances(assignment)
    yield from _cases(assignment)
    yield from _points(assignment)
    yield from _speed(assignment)
    for kind in assignment.checks:
        if kind not in FAULT_KINDS:
            yield ("checks", kind), f"not a check: there are {', '.join(FAULT_KINDS)}"


def _names(assignment: Assignment) -> Iterator[Problem]:
    values: list[tuple[Path, str]] = [(("sizes", name), name) for name in assignment.sizes]
    values += [(("buffer", i, "name"), b.name) for i, b in enumerate(assignment.buffers)]
    values += [(("scalar", i, "name"), s.name) for i, s in enumerate(assignment.scalars)]
    kernels: list[tuple[Path, str]] = [
        (("kernel", i, "name"), kernel.name) for i, kernel in enumerate(assignment.kernels)
    ]
    constants: list[tuple[Path, str]] = [
        (("constant", i, "name"), c.name) for i, c in enumerate(assignment.constants)
    ]
    for key, name in (*values, *constants, *kernels):
        if not _IDENTIFIER.fullmatch(name):
            yield key, f"not a name: {name!r}"
        elif name in expressions.FUNCTIONS:
            yield key, f"{name!r} is a function of expressions"
    yield from _twice(values)
    yield from _twice(kernels)
    yield from _twice((("case", i, "name"), c.name) for i, c in enumerate(assignment.cases))
    for language in assignment.languages:
        own = [constants[i] for i, c in enumerate(assignment.constants) if language in c.languages]
        yield from _twice((*values, *own))
    for i, constant in enumerate(assignment.constants):
        if constant.allowed and constant.default not in constant.allowed:
            yield ("constant", i, "default"), f"{constant.default} is not among `allowed`"


def _twice(named: Iterable[tuple[Path, str]]) -> Iterator[Problem]:
    seen: set[str] = set()
    for key, name in named:
        if name in seen:
            yield key, f"a second {name!r}"
        seen.add(name)


def _expression(key: Path, text: str | int, known: Iterable[str]) -> Iterator[Problem]:
    """An expression that cannot be read, or names that nothing declares."""
    if isinstance(text, int):
        return
    try:
        unknown = expressions.names(text) - set(known)
    except ExpressionError as error:
        yield key, str(error)
        return
    for name in sorted(unknown):
        yield key, f"nothing declares {name!r}: there are {', '.join(sorted(known)) or 'no sizes'}"


def _shapes(assignment: Assignment) -> Iterator[Problem]:
    constants = {constant.name for constant in assignment.constants}
    for i, buffer in enumerate(assignment.buffers):
        known = {*assignment.sizes, *(constants if buffer.role == "scratch" else ())}
        for j, extent in enumerate(buffer.shape):
            yield from _expression(("buffer", i, "shape", j), extent, known)
        if buffer.initial == "zero" and buffer.role in ("input", "inout"):
            yield ("buffer", i, "initial"), f"the content of an {buffer.role} is from inputs.py"
    if not assignment.outputs():
        yield ("buffer",), "no output: nothing would be compared"


def _launches(assignment: Assignment, language: Language) -> Iterator[Problem]:
    known = {*assignment.sizes, *assignment.defaults(language)}
    kernels = {kernel.name: kernel for kernel in assignment.kernels}
    launched = False
    for i, launch in enumerate(assignment.launches):
        if language not in launch.languages:
            continue
        launched = True
        kernel = kernels.get(launch.kernel)
        if kernel is None:
            yield ("launch", i, "kernel"), f"there is no [[kernel]] named {launch.kernel!r}"
            continue
        signature = kernel.signature(language)
        if signature is None:
            where = ("kernel", assignment.kernels.index(kernel))
            yield where, f"{kernel.name} has no [kernel.{language}] parameters"
            continue
        yield from _geometry(launch, i, language, known)
        yield from _arguments(assignment, launch, i, language, signature.parameters)
    if not launched:
        yield ("launch",), f"no launch has the language {language}"


def _host(assignment: Assignment) -> Iterator[Problem]:
    """What a kind with host code of the student's own needs."""
    kind = assignment.kind
    if assignment.languages != ("cuda-c",):
        yield ("languages",), f"kind {kind!r} is in cuda-c only"
    for key, table in (("kernel", assignment.kernels), ("launch", assignment.launches)):
        if table:
            yield (key,), f"kind {kind!r} launches its own kernels"
    program, solve = assignment.program, assignment.solve
    if (kind == "program") != (program is not None) or (kind == "solve") != (solve is not None):
        yield ("kind",), f"kind {kind!r} goes with a table [{kind}], and with no other"
    steps = program.steps if program else {}
    for name in steps:
        if name not in STEPS:
            yield ("program", "steps", name), f"not a step: there are {', '.join(STEPS)}"
    if sum(steps.values()) != assignment.rubric.steps:
        yield ("rubric", "steps"), f"the steps have {sum(steps.values())} points in all"
    for i, text in enumerate(program.arguments if program else ()):
        yield from _expression(("program", "arguments", i), text, assignment.sizes)
    if solve is None:
        return
    if len(solve.args) != len(solve.parameters):
        yield ("solve", "args"), f"expected {len(solve.parameters)}, one for each parameter"
    for text, declared in zip(solve.args, solve.parameters, strict=False):
        if assignment.buffer(text) is None and assignment.scalar(text) is None:
            yield from _expression(("solve", "args"), text, assignment.sizes)
        elif (assignment.buffer(text) is not None) != ("*" in declared):
            yield ("solve", "args"), f"{text} does not fit {declared!r}"


def _key(launch: Launch, i: int, language: Language, key: str) -> Path:
    """Where `key` of a launch stands: in the language's own table or in the launch."""
    own = {"cuda-c": launch.cuda_c, "metal": launch.metal, "triton": launch.triton}[language]
    if own is not None and getattr(own, key) is not None:
        return ("launch", i, language, key)
    return ("launch", i, key)


def _geometry(launch: Launch, i: int, language: Language, known: set[str]) -> Iterator[Problem]:
    keys = launch.keys(language)
    needed = ("args", "grid") if language == "triton" else ("args", "grid", "block")
    for key in needed:
        if getattr(keys, key) is None:
            yield ("launch", i), f"the key {key!r} is missing for {language}"
    for key, extent in (("grid", keys.grid), ("block", keys.block), ("shared", keys.shared),
                        ("threadgroup_memory", keys.threadgroup_memory)):  # fmt: skip
        if extent is None:
            continue
        if key == "block" and language == "triton":
            continue  # Triton's own, from num_warps
        where = _key(launch, i, language, key)
        parts = extent if isinstance(extent, tuple) else (extent,)
        if key in ("grid", "block") and not 1 <= len(parts) <= 3:
            yield where, f"one to three numbers, found {len(parts)}"
        for part in parts:
            yield from _expression(where, part, known)


def _arguments(
    assignment: Assignment, launch: Launch, i: int, language: Language, declared: tuple[str, ...]
) -> Iterator[Problem]:
    """Compare `args` with the contract: number, pointers against buffers, element types."""
    number = next(k for k, kernel in enumerate(assignment.kernels) if kernel.name == launch.kernel)
    where: Path = ("kernel", number, language, "parameters")
    types = []
    for j, text in enumerate(declared):
        try:
            types.append(parameters.split(text, language).type)
        except ValueError as error:
            yield (*where, j), str(error)
            return
    types = [declared for declared in types if parameters.is_argument(declared, language)]
    arguments = launch.keys(language).args or ()
    at = _key(launch, i, language, "args")
    if len(arguments) != len(types):
        count = f"{len(types)} arguments in {language}, found {len(arguments)}"
        yield at, f"{launch.kernel} takes {count}"
        return
    for argument, text in zip(arguments, types, strict=True):
        meaning = parameters.meaning(text, language)
        buffer, scalar = assignment.buffer(argument), assignment.scalar(argument)
        if meaning.dtype is None:
            yield where, f"the grader does not know the type {text!r}"
        elif buffer is not None:
            made = any(argument in (before.keys(language).args or ())
                       for before in assignment.launches[:i])  # fmt: skip
            yield from _buffer_argument(at, buffer, meaning, text, made=made)
        elif meaning.pointer:
            yield at, f"{argument!r} goes to the pointer {text!r} but is not a buffer"
        elif scalar is not None:
            if scalar.dtype != meaning.dtype:
                yield at, f"{argument} is {scalar.dtype}, but its parameter is {text!r}"
        else:
            known = {*assignment.sizes, *assignment.defaults(language)}
            yield from _expression(at, argument, known)


def _buffer_argument(
    at: Path, buffer: Buffer, meaning: parameters.Meaning, text: str, *, made: bool
) -> Iterator[Problem]:
    """`made`: an earlier launch was given the buffer, so that this one may only read it."""
    if not meaning.pointer:
        yield at, f"{buffer.name} is a buffer, but its parameter is {text!r}"
    elif meaning.dtype != buffer.dtype:
        yield at, f"{buffer.name} holds {buffer.dtype}, but its parameter is {text!r}"
    elif meaning.read_only and buffer.role == "output" and not made:
        yield at, f"{buffer.name} is an output, but its parameter is {text!r}"


def _tolerances(assignment: Assignment) -> Iterator[Problem]:
    floats = {buffer.dtype for buffer in assignment.outputs() if buffer.dtype.startswith("float")}
    for dtype in sorted(floats - set(assignment.tolerance)):
        yield ("tolerance",), f"no tolerance for {dtype}, which an output has"
    for dtype in assignment.tolerance:
        if not dtype.startswith("float"):
            yield ("tolerance", dtype), f"{dtype} is compared exactly and takes no tolerance"


def _cases(assignment: Assignment) -> Iterator[Problem]:
    needed = {name for name, size in assignment.sizes.items() if size.default is None}
    for i, case in enumerate(assignment.cases):
        for name, value in case.sizes.items():
            key: Path = ("case", i, "sizes", name)
            if name not in assignment.sizes:
                yield key, f"there is no size {name!r}: there are {', '.join(assignment.sizes)}"
            low, high = value if isinstance(value, tuple) else (value, value)
            if not 0 <= low <= high:
                yield key, f"sizes are at least 0, and [lowest, highest] in order; found {value}"
        for name in sorted(needed - set(case.sizes)):
            yield ("case", i, "sizes"), f"the size {name!r} is missing"
        for name, number in case.constants.items():
            declared = [c for c in assignment.constants
                        if c.name == name and set(c.languages) & set(case.languages)]  # fmt: skip
            if not declared:
                yield ("case", i, "constants", name), f"there is no [[constant]] {name!r}"
            elif any(c.allowed and number not in c.allowed for c in declared):
                yield ("case", i, "constants", name), f"{number} is not among its `allowed`"
    if not any(case.weight for case in assignment.cases):
        yield ("case",), "every case has weight 0: `correct` could not be scored"


def _points(assignment: Assignment) -> Iterator[Problem]:
    points = {item: getattr(assignment.rubric, item) for item in RUBRIC_ITEMS}
    if sum(points.values()) != TOTAL:
        yield ("rubric",), f"points add up to {sum(points.values())}, expected {TOTAL}"
    notes = assignment.notes
    if bool(points["notes"]) != (notes is not None):
        yield ("rubric", "notes"), "points for notes and a [notes] table go together"
    if notes is not None:
        for claim in notes.claims:
            if claim not in CLAIMS:
                yield ("notes", "claims", claim), f"not a claim: there are {', '.join(CLAIMS)}"
        if sum(notes.claims.values()) != points["notes"]:
            yield (
                ("notes", "claims"),
                f"points add up to {sum(notes.claims.values())}, but rubric.notes is "
                f"{points['notes']}",
            )


def _speed(assignment: Assignment) -> Iterator[Problem]:
    speed, points = assignment.speed, assignment.rubric.speed
    if bool(points) != (speed is not None):
        yield ("rubric", "speed"), "points for speed and a [speed] table go together"
    if speed is None:
        return
    earned = sum(rule.points for rule in speed.metric) + (speed.time.points if speed.time else 0)
    if earned != points:
        yield ("speed",), f"points add up to {earned}, but rubric.speed is {points}"
    names = {case.name for case in assignment.cases}
    for j, name in enumerate(speed.cases):
        if name not in names:
            yield ("speed", "cases", j), f"there is no case {name!r}"
    if not assignment.speed_cases():
        yield ("speed",), "no case is large and `cases` names none: speed could not be scored"
    for i, rule in enumerate(speed.metric):
        try:
            expressions.names(rule.formula, division=True)
        except ExpressionError as error:
            yield ("speed", "metric", i, "formula"), str(error)
    ladders: list[tuple[Path, tuple[Band, ...]]] = [
        (("speed", "metric", i, "bands"), rule.bands) for i, rule in enumerate(speed.metric)
    ]
    if speed.time is not None:
        ladders.append((("speed", "time", "bands"), speed.time.bands))
    for key, bands in ladders:
        for j, band in enumerate(bands):
            if (band.at_least is None) == (band.at_most is None):
                yield (*key, j), "a band has either `at_least` or `at_most`"
            if key[1] == "time" and band.at_most is None:
                yield (*key, j), "less time is better: use `at_most`"
        shares = [band.share for band in bands]
        if shares != sorted(shares, reverse=True):
            yield key, "bands are listed best first"
