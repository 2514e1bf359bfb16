"""Programs whose files use each other's device functions and variables: nvcc's -rdc=true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader import run_program
from grader.programs import symbols
from grader.result import Diagnostic
from grader.run_program import ProgramRun
from tests.programs.running import needs_host

HEADER = """#pragma once
struct Body {
  float x, v;
  __host__ __device__ void step(float dt);
  __device__ float energy() const;
};
__device__ float helper(float x);
extern __device__ int counter;
extern __constant__ float scale[4];
__global__ void other(float* x);
typedef float (*unary)(float);
extern __device__ unary table[2];
void run_other(float* x);
template <class T> __device__ T twice(T x) { return x + x; }
inline __device__ int tick() { static __device__ int n; return atomicAdd(&n, 1); }
"""
MAIN = """#include <cstdio>
#include "shared.h"
static __device__ int own = 3;
static __device__ float same(float x) { return x + own; }
__global__ void apply(float* x, Body* b) {
  int i = threadIdx.x;
  b[i].step(0.5f);
  x[i] = helper(x[i]) * scale[1] + same(0) + table[i & 1](1.f) + twice(b[i].energy());
  atomicAdd(&counter, 1);
  tick();
  if (i == 0) printf("apply\\n");
}
int main() {
  float h[32], *x; Body hb[32]; Body* b;
  for (int i = 0; i < 32; ++i) h[i] = i, hb[i] = {1, 2};
  cudaMalloc(&x, sizeof h); cudaMalloc(&b, sizeof hb);
  float s[4] = {1, 10, 100, 1000};
  cudaMemcpyToSymbol(scale, s, sizeof s);
  int c = 100;
  cudaMemcpyToSymbol(counter, &c, 4);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemcpy(b, hb, sizeof hb, cudaMemcpyHostToDevice);
  apply<<<1, 32>>>(x, b);
  other<<<1, 32>>>(x);
  run_other(x);
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&c, counter, 4);
  int o;
  cudaMemcpyFromSymbol(&o, own, 4);
  printf("%g %g %d %d\\n", h[0], h[31], c, o);
  cudaFree(x); cudaFree(b);
}
"""
SECOND = """#include <cstdio>
#include "shared.h"
static __device__ int own = 7;
static __device__ float same(float x) { return x + own; }
__constant__ float scale[4];
__device__ int counter;
__device__ float helper(float x) { return x + same(0) + 1; }
static __device__ float plus(float x) { return x + 1; }
static __device__ float minus(float x) { return x - 1; }
__device__ unary table[2] = {plus, minus};
__host__ __device__ void Body::step(float dt) { x += v * dt; }
__device__ float Body::energy() const { return x; }
__global__ void other(float* x) {
  x[threadIdx.x] += twice(counter) + tick();
  if (threadIdx.x == 0) printf("other\\n");
}
void run_other(float* x) {
  int o;
  cudaMemcpyFromSymbol(&o, own, 4);
  printf("own %d\\n", o);
  other<<<1, 32>>>(x);
}
"""


def run(folder: Path, **texts: str) -> ProgramRun:
    """Run a program of the files `NAME=text`, the first of which has its main()."""
    (folder / "shared.h").write_text(texts.pop("header", HEADER))
    for name, text in texts.items():
        (folder / f"{name}.cu").write_text(text)
    first, *others = texts
    beside = [folder / f"{name}.cu" for name in others]
    return run_program.run(folder / f"{first}.cu", texts[first], [], beside=beside)


def errors(found: ProgramRun) -> list[Diagnostic]:
    return [d for b in found.builds for d in b.diagnostics if d.severity == "error"]


def options(found: ProgramRun) -> set[bool]:
    """Whether the device builds were made to be linked."""
    return {"-rdc=true" in b.options for b in found.builds if b.compiler != "clang (host)"}


@needs_host
def test_functions_variables_and_kernels_of_other_files(tmp_path: Path) -> None:
    found = run(tmp_path, main=MAIN, second=SECOND)
    # x[0]: helper 0+7+1, times 10, +3, +plus(1)=2, +2*2; then twice 2*132, and the ticks 32 and 64.
    assert found.stdout == "apply\nother\nown 7\nother\n713 1083 132 3\n"
    assert (found.ended, found.exit_code, found.faults) == ("exited", 0, ())
    assert found.launches == {"apply": 1, "other": 2}
    assert options(found) == {True}
    (note,) = [d for d in found.builds[0].diagnostics if d.severity == "note"]
    assert (note.file, note.line) == ("main.cu", 7)
    assert "second.cu" in note.message and "-rdc=true" in note.message


@needs_host
def test_the_second_run_takes_what_is_kept_and_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(tmp_path, main=MAIN, second=SECOND)
    from grader.vgpu import native

    def recompiled(ir: str) -> bytes:
        raise AssertionError("a kernel was translated again")

    monkeypatch.setattr(native, "assemble", recompiled)
    again = run(tmp_path, main=MAIN, second=SECOND)
    assert again.stdout == first.stdout and again.exit_code == 0


@needs_host
def test_a_finding_in_a_function_of_another_file_names_that_file(tmp_path: Path) -> None:
    main = """#include "shared.h"
__global__ void fill(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  store(x, i);
}
int main() {
  float* x;
  cudaMalloc(&x, 40 * sizeof(float));
  fill<<<2, 32>>>(x, 40);
  cudaFree(x);
  return cudaDeviceSynchronize();
}
"""
    second = """#include "shared.h"
__device__ void store(float* x, int i) {
  float part[3];
  for (int k = 0; k <= 3; ++k) part[k] = k;
  x[i] = part[i % 3];
}
"""
    found = run(tmp_path, header="__device__ void store(float*, int);\n", main=main, second=second)
    places = {(f.kind, f.buffer, f.file, f.line) for f in found.faults if f.severity == "error"}
    assert ("out_of_bounds", "x", "second.cu", 5) in places
    assert ("out_of_bounds", "part", "second.cu", 4) in places


@needs_host
def test_files_that_need_nothing_of_each_other_are_compiled_by_themselves(tmp_path: Path) -> None:
    """Also where a header declares what only its own file uses."""
    main = """#include "shared.h"
__global__ void one(int* x) { *x = 1; }
int main() { int* x; cudaMalloc(&x, 4); one<<<1, 1>>>(x); two(x); cudaFree(x); }
"""
    second = """#include "shared.h"
__device__ int counter = 4;
__global__ void second(int* x) { *x = counter; }
void two(int* x) { second<<<1, 1>>>(x); }
"""
    header = "extern __device__ int counter;\nvoid two(int* x);\n"
    found = run(tmp_path, header=header, main=main, second=second)
    assert (found.exit_code, options(found)) == (0, {False})


@needs_host
@pytest.mark.parametrize(
    ("main", "second", "file", "line", "words"),
    [
        ("__device__ int lost(int);\n__global__ void k(int* x) {\n  *x = lost(1);\n}\n",
         "__device__ int found(int a) { return a; }\n", "main.cu", 3, r"lost is used here, and no"),
        ("extern __device__ int there, lost[4];\n__global__ void k(int* x) {\n  *x = lost[1] +\n"
         "    there;\n}\n", "__device__ int there;\n", "main.cu", 3, r"lost is used here, and no"),
        ("__device__ int f(int a) { return a; }\n__device__ int g(int);\n"
         "__global__ void k(int* x) { *x = f(1) + g(1); }\n",
         "__device__ int g(int a) { return 2 * a; }\n\n__device__ int f(int a) { return a + 1; }\n",
         "second.cu", 3, r"f is defined twice in the program: here and in main\.cu:1"),
        ("extern __device__ int n;\n__device__ int m;\n__global__ void k(int* x) { *x = n + m; }\n",
         "__device__ int n;\n\n__device__ int m;\n", "second.cu", 3,
         r"m is defined twice in the program: here and in main\.cu:2"),
        ("extern __device__ int n[4];\n__global__ void k(int* x) {\n  *x = n[1];\n}\n",
         "\n__device__ int n[5];\n", "main.cu", 3, r"n is declared here with an.*second\.cu:2"),
        ("extern __device__ int n;\n__global__ void k(int* x) {\n  *x = n;\n}\n",
         "__constant__ int n;\n", "main.cu", 3, r"n is declared here with another .*for other mem"),
        ('#include "shared.h"\n__device__ int g(int);\n'
         "__global__ void k(int* x) { *x = inside(1) + g(1); }\n",
         '#include "shared.h"\n__device__ int g(int a) { return inside(a); }\n', "shared.h", 2,
         r"inside is defined in a header that main\.cu and second\.cu include.*make it inline"),
    ],
)  # fmt: skip
def test_what_cannot_be_linked_is_named_at_its_line(
    tmp_path: Path, main: str, second: str, file: str, line: int, words: str
) -> None:
    header = "#pragma once\n__device__ int inside(int a) { return a; }\n"
    main += "int main() { k<<<1, 1>>>(nullptr); }\n"
    found = run(tmp_path, header=header, main=main, second=second)
    assert (found.ended, found.exit_code) == ("build_failed", 1)
    (said,) = errors(found)
    assert (said.file, said.line) == (file, line)
    assert re.search(words, said.message)


@needs_host
def test_a_variable_that_only_host_code_of_another_file_names(tmp_path: Path) -> None:
    main = """#include <cstdio>
extern __device__ int counter;
void count();
int main() {
  int c = 5;
  cudaMemcpyToSymbol(counter, &c, 4);
  count();
  cudaMemcpyFromSymbol(&c, counter, 4);
  printf("%d", c);
}
"""
    second = """__device__ int counter;
__global__ void add() { atomicAdd(&counter, 1); }
void count() { add<<<1, 32>>>(); }
"""
    found = run(tmp_path, main=main, second=second)
    assert (found.stdout, found.exit_code) == ("37", 0)


def test_the_host_s_side_of_a_variable_is_one_where_a_file_declares_it() -> None:
    user = "@n = external global i32, align 4\n@_ZL1m = internal global i32 undef, align 4\n"
    owner = "@n = internal global i32 undef, align 4, !dbg !0\n@k = internal global i32 undef\n"
    shared = "@n = global i32 undef, align 4, !dbg !0\n@k = internal global i32 undef\n"
    assert symbols.share_variables([user, owner]) == [user, shared]
    assert symbols.share_variables([owner, owner]) == [owner, owner]
