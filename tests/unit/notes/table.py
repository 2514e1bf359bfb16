"""How a row of the table is written: a note as TOML, and what must come of it.

A row is a note (written out as TOML by `note`), the verdict of its entry, and for each claim
that matters its verdict and words of the reason. Quotes are single lines, as a student cites them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Said = dict[str, tuple[str, str]]


@dataclass(frozen=True)
class Row:
    """One note and what must come of it."""

    name: str
    text: str
    verdict: str
    claims: Said = field(default_factory=dict)
    file_name: str = "notes.toml"


def none(why: str) -> dict[str, Any]:
    return {"none": why}


def at(
    lines: int | list[int] | str, quote: str | None = None, file: str | None = None
) -> dict[str, Any]:
    given: dict[str, Any] = {"lines": lines}
    if quote is not None:
        given["quote"] = quote
    if file is not None:
        given["file"] = file
    return given


def note(
    framework: str,
    files: list[str] | str,
    global_id: dict[str, Any],
    bounds_check: dict[str, Any],
    operation: dict[str, Any],
    *,
    version: str | None = None,
    backend: str | None = None,
    commit: str | None = None,
    elements: str | int = "1",
    differs: str = "it is not the kernel that I wrote at all",
    role: str = "the kernel",
) -> str:
    """A notes.toml with one entry."""
    lines = ["[[kernel]]", f"framework = {json.dumps(framework)}"]
    for key, value in (("backend", backend), ("version", version), ("commit", commit)):
        if value is not None:
            lines.append(f"{key} = {json.dumps(value)}")
    lines.append(f"elements_per_thread = {json.dumps(elements)}")
    lines.append(f"differs_from_mine = {json.dumps(differs)}")
    for path in [files] if isinstance(files, str) else files:
        lines += ["[[kernel.file]]", f"path = {json.dumps(path)}", f"role = {json.dumps(role)}"]
    for name, fact in (
        ("global_id", global_id),
        ("bounds_check", bounds_check),
        ("operation", operation),
    ):
        lines.append(f"[kernel.{name}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in fact.items()]
    return "\n".join(lines) + "\n"


# --- right answers --------------------------------------------------------------------------------

NO_THREADS = none("because a CPU loop has no threads, only a pointer and a length")
SIMD = "SIMD lanes, two vectors per round"
SIMD_DIFFERS = "a loop over SIMD vectors on the CPU with a masked tail instead of an if"
LOOP = "for (; len >= lstep; len -= lstep, src0 += wstep, src1 += wstep, dst += wstep) {"
ADD = "npyv_@sfx@ r0 = npyv_@intrin@_@sfx@(a0, b0);"
ARITHM = "src/umath/loops_arithm_fp.dispatch.c.src"
AUTOVEC = "src/umath/loops_autovec.dispatch.c.src"
FAST = "src/umath/fast_loop_macros.h"
FAST_LOOP = "for(i = 0; i < n; i++, ip1 += is1, ip2 += is2, op1 += os1)"
AUTOVEC_ADD = "BINARY_LOOP_FAST(@type@, @type@, *out = in1 @OP@ in2);"

CUDA_LOOPS = "aten/src/ATen/native/cuda/CUDALoops.cuh"
ADD_H = "aten/src/ATen/native/ufunc/add.h"
IDX = "int idx = nv * blockIdx.x + tid;"
IDX_CHECK = "if (idx < N) {"
ALPHA = "return self + alpha * other;"
TORCH_DIFFERS = "self + alpha * other is one fused multiply-add, and a thread does several elements"
CPU_LOOPS = "aten/src/ATen/native/cpu/Loops.h"
INDEXING = "c10/metal/indexing.h"
TID = "uint tid [[thread_position_in_grid]]) {"
DENSE = "out[tid] = static_cast<res_t>(f(om_t(input[tid]), om_t(other[tid])));"
EXACT = none("because the grid has exactly N threads")

METAL = "mlx/backend/metal/kernels/binary.h"
METAL_OPS = "mlx/backend/metal/kernels/binary_ops.h"
INDEX = "uint index [[thread_position_in_grid]]) {"
VV = "c[index + i] = Op()(a[index + i], b[index + i]);"
MLX_CUDA = "mlx/backend/cuda/binary/binary.cuh"
RANK = "IdxT index = cg::this_grid().thread_rank();"
READS = "if ((index + 1) * N_READS > size) {"
OUT = "out[i] = Op{}(a[i], b[i]);"
VEC4 = "4 elements per thread, loaded as a vector; the + is a functor"

CARRAY = "cupy/_core/include/cupy/carray.cuh"
KERNEL_PYX = "cupy/_core/_kernel.pyx"
MATH_PYX = "cupy/_core/_routines_math.pyx"
CUPY_ID = "static_cast<ptrdiff_t>(blockIdx.x) * blockDim.x + threadIdx.x; \\"
CUPY_CHECK = "i < (n); \\"
CUPY_ADD = "'out0 = in0 %s in1' % op,"
STRIDE = "a grid-stride loop, and the source is put together from strings at run time"


def numpy_add(version: str | None, root: str, shift: int, **changed: Any) -> str:
    given: dict[str, Any] = {
        "files": f"{root}/{ARITHM}",
        "global_id": NO_THREADS,
        "bounds_check": at(103 + shift, LOOP),
        "operation": at([108 + shift, 109 + shift], ADD),
        "version": version,
        "elements": SIMD,
        "differs": SIMD_DIFFERS,
    } | changed
    return note("numpy", **given)


def cuda_add(version: str | None, id_: int, check: int, op: int, **changed: Any) -> str:
    given: dict[str, Any] = {
        "files": [CUDA_LOOPS, ADD_H],
        "global_id": at(id_, IDX),
        "bounds_check": at(check, IDX_CHECK),
        "operation": at(op, "f(idx);", CUDA_LOOPS),
        "version": version,
        "backend": "cuda",
        "elements": 4 if str(version) < "2.7" and "2.1" not in str(version) else 8,
        "differs": TORCH_DIFFERS,
    } | changed
    return note("pytorch", **given)


def mps_add(version: str | None, id_: int, op: int, **changed: Any) -> str:
    given: dict[str, Any] = {
        "files": INDEXING,
        "global_id": at(id_, TID),
        "bounds_check": EXACT,
        "operation": at(op, DENSE),
        "version": version,
        "backend": "mps",
        "elements": 1,
        "differs": "no bounds check, since exactly as many threads as elements are launched",
    } | changed
    return note("pytorch", **given)


def metal_add(
    version: str | None, id_: int, check: dict[str, Any], op: dict[str, Any], **changed: Any
) -> str:
    given: dict[str, Any] = {
        "files": [METAL, METAL_OPS],
        "global_id": at(id_, INDEX),
        "bounds_check": check,
        "operation": op,
        "version": version,
        "backend": "metal",
        "elements": 1,
        "differs": "the add is a functor, and there is no bounds check where I have one",
    } | changed
    return note("mlx", **given)


def mlx_cuda(version: str | None, path: str, first: int, **changed: Any) -> str:
    given: dict[str, Any] = {
        "files": path,
        "global_id": at(first, RANK),
        "bounds_check": at(first + 2, READS),
        "operation": at(first + 4, OUT),
        "version": version,
        "backend": "cuda",
        "elements": "4",
        "differs": VEC4,
    } | changed
    return note("mlx", **given)


def cupy_add(version: str | None, macro: int, add: int, **changed: Any) -> str:
    given: dict[str, Any] = {
        "files": [CARRAY, MATH_PYX],
        "global_id": at(macro + 2, CUPY_ID),
        "bounds_check": at(macro + 3, CUPY_CHECK),
        "operation": at(add, CUPY_ADD),
        "version": version,
        "elements": "1 at a time in a grid-stride loop",
        "differs": STRIDE,
    } | changed
    return note("cupy", **given)


ALL_RIGHT: Said = dict.fromkeys(
    ("file", "global_id", "bounds_check", "operation", "elements_per_thread", "differs_from_mine"),
    ("right", ""),
)
