"""Every mistake is found, on its line; and nothing else is called an error of the host."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from grader import run_program
from grader.errors import NotGradableError
from grader.file_to_run import headers_beside
from tests.programs.mended import MENDED, QUICK, QUICK_MENDED
from tests.programs.running import needs_host, outcome
from tests.programs.sources import HEAD, PROGRAMS

pytestmark = needs_host


def expected(text: str, word: str = "HERE") -> set[tuple[str, int]]:
    """The kinds and lines that the comments of a program promise."""
    return {
        (found[1], number)
        for number, line in enumerate(text.splitlines(), start=1)
        if (found := re.search(rf"// {word} (\w+)", line))
    }


def _some_quick(names: Iterable[str], quick: Sequence[str]) -> list[Any]:
    return [n if n in quick else pytest.param(n, marks=pytest.mark.slow) for n in names]


@pytest.mark.parametrize("name", _some_quick(PROGRAMS, QUICK))
def test_the_mistake_is_found_on_its_line(name: str) -> None:
    text = HEAD + PROGRAMS[name]
    faults = outcome(text).answer.faults
    found = {(f.kind, f.line) for f in faults if f.severity == "error"}
    assert expected(text) <= found
    assert expected(text, "NOTE") == {(f.kind, f.line) for f in faults if f.severity == "note"}
    kinds = {kind for kind, _ in expected(text)}
    # The kernel's own fault may follow from the host's: those kinds are the engine's.
    engine = {"out_of_bounds", "uninitialised", "use_after_free"}
    assert {kind for kind, _ in found} <= kinds | engine


@pytest.mark.parametrize("name", _some_quick(MENDED, QUICK_MENDED))
def test_nothing_is_said_of_the_mended_program(name: str) -> None:
    old, new = MENDED[name]
    assert PROGRAMS[name].count(old) == 1
    found = outcome(HEAD + PROGRAMS[name].replace(old, new)).answer
    assert (found.ended, found.code, found.faults) == ("exited", 0, ())


def test_an_unchecked_launch_says_that_nobody_asked() -> None:
    (fault,) = outcome(HEAD + PROGRAMS["unchecked_launch"]).answer.faults
    assert "the program never asked (cudaGetLastError)" in fault.message


def test_what_a_reset_took_away_was_never_freed() -> None:
    """A warning, as nothing is lost: compute-sanitizer's own demo leaks in this way."""
    program = "int main() {\n  int* d;\n  cudaMalloc(&d, 64);\n  cudaDeviceReset();\n}\n"
    answer = outcome(program).answer
    (fault,) = answer.faults
    assert (answer.code, fault.kind, fault.line, fault.severity) == (0, "leak", 3, "warning")
    assert outcome(program.replace("cudaDeviceReset()", "cudaFree(d)")).answer.faults == ()


def test_a_function_that_forgets_to_return_goes_on_as_under_nvcc() -> None:
    program = """
__global__ void fill(int* out) { out[threadIdx.x] = 7; }
cudaError_t start(int* d) { fill<<<1, 32>>>(d); }
int main() {
  int *d, h[32];
  cudaMalloc(&d, sizeof h);
  start(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  cudaFree(d);
  return h[31];
}
"""
    answer = outcome(program).answer
    assert (answer.ended, answer.code, answer.faults) == ("exited", 7, ())


RIGHT = (
    HEAD
    + """
#include <iostream>
#include <stdexcept>
__constant__ float factor;
template <class T, int N>
__global__ void scale(T* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * factor + N;
}
__global__ void speak() { printf("from the device\\n"); }
int main(int count, char** words) {
  int n = atoi(words[1]);
  std::vector<float> h(n, 2.0f);
  float f = 3.0f, *d, ms = -1;
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaMalloc(&d, n * sizeof(float));
  cudaMemcpyToSymbol(factor, &f, sizeof f);
  cudaMemcpy(d, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaEventRecord(start);
  scale<float, 4><<<(n + 127) / 128, 128>>>(d, n);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  cudaEventElapsedTime(&ms, start, stop);
  cudaMemcpy(h.data(), d, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::cout << "first" << std::endl;
  speak<<<1, 1>>>();
  cudaDeviceSynchronize();
  try { throw std::runtime_error("caught"); }
  catch (const std::exception& e) { std::cout << e.what() << " " << h[n - 1] << "\\n"; }
  std::cout << (ms > 0) << std::endl;
  cudaFree(d);
  return h[0] == 10.0f ? 0 : 1;
}
"""
)


def test_a_right_program_runs_and_nothing_is_said() -> None:
    found = outcome(RIGHT, arguments=["300"])
    assert found.answer.code == 0
    assert found.answer.faults == ()
    assert found.stdout == "first\nfrom the device\ncaught 10\n1\n"
    assert found.answer.launches == {"scale": 1, "speak": 1}


def test_headers_may_lie_above_the_program(tmp_path: Path) -> None:
    """As in the example code of books: `#include "../common/common.h"`, which has a neighbour."""
    (tmp_path / "common").mkdir()
    (tmp_path / "chapter").mkdir()
    (tmp_path / "common" / "common.h").write_text('#include "number.h"\n')
    (tmp_path / "common" / "number.h").write_bytes(b'\xef\xbb\xbf#include "seven.c"\r\n')
    (tmp_path / "common" / "seven.c").write_text("#define NUMBER 7\n")
    (tmp_path / "common" / "secret.txt").write_text("nothing but headers\n")
    program = tmp_path / "chapter" / "program.cu"
    text = (
        HEAD.replace("\n", '\n#include "../common/common.h"\n', 1)
        + """
__global__ void k(int* x) { *x = NUMBER; }
int main() {
  int *d, h;
  cudaMalloc(&d, 4);
  k<<<1, 1>>>(d);
  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
  cudaFree(d);
  printf("%d of %d\\n", h, NUMBER);
}
"""
    )
    program.write_text(text)
    found = run_program.run(program, text, [])
    assert (found.ended, found.stdout) == ("exited", "7 of 7\n"), found
    program.write_text('#include "../common/secret.txt"\n#include "../common/common.h"\n')
    names = ("common.h", "number.h", "seven.c")
    assert headers_beside(program).keys() == {f"../common/{name}" for name in names}


def test_errors_are_sticky_and_have_their_names() -> None:
    found = outcome(
        HEAD
        + """
__global__ void stop() { __trap(); }
int main() {
  stop<<<1, 1>>>();
  cudaError_t e = cudaDeviceSynchronize();
  int* d;
  printf("%s %s\\n", cudaGetErrorName(e), cudaGetErrorName(cudaMalloc(&d, 4)));
  printf("%s\\n", cudaGetErrorString(cudaGetLastError()));
}
"""
    )
    assert found.stdout == (
        "cudaErrorLaunchFailure cudaErrorLaunchFailure\nunspecified launch failure\n"
    )
    assert [f.kind for f in found.answer.faults if f.severity == "error"] == ["trap"]


def test_a_refused_launch_is_not_sticky_and_asking_is_noticed() -> None:
    found = outcome(
        HEAD
        + """
__global__ void fill(int* out) { out[0] = 1; }
int main() {
  fill<<<1, 4096>>>(nullptr);
  printf("%s\\n", cudaGetErrorName(cudaGetLastError()));
  printf("%s\\n", cudaGetErrorName(cudaGetLastError()));
}
"""
    )
    assert found.stdout == "cudaErrorInvalidConfiguration\ncudaSuccess\n"
    (fault,) = found.answer.faults
    assert fault.kind == "bad_launch"
    assert "never asked" not in fault.message


KILLS_ITS_DEVICE = (
    HEAD
    + """
#include <signal.h>
#include <unistd.h>
int main() {
  kill(getppid(), SIGKILL);
  pause();
}
"""
)


def test_a_program_that_ends_its_device_is_a_bad_program_not_a_failed_grader() -> None:
    found = outcome(KILLS_ITS_DEVICE)
    assert found.answer.ended == "odd"


FORGES = (
    HEAD
    + """
#include <unistd.h>
int main() {
  const char junk[64] = "this is no message of any header";
  write(100, junk, sizeof junk);
  char back[8];
  read(101, back, sizeof back);
}
"""
)


def test_a_failed_assertion_of_the_host_is_named() -> None:
    text = """#include <cassert>
int main(int argc, char**) {
  int* d;
  cudaMalloc(&d, 4);
  assert(argc > 5 && "too few");
  cudaFree(d);
}
"""
    found = outcome(text)
    (fault,) = found.answer.faults
    assert (fault.kind, fault.line) == ("assertion", 5)
    assert fault.message == 'the host\'s assertion failed: argc > 5 && "too few"'
    assert "Assertion `argc > 5" in found.stderr


def test_what_no_header_says_ends_the_run() -> None:
    found = outcome(FORGES)
    assert found.answer.ended == "odd"
    assert found.answer.trace == ()


def test_pitched_memory_managed_memory_and_streams() -> None:
    found = outcome(
        HEAD
        + """
__global__ void add(float* p, size_t pitch, int w) {
  float* row = (float*)((char*)p + blockIdx.x * pitch);
  if (threadIdx.x < w) row[threadIdx.x] += 1;
}
__global__ void fill(int* m, int n) {
  if (threadIdx.x < n) m[threadIdx.x] = threadIdx.x;
}
int main() {
  const int w = 30, h = 5;
  std::vector<float> host(w * h, 2.0f);
  float* d;
  int *m, *pinned, *device;
  size_t pitch;
  cudaStream_t s;
  cudaMallocPitch(&d, &pitch, w * sizeof(float), h);
  cudaMemcpy2D(d, pitch, host.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice);
  add<<<h, 32>>>(d, pitch, w);
  cudaMemcpy2D(host.data(), w * 4, d, pitch, w * 4, h, cudaMemcpyDeviceToHost);
  cudaMallocManaged(&m, 40 * sizeof(int));
  m[39] = 77;
  fill<<<1, 64>>>(m, 20);
  cudaDeviceSynchronize();
  cudaStreamCreate(&s);
  cudaHostAlloc(&pinned, 400, 0);
  cudaMalloc(&device, 400);
  fill<<<1, 100, 0, s>>>(device, 100);
  cudaMemcpyAsync(pinned, device, 400, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);
  printf("%g %g %d %d %d\\n", host[0], host[w * h - 1], m[19], m[39], pinned[99]);
  cudaFree(d);
  cudaFree(m);
  cudaFree(device);
  cudaFreeHost(pinned);
  cudaStreamDestroy(s);
}
"""
    )
    assert found.stdout == "3 3 19 77 99\n"
    assert found.answer.faults == ()


@needs_host
def test_a_lambda_for_a_kernel_is_not_gradable_and_named() -> None:
    text = """
template <class F> __global__ void apply(float* p, F f) { p[threadIdx.x] = f(p[threadIdx.x]); }
int main() {
  float* d;
  cudaMalloc(&d, 4);
  apply<<<1, 1>>>(d, [=] __device__(float x) { return x + 1; });
  cudaFree(d);
}
"""
    with pytest.raises(NotGradableError) as raised:
        outcome(HEAD + text)
    assert raised.value.message.startswith("program.cu:9: a lambda is given to the kernel apply")


@needs_host
def test_halves_and_mixed_integers_on_the_host() -> None:
    found = outcome(
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
        + HEAD
        + """
int main() {
  half2 h = __float22half2_rn(make_float2(1.5f, -2));
  float2 f = __half22float2(__hmul2(h, h) + h);
  __nv_bfloat162 b = __float22bfloat162_rn(f);
  printf("%g %g %g %g\\n", f.x, f.y, __low2float(b), (float)__high2bfloat16(b - b));
  printf("%d %g %g\\n", (int)__hgt(h.x, h.y), (float)__hfma(h.x, h.y, h.x), (float)__hneg(h.y));
  printf("%u %u %g\\n", max(3u, -1), min(5, 4u), max(1.0f, 2.0));
}
"""
    )
    assert found.stdout == "3.75 2 3.75 0\n1 -1.5 2\n4294967295 4 2\n", found


DEATHS = """#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
static int third(int* p) { return p[3]; }
int main(int, char** words) {
  volatile int* nothing = nullptr;
  char text[8] = "abc";
  FILE* file = fopen("/no/such/file", "r");
  switch (words[1][0]) {
    case 'a': return *nothing;  // a
    case 'c': memcpy(text, (void*)nothing, 100); printf("%s", text); break;  // c
    case 'd': printf("%s %s", text, (char*)nothing + 1); break;  // d
    case 'e': fscanf(file, "%s", text); break;  // e
    case 'f': fprintf(file, "%d", 3); break;  // f
    case 'g': fclose(file); break;  // g
    case 'h': free(text + 1); break;  // h
    case 'i': throw 3;  // i
    case 'j': abort();  // j
    case 'k': ((void (*)())nothing)(); break;  // k
    case 'b': return third((int*)nothing);
  }
}
"""


@needs_host
@pytest.mark.parametrize("how", "abcdefghijk")
def test_where_a_program_died_is_its_own_line_also_from_within_a_library(how: str) -> None:
    answer = outcome(DEATHS, arguments=[how]).answer
    (fault,) = answer.faults
    rows = DEATHS.splitlines()
    line = next((n for n, row in enumerate(rows, 1) if row.endswith(f"// {how}")), 5)
    assert (answer.ended, fault.kind, fault.file, fault.line) == (
        "died", "trap", "program.cu", line,
    )  # fmt: skip
    aborted = how in "hij"
    assert fault.message.endswith("aborted") == aborted
