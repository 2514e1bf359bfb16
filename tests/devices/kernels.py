"""Small CUDA C kernels, compiled once, and works that run them with given buffers."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from grader.languages import Contract, Parameter, cuda_c

ADD = """
__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
"""
GUARDLESS = """
__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = a[i] + b[i];
}
"""
HALF = """
__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) out[i] = a[i] + b[i];
}
"""
SPOILS_INPUT = """
__global__ void add(float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { out[i] = a[i] + b[i]; a[i] = 0; }
}
"""
BELOW = """
__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { out[i] = a[i] + b[i]; if (i == 0) out[-1] = 1.0f; }
}
"""
TRAPS = """
__global__ void add(const float* a, const float* b, float* out, int n) { asm volatile("trap;"); }
"""
ASSERTS = """
#include <cassert>
__global__ void add(const float* a, const float* b, float* out, int n) { assert(n < 0); }
"""
WILD = """
__global__ void add(const float* a, const float* b, float* out, int n) {
  *(float*)0x10 = 1.0f;
}
"""
MISALIGNED = """
__global__ void add(const float* a, const float* b, float* out, int n) {
  *(float*)((char*)out + 1) = 1.0f;
}
"""
KEEPS = """
__device__ float kept[4096];
__device__ int calls = 0;
__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (calls == 0) kept[i] = a[i] + b[i];
    out[i] = kept[i];
  }
  if (i == n - 1) calls = 1;
}
"""


@functools.cache
def ptx(source: str) -> tuple[str, str]:
    """The optimised PTX of a kernel `add`, and its entry."""
    first = "float* a" if "(float* a" in source else "const float* a"
    contract = Contract(
        kernel="add",
        parameters=tuple(
            Parameter(name=text.split()[-1], type=text.rsplit(" ", 1)[0])
            for text in (first, "const float* b", "float* out", "int n")
        ),
    )
    builds, artefact = cuda_c.build(source, "kernel.cu", (contract,))
    assert artefact is not None, builds
    return artefact.variants[0].ptx, artefact.variants[0].entries["add"]


def work(
    source: str, n: int = 1000, block: int = 256, values: int = 0, **more: Any
) -> tuple[dict[str, Any], list[bytes]]:
    """A work as a request words it, and its blobs: a, b, PTX."""
    rng = np.random.default_rng(values)
    a, b = (rng.uniform(-1, 1, n).astype(np.float32) for _ in range(2))
    text, entry = ptx(source)

    def buffer(name: str, role: str, blob: int | None) -> dict[str, Any]:
        return {"name": name, "role": role, "dtype": "float32", "shape": [n], "blob": blob}

    asked = {
        "work": 0,
        "case": "only",
        "values": True,
        "buffers": [
            buffer("a", "input", 0),
            buffer("b", "input", 1),
            buffer("out", "output", None),
        ],
        "launches": [
            {
                "ptx": 2,
                "entry": entry,
                "grid": [-(-n // block), 1, 1],
                "block": [block, 1, 1],
                "shared_bytes": 0,
                "threads": None,
                "arguments": [
                    {"buffer": "a", "dtype": None, "data": None},
                    {"buffer": "b", "dtype": None, "data": None},
                    {"buffer": "out", "dtype": None, "data": None},
                    {"buffer": None, "dtype": "int32", "data": np.int32(n).tobytes().hex()},
                ],
            }
        ],
        **more,
    }
    return asked, [a.tobytes(), b.tobytes(), text.encode()]
