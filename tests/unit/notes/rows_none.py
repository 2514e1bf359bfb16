""" "None" claims, right and wrong; hostile input."""

from __future__ import annotations

from tests.unit.notes.table import (
    ARITHM,
    CUPY_ADD,
    IDX_CHECK,
    LOOP,
    MATH_PYX,
    MLX_CUDA,
    STRIDE,
    VV,
    Row,
    at,
    cuda_add,
    metal_add,
    mlx_cuda,
    mps_add,
    none,
    note,
    numpy_add,
)

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
