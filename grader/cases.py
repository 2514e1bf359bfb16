"""What a case hands to a device, and what must come back.

`inputs` makes the buffers and scalars, `launches` the geometry: both go to the run child.
`expected` asks the oracle and stays in the parent. All of it derives from the assignment, the case
and (hidden cases) the secret, so two gradings of one file see the same numbers.

An assignment's `inputs.py` is its author's code, trusted, and runs in the parent:

    def inputs(sizes, rng, case) -> dict[str, array or number]   # every input, inout and scalar
    def oracle(inputs, sizes) -> dict[str, array or (array, scale)]   # every output, float64

`rng` is a numpy Generator. `scale`, of the output's shape, replaces |expected| in the tolerance:
the sum of the magnitudes added, where terms cancel.
"""

from __future__ import annotations

import hashlib
import json
import os
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Literal

import numpy as np

from grader import expressions, parameters
from grader.assignment_schema import Assignment, Buffer, Case, Extent, Language
from grader.errors import AssignmentError, UsageError
from grader.expressions import ExpressionError
from grader.languages import Contract
from grader.result import Dim3, Record

SECRET = "GRADE_SECRET"
SECRET_FILE = "GRADE_SECRET_FILE"


@dataclass(frozen=True)
class BufferData:
    """One buffer of a case; `initial` is None where the content is undefined."""

    name: str
    role: Literal["input", "output", "inout", "scratch"]
    dtype: str
    shape: tuple[int, ...]
    initial: np.ndarray | None


@dataclass(frozen=True)
class Inputs:
    """What the run child may know of a case."""

    case: str
    sizes: Mapping[str, int]
    buffers: tuple[BufferData, ...]
    scalars: Mapping[str, np.generic]

    def arrays(self) -> dict[str, np.ndarray]:
        """The content of every buffer that `inputs.py` filled."""
        given = ("input", "inout")
        return {b.name: b.initial for b in self.buffers
                if b.role in given and b.initial is not None}  # fmt: skip

    def replaced(self, arrays: Mapping[str, np.ndarray]) -> Inputs:
        """The same case with other contents of some buffers."""
        buffers = tuple(
            replace(buffer, initial=arrays.get(buffer.name, buffer.initial))
            for buffer in self.buffers
        )
        return replace(self, buffers=buffers)


@dataclass(frozen=True)
class Expected:
    """One output by the oracle: float64 (or exact integers), and the scale of its tolerance."""

    name: str
    value: np.ndarray
    scale: np.ndarray | None


class Argument(Record):
    """One kernel argument: a buffer's name, a scalar's name, or a number of its own."""

    name: str
    kind: Literal["buffer", "scalar", "number"]
    dtype: str
    value: int | None = None


class ReadyLaunch(Record):
    """A launch in numbers."""

    kernel: str
    grid: Dim3
    block: Dim3
    shared_bytes: int
    dispatch: Literal["threadgroups", "threads"]
    threadgroup_bytes: tuple[int, ...]
    arguments: tuple[Argument, ...]


def secret() -> bytes:
    """What hidden cases are seeded with: `$GRADE_SECRET`, or the file `$GRADE_SECRET_FILE` names.

    Empty where neither is set. Raises UsageError when the file cannot be read.
    """
    if SECRET in os.environ:
        return os.environ[SECRET].strip().encode()
    path = os.environ.get(SECRET_FILE)
    if not path:
        return b""
    try:
        return Path(path).read_bytes().strip()
    except OSError as error:
        raise UsageError(f"{SECRET_FILE}={path}: cannot be read: {error.strerror}") from None


def seed(assignment: Assignment, case: Case, key: bytes) -> int:
    """128 bits from the assignment's and the case's names, and of a hidden case the secret."""
    text = json.dumps([assignment.name, case.name]).encode()
    digest = hashlib.sha256(text + (b"\0" + key if case.hidden else b"")).digest()
    return int.from_bytes(digest[:16], "little")


def sizes(assignment: Assignment, case: Case, key: bytes) -> dict[str, int]:
    """Every size of a case: given, drawn from [lowest, highest], or the default."""
    rng = np.random.Generator(np.random.PCG64([seed(assignment, case, key), 1]))
    values = {}
    for name, size in assignment.sizes.items():
        value = case.sizes.get(name, size.default)
        assert value is not None  # the schema's rules refuse a case without it
        if isinstance(value, tuple):
            value = int(rng.integers(value[0], value[1], endpoint=True))
        values[name] = value
    return values


def inputs(
    assignment: Assignment, case: Case, key: bytes | None = None, *, fresh: int = 0
) -> Inputs:
    """The buffers and scalars of a case. Raises AssignmentError, naming `inputs.py`.

    `fresh` draws other values of the same sizes, for measurements that must not repeat.
    """
    key = secret() if key is None else key
    numbers = sizes(assignment, case, key)
    rng = np.random.Generator(np.random.PCG64([seed(assignment, case, key), fresh << 1]))
    made = _call(assignment, "inputs", dict(numbers), rng, case)
    path = assignment.folder / "inputs.py"
    if not isinstance(made, dict):
        raise AssignmentError(f"{path}: inputs() must return a dict, found {type(made).__name__}")
    constants = _constants(assignment, assignment.languages[0], case)
    buffers = tuple(_buffer(assignment, b, made, {**constants, **numbers}, path)
                    for b in assignment.buffers)  # fmt: skip
    scalars = {}
    for scalar in assignment.scalars:
        if scalar.name not in made:
            raise AssignmentError(f"{path}: inputs() returns no {scalar.name!r}")
        scalars[scalar.name] = np.dtype(scalar.dtype).type(made[scalar.name])
    for name in made:
        if assignment.buffer(name) is None and assignment.scalar(name) is None:
            raise AssignmentError(f"{path}: inputs() returns {name!r}, which nothing declares")
    return Inputs(case.name, numbers, buffers, scalars)


def for_build(
    assignment: Assignment, language: Language, case: Case, data: Inputs,
    declared: Mapping[str, int],
) -> Inputs:  # fmt: skip
    """The same inputs with scratch buffers as large as this build's constants ask for."""
    values = {**_constants(assignment, language, case, declared), **data.sizes}
    buffers = tuple(
        _buffer(assignment, assignment.buffers[i], {}, values, assignment.folder)
        if buffer.role == "scratch"
        else buffer
        for i, buffer in enumerate(data.buffers)
    )
    return replace(data, buffers=buffers)


def _constants(
    assignment: Assignment, language: Language, case: Case,
    declared: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, int]:  # fmt: skip
    """What the source declares; where it does not, the case's value, then the default."""
    own = assignment.defaults(language)
    own |= {name: value for name, value in case.constants.items() if name in own}
    return own | {name: value for name, value in declared.items() if name in own}


def _buffer(
    assignment: Assignment, buffer: Buffer, made: Mapping[str, Any], values: Mapping[str, int],
    path: Path,
) -> BufferData:  # fmt: skip
    shape = tuple(_number(assignment, extent, values) for extent in buffer.shape)
    initial = np.zeros(shape, buffer.dtype) if buffer.initial == "zero" else None
    if buffer.role in ("input", "inout"):
        if buffer.name not in made:
            raise AssignmentError(f"{path}: inputs() returns no {buffer.name!r}")
        initial = np.asarray(made[buffer.name])
        if initial.dtype != np.dtype(buffer.dtype) or initial.shape != shape:
            raise AssignmentError(
                f"{path}: {buffer.name} must be {buffer.dtype} of shape {shape}, "
                f"found {initial.dtype} of shape {initial.shape}"
            )
        initial = np.ascontiguousarray(initial)
    elif buffer.name in made:
        raise AssignmentError(f"{path}: inputs() returns {buffer.name!r}, an {buffer.role}")
    return BufferData(buffer.name, buffer.role, buffer.dtype, shape, initial)


def expected(assignment: Assignment, data: Inputs) -> dict[str, Expected]:
    """What the oracle says of every output. Raises AssignmentError, naming `inputs.py`."""
    path = assignment.folder / "inputs.py"
    given = {name: array.copy() for name, array in data.arrays().items()}
    answer = _call(assignment, "oracle", {**given, **data.scalars}, dict(data.sizes))
    outputs = {}
    for buffer in data.buffers:
        if buffer.role not in ("output", "inout"):
            continue
        if not isinstance(answer, dict) or buffer.name not in answer:
            raise AssignmentError(f"{path}: oracle() returns no {buffer.name!r}")
        found = answer[buffer.name]
        value, scale = found if isinstance(found, tuple) else (found, None)
        wanted = np.dtype("float64" if buffer.dtype.startswith("float") else buffer.dtype)
        value = np.asarray(value)
        exact = wanted.kind in "iu" and value.dtype.kind in "iu"
        if not exact and value.dtype != wanted:
            raise AssignmentError(
                f"{path}: oracle() must give {buffer.name} as {wanted}, found {value.dtype}"
            )
        for part in (value, scale):
            if part is not None and np.shape(part) != buffer.shape:
                raise AssignmentError(
                    f"{path}: oracle() must give {buffer.name} the shape {buffer.shape}, "
                    f"found {np.shape(part)}"
                )
        scale = None if scale is None else np.abs(np.asarray(scale, np.float64))
        outputs[buffer.name] = Expected(buffer.name, value, scale)
    return outputs


def launches(
    assignment: Assignment,
    language: Language,
    case: Case,
    numbers: Mapping[str, int],
    *,
    declared: Mapping[str, int] = MappingProxyType({}),
    block: Dim3 | None = None,
) -> tuple[ReadyLaunch, ...]:
    """The launches of a case in order.

    `numbers` are its sizes, `declared` the constants that the source really has; where it has
    none, the case's value counts, then the default. `block` is the block the language owns
    (Triton). Raises AssignmentError for an expression without a value.
    """
    values = {**_constants(assignment, language, case, declared), **numbers}
    signatures = {k.name: k.signature(language) for k in assignment.kernels}
    ready = []
    for launch in assignment.launches_in(language):
        keys = launch.keys(language)
        signature = signatures[launch.kernel]
        assert signature is not None and keys.grid is not None  # the schema's rules
        own = keys.block or 1
        types = [parameters.split(text, language).type for text in signature.parameters]
        types = [text for text in types if parameters.is_argument(text, language)]
        ready.append(ReadyLaunch(
            kernel=launch.kernel,
            grid=_dim3(assignment, keys.grid, values),
            block=block or _dim3(assignment, own if language != "triton" else 1, values),
            shared_bytes=_number(assignment, keys.shared or 0, values),
            dispatch=keys.dispatch or "threadgroups",
            threadgroup_bytes=tuple(
                _number(assignment, part, values) for part in keys.threadgroup_memory or ()
            ),
            arguments=tuple(
                _argument(assignment, text, declared_type, language, values)
                for text, declared_type in zip(keys.args or (), types, strict=True)
            ),
        ))  # fmt: skip
    return tuple(ready)


def contracts(
    assignment: Assignment, language: Language, prepared: Iterable[tuple[Case, Inputs]]
) -> tuple[Contract, ...]:
    """The assignment's contracts, with the scalar arguments that these cases really pass."""
    plain = assignment.contracts(language)
    calls: dict[str, list[dict[str, int | float]]] = {contract.kernel: [] for contract in plain}
    names = {
        contract.kernel: [
            parameter.name
            for parameter in contract.parameters
            if parameters.is_argument(parameter.type, language)
        ]
        for contract in plain
    }
    for case, data in prepared:
        for launch in launches(assignment, language, case, data.sizes):
            call: dict[str, int | float] = {}
            for name, argument in zip(names[launch.kernel], launch.arguments, strict=True):
                if argument.kind == "scalar":
                    call[name] = data.scalars[argument.name].item()
                elif argument.value is not None:
                    call[name] = argument.value
            if call not in calls[launch.kernel]:
                calls[launch.kernel].append(call)
    return tuple(
        contract.model_copy(update={"calls": tuple(calls[contract.kernel])}) for contract in plain
    )


def _argument(
    assignment: Assignment, text: str, declared: str, language: Language,
    values: Mapping[str, int],
) -> Argument:  # fmt: skip
    dtype = parameters.meaning(declared, language).dtype
    assert dtype is not None  # the schema's rules
    if assignment.buffer(text) is not None:
        return Argument(name=text, kind="buffer", dtype=dtype)
    if assignment.scalar(text) is not None:
        return Argument(name=text, kind="scalar", dtype=dtype)
    return Argument(name=text, kind="number", dtype=dtype, value=_number(assignment, text, values))


def _dim3(assignment: Assignment, extent: Extent, values: Mapping[str, int]) -> Dim3:
    parts = extent if isinstance(extent, tuple) else (extent,)
    numbers = [_number(assignment, part, values) for part in parts]
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def _number(assignment: Assignment, text: str | int, values: Mapping[str, int]) -> int:
    try:
        return expressions.evaluate(text, values)
    except ExpressionError as error:
        raise AssignmentError(f"{assignment.folder / 'assignment.toml'}: {error}") from None


def run_trusted(path: Path) -> ModuleType:
    """Run a Python file of an assignment. Raises AssignmentError with the line that failed."""
    loaded = ModuleType(path.stem)
    loaded.__file__ = str(path)
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AssignmentError(f"{path}: cannot be read: {error}") from None
    try:
        exec(compile(source, str(path), "exec"), loaded.__dict__)
    except Exception as error:
        raise trusted_code_failed(path, error) from error
    return loaded


def _call(assignment: Assignment, name: str, *arguments: object) -> Any:
    path = assignment.folder / "inputs.py"
    function: Callable[..., Any] | None = getattr(run_trusted(path), name, None)
    if function is None:
        raise AssignmentError(f"{path}: there is no function {name}()")
    try:
        return function(*arguments)
    except Exception as error:
        raise trusted_code_failed(path, error) from error


def trusted_code_failed(path: Path, error: Exception) -> AssignmentError:
    """An exception out of an assignment's own code, with its line there."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == str(path):
            line = frame.lineno
    where = f"{path}:{line}" if line else str(path)
    return AssignmentError(f"{where}: {type(error).__name__}: {error}")
