"""What the format allows beyond the assignments that are shipped, each graded from end to end.

Exact whole numbers counted by atomics into a zeroed output (histogram); several launches that pass
a scratch buffer on, with an int64 scalar (prefix sum); half precision in and out with a scalar
(layer norm); a grid of three dimensions (stencil).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from grader import assignment, grade, lint
from grader.result import Verdict


class Exercise(NamedTuple):
    """An assignment in short: what differs from one to the other."""

    toml: str
    inputs: str
    right: dict[str, str]
    wrong: dict[str, tuple[str, str, Verdict]]
    """By file name: what is replaced in the right one, by what, and the verdict."""


HISTOGRAM = Exercise(
    toml="""
languages = ["cuda-c", "metal"]
[sizes]
N = "values"
BINS = { about = "bins", default = 37 }
[[buffer]]
name = "values"
role = "input"
dtype = "uint8"
shape = ["N"]
[[buffer]]
name = "counts"
role = "output"
dtype = "int32"
shape = ["BINS"]
initial = "zero"
[[kernel]]
name = "histogram"
[kernel.cuda-c]
parameters = ["const unsigned char* values", "int* counts", "int n", "int bins"]
[kernel.metal]
parameters = ["device const uchar* values [[buffer(0)]]", "device atomic_int* counts [[buffer(1)]]",
  "constant int& n [[buffer(2)]]", "constant int& bins [[buffer(3)]]",
  "uint i [[thread_position_in_grid]]"]
[[launch]]
kernel = "histogram"
args = ["values", "counts", "N", "BINS"]
grid = "max(1, cdiv(N, 128))"
block = 128
[[case]]
name = "empty"
sizes = { N = 0 }
[[case]]
name = "a prime"
sizes = { N = 1009 }
""",
    inputs="""
def inputs(sizes, rng, case):
    return {"values": rng.integers(0, 256, sizes["N"], dtype=np.uint8)}

def oracle(inputs, sizes):
    return {"counts": np.bincount(inputs["values"] % sizes["BINS"], minlength=sizes["BINS"])}
""",
    right={
        "kernel.cu": """
__global__ void histogram(const unsigned char* values, int* counts, int n, int bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[values[i] % bins], 1);
}
""",
        "kernel.metal": """
#include <metal_stdlib>
using namespace metal;
kernel void histogram(device const uchar* values [[buffer(0)]],
                      device atomic_int* counts [[buffer(1)]], constant int& n [[buffer(2)]],
                      constant int& bins [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    if (int(i) < n)
        atomic_fetch_add_explicit(&counts[values[i] % bins], 1, memory_order_relaxed);
}
""",
    },
    wrong={
        "kernel.cu": (
            "atomicAdd(&counts[values[i] % bins], 1)",
            "counts[values[i] % bins] += 1",
            Verdict.RACE,
        ),
        "kernel.metal": ("% bins], 1,", "% bins], i == 7 ? 2 : 1,", Verdict.WRONG_ANSWER),
    },
)

PREFIX_SUM = Exercise(
    toml="""
languages = ["cuda-c"]
[sizes]
N = "numbers"
[[buffer]]
name = "x"
role = "inout"
dtype = "int64"
shape = ["N"]
[[buffer]]
name = "sums"
role = "scratch"
dtype = "int64"
shape = ["max(1, cdiv(N, BLOCK))"]
[[scalar]]
name = "start"
dtype = "int64"
[[constant]]
name = "BLOCK"
default = 64
[[kernel]]
name = "scan_blocks"
[kernel.cuda-c]
parameters = ["long long* x", "long long* sums", "int n"]
[[kernel]]
name = "scan_sums"
[kernel.cuda-c]
parameters = ["long long* sums", "long long start", "int blocks"]
[[kernel]]
name = "add_sums"
[kernel.cuda-c]
parameters = ["long long* x", "const long long* sums", "int n"]
[[launch]]
kernel = "scan_blocks"
args = ["x", "sums", "N"]
grid = "max(1, cdiv(N, BLOCK))"
block = "BLOCK"
shared = "8 * BLOCK"
[[launch]]
kernel = "scan_sums"
args = ["sums", "start", "max(1, cdiv(N, BLOCK))"]
grid = 1
block = 1
[[launch]]
kernel = "add_sums"
args = ["x", "sums", "N"]
grid = "max(1, cdiv(N, BLOCK))"
block = "BLOCK"
[[case]]
name = "one"
sizes = { N = 1 }
[[case]]
name = "a prime"
sizes = { N = 509 }
""",
    inputs="""
def inputs(sizes, rng, case):
    return {"x": rng.integers(-2**40, 2**40, sizes["N"]), "start": 2**50 + 1}

def oracle(inputs, sizes):
    return {"x": np.cumsum(inputs["x"]) + inputs["start"]}
""",
    right={
        "kernel.cu": """
extern __shared__ long long s[];
__global__ void scan_blocks(long long* x, long long* sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        long long other = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += other;
        __syncthreads();
    }
    if (i < n) x[i] = s[t];
    if (t == blockDim.x - 1) sums[blockIdx.x] = s[t];
}
__global__ void scan_sums(long long* sums, long long start, int blocks) {
    for (int b = 0; b < blocks; ++b) {
        long long own = sums[b];
        sums[b] = start;
        start += own;
    }
}
__global__ void add_sums(long long* x, const long long* sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += sums[blockIdx.x];
}
"""
    },
    wrong={"kernel.cu": ("if (t == blockDim.x - 1)", "if (i == n - 1)", Verdict.UNINITIALISED)},
)

LAYER_NORM = Exercise(
    toml="""
languages = ["cuda-c", "triton"]
[sizes]
ROWS = "rows"
COLS = "columns"
[[buffer]]
name = "x"
role = "input"
dtype = "float16"
shape = ["ROWS", "COLS"]
[[buffer]]
name = "y"
role = "output"
dtype = "float16"
shape = ["ROWS", "COLS"]
[[scalar]]
name = "eps"
dtype = "float32"
[[constant]]
name = "BLOCK"
default = 128
languages = ["triton"]
[[kernel]]
name = "layer_norm"
[kernel.cuda-c]
parameters = ["const __half* x", "__half* y", "float eps", "int cols"]
[kernel.triton]
parameters = ["x_ptr: *fp16", "y_ptr: *fp16", "eps: fp32", "cols: i32", "BLOCK: constexpr"]
[[launch]]
kernel = "layer_norm"
args = ["x", "y", "eps", "COLS"]
grid = "ROWS"
block = 32
[tolerance.float16]
rtol = 2e-3
atol = 2e-3
[[case]]
name = "a prime"
sizes = { ROWS = 5, COLS = 101 }
""",
    inputs="""
def inputs(sizes, rng, case):
    shape = sizes["ROWS"], sizes["COLS"]
    return {"x": rng.uniform(-3, 5, shape).astype(np.float16), "eps": 1e-5}

def oracle(inputs, sizes):
    x = inputs["x"].astype(np.float64)
    centred = x - x.mean(axis=1, keepdims=True)
    return {"y": centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + inputs["eps"])}
""",
    right={
        "kernel.cu": """
#include <cuda_fp16.h>
__device__ float total(float value) {
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
    return value;
}
__global__ void layer_norm(const __half* x, __half* y, float eps, int cols) {
    const __half* row = x + blockIdx.x * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) sum += __half2float(row[c]);
    float mean = total(sum) / cols;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float d = __half2float(row[c]) - mean;
        squares += d * d;
    }
    float scale = rsqrtf(total(squares) / cols + eps);
    for (int c = threadIdx.x; c < cols; c += 32)
        y[blockIdx.x * cols + c] = __float2half((__half2float(row[c]) - mean) * scale);
}
""",
        "kernel.py": """
import triton
import triton.language as tl


@triton.jit
def layer_norm(x_ptr, y_ptr, eps, cols, BLOCK: tl.constexpr):
    at = tl.program_id(0) * cols + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < cols
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / cols
    centred = tl.where(mask, x - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / cols + eps)
    tl.store(y_ptr + at, (centred * scale).to(tl.float16), mask=mask)
""",
    },
    wrong={
        "kernel.cu": ("total(squares) / cols + eps", "total(squares) + eps", Verdict.WRONG_ANSWER),
        "kernel.py": ("tl.where(mask, x - mean, 0.0)", "x - mean", Verdict.WRONG_ANSWER),
    },
)

STENCIL = Exercise(
    toml="""
languages = ["cuda-c"]
[sizes]
X = "extent in x"
Y = "extent in y"
Z = "extent in z"
[[buffer]]
name = "a"
role = "input"
dtype = "float64"
shape = ["Z", "Y", "X"]
[[buffer]]
name = "b"
role = "output"
dtype = "float64"
shape = ["Z", "Y", "X"]
[[kernel]]
name = "smooth"
[kernel.cuda-c]
parameters = ["const double* a", "double* b", "int x", "int y", "int z"]
[[launch]]
kernel = "smooth"
args = ["a", "b", "X", "Y", "Z"]
grid = ["cdiv(X, 8)", "cdiv(Y, 4)", "cdiv(Z, 2)"]
block = [8, 4, 2]
[tolerance.float64]
rtol = 1e-12
[[case]]
name = "no multiples"
sizes = { X = 13, Y = 7, Z = 5 }
""",
    inputs="""
def inputs(sizes, rng, case):
    return {"a": rng.uniform(1, 2, (sizes["Z"], sizes["Y"], sizes["X"]))}

def oracle(inputs, sizes):
    a = np.pad(inputs["a"], 1, mode="edge")
    return {"b": (a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1]
                  + a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:]) / 6}
""",
    right={
        "kernel.cu": """
__global__ void smooth(const double* a, double* b, int x, int y, int z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
        k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= x || j >= y || k >= z) return;
    auto at = [=](int p, int q, int r) {
        p = min(max(p, 0), x - 1), q = min(max(q, 0), y - 1), r = min(max(r, 0), z - 1);
        return a[(r * y + q) * x + p];
    };
    b[(k * y + j) * x + i] = (at(i - 1, j, k) + at(i + 1, j, k) + at(i, j - 1, k)
                              + at(i, j + 1, k) + at(i, j, k - 1) + at(i, j, k + 1)) / 6;
}
"""
    },
    wrong={"kernel.cu": ("min(max(r, 0), z - 1)", "max(r, 0)", Verdict.OUT_OF_BOUNDS)},
)

EXERCISES = {
    "histogram": HISTOGRAM,
    "prefix_sum": PREFIX_SUM,
    "layer_norm": LAYER_NORM,
    "stencil": STENCIL,
}
FILES = [(name, file) for name, exercise in EXERCISES.items() for file in exercise.right]


def written(folder: Path, name: str) -> assignment.Assignment:
    exercise = EXERCISES[name]
    home = folder / "assignments" / name
    reference = folder / "reference" / name
    home.mkdir(parents=True)
    reference.mkdir(parents=True)
    head = f'name = "{name}"\ntitle = "{name}"\n'
    rubric = "[rubric]\ncorrect = 50\nbounds = 25\nsync = 25\n"
    (home / "assignment.toml").write_text(head + exercise.toml + rubric)
    (home / "inputs.py").write_text(f"import numpy as np\n{exercise.inputs}")
    for file, text in exercise.right.items():
        (reference / file).write_text(text)
    return assignment.load(str(home))


@pytest.mark.parametrize(("name", "file"), FILES, ids=map("/".join, FILES))
def test_right_is_accepted_and_wrong_is_found(tmp_path: Path, name: str, file: str) -> None:
    found = written(tmp_path, name)
    right = EXERCISES[name].right[file]
    submission = tmp_path / file
    submission.write_text(right)
    result = grade.submit(found, submission, jobs=1)
    assert result.verdict is Verdict.ACCEPTED, result.reason
    assert result.score.points == 100
    old, new, verdict = EXERCISES[name].wrong[file]
    assert right.count(old) == 1
    submission.write_text(right.replace(old, new))
    assert grade.submit(found, submission, jobs=1).verdict is verdict


@pytest.mark.parametrize("name", EXERCISES)
def test_the_lint_understands_them(tmp_path: Path, name: str) -> None:
    assert [finding.rule for finding in lint.lint(written(tmp_path, name))] == []
