"""The common wrong answers, and answers that are only a part."""

from __future__ import annotations

from tests.unit.notes.table import (
    ADD_H,
    ALPHA,
    AUTOVEC,
    AUTOVEC_ADD,
    FAST,
    FAST_LOOP,
    NO_THREADS,
    SIMD,
    SIMD_DIFFERS,
    TORCH_DIFFERS,
    Row,
    at,
    cuda_add,
    none,
    note,
)


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
    wrong_file(
        "pytorch",
        "aten/src/ATen/native/cuda/vec_add.cu",
        "2.8.7",
        "there is no pytorch 2.8.7: 2.8.0 was the last",
        "cuda",
        name="an invented patch of a release whose index is not complete",
    ),
    wrong_file("numpy", "numpy/_core/src/umath/vec_add.c", "1.27.0", "", name="an invented series"),
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
