"""Kernels that every device must run alike: exact values in, exact values expected.

Each is a CUDA C kernel `k` whose parameters are its buffers and the number `n`; what it must leave
in its outputs is worked out by numpy. Numbers are small whole ones, so that no order of additions
and no contraction changes a bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.cases import BufferData, Inputs
from grader.languages import Contract, Parameter, cuda_c
from grader.run import Argument, Launched, Work

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Kernel:
    """One kernel: its body, its buffers in order, and what is expected."""

    name: str
    body: str
    inputs: Callable[[int, Any], dict[str, np.ndarray]]
    outputs: Callable[[int, Arrays], dict[str, np.ndarray]]
    block: tuple[int, int, int] = (128, 1, 1)
    grid: Callable[[int], tuple[int, int, int]] = lambda n: (-(-n // 128), 1, 1)
    shared_bytes: int = 0
    n: int = 1000


TYPES = {"float32": "float", "float64": "double", "int32": "int", "int64": "long long",
         "uint32": "unsigned", "uint8": "unsigned char", "float16": "__half"}  # fmt: skip


def floats(n: int, rng: Any) -> dict[str, np.ndarray]:
    """Two arrays of small whole numbers."""
    return {name: rng.integers(-50, 50, n).astype(np.float32) for name in "ab"}


def one(n: int, rng: Any) -> dict[str, np.ndarray]:
    """One array of small whole numbers."""
    return {"a": rng.integers(-50, 50, n).astype(np.float32)}


I = "int i = blockIdx.x * blockDim.x + threadIdx.x; "  # noqa: E741 - the index of a thread

KERNELS = (
    Kernel("add", I + "if (i < n) out[i] = a[i] + b[i];", floats,
           lambda n, x: {"out": x["a"] + x["b"]}),
    Kernel("fused multiply-add", I + "if (i < n) out[i] = fmaf(a[i], b[i], a[i]);", floats,
           lambda n, x: {"out": x["a"] * x["b"] + x["a"]}),
    Kernel("strided copy", I + "for (; i < n; i += 7 * 128) out[i] = a[i];", one,
           lambda n, x: {"out": x["a"]}, grid=lambda n: (7, 1, 1)),
    Kernel("divergent branches",
           I + "if (i < n) { float s = 0; for (int k = 0; k < i % 13; ++k) s += a[i];"
           " if (i % 3 == 0) out[i] = -s; else if (i % 3 == 1) out[i] = s; else out[i] = 1; }", one,
           lambda n, x: {"out": np.choose(np.arange(n) % 3, [
               -x["a"] * (np.arange(n) % 13), x["a"] * (np.arange(n) % 13), np.ones(n)
           ]).astype(np.float32)}),
    Kernel("reversal in shared memory",
           "__shared__ float s[128]; " + I + "s[threadIdx.x] = i < n ? a[i] : 0; __syncthreads();"
           " if (i < n) out[i] = s[127 - threadIdx.x];", one,
           lambda n, x: {"out": np.resize(np.concatenate([x["a"], np.zeros(-n % 128)]),
                                          (-(-n // 128), 128))[:, ::-1].reshape(-1)[:n]
                         .astype(np.float32)}),
    Kernel("dynamic shared memory",
           "extern __shared__ float d[]; " + I + "d[threadIdx.x] = i < n ? a[i] : 0;"
           " __syncthreads(); if (i < n) out[i] = d[threadIdx.x ^ 1];", one,
           lambda n, x: {"out": np.concatenate([x["a"], np.zeros(n % 2)]).reshape(-1, 2)[:, ::-1]
                         .reshape(-1)[:n].astype(np.float32)}, shared_bytes=512),
    Kernel("sum by shuffles and atomics",
           I + "float v = i < n ? a[i] : 0; for (int o = 16; o; o /= 2)"
           " v += __shfl_down_sync(0xffffffff, v, o);"
           " if (threadIdx.x % 32 == 0) atomicAdd(&total[0], (int)v);",
           lambda n, rng: {**one(n, rng), "total": np.zeros(1, np.int32)},
           lambda n, x: {"total": np.array([x["a"].sum()], np.int32)}),
    Kernel("histogram",
           I + "if (i < n) atomicAdd(&bins[(int)a[i] & 15], 1u);",
           lambda n, rng: {**one(n, rng), "bins": np.zeros(16, np.uint32)},
           lambda n, x: {"bins": np.bincount(x["a"].astype(int) & 15, minlength=16)
                         .astype(np.uint32)}),
    Kernel("ballot and population count",
           I + "unsigned m = __ballot_sync(0xffffffff, i < n && a[i] > 0);"
           " if (i < n) out[i] = __popc(m);", one,
           lambda n, x: {"out": np.repeat(np.concatenate([x["a"] > 0, np.zeros(-n % 32, bool)])
                         .reshape(-1, 32).sum(axis=1), 32)[:n].astype(np.float32)}),
    Kernel("64-bit integers",
           I + "if (i < n) out[i] = (a[i] << 33) / 7 - a[i] * 1000003ll;",
           lambda n, rng: {"a": rng.integers(1, 1 << 20, n)},
           lambda n, x: {"out": (x["a"] << 33) // 7 - x["a"] * 1000003}),
    Kernel("doubles", I + "if (i < n) out[i] = sqrt(a[i] * a[i]) / 4.0;",
           lambda n, rng: {"a": rng.integers(-1000, 1000, n).astype(np.float64)},
           lambda n, x: {"out": np.abs(x["a"]) / 4}),
    Kernel("bytes", I + "if (i < n) out[i] = a[i] ^ 0x5a;",
           lambda n, rng: {"a": rng.integers(0, 256, n).astype(np.uint8)},
           lambda n, x: {"out": x["a"] ^ np.uint8(0x5A)}),
    Kernel("float4", I + "if (i < n / 4) ((float4*)out)[i] = ((const float4*)a)[i];", one,
           lambda n, x: {"out": x["a"]}),
    Kernel("three dimensions",
           "int i = (blockIdx.z * 2 + threadIdx.z) * 100 + (blockIdx.y * 5 + threadIdx.y) * 10"
           " + threadIdx.x; if (i < n) out[i] = a[i] + threadIdx.z;", one,
           lambda n, x: {"out": (x["a"] + np.arange(n) // 100 % 2).astype(np.float32)},
           block=(10, 5, 2), grid=lambda n: (1, 2, 5)),
)  # fmt: skip

BAD = {
    "out_of_bounds": I + "out[i] = a[i < n ? i : 0];",
    "input_modified": I + "if (i < n) { out[i] = a[i]; ((float*)a)[i] = 9; }",
    "unwritten": I + "if (i < n - 5) out[i] = a[i];",
    "trap": 'asm volatile("trap;");',
    "assertion": "assert(n < 0);",
    "misaligned": "*(float*)((char*)out + 1) = 1.0f;",
}
"""A mistake, and a kernel `out = a` that makes it."""


@functools.cache
def ptx(body: str, parameters: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    """The optimised PTX of a kernel `k` with these parameters (type, name), and its entry."""
    declared = ", ".join(f"{kind} {name}" for kind, name in parameters)
    head = "#include <cassert>\n" if "assert" in body else ""
    source = f"{head}__global__ void k({declared}) {{ {body} }}\n"
    contract = Contract(
        kernel="k",
        parameters=tuple(Parameter(name=name, type=kind) for kind, name in parameters),
    )
    builds, artefact = cuda_c.build(source, "kernel.cu", (contract,))
    assert artefact is not None, builds[0].diagnostics
    return artefact.variants[0].ptx, artefact.variants[0].entries["k"]


def work(kernel: Kernel, seed: int = 7) -> tuple[Work, dict[str, np.ndarray]]:
    """The work that runs a kernel, and what its outputs must be."""
    given = kernel.inputs(kernel.n, np.random.default_rng(seed))
    wanted = kernel.outputs(kernel.n, given)
    buffers = [
        BufferData(name, "inout" if name in wanted else "input", array.dtype.name, array.shape,
                   array)
        for name, array in given.items()
    ]  # fmt: skip
    buffers += [
        BufferData(name, "output", array.dtype.name, array.shape, None)
        for name, array in wanted.items()
        if name not in given
    ]
    parameters = tuple(
        (f"{'const ' if b.role == 'input' else ''}{TYPES[b.dtype]}*", b.name) for b in buffers
    )
    text, entry = ptx(kernel.body, (*parameters, ("int", "n")))
    number = Argument(dtype="int32", data=np.int32(kernel.n).tobytes().hex())
    launch = Launched(
        ptx=text,
        entry=entry,
        grid=kernel.grid(kernel.n),
        block=kernel.block,
        shared_bytes=kernel.shared_bytes,
        arguments=(*(Argument(buffer=b.name) for b in buffers), number),
    )
    inputs = Inputs(kernel.name, {"n": kernel.n}, tuple(buffers), {})
    made = Work(kernel.name, "optimised", True, inputs, (launch,), "bounds", 50_000_000)
    return made, wanted
