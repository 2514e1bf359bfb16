"""Host code beside a kernel is tolerated, and the device code keeps its lines and columns."""

from __future__ import annotations

import re

import pytest

from tests.languages.cuda_c.sources import KERNEL, accepted, compiled, errors

PROGRAM = """#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) exit(1); } while (0)

constexpr int BLOCK = 128;
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

float h_a[100];
static std::vector<float> kept;
using Floats = std::vector<float>;
struct Options { std::vector<int> sizes; int n = 3; };
class Timer {
 public:
  Timer() { cudaEventCreate(&start); }
  float stop();
 private:
  cudaEvent_t start;
};
float Timer::stop() { return 0.0f; }
template <typename T> T host_max(T a, T b) { return a > b ? a : b; }
__host__ void explicit_host() { printf("host"); }
void launch(const float* a, const float* b, float* c, int n);

KERNEL
void launch(const float* a, const float* b, float* c, int n) {
  vec_add<<<ceil_div(n, BLOCK), BLOCK>>>(a, b, c, n);
}

int main(int argc, char** argv) {
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, 400));
  launch(a, b, c, 100);
  printf("%f\\n", h_a[0]);
  return 0;
}
"""


def test_a_whole_program_compiles_and_its_kernel_keeps_its_lines() -> None:
    text = PROGRAM.replace("KERNEL", KERNEL)
    first = text[: text.index("__global__")].count("\n") + 1
    artefact = accepted(text)
    for variant in artefact.variants:
        lines = {int(line) for line in re.findall(r"\.loc\s+1 (\d+)", variant.ptx)}
        assert {first, first + 1, first + 2} <= lines
        assert max(lines) == first + 3
    assert artefact.variants[0].constants == {"BLOCK": 128}


def test_an_error_in_the_kernel_of_a_program_is_the_only_one_reported() -> None:
    text = PROGRAM.replace("KERNEL", KERNEL.replace("B[i]", "D[i]"))
    line = text[: text.index("D[i]")].count("\n") + 1
    assert errors(text) == [f'{line}:28: identifier "D" is undefined']


@pytest.mark.parametrize(
    ("before", "use", "message"),
    [
        (
            "int twice(int x) { return 2 * x; }",
            "A[twice(i)]",
            "twice (line 1) is a host function, and kernels call device functions only: "
            "write __device__ before it",
        ),
        (
            "float scale = 2.0f;",
            "scale * A[i]",
            "scale (line 1) is a host variable, which kernels cannot read: make it constexpr, "
            "mark it __device__ or __constant__, or pass it as an argument",
        ),
    ],
)
def test_a_kernel_that_uses_host_code_is_told_so(before: str, use: str, message: str) -> None:
    (found,) = errors(f"{before}\n{KERNEL.replace('A[i]', use)}")
    assert found.endswith(message)


@pytest.mark.parametrize(
    "before",
    [
        "__device__ float twice(float x) { return 2 * x; }",
        "__host__ __device__ inline float twice(float x) { return 2 * x; }",
        "constexpr float twice(float x) { return 2 * x; }",
        "#define HD __host__ __device__\nHD float twice(float x) { return 2 * x; }",
        "template <class T> __device__ T twice(T x) { return 2 * x; }",
        "struct Twice { __device__ float operator()(float x) const { return x + x; } };\n"
        "__device__ Twice twice;",
        "struct P { float f; P() = default; void print(); };\n"
        "__device__ float twice(float x) { P p{x}; return 2 * p.f; }\nvoid P::print() {}",
    ],
)
def test_device_code_is_kept_beside_host_code(before: str) -> None:
    text = f"{before}\n{KERNEL.replace('A[i]', 'twice(A[i])')}\nint main() {{ return 0; }}\n"
    accepted(text)


def test_a_header_of_the_submission_is_found_and_a_missing_one_noted() -> None:
    text = f'#include "ops.cuh"\n#include "absent.h"\n{KERNEL.replace("A[i]", "twice(A[i])")}'
    header = "#pragma once\nint host() { return 1; }\n__device__ float twice(float x) {return x;}\n"
    builds, artefact = compiled(text, headers={"ops.cuh": header})
    assert artefact is not None
    assert [(d.line, d.severity, d.message) for d in builds[0].diagnostics] == [
        (
            2,
            "warning",
            "absent.h is neither in the submission nor in the CUDA toolkit: taken as empty",
        )
    ]


BOUND = """#include <torch/extension.h>
#define NAMED(n) n##_kernel
#define SCALE(n, factor)                                    \\
  __global__ void NAMED(n)(float* x) { x[threadIdx.x] *= factor; }
#define BIND(n, type)                                       \\
  torch::Tensor n(torch::Tensor x) {  /* "( of the host */  \\
    n##_kernel<<<1, x.size(0)>>>((type*)x.data_ptr());      \\
    return x;                                               \\
  }
SCALE(half_of, 0.5f)
BIND(half_of, float) BIND(half_of_all, decltype(")"[0]))
BIND(a, float)BIND(b, float)BIND(c, float)BIND(d, float)BIND(e, float)BIND(f, float)BIND(g, float)
BIND(h, float)BIND(i, float)BIND(j, float)BIND(k, float)BIND(l, float)BIND(o, float)BIND(p, float)
SCALE(twice, 2.0f)
BIND(twice,
     float)
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice); }
"""


def test_a_macro_that_writes_host_code_is_host_code_and_one_that_writes_a_kernel_is_none() -> None:
    artefact = accepted(BOUND, any_kernel=True)
    assert sorted(artefact.variants[0].entries) == ["_Z12twice_kernelPf", "_Z14half_of_kernelPf"]


def test_a_macro_inside_a_kernel_is_never_taken_for_host_code() -> None:
    text = """#include <torch/extension.h>
#define GLOBAL __global__
#define SIZES(t) torch::IntArrayRef t##_sizes;
torch::Tensor shape(torch::Tensor x) { return x; }
GLOBAL void scale(float* x) {
  SIZES(x)
  x[threadIdx.x] *= 2;
}
"""
    assert errors(text, any_kernel=True)[0].startswith("6:")


def test_what_nvcc_takes_over_from_c_and_from_its_own_flags() -> None:
    text = """
#ifdef __NVCC__
#define BOTH __host__ __device__
#endif
#define ONES (float2){1, 1}
struct P { int a; };
BOTH float2 twice(float2 v) { return (float2){2 * v.x, 2 * v.y}; }
__global__ void vec_add(const float* A, const float* B, float* C, int N) {
  auto f = [] __device__ (float x) { return x + 1; };
  auto g = [=] __host__ __device__ (int i) { return i < N; };
  register int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool inside = g(i);
  P p = (P) {i};
  if (inside) { C[p.a] = f(A[i]) + twice(ONES).x; }
}
"""
    headers = {"more.cuh": "inline __device__ float2 two() { return (float2){2, 2}; }\n"}
    accepted('#include "more.cuh"\n' + text, headers=headers)


def test_a_lambda_at_file_level_is_told_where_it_may_stand() -> None:
    text = "__device__ auto f = [](float x) { return x; };\n" + KERNEL.replace("A[i]", "f(A[i])")
    assert [e.split(": ", 1)[1] for e in errors(text)] == [
        "a lambda at file level is host code: write a __device__ function, or the lambda inside "
        "the kernel"
    ]
