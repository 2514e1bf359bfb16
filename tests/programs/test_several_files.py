"""Programs of several CUDA files: each is compiled by itself, and the host links them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import cli, run_program
from grader.programs import symbols
from tests.programs.running import needs_host

SHARED = """#pragma once
void add_one(float* x, int n);
int other_counter();
template <class T> __host__ __device__ T square(T x) { return x * x; }
"""
# Kernels and variables of one name in both files: each file's own is meant.
FIRST = """#include <cstdio>
#include "parts/shared.h"
static __global__ void change(float* x) { x[threadIdx.x] *= 2; }
__device__ int counter = 5;
int main(int count, char** words) {
  float host[32], *x;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  change<<<1, 32>>>(x);
  add_one(x, 32);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  int mine;
  cudaMemcpyFromSymbol(&mine, counter, 4);
  printf("%g %g %d %d %d %s\\n", host[3], host[31], mine, other_counter(), count, words[count - 1]);
  cudaFree(x);
}
"""
SECOND = """#include "shared.h"
static __global__ void change(float* x) {
  int i = threadIdx.x;
  x[i] = square(x[i]) + 1;
}
__device__ int counter = 9;
int other_counter() {
  int mine;
  cudaMemcpyFromSymbol(&mine, counter, 4);
  return mine;
}
void add_one(float* x, int n) { change<<<1, n>>>(x); }
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    (tmp_path / "main.cu").write_text(FIRST)
    (tmp_path / "parts/second.cu").write_text(SECOND)
    (tmp_path / "parts/shared.h").write_text(SHARED)
    return tmp_path / "main.cu"


@needs_host
def test_each_file_has_its_own_kernels_and_variables(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["run", str(program), str(program.parent / "parts/second.cu"), "--", "last"])
    printed = capsys.readouterr().out
    assert "37 3845 5 9 2 last" in printed
    assert "main.cu: no errors" in printed
    assert stopped.value.code == 0


@needs_host
def test_a_finding_names_the_file_it_is_in(program: Path) -> None:
    second = program.parent / "parts/second.cu"
    second.write_text(SECOND.replace("<<<1, n>>>", "<<<1, n + 1>>>"))
    found = run_program.run(program, FIRST, [], beside=[second])
    (fault,) = [f for f in found.faults if f.severity == "error" and f.access == "read"]
    assert (fault.kind, fault.file, fault.line) == ("out_of_bounds", "parts/second.cu", 4)
    assert fault.buffer == "x"


@needs_host
def test_a_device_function_of_a_file_that_was_not_given_is_named(tmp_path: Path) -> None:
    text = """__device__ float helper(float x);
__global__ void apply(float* x) { x[threadIdx.x] = helper(x[threadIdx.x]); }
int main() { apply<<<1, 32>>>(nullptr); }
"""
    (tmp_path / "main.cu").write_text(text)
    found = run_program.run(tmp_path / "main.cu", text, [])
    assert found.ended == "build_failed"
    (said,) = {d.message for build in found.builds for d in build.diagnostics}
    assert said.startswith("helper is declared here and defined nowhere in this file. ")
    assert "grade run main.cu OTHER.cu" in said


@needs_host
def test_the_address_of_a_variable_that_may_be_either_files_is_not_served(program: Path) -> None:
    text = FIRST.replace("int mine;", "int mine; void* at; cudaGetSymbolAddress(&at, counter);")
    found = run_program.run(program, text, [], beside=[program.parent / "parts/second.cu"])
    assert found.ended == "unsupported"
    assert "main.cu:13" in found.reason and "several files" in found.reason


def test_overloads_are_told_apart_where_host_and_device_spell_a_type_differently() -> None:
    entries = {name: name for name in ("_Z1kPy", "_Z1kPi", "_Z1kPx")}
    found = [symbols.entry(s, "k", entries) for s in ("_Z1kPm", "_Z1kPi", "_Z1kPl", "_Z1kPf")]
    assert found == ["_Z1kPy", "_Z1kPi", "_Z1kPx", None]


def test_symbols_carry_the_number_of_their_file() -> None:
    assert [symbols.unit(s) for s in ("_Z3addPf", "2:_Z3addPf")] == [0, 2]
    assert [symbols.plain(s) for s in ("_Z3addPf", "2:_Z3addPf")] == ["_Z3addPf", "_Z3addPf"]


@needs_host
def test_a_cpp_file_may_call_the_runtime_and_use_the_library(tmp_path: Path) -> None:
    text = """#include <cstdio>
#include <string>
std::string text(int device);
__global__ void nothing() {}
int main() {
  nothing<<<1, 1>>>();
  printf("%s", text(0).c_str());
  return cudaDeviceSynchronize();
}
"""
    other = """#include <cuda_runtime.h>
#include <string>
#include <vector>
std::string text(int device) {
  cudaDeviceProp p;
  if (cudaGetDeviceProperties(&p, device)) return "error";
  std::vector<std::string> parts = {std::to_string(p.warpSize), "lanes"};
  return parts[0] + " " + parts[1];
}
"""
    (tmp_path / "main.cu").write_text(text)
    (tmp_path / "text.cpp").write_text(other)
    found = run_program.run(tmp_path / "main.cu", text, [], beside=[tmp_path / "text.cpp"])
    assert (found.ended, found.stdout, found.faults) == ("exited", "32 lanes", ())


@needs_host
def test_headers_in_the_project_s_include_folder(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc/sizes.h").write_text('#include "deeper.h"\n#define N (HALF * 2)\n')
    (tmp_path / "inc/deeper.h").write_text("#define HALF 16\n")
    text = """#include "sizes.h"
__global__ void fill(int* out) { out[threadIdx.x] = N; }
int main() {
  int *out, host[N];
  cudaMalloc(&out, sizeof host);
  fill<<<1, N>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return host[N - 1] - 32;
}
"""
    (tmp_path / "src/main.cu").write_text(text)
    found = run_program.run(tmp_path / "src/main.cu", text, [])
    assert (found.ended, found.exit_status, found.faults) == ("exited", 0, ())
