"""Notes and what they must get: right answers, stale and wrong ones, near misses, hostile input.

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

RIGHT = [
    Row("numpy 1.26.4", numpy_add("1.26.4", "numpy/core", 7), "right", ALL_RIGHT),
    Row("numpy 2.0.2", numpy_add("2.0.2", "numpy/_core", 7), "right", ALL_RIGHT),
    Row("numpy 2.3.5", numpy_add("v2.3.5", "numpy/_core", 0), "right", ALL_RIGHT),
    Row("numpy 2.5.2", numpy_add("2.5.2", "numpy/_core", 0), "right", ALL_RIGHT),
    Row(
        "numpy integers, said so",
        note(
            "numpy",
            [f"numpy/_core/{AUTOVEC}", f"numpy/_core/{FAST}"],
            NO_THREADS,
            at(86, FAST_LOOP),
            at(69, AUTOVEC_ADD),
            version="2.3.5",
            elements=SIMD,
            differs=SIMD_DIFFERS,
            role="the loop of the integer dtypes",
        ),
        "right",
        ALL_RIGHT,
    ),
    Row("pytorch cuda 1.13.1", cuda_add("1.13.1", 136, 139, 140), "right", ALL_RIGHT),
    Row("pytorch cuda 2.4.1", cuda_add("2.4.1", 173, 176, 177), "right", ALL_RIGHT),
    Row(
        "pytorch cuda 2.6.0",
        cuda_add("2.6.0", 211, 214, 215),
        "right",
        ALL_RIGHT | {"operation": ("right", "the + itself is in aten/src/ATen/native/ufunc/add.h")},
    ),
    Row("pytorch cuda 2.8.0", cuda_add("2.8.0", 524, 527, 528), "right", ALL_RIGHT),
    Row("pytorch cuda 2.10.0", cuda_add("2.10.0", 525, 528, 529), "right", ALL_RIGHT),
    Row("pytorch cuda 2.14.1", cuda_add("2.14.1", 590, 593, 594), "right", ALL_RIGHT),
    Row(
        "pytorch cuda, block bound",
        cuda_add(
            "1.13.1",
            136,
            61,
            140,
            bounds_check=at([61, 63], "int remaining = N - block_work_size() * blockIdx.x;"),
        ),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "pytorch cuda, none per block",
        cuda_add(
            "2.6.0",
            211,
            0,
            215,
            bounds_check=none("because on the contiguous path a full block checks remaining once"),
        ),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "pytorch cpu, two parts add up",
        note(
            "pytorch",
            [CPU_LOOPS, ADD_H],
            NO_THREADS,
            at(213, "for (; i <= n - 2 * Vec::size(); i += 2 * Vec::size()) {"),
            at(16, ALPHA),
            version="2.6.0",
            backend="cpu",
            elements=SIMD,
            differs=SIMD_DIFFERS,
        ),
        "right",
        ALL_RIGHT,
    ),
    Row("pytorch mps 2.8.0", mps_add("2.8.0", 327, 330), "right", ALL_RIGHT),
    Row("pytorch mps 2.9.1", mps_add("2.9.1", 325, 328), "right", ALL_RIGHT),
    Row(
        "pytorch mps 2.13.0",
        mps_add("2.13.0", 573, 576),
        "right",
        ALL_RIGHT | {"bounds_check": ("right", "binary_dense_ilp checks")},
    ),
    Row(
        "pytorch mps 2.13.0, four at a time",
        mps_add(
            "2.13.0",
            600,
            615,
            global_id=at(600, INDEX),
            bounds_check=at(604, "if (base + ILP <= numel) {"),
            operation=at(
                615, "tmp_out[j] = static_cast<res_t>(f(om_t(tmp_a[j]), om_t(tmp_b[j])));"
            ),
            elements=4,
            differs="four elements per thread, unrolled",
        ),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "pytorch mps 2.6.0, closed",
        note(
            "pytorch",
            "aten/src/ATen/native/mps/operations/BinaryOps.mm",
            none("because it is closed inside Apple's MPSGraph"),
            none("because MPSGraph is closed: there is no source"),
            at(299),
            version="2.6.0",
            backend="mps",
            elements="closed: Apple decides",
            differs="there is no kernel source at all, only a node of MPSGraph",
        ),
        "partly",
        {
            "global_id": ("right", "inside Apple's MPSGraph"),
            "bounds_check": ("right", "MPSGraph"),
            "operation": ("partly", "quote it"),
        },
    ),
    Row(
        "torch.compile on cuda",
        note(
            "torch.compile",
            "/tmp/torchinductor_alice/ab/cabc.py",
            at(5, "xindex = xoffset + tl.arange(0, XBLOCK)[:]"),
            at(6, "xmask = xindex < xnumel"),
            at(10, "tmp2 = tmp0 + tmp1"),
            version="2.13.0",
            backend="cuda",
            elements="XBLOCK",
            differs="generated per call site; a program does a block under a mask",
        ),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "mlx metal 0.16.0",
        metal_add("0.16.0", 35, EXACT, at(36, "c[index] = Op()(a[index], b[index]);")),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "mlx metal 0.21.1",
        metal_add("0.21.1", 35, EXACT, at(36, "c[index] = Op()(a[index], b[index]);")),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "mlx metal 0.25.2",
        metal_add(
            "0.25.2",
            44,
            at(46, "for (int i = 0; i < N && (index + i) < size; ++i) {"),
            at(47, VV),
            elements="8 / sizeof(T): 2",
            differs="two elements per thread through a functor",
        ),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "mlx metal 0.29.4",
        metal_add("0.29.4", 56, at(58, "if (N > 1 && index + N > size) {"), at(60, VV)),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "mlx metal 0.32.1, none below 65,536",
        metal_add("0.32.1", 56, none("because N is 1 for fewer than 65,536 elements"), at(64, VV)),
        "right",
        ALL_RIGHT | {"bounds_check": ("right", "right under that condition")},
    ),
    Row(
        "mlx cuda 0.26.5", mlx_cuda("0.26.5", "mlx/backend/cuda/binary.cu", 82), "right", ALL_RIGHT
    ),
    Row(
        "mlx cuda 0.28.0", mlx_cuda("0.28.0", "mlx/backend/cuda/binary.cu", 82), "right", ALL_RIGHT
    ),
    Row("mlx cuda 0.29.4", mlx_cuda("0.29.4", MLX_CUDA, 82), "right", ALL_RIGHT),
    Row("mlx cuda 0.32.1", mlx_cuda("0.32.1", MLX_CUDA, 100), "right", ALL_RIGHT),
    Row(
        "mlx cpu 0.32.1",
        note(
            "mlx",
            "mlx/backend/cpu/binary.h",
            NO_THREADS,
            at(61, "while (size >= N) {"),
            at(62, "simd::store(dst, Op{}(simd::load<T, N>(a), simd::load<T, N>(b)));"),
            version="0.32.1",
            backend="cpu",
            elements=SIMD,
            differs=SIMD_DIFFERS,
        ),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "mlx cpu 0.16.0, Accelerate",
        note(
            "mlx",
            "mlx/backend/accelerate/primitives.cpp",
            NO_THREADS,
            none("because vDSP_vadd is closed, inside Apple's Accelerate"),
            at(117),
            version="0.16.0",
            backend="cpu",
            elements="closed",
            differs="Apple's Accelerate does it on the CPU",
        ),
        "partly",
        {"file": ("right", "vendor library"), "bounds_check": ("right", "Accelerate")},
    ),
    Row("cupy 11.6.0", cupy_add("11.6.0", 221, 876), "right", ALL_RIGHT),
    Row("cupy 13.6.0", cupy_add("13.6.0", 221, 876), "right", ALL_RIGHT),
    Row("cupy 14.2.0", cupy_add("14.2.0", 68, 892), "right", ALL_RIGHT),
    Row(
        "cupy 14.2.0, the template",
        note(
            "cupy",
            [KERNEL_PYX, CARRAY],
            at(70, CUPY_ID),
            at(92, "CUPY_FOR(i, _ind.size()) {"),
            at(94, "${operation};"),
            version="14.2.0",
            elements="grid-stride loop",
            differs=STRIDE,
        ),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "jax, said to be generated",
        note(
            "jax",
            "xla/backends/gpu/codegen/emitters/loop.cc",
            none("because the kernel is generated by XLA"),
            none("because the kernel is generated by XLA"),
            none("because the kernel is generated by XLA"),
            elements="generated",
            differs="XLA emits the kernel per fusion; there is no source file",
        ),
        "right",
        {"file": ("right", "generated")},
    ),
    Row(
        "without a version",
        numpy_add(None, "numpy/_core", 0),
        "right",
        ALL_RIGHT | {"version": ("partly", "name the version")},
    ),
    Row(
        "by commit",
        numpy_add(None, "numpy/_core", 7, commit="854252ded83e6b9c21c4ee80558d354d8a72484c"),
        "right",
        ALL_RIGHT | {"version": ("right", "v2.0.2")},
    ),
    Row(
        "by short commit and version",
        numpy_add("2.0.2", "numpy/_core", 7, commit="854252d"),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "short version",
        cuda_add("2.6", 211, 214, 215),
        "right",
        ALL_RIGHT | {"version": ("right", "taken as v2.6.0")},
    ),
    Row(
        "a version between two known ones",
        numpy_add("2.4.0", "numpy/_core", 0),
        "right",
        {
            "version": ("unknown", "v2.3.5 and v2.4.6"),
            "file": ("right", ""),
            "bounds_check": ("right", "either side"),
            "global_id": ("right", ""),
        },
    ),
]

# --- the list of common wrong answers -------------------------------------------------------------


def wrong_file(
    framework: str, path: str, version: str, why: str, backend: str | None = None, **other: str
) -> Row:
    """A note that names one file, which is not where add runs."""
    text = note(
        framework,
        path,
        *[none("because I found none in it")] * 3,
        version=version,
        backend=backend,
    )
    verdict = other.get("verdict", "wrong")
    name = other.get("name", f"{path} at {version}")
    return Row(name, text, verdict, {"file": (verdict, why)})


WRONG = [
    Row(
        "numpy loops.c.src",
        note(
            "numpy",
            "numpy/_core/src/umath/loops.c.src",
            NO_THREADS,
            at(1572, "BINARY_LOOP {"),
            at(1575, "*((npy_half *)op1) = npy_float_to_half(in1 @OP@ in2);"),
            version="2.3.5",
            elements=SIMD,
            differs=SIMD_DIFFERS,
        ),
        "partly",
        {"file": ("partly", "float32/float64 add left it at v1.21")},
    ),
    wrong_file(
        "numpy", "numpy/_core/src/umath/loops_arithmetic.dispatch.c.src", "2.3.5", "DIVISION"
    ),
    wrong_file("numpy", "numpy/core/src/umath/scalarmath.c.src", "1.26.4", "NumPy scalars"),
    wrong_file("numpy", "numpy/_core/src/common/cblasfuncs.c", "2.0.2", "add never reaches BLAS"),
    wrong_file("numpy", "numpy/_core/src/highway/hwy/ops/x86_256-inl.h", "2.3.5", "submodule"),
    wrong_file("numpy", "numpy/_core/umath.py", "2.5.2", "re-export"),
    wrong_file(
        "numpy",
        "numpy/_core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so",
        "2.3.5",
        "does not exist",
    ),
    wrong_file(
        "pytorch",
        "aten/src/ATen/native/cuda/BinaryAddSubKernel.cu",
        "1.13.1",
        "Does not exist at this release",
        "cuda",
    ),
    wrong_file(
        "pytorch",
        "aten/src/ATen/native/cuda/BinaryAddSubKernel.cu",
        "2.14.1",
        "read at v2.6.0",
        "cuda",
    ),
    wrong_file(
        "pytorch",
        "aten/src/ATen/native/cuda/BinaryOpsKernel.cu",
        "2.6.0",
        "comment in CUDALoops.cuh",
        "cuda",
    ),
    wrong_file(
        "pytorch", "aten/src/ATen/native/cuda/BinaryMulKernel.cu", "2.6.0", "multiply", "cuda"
    ),
    wrong_file(
        "pytorch", "aten/src/ATen/native/cuda/BinaryInternal.h", "2.8.0", "add is not there", "cuda"
    ),
    wrong_file(
        "pytorch",
        "aten/src/ATen/native/cuda/ForeachBinaryOpList.cu",
        "2.6.0",
        "_foreach_add",
        "cuda",
    ),
    Row(
        "pytorch KernelUtils.h",
        note(
            "pytorch",
            "aten/src/ATen/cuda/detail/KernelUtils.h",
            at(16),
            at(17),
            none("because it is a macro only"),
            version="2.6.0",
            backend="cuda",
        ),
        "wrong",
        {"file": ("wrong", "not by add"), "bounds_check": ("wrong", "not by add")},
    ),
    wrong_file("pytorch", "aten/src/ATen/native/cuda/JitLoops.cuh", "2.13.0", "jiterator", "cuda"),
    wrong_file("pytorch", "aten/src/ATen/native/BinaryOps.h", "2.13.0", "DECLARE", "cuda"),
    wrong_file("pytorch", "torch/include/ATen/ops/add.h", "2.13.0", "Generated C++ wrapper"),
    wrong_file("pytorch", "torch/_tensor.py", "2.13.0", "Python-level Tensor class"),
    wrong_file(
        "pytorch", "aten/src/ATen/native/cpu/BinaryOpsKernel.cpp", "2.6.0", "add_clamp", "cpu"
    ),
    wrong_file(
        "pytorch", "aten/src/ATen/cuda/CUDABlas.cpp", "2.6.0", "never element-wise add", "cuda"
    ),
    wrong_file(
        "pytorch",
        "aten/src/ATen/native/mps/kernels/BinaryKernel.metal",
        "2.6.0",
        "no add_functor",
        "mps",
    ),
    wrong_file("triton", "python/tutorials/01-vector-add.py", "main", "nothing dispatches to it"),
    wrong_file("mlx", "mlx/ops.cpp", "0.32.1", "Graph construction", "metal"),
    wrong_file("mlx", "mlx/primitives.h", "0.29.4", "Declares the primitive", "metal"),
    wrong_file("mlx", "python/src/ops.cpp", "0.25.2", "Python binding", "metal"),
    wrong_file("mlx", "mlx/backend/metal/kernels/binary_two.h", "0.21.1", "DivMod", "metal"),
    wrong_file("mlx", "mlx/backend/common/binary.h", "0.29.4", "only allocates the output", "cpu"),
    wrong_file("cupy", "cupy/_math/arithmetic.py", "13.6.0", "alias"),
    wrong_file("cupy", "cupy_backends/cuda/libs/cublas.pyx", "14.2.0", "add does not use it"),
    wrong_file("jax", "jax/_src/lax/lax.py", "main", "no kernel"),
    wrong_file(
        "numpy",
        "numpy/_core/src/umath/vec_add.c",
        "2.3.5",
        "does not exist at v2.3.5",
        name="an invented file",
    ),
    wrong_file(
        "pytorch",
        "aten/src/ATen/native/cuda/vec_add.cu",
        "2.8.0",
        "cannot be checked here",
        "cuda",
        verdict="unknown",
        name="an invented file where the index is not complete",
    ),
    Row(
        "numpy integers for float32",
        note(
            "numpy",
            [f"numpy/_core/{AUTOVEC}", f"numpy/_core/{FAST}"],
            NO_THREADS,
            at(86, FAST_LOOP),
            at(69, AUTOVEC_ADD),
            version="2.3.5",
            elements=SIMD,
            differs=SIMD_DIFFERS,
        ),
        "partly",
        {"file": ("partly", "not of float32")},
    ),
    Row(
        "one part only",
        note(
            "pytorch",
            ADD_H,
            none("because it is a plain function"),
            none("because it is a plain function"),
            at(16, ALPHA),
            version="2.6.0",
            backend="cuda",
            elements=4,
            differs=TORCH_DIFFERS,
        ),
        "partly",
        {
            "file": ("partly", "the global id and the bounds check"),
            "global_id": ("wrong", "CUDALoops.cuh"),
            "operation": ("right", "line 16"),
        },
    ),
    Row(
        "the launch only",
        note(
            "mlx",
            "mlx/backend/metal/binary.cpp",
            none("because it is host code"),
            none("because it is host code"),
            none("because it is host code"),
            version="0.29.4",
            backend="metal",
        ),
        "partly",
        {"file": ("partly", "the add")},
    ),
    Row(
        "a CPU loop for CUDA",
        note(
            "mlx",
            "mlx/backend/cpu/binary.h",
            NO_THREADS,
            at(61, "while (size >= N) {"),
            at(62, "simd::store(dst, Op{}(simd::load<T, N>(a), simd::load<T, N>(b)));"),
            version="0.32.1",
            backend="cuda",
        ),
        "wrong",
        {"file": ("wrong", "for cpu, not for cuda")},
    ),
    Row(
        "wrong number of elements",
        cuda_add("2.6.0", 211, 214, 215, elements=1),
        "partly",
        {"elements_per_thread": ("wrong", "4 on the contiguous path")},
    ),
    Row(
        "no difference claimed",
        cuda_add("2.6.0", 211, 214, 215, differs="nothing"),
        "partly",
        {"differs_from_mine": ("wrong", "self + alpha * other")},
    ),
]

# --- near misses ----------------------------------------------------------------------------------

NEAR = [
    Row(
        "numpy/core after 2.0",
        numpy_add("2.0.2", "numpy/core", 7),
        "partly",
        {"file": ("partly", "numpy/core became numpy/_core at 2.0"), "bounds_check": ("right", "")},
    ),
    Row(
        "numpy/_core before 2.0",
        numpy_add("1.26.4", "numpy/_core", 7),
        "partly",
        {"file": ("partly", "at v1.26.4 it is numpy/core")},
    ),
    Row(
        "off by one line",
        numpy_add("2.3.5", "numpy/_core", 0, bounds_check=at(104, LOOP)),
        "partly",
        {"bounds_check": ("partly", "it is line 103, not 104"), "operation": ("right", "")},
    ),
    Row(
        "lines of another release",
        numpy_add("2.3.5", "numpy/_core", 7),
        "partly",
        {"bounds_check": ("partly", "line 103, not 110"), "operation": ("partly", "108")},
    ),
    Row(
        "lines of another release, unquoted",
        cuda_add("2.6.0", 211, 527, 215, bounds_check=at(527, "if (idx < N)  {  // guard")),
        "partly",
        {"bounds_check": ("partly", "")},
    ),
    Row(
        "windows slashes",
        numpy_add(
            "2.3.5",
            "numpy/_core",
            0,
            files="numpy\\_core\\src\\umath\\loops_arithm_fp.dispatch.c.src",
        ),
        "right",
        {"file": ("right", "write the path with /")},
    ),
    Row(
        "a link to the file",
        numpy_add(
            "2.3.5",
            "numpy/_core",
            0,
            files=f"https://github.com/numpy/numpy/blob/v2.3.5/numpy/_core/{ARITHM}#L103-L109",
        ),
        "right",
        {"file": ("right", "a link was taken as the path")},
    ),
    Row(
        "a raw link without a version",
        numpy_add(
            None,
            "numpy/_core",
            7,
            files=f"https://raw.githubusercontent.com/numpy/numpy/v2.0.2/numpy/_core/{ARITHM}",
        ),
        "right",
        {"version": ("right", "v2.0.2"), "bounds_check": ("right", "")},
    ),
    Row(
        "a link to another tag",
        numpy_add(
            "2.3.5",
            "numpy/_core",
            0,
            files=f"https://github.com/numpy/numpy/blob/v2.0.2/numpy/_core/{ARITHM}",
        ),
        "right",
        {"file": ("right", "the link shows v2.0.2, the note says v2.3.5")},
    ),
    Row(
        "a link into another project",
        numpy_add(
            "2.3.5",
            "numpy/_core",
            0,
            files=f"https://github.com/scipy/scipy/blob/main/numpy/_core/{ARITHM}",
        ),
        "wrong",
        {"file": ("wrong", "the link is into scipy/scipy")},
    ),
    Row(
        "a link elsewhere",
        numpy_add("2.3.5", "numpy/_core", 0, files="https://example.org/blog/how-numpy-adds"),
        "wrong",
        {"file": ("wrong", "found a link elsewhere")},
    ),
    Row(
        "the path inside the wheel",
        mps_add("2.9.1", 325, 328, files="torch/include/c10/metal/indexing.h"),
        "right",
        {"file": ("right", "in the repository it is c10/metal/indexing.h")},
    ),
    Row(
        "an absolute path inside the wheel",
        mps_add(
            "2.9.1",
            325,
            328,
            files="/home/me/.venv/lib/python3.12/site-packages/torch/include/c10/metal/indexing.h",
        ),
        "right",
        {"file": ("right", "in the repository it is c10/metal/indexing.h")},
    ),
    Row(
        "lines of the wrapped header",
        mps_add("2.10.0", 328, 331, files="torch/include/c10/metal/indexing.h"),
        "right",
        {"global_id": ("right", "in the repository it is line 327"), "operation": ("right", "330")},
    ),
    Row(
        "a path of one machine",
        numpy_add("2.3.5", "numpy/_core", 0, files=f"/home/me/src/numpy/_core/{ARITHM}"),
        "wrong",
        {"file": ("wrong", "single machine")},
    ),
    Row(
        "the name of the archive in front",
        numpy_add("2.3.5", "numpy/_core", 0, files=f"numpy-2.3.5/numpy/_core/{ARITHM}"),
        "right",
        {"file": ("right", f"in the repository the path is numpy/_core/{ARITHM}")},
    ),
    Row(
        "only the file's name",
        cuda_add("2.6.0", 211, 214, 215, files=["CUDALoops.cuh", ADD_H]),
        "partly",
        {"file": ("partly", "give the whole path"), "bounds_check": ("right", "")},
    ),
    Row(
        "upper case",
        cuda_add("2.6.0", 211, 214, 215, files=[CUDA_LOOPS.lower(), ADD_H]),
        "partly",
        {"file": ("partly", "upper and lower case matter")},
    ),
    Row(
        "a typo in the path",
        numpy_add(
            "2.3.5", "numpy/_core", 0, files="numpy/_core/src/umath/loops_arith_fp.dispatch.c.src"
        ),
        "wrong",
        {"file": ("wrong", f"did you mean numpy/_core/{ARITHM}?")},
    ),
    Row(
        "mlx cuda before the split named after it",
        mlx_cuda("0.29.4", "mlx/backend/cuda/binary.cu", 82),
        "partly",
        {"file": ("partly", "moved to mlx/backend/cuda/binary/binary.cuh at 0.29.0")},
    ),
    Row(
        "a file of a later release",
        mlx_cuda("0.28.0", MLX_CUDA, 82),
        "partly",
        {"file": ("partly", "before 0.29.0 it was mlx/backend/cuda/binary.cu")},
    ),
    Row(
        "a later file without a twin",
        numpy_add("1.26.4", "numpy/_core", 7, files="numpy/_core/src/umath/fast_loop_macros.hpp"),
        "wrong",
        {"file": ("wrong", "does not exist at v1.26.4")},
    ),
    Row(
        "accelerate after it went",
        note(
            "mlx",
            "mlx/backend/accelerate/primitives.cpp",
            NO_THREADS,
            none("because vDSP_vadd is closed, inside Apple's Accelerate"),
            at(117),
            version="0.29.4",
            backend="cpu",
            elements=SIMD,
        ),
        "partly",
        {"file": ("partly", "moved to mlx/backend/cpu/binary.h at 0.22.1")},
    ),
    Row(
        "spaces do not matter",
        cuda_add("2.6.0", 211, 214, 215, bounds_check=at(214, "  if(idx<N)   {  ")),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "the end of the line left out",
        cuda_add("2.6.0", 211, 214, 215, bounds_check=at(214, "if (idx < N)")),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "another quote on the right line",
        cuda_add("2.6.0", 211, 214, 215, bounds_check=at(214, "if (threadIdx.x < blockDim.x)")),
        "partly",
        {"bounds_check": ("partly", "the quote is not in the file")},
    ),
    Row(
        "too short a quote",
        cuda_add("2.6.0", 211, 214, 215, bounds_check=at(214, "idx < N")),
        "partly",
        {"bounds_check": ("partly", "too short")},
    ),
    Row(
        "an ambiguous quote at the wrong line",
        mlx_cuda("0.29.4", MLX_CUDA, 82, bounds_check=at(83, READS)),
        "partly",
        {"bounds_check": ("partly", "that text stands on 4 lines")},
    ),
    Row(
        "the check of another kernel in the file",
        mlx_cuda("0.29.4", MLX_CUDA, 82, bounds_check=at(22, READS)),
        "partly",
        {"bounds_check": ("partly", "")},
    ),
    Row(
        "the id called a check",
        cuda_add("2.6.0", 211, 214, 215, bounds_check=at(211, IDX)),
        "partly",
        {
            "bounds_check": ("wrong", "line 211 is the global id; the bounds check is line 214"),
            "global_id": ("right", ""),
            "operation": ("right", ""),
        },
    ),
    Row(
        "a quote without lines",
        cuda_add("2.6.0", 211, 214, 215, bounds_check={"quote": IDX_CHECK}),
        "partly",
        {"bounds_check": ("partly", "say its line, 214")},
    ),
    Row(
        "lines without a quote",
        cuda_add("2.6.0", 211, 214, 215, bounds_check=at(214)),
        "partly",
        {"bounds_check": ("partly", "quote it")},
    ),
    Row(
        "wrong lines without a quote",
        cuda_add("2.6.0", 211, 300, 215, bounds_check=at(300)),
        "partly",
        {"bounds_check": ("wrong", "line 214")},
    ),
    Row(
        "half the file",
        cuda_add("2.6.0", 211, 214, 215, bounds_check=at([200, 230], IDX_CHECK)),
        "partly",
        {"bounds_check": ("partly", "too many lines")},
    ),
    Row(
        "lines as a link writes them",
        cuda_add("2.6.0", 211, 214, 215, bounds_check=at("L214", IDX_CHECK)),
        "right",
        ALL_RIGHT,
    ),
    Row(
        "a version that is none",
        numpy_add("newest", "numpy/_core", 0),
        "right",
        {"version": ("wrong", "expected a version")},
    ),
    Row(
        "version and commit differ",
        numpy_add("2.3.5", "numpy/_core", 0, commit="854252ded83e6b9c21c4ee80558d354d8a72484c"),
        "right",
        {"version": ("wrong", "the commit is v2.0.2")},
    ),
    Row(
        "a version of the future",
        numpy_add("9.9", "numpy/_core", 0),
        "unknown",
        {"version": ("unknown", "v9.9 was not examined"), "file": ("unknown", "")},
    ),
    Row(
        "a moving branch",
        numpy_add("main", "numpy/_core", 0),
        "unknown",
        {"version": ("unknown", "a branch moves")},
    ),
    Row(
        "nonsense at an unknown version",
        numpy_add("9.9", "numpy/_core", 0, bounds_check=at(1, "import antigravity")),
        "unknown",
        {"bounds_check": ("wrong", "the quote is not a bounds check")},
    ),
]

# --- none -----------------------------------------------------------------------------------------

NONE = [
    Row(
        "none where there is a check",
        mlx_cuda("0.29.4", MLX_CUDA, 82, bounds_check=none("because I saw no if in the kernel")),
        "partly",
        {"bounds_check": ("wrong", "there is one: line 84")},
    ),
    Row(
        "a check where there is none",
        metal_add(
            "0.16.0",
            35,
            at(36, "c[index] = Op()(a[index], b[index]);"),
            at(36, "c[index] = Op()(a[index], b[index]);"),
        ),
        "partly",
        {"bounds_check": ("wrong", "say none and why"), "operation": ("right", "")},
    ),
    Row(
        "an id where there is none",
        numpy_add("2.3.5", "numpy/_core", 0, global_id=at(103, LOOP)),
        "partly",
        {"global_id": ("wrong", "there is no global id in this kernel")},
    ),
    Row(
        "none without the condition",
        metal_add("0.32.1", 56, none("because Metal never needs it, I think"), at(60, VV)),
        "partly",
        {"bounds_check": ("partly", "only under a condition")},
    ),
    Row(
        "none where it is elsewhere",
        note(
            "cupy",
            MATH_PYX,
            none("because the file has none"),
            none("because the file has none"),
            at(876, CUPY_ADD),
            version="13.6.0",
            elements="grid-stride loop",
            differs=STRIDE,
        ),
        "partly",
        {"bounds_check": ("wrong", "CUPY_FOR in carray.cuh"), "operation": ("right", "")},
    ),
    Row(
        "closed, but not said so",
        note(
            "pytorch",
            "aten/src/ATen/native/mps/operations/BinaryOps.mm",
            none("because I could find none"),
            none("because I could find none"),
            at(212),
            version="1.13.1",
            backend="mps",
        ),
        "partly",
        {"bounds_check": ("partly", "say that it is closed")},
    ),
    Row(
        "lines where it is closed",
        note(
            "pytorch",
            "aten/src/ATen/native/mps/operations/BinaryOps.mm",
            at(212, "uint tid [[thread]]"),
            at(212, "if (tid < size) return;"),
            at(212),
            version="1.13.1",
            backend="mps",
        ),
        "partly",
        {"bounds_check": ("wrong", "cannot be read"), "global_id": ("wrong", "cannot be read")},
    ),
    Row(
        "no check in a large divisible torch.compile kernel",
        note(
            "torch.compile",
            "$TORCHINDUCTOR_CACHE_DIR/xy/c.py",
            at(5, "xindex = xoffset + tl.arange(0, XBLOCK)[:]"),
            none("because N is a multiple of the largest block, so the mask is always True"),
            at(10, "tmp2 = tmp0 + tmp1"),
            version="2.13.0",
            elements="XBLOCK",
            differs="generated, and the mask is gone",
        ),
        "right",
        {"bounds_check": ("right", "constant True")},
    ),
    Row(
        "none at a version between",
        numpy_add("2.4.0", "numpy/_core", 0, bounds_check=none("because there is no if statement")),
        "partly",
        {"bounds_check": ("wrong", "there is one"), "global_id": ("right", "")},
    ),
]

# --- hostile --------------------------------------------------------------------------------------

HOSTILE = [
    Row(
        "dots",
        numpy_add("2.3.5", "numpy/_core", 0, files="../../../etc/passwd"),
        "wrong",
        {"file": ("wrong", "found one with ../")},
    ),
    Row(
        "dots inside",
        numpy_add("2.3.5", "numpy/_core", 0, files=f"numpy/../numpy/_core/{ARITHM}"),
        "wrong",
        {"file": ("wrong", "found one with ../")},
    ),
    Row(
        "dots behind a package",
        mps_add("2.9.1", 325, 328, files="torch/include/c10/../../../../../etc/passwd"),
        "wrong",
        {"file": ("wrong", "found one with ../")},
    ),
    Row(
        "control characters in a path",
        numpy_add("2.3.5", "numpy/_core", 0, files="numpy/\x1b[31m\x00\u202e.c"),
        "wrong",
        {"file": ("wrong", "does not exist")},
    ),
    Row(
        "a git option for a version",
        numpy_add("--upload-pack=touch /tmp/x", "numpy/_core", 0),
        "right",
        {"version": ("wrong", "expected a version")},
    ),
    Row(
        "a very long path",
        numpy_add("2.3.5", "numpy/_core", 0, files="a/" * 1900 + "b.c"),
        "wrong",
        {"file": ("wrong", "does not exist")},
    ),
    Row(
        "a huge line number",
        cuda_add("2.6.0", 211, 214, 215, bounds_check=at(9999999, IDX_CHECK)),
        "partly",
        {"bounds_check": ("partly", "line 214")},
    ),
    Row(
        "a quote of many lines",
        cuda_add("2.6.0", 211, 214, 215, bounds_check=at(214, "if (idx < N) {\n" * 250)),
        "partly",
        {"bounds_check": ("partly", "not in the file")},
    ),
]

ROWS = [*RIGHT, *WRONG, *NEAR, *NONE, *HOSTILE]
