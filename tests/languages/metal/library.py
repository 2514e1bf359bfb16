"""Evaluates Metal expressions on the virtual GPU: what the tests of the headers are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader import vgpu
from tests.languages.metal.sources import accepted

DTYPES = {
    "bool": np.uint8, "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16,
    "int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64,
    "half": np.float16, "float": np.float32,
}  # fmt: skip


def evaluate(
    expressions: Sequence[str],
    result: str,
    inputs: dict[str, tuple[str, np.ndarray]],
    *,
    before: str = "",
    locals_: str = "",
    threads: int = 0,
    optimised: bool = True,
) -> list[np.ndarray]:
    """The value of each expression in every thread, of the scalar type `result`.

    `inputs` gives each name a Metal type and an array with a row per thread; the expressions use
    the name as a value of that type. `before` stands in front of the kernel, `locals_` in
    front of the expressions.
    """
    count = next(iter(inputs.values()))[1].shape[0] if inputs else threads
    block = threads or min(count, 256)
    declared = "".join(
        f"device const {kind}* in_{name} [[buffer({i})]], "
        for i, (name, (kind, _)) in enumerate(inputs.items())
    )
    values = "".join(f"  {kind} {name} = in_{name}[i];\n" for name, (kind, _) in inputs.items())
    outputs = "".join(f"  out[{j} * {count} + i] = {e};\n" for j, e in enumerate(expressions))
    text = (
        f"#include <metal_stdlib>\nusing namespace metal;\n{before}\n"
        f"kernel void k({declared}device {result}* out [[buffer({len(inputs)})]], "
        "uint i [[thread_position_in_grid]]) {\n"
        f"  if (i >= {count}) return;\n{values}  {locals_}\n{outputs}}}\n"
    )
    variant = accepted(text).variants[0 if optimised else 1]
    out = np.zeros((len(expressions), count), DTYPES[result])
    arrays = [np.ascontiguousarray(array) for _, array in inputs.values()]
    run = vgpu.launch(
        vgpu.Module.from_ptx(variant.ptx).kernel("k"),
        -(-count // block),
        block,
        [*arrays, out],
        checks="bounds",
    )
    assert run.ended == "finished", run.reason
    assert run.faults == (), run.faults
    return list(out)


def ulp_error(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest distance of a float32 result from a float64 value, in units in the last place.

    Where both are infinite or both NaN there is none; where one is, it is infinite.
    """
    rounded = expected.astype(np.float32)
    same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
    finite = np.isfinite(rounded) & np.isfinite(found)
    with np.errstate(invalid="ignore", over="ignore"):
        unit = np.maximum(np.spacing(np.abs(np.where(finite, rounded, 1))), np.float32(2**-149))
        distance = np.abs(found.astype(np.float64) - expected) / unit.astype(np.float64)
    worst = np.where(same & ~finite, 0.0, np.where(finite, distance, np.inf))
    return float(worst.max())
