"""The `--arg` of `grade run`: how a person writes one kernel argument.

    [NAME:]TYPE[COUNT]              a buffer of random numbers in (-1, 1), or small integers
    [NAME:]TYPE[COUNT]=VALUE        filled with VALUE
    [NAME:]TYPE[COUNT]=undefined    never written: reading it is a finding
    [NAME:]TYPE[COUNT]@file.npy     read from a file; the count may be left out
    [NAME:]TYPE=VALUE               a scalar

Types are f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64. numpy has no bf16: such arrays hold its
bits as uint16.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Literal

import numpy as np

from grader.errors import UsageError
from grader.result import Record

DTYPES = {
    "f16": "float16", "bf16": "uint16", "f32": "float32", "f64": "float64",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip

EXAMPLES = "such as a:f32[1000], out:f32[1000]=0 or n:i32=1000"
LARGEST_BYTES = 1 << 32
_SPEC = re.compile(
    r"(?:(?P<name>[A-Za-z_]\w*):)?(?P<type>\w+)"
    r"(?P<brackets>\[(?P<count>[^\]]*)\])?"
    r"(?:=(?P<value>.*)|@(?P<file>.+))?"
)


class Given(Record):
    """One argument as given. `count` is None for a scalar and where a file says it."""

    spec: str
    name: str | None
    type: str
    count: int | None
    content: Literal["random", "fill", "undefined", "file", "scalar"]
    value: float | int = 0
    file: str | None = None

    @property
    def dtype(self) -> str:
        """The numpy dtype of the elements."""
        return DTYPES[self.type]


def parse(spec: str) -> Given:
    """Read one SPEC. Raises UsageError, which names the part that is wrong."""
    found = _SPEC.fullmatch(spec.strip())
    if found is None:
        raise UsageError(f"--arg {spec}: expected [NAME:]TYPE[COUNT], {EXAMPLES}")
    kind = found["type"]
    if kind not in DTYPES:
        raise UsageError(f"--arg {spec}: expected a type of {' '.join(DTYPES)}, found {kind}")
    count = _count(spec, found["count"]) if found["brackets"] else None
    given = Given(spec=spec, name=found["name"], type=kind, count=count, content="random")
    if found["file"] is not None:
        return given.model_copy(update={"content": "file", "file": found["file"]})
    if found["value"] is None:
        if count is None:
            raise UsageError(
                f"--arg {spec}: expected a count or a value, as in {kind}[1000] or {kind}=1000"
            )
        return given
    if found["value"].strip() == "undefined" and count is not None:
        return given.model_copy(update={"content": "undefined"})
    content = "scalar" if count is None else "fill"
    value = _value(spec, kind, found["value"].strip())
    return given.model_copy(update={"content": content, "value": value})


def array(given: Given, seed: int) -> np.ndarray | None:
    """The content of a buffer, shape (count,); None where it is undefined.

    Equal seeds give equal numbers. Raises UsageError for a file that does not fit.
    """
    if given.content == "file":
        return _read(given)
    assert given.count is not None, "a scalar has no array"
    if given.content == "undefined":
        return None
    if given.content == "fill":
        return np.full(given.count, _stored(given.type, given.value), given.dtype)
    rng = np.random.Generator(np.random.PCG64([seed, given.count]))
    if given.type.startswith(("i", "u")):
        low = 0 if given.type.startswith("u") else -8
        return rng.integers(low, 9, given.count).astype(given.dtype)
    numbers = rng.uniform(-1.0, 1.0, given.count)
    if given.type == "bf16":
        return _bf16_bits(numbers)
    return numbers.astype(given.dtype)


def scalar(given: Given) -> np.generic:
    """The value of a scalar."""
    value: np.generic = np.dtype(given.dtype).type(_stored(given.type, given.value))
    return value


def numbers(type_: str, values: np.ndarray) -> list[float | int | str]:
    """Values for JSON, which has no NaN and no infinities: those are text."""
    if type_ == "bf16":
        values = (values.astype(np.uint32) << 16).view(np.float32)
    return [
        str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for value in values.reshape(-1).tolist()
    ]


def _count(spec: str, text: str) -> int:
    try:
        count = int(text, 0)
    except ValueError:
        raise UsageError(f"--arg {spec}: expected a whole number in [ ], found {text!r}") from None
    if count < 1:
        raise UsageError(f"--arg {spec}: expected at least one element, found {count}")
    if count * 8 > LARGEST_BYTES:
        raise UsageError(f"--arg {spec}: expected at most {LARGEST_BYTES // 8} elements")
    return count


def _value(spec: str, kind: str, text: str) -> float | int:
    whole = kind.startswith(("i", "u"))
    try:
        value: float | int = int(text, 0) if whole else float(text)
    except ValueError:
        wanted = "a whole number" if whole else "a number"
        raise UsageError(f"--arg {spec}: expected {wanted} after =, found {text!r}") from None
    if whole:
        limits = np.iinfo(DTYPES[kind])
        if not limits.min <= value <= limits.max:
            raise UsageError(
                f"--arg {spec}: expected a value from {limits.min} to {limits.max}, found {text}"
            )
    return value


def _stored(kind: str, value: float | int) -> float | int:
    return int(_bf16_bits(np.array([value], np.float64))[0]) if kind == "bf16" else value


def _bf16_bits(values: np.ndarray) -> np.ndarray:
    """The bits of the nearest bfloat16, ties to even; NaN stays NaN."""
    bits = values.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), np.uint32(0x7FC0), rounded).astype(np.uint16)


def _read(given: Given) -> np.ndarray:
    """The array of a .npy file, flat. Pickled objects are refused: they are programs."""
    path = Path(given.file or "")
    try:
        with path.open("rb") as file:
            values = np.load(file, allow_pickle=False)
    except OSError as error:
        raise UsageError(f"--arg {given.spec}: {path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(
            f"--arg {given.spec}: {path} is no .npy file of numbers: {error}"
        ) from None
    if not isinstance(values, np.ndarray) or values.dtype != np.dtype(given.dtype):
        found = getattr(values, "dtype", "an archive")
        raise UsageError(f"--arg {given.spec}: expected {given.dtype} in {path}, found {found}")
    if values.size == 0 or given.count not in (None, values.size):
        wanted = given.count or "at least one"
        raise UsageError(f"--arg {given.spec}: expected {wanted} elements, found {values.size}")
    return np.ascontiguousarray(values).reshape(-1)
