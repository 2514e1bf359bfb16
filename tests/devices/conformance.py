"""Kernels that every device must run alike: exact values in, exact values expected.

Each is written in CUDA C and in Metal; its parameters are its buffers and the number `n`, and what
it must leave in its outputs is worked out by numpy. Numbers are small whole ones, so that no order
of additions and no contraction changes a bit. A body that reads the same in both languages stands
once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.cases import BufferData, Inputs
from grader.languages import Artefact, Contract, Parameter, cuda_c, metal
from grader.run import Argument, Launched, Work

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Kernel:
    """One kernel: its body, its buffers in order, and what is expected.

    `metal` is the body in Metal where it differs, None where Metal cannot say it. There `gid`,
    `tid` and `group` are positions of a thread, `d` is threadgroup memory of `shared_bytes`.
    """

    name: str
    body: str
    inputs: Callable[[int, Any], dict[str, np.ndarray]]
    outputs: Callable[[int, Arrays], dict[str, np.ndarray]]
    block: tuple[int, int, int] = (128, 1, 1)
    grid: Callable[[int], tuple[int, int, int]] = lambda n: (-(-n // 128), 1, 1)
    shared_bytes: int = 0
    n: int = 1000
    metal: str | None = ""

    @property
    def in_metal(self) -> str | None:
        """Its body in Metal."""
        return self.body.replace(I, M) if self.metal == "" else self.metal


TYPES = {"float32": "float", "float64": "double", "int32": "int", "int64": "long long",
         "uint32": "unsigned", "uint8": "unsigned char", "float16": "__half"}  # fmt: skip
METAL_TYPES = {"float32": "float", "int32": "int", "int64": "long", "uint32": "uint",
               "uint8": "uchar"}  # fmt: skip


def floats(n: int, rng: Any) -> dict[str, np.ndarray]:
    """Two arrays of small whole numbers."""
    return {name: rng.integers(-50, 50, n).astype(np.float32) for name in "ab"}


def one(n: int, rng: Any) -> dict[str, np.ndarray]:
    """One array of small whole numbers."""
    return {"a": rng.integers(-50, 50, n).astype(np.float32)}


I = "int i = blockIdx.x * blockDim.x + threadIdx.x; "  # noqa: E741 - the index of a thread
M = "int i = gid.x; "
BARRIER = " threadgroup_barrier(mem_flags::mem_threadgroup);"

KERNELS = (
    Kernel("add", I + "if (i < n) out[i] = a[i] + b[i];", floats,
           lambda n, x: {"out": x["a"] + x["b"]}),
    Kernel("fused multiply-add", I + "if (i < n) out[i] = fmaf(a[i], b[i], a[i]);", floats,
           lambda n, x: {"out": x["a"] * x["b"] + x["a"]},
           metal=M + "if (i < n) out[i] = fma(a[i], b[i], a[i]);"),
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
                         .astype(np.float32)},
           metal="threadgroup float s[128]; " + M + "s[tid.x] = i < n ? a[i] : 0;" + BARRIER
           + " if (i < n) out[i] = s[127 - tid.x];"),
    Kernel("dynamic shared memory",
           "extern __shared__ float d[]; " + I + "d[threadIdx.x] = i < n ? a[i] : 0;"
           " __syncthreads(); if (i < n) out[i] = d[threadIdx.x ^ 1];", one,
           lambda n, x: {"out": np.concatenate([x["a"], np.zeros(n % 2)]).reshape(-1, 2)[:, ::-1]
                         .reshape(-1)[:n].astype(np.float32)}, shared_bytes=512,
           metal=M + "d[tid.x] = i < n ? a[i] : 0;" + BARRIER
           + " if (i < n) out[i] = d[tid.x ^ 1];"),
    Kernel("sum by shuffles and atomics",
           I + "float v = i < n ? a[i] : 0; for (int o = 16; o; o /= 2)"
           " v += __shfl_down_sync(0xffffffff, v, o);"
           " if (threadIdx.x % 32 == 0) atomicAdd(&total[0], (int)v);",
           lambda n, rng: {**one(n, rng), "total": np.zeros(1, np.int32)},
           lambda n, x: {"total": np.array([x["a"].sum()], np.int32)},
           metal=M + "float v = i < n ? a[i] : 0; for (int o = 16; o; o /= 2)"
           " v += simd_shuffle_down(v, o); if (tid.x % 32 == 0) atomic_fetch_add_explicit("
           "(device atomic_int*)&total[0], (int)v, memory_order_relaxed);"),
    Kernel("histogram",
           I + "if (i < n) atomicAdd(&bins[(int)a[i] & 15], 1u);",
           lambda n, rng: {**one(n, rng), "bins": np.zeros(16, np.uint32)},
           lambda n, x: {"bins": np.bincount(x["a"].astype(int) & 15, minlength=16)
                         .astype(np.uint32)},
           metal=M + "if (i < n) atomic_fetch_add_explicit("
           "(device atomic_uint*)&bins[(int)a[i] & 15], 1u, memory_order_relaxed);"),
    Kernel("ballot and population count",
           I + "unsigned m = __ballot_sync(0xffffffff, i < n && a[i] > 0);"
           " if (i < n) out[i] = __popc(m);", one,
           lambda n, x: {"out": np.repeat(np.concatenate([x["a"] > 0, np.zeros(-n % 32, bool)])
                         .reshape(-1, 32).sum(axis=1), 32)[:n].astype(np.float32)},
           metal=M + "simd_vote::vote_t m = static_cast<simd_vote::vote_t>("
           "simd_ballot(i < n && a[i] > 0)); if (i < n) out[i] = popcount((uint)m);"),
    Kernel("64-bit integers",
           I + "if (i < n) out[i] = (a[i] << 33) / 7 - a[i] * 1000003ll;",
           lambda n, rng: {"a": rng.integers(1, 1 << 20, n)},
           lambda n, x: {"out": (x["a"] << 33) // 7 - x["a"] * 1000003},
           metal=M + "if (i < n) out[i] = (a[i] << 33) / 7 - a[i] * 1000003l;"),
    Kernel("doubles", I + "if (i < n) out[i] = sqrt(a[i] * a[i]) / 4.0;",
           lambda n, rng: {"a": rng.integers(-1000, 1000, n).astype(np.float64)},
           lambda n, x: {"out": np.abs(x["a"]) / 4}, metal=None),
    Kernel("bytes", I + "if (i < n) out[i] = a[i] ^ 0x5a;",
           lambda n, rng: {"a": rng.integers(0, 256, n).astype(np.uint8)},
           lambda n, x: {"out": x["a"] ^ np.uint8(0x5A)}),
    Kernel("float4", I + "if (i < n / 4) ((float4*)out)[i] = ((const float4*)a)[i];", one,
           lambda n, x: {"out": x["a"]},
           metal=M + "if (i < n / 4) ((device float4*)out)[i] = ((device const float4*)a)[i];"),
    Kernel("three dimensions",
           "int i = (blockIdx.z * 2 + threadIdx.z) * 100 + (blockIdx.y * 5 + threadIdx.y) * 10"
           " + threadIdx.x; if (i < n) out[i] = a[i] + threadIdx.z;", one,
           lambda n, x: {"out": (x["a"] + np.arange(n) // 100 % 2).astype(np.float32)},
           block=(10, 5, 2), grid=lambda n: (1, 2, 5),
           metal="int i = (group.z * 2 + tid.z) * 100 + (group.y * 5 + tid.y) * 10 + tid.x;"
           " if (i < n) out[i] = a[i] + tid.z;"),
)  # fmt: skip

BAD = {
    "out_of_bounds": (I + "out[i] = a[i < n ? i : 0];", ""),
    "input_modified": (I + "if (i < n) { out[i] = a[i]; ((float*)a)[i] = 9; }",
                       M + "if (i < n) { out[i] = a[i]; ((device float*)a)[i] = 9; }"),
    "unwritten": (I + "if (i < n - 5) out[i] = a[i];", ""),
    "trap": ('asm volatile("trap;");', None),
    "assertion": ("assert(n < 0);", None),
    "misaligned": ("*(float*)((char*)out + 1) = 1.0f;", None),
}  # fmt: skip
"""A mistake, and a kernel `out = a` that makes it: in CUDA C, and in Metal as in `Kernel.metal`.

Metal has no trap and no assertion, and leaves undefined what a misaligned address does.
"""

MISTAKES = tuple(
    Kernel(name, body, one, lambda n, x: {"out": x["a"]}, metal=in_metal)
    for name, (body, in_metal) in BAD.items()
)


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


def data(kernel: Kernel, seed: int = 7) -> tuple[tuple[BufferData, ...], dict[str, np.ndarray]]:
    """The buffers of a kernel in order, and what its outputs must be."""
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
    return tuple(buffers), wanted


def metal_entry(kernel: Kernel) -> str:
    """Its name in the Metal source."""
    return "k_" + "".join(letter if letter.isalnum() else "_" for letter in kernel.name)


def metal_contract(kernel: Kernel) -> Contract:
    """Its parameters in Metal: buffers by index, the number, positions, threadgroup memory."""
    buffers, _ = data(kernel)
    declared = [
        (b.name, f"device {'const ' if b.role == 'input' else ''}{METAL_TYPES[b.dtype]}*"
                 f" [[buffer({index})]]")
        for index, b in enumerate(buffers)
    ]  # fmt: skip
    declared += [
        ("n", f"constant int& [[buffer({len(buffers)})]]"),
        ("gid", "uint3 [[thread_position_in_grid]]"),
        ("tid", "uint3 [[thread_position_in_threadgroup]]"),
        ("group", "uint3 [[threadgroup_position_in_grid]]"),
    ]
    if kernel.shared_bytes:
        declared.append(("d", "threadgroup float* [[threadgroup(0)]]"))
    return Contract(
        kernel=metal_entry(kernel),
        parameters=tuple(Parameter(name=name, type=kind) for name, kind in declared),
    )


@functools.cache
def metal_build() -> tuple[str, Artefact]:
    """One source of every kernel and mistake that Metal can say, and its PTX."""
    said = [kernel for kernel in (*KERNELS, *MISTAKES) if kernel.in_metal is not None]
    contracts = tuple(metal_contract(kernel) for kernel in said)
    lines = ["#include <metal_stdlib>", "using namespace metal;"]
    for kernel, contract in zip(said, contracts, strict=True):
        parameters = ", ".join(
            f"{kind} {one.name} [[{attribute}" for one in contract.parameters
            for kind, _, attribute in [one.type.partition(" [[")]
        )  # fmt: skip
        lines.append(f"kernel void {contract.kernel}({parameters}) {{ {kernel.in_metal} }}")
    source = "\n".join(lines) + "\n"
    builds, artefact = metal.build(source, "kernel.metal", contracts)
    assert artefact is not None, builds[0].diagnostics
    return source, artefact


def work(kernel: Kernel, seed: int = 7) -> tuple[Work, dict[str, np.ndarray]]:
    """The work that runs a kernel in CUDA C, and what its outputs must be."""
    buffers, wanted = data(kernel, seed)
    declared = tuple(
        (f"{'const ' if b.role == 'input' else ''}{TYPES[b.dtype]}*", b.name) for b in buffers
    )
    text, entry = ptx(kernel.body, (*declared, ("int", "n")))
    return _work(kernel, buffers, text, entry, kernel.shared_bytes), wanted


def metal_work(kernel: Kernel, *, on_a_mac: bool) -> tuple[Work, dict[str, np.ndarray]]:
    """The same in Metal: as PTX for the virtual GPU, as it is written for a Mac."""
    buffers, wanted = data(kernel)
    source, artefact = metal_build()
    entry = metal_entry(kernel)
    if on_a_mac:
        made = _work(kernel, buffers, source, entry, 0)
        (launch,) = made.launches
        sizes = (kernel.shared_bytes,) if kernel.shared_bytes else ()
        return replace(made, launches=(launch.model_copy(update={"threadgroup_bytes": sizes}),)), (
            wanted
        )
    variant = artefact.variants[0]
    made = _work(kernel, buffers, variant.ptx, variant.entries[entry], kernel.shared_bytes)
    own = variant.parameters.get(entry)
    if own is not None:  # threadgroup memory starts where the entry is told
        (launch,) = made.launches
        start = Argument(dtype="uint32", data=np.uint32(0).tobytes().hex())
        known = dict(zip([*(b.name for b in buffers), "n"], launch.arguments, strict=True))
        arguments = tuple(known.get(p.name, start) for p in own)
        made = replace(made, launches=(launch.model_copy(update={"arguments": arguments}),))
    return made, wanted


def _work(
    kernel: Kernel, buffers: tuple[BufferData, ...], code: str, entry: str, shared_bytes: int
) -> Work:
    number = Argument(dtype="int32", data=np.int32(kernel.n).tobytes().hex())
    launch = Launched(
        ptx=code,
        entry=entry,
        grid=kernel.grid(kernel.n),
        block=kernel.block,
        shared_bytes=shared_bytes,
        arguments=(*(Argument(buffer=b.name) for b in buffers), number),
    )
    inputs = Inputs(kernel.name, {"n": kernel.n}, buffers, {})
    return Work(kernel.name, "optimised", True, inputs, (launch,), "bounds", 50_000_000)
