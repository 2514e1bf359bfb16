"""Tiny kernels with the expected findings beside them: how a `.cu` file here is read.

Lines that begin with `//@ ` are the header:

    //@ a: in f32[n]                a buffer: in, out (undefined), inout or scratch; the extent
    //@ b: in i32[n] = expr         ... filled by a numpy expression
    //@ bias: null                  a null pointer
    //@ n: i32 = n                  a scalar
    //@ sizes: w=7 h=5; w=33 h=9    what the names in expressions stand for, several times
    //@ blocks: 40, 8x5             block sizes
    //@ grid: ceil(w, bx), ceil(h, by)
    //@ grids: exact, long, short   the grid; with more blocks than the data needs; with fewer
    //@ shared: 4 * bx              dynamic shared memory in bytes
    //@ values: c = a + b           what an output must hold
    //@ complete: short             outputs are complete under a short grid too
    //@ ends: deadlock              how at least one launch ends; else all finish

A comment `//! race s; out_of_bounds a` says which findings a line must have (kind and buffer; an
error unless `warning: ` or `note: ` stands before), `//? race s` which it may have too, and
`//! somewhere race s` which must be on some line. A file without such comments must stay silent.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

DTYPES = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "u8": np.uint8,
    "i32": np.int32,
    "u32": np.uint32,
}
SEVERITIES = ("note", "warning", "error")
_HEADER = re.compile(r"^//@ (\w+): (.*)$", re.MULTILINE)
_MARK = re.compile(r"//([!?]) (.*?)(?=\s*//[!?]|$)")
_BUFFER = re.compile(r"(in|out|inout|scratch) (\w+)\[(.+?)\](?: = (.*))?$")
_SCALAR = re.compile(r"(\w+) = (.*)$")


@dataclass(frozen=True)
class Mark:
    """A finding that a line must or may have; `line` is None where any line will do."""

    line: int | None
    kind: str
    buffer: str | None
    severity: str


@dataclass(frozen=True)
class LaunchSize:
    """One launch of a case; `names` holds the sizes and bx by bz gx gy gz."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    shape: str
    names: dict[str, int]

    def __str__(self) -> str:
        return f"grid {self.grid} ({self.shape}), block {self.block}, {self.names}"


@dataclass(frozen=True)
class KernelCase:
    """A `.cu` file of this folder, parsed."""

    path: Path
    text: str
    arguments: dict[str, str]
    keys: dict[str, str]
    values: dict[str, str]
    expected: tuple[Mark, ...]
    allowed: tuple[Mark, ...]
    launches: tuple[LaunchSize, ...] = field(default=())

    @property
    def name(self) -> str:
        """Folder and name without suffix, such as `bounds/negative_index.faulty`."""
        return f"{self.path.parent.name}/{self.path.name.removesuffix('.cu')}"


def ceil(a: int, b: int) -> int:
    """a / b rounded up, and at least 1."""
    return max(1, -(-a // b))


def evaluate(expression: str, names: dict[str, object]) -> object:
    """An expression of a header over numpy, sizes and arrays."""
    return eval(expression, {"np": np, "ceil": ceil, "range": range, **names})


def _marks(text: str) -> Iterator[tuple[str, Mark]]:
    for number, line in enumerate(text.splitlines(), 1):
        for sign, findings in _MARK.findall(line):
            for finding in findings.split(";"):
                severity, _, rest = finding.strip().rpartition(": ")
                words = rest.split()
                somewhere = words[0] == "somewhere"
                kind, *buffer = words[1:] if somewhere else words
                yield (
                    sign,
                    Mark(
                        None if somewhere else number,
                        kind,
                        buffer[0] if buffer else None,
                        severity or "error",
                    ),
                )


def _launches(keys: dict[str, str]) -> Iterator[LaunchSize]:
    sizes = [
        {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", group)}
        for group in keys["sizes"].split(";")
    ]
    blocks = [tuple(map(int, block.split("x"))) for block in keys["blocks"].split(",")]
    shapes = [shape.strip() for shape in keys["grids"].split(",")]
    pairs = list(itertools.product(blocks, shapes))
    for k in range(max(len(pairs), len(sizes))):
        block, shape = pairs[k % len(pairs)]
        turn = k % len(shapes) + k // len(shapes)
        names = dict(sizes[turn % len(sizes)])
        names |= dict(zip(("bx", "by", "bz"), (*block, 1, 1), strict=False))
        exact = evaluate(f"({keys['grid']},)", dict(names))
        assert isinstance(exact, tuple)
        grid = {
            "exact": exact,
            "long": tuple(extent + 2 for extent in exact),
            "short": tuple(max(1, extent // 2) for extent in exact),
        }[shape]
        names |= dict(zip(("gx", "gy", "gz"), (*grid, 1, 1), strict=False))
        yield LaunchSize(grid, block, shape, names)


def read(path: Path) -> KernelCase:
    """Parse one file; a malformed header is an exception."""
    text = path.read_text()
    keys = {"blocks": "40, 100, 250", "grid": "ceil(n, bx)", "grids": "exact, long, short"}
    arguments: dict[str, str] = {}
    values: dict[str, str] = {}
    for key, value in _HEADER.findall(text):
        if key == "values":
            output, _, expression = value.partition(" = ")
            values[output] = expression
        elif key in ("sizes", "blocks", "grid", "grids", "shared", "complete", "ends"):
            keys[key] = value
        else:
            assert value == "null" or _BUFFER.match(value) or _SCALAR.match(value), (path, value)
            arguments[key] = value
    marks = list(_marks(text))
    return KernelCase(
        path,
        text,
        arguments,
        keys,
        values,
        tuple(mark for sign, mark in marks if sign == "!"),
        tuple(mark for sign, mark in marks if sign == "?"),
        tuple(_launches(keys)),
    )


@dataclass(frozen=True)
class Buffer:
    """A buffer argument of one launch."""

    access: str
    array: np.ndarray
    defined: bool


def arguments_of(case: KernelCase, size: LaunchSize) -> dict[str, Buffer | np.generic]:
    """The arguments in order; random contents depend on the name and the sizes only."""
    result: dict[str, Buffer | np.generic] = {}
    for name, spec in case.arguments.items():
        buffer, scalar = _BUFFER.match(spec), _SCALAR.match(spec)
        if spec == "null":
            result[name] = np.uint64(0)
        elif buffer:
            access, dtype, extent, expression = buffer.groups()
            length = int(evaluate(extent, dict(size.names)))
            kind = DTYPES[dtype]
            seed = [ord(letter) for letter in name] + [size.names["bx"], length]
            rng = np.random.default_rng(seed)
            if expression:
                content = np.empty(length, kind)
                content[:] = evaluate(expression, {**size.names, "rng": rng})
            elif np.issubdtype(kind, np.floating):
                content = rng.uniform(-1, 1, length).astype(kind)
            else:
                content = rng.integers(0, 256 if kind is np.uint8 else 10, length).astype(kind)
            defined = access in ("in", "inout")
            result[name] = Buffer(access, content, defined)
        else:
            assert scalar
            dtype, expression = scalar.groups()
            result[name] = DTYPES[dtype](evaluate(expression, dict(size.names)))
    return result
