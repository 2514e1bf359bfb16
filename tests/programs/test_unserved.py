"""What is not served is named at compile time, with the program's line; never by the linker."""

from __future__ import annotations

import contextlib
import re
import subprocess
from pathlib import Path

import pytest

from grader import run_program
from grader.errors import NotGradableError
from grader.languages import metal_clang
from grader.programs import build, host_build, host_messages, unserved
from grader.programs.host_source import host_halves
from tests.programs.running import needs_host, outcome
from tests.programs.sources import HEAD

USES = """
#include <cuda.h>
#include "nvToolsExt.h"
texture<float, 2> image;  // HERE a texture reference
int main() {
  nvtxRangePush("fine");
  CUdevice device = 0;
  cuInit(0);  // HERE the driver API
  cudaGraphConditionalHandle handle;  // HERE a conditional node
  cudaGraphDebugDotPrint(0, "graph.dot", 0);  // HERE a graph written as DOT
  cudaMipmappedArray_t cells;  // HERE a mipmapped array
  cudaIpcMemHandle_t handle;  // HERE memory of another process
  nvtxRangePop();
}
"""

LIBRARIES = {
    "thrust/sort.h": "Thrust",
    "thrust/iterator/zip_iterator.h": "Thrust",
    "curand.h": "cuRAND",
    "curand_kernel.h": "cuRAND",
    "cufftXt.h": "cuFFT",
    "cudnn.h": "cuDNN",
    "mpi.h": "MPI",
    "nccl.h": "NCCL",
    "GL/glut.h": "graphics",
    "helper_cuda_drvapi.h": "the driver API",
}


def said(text: str, headers: dict[str, str] | None = None) -> list[tuple[str, int | None, str]]:
    """What a build that fails says."""
    builds, built = build.build(text, "program.cu", headers or {})
    assert built is None
    return [(d.file, d.line, d.message) for d in builds[0].diagnostics]


@needs_host
def test_every_use_is_named_on_its_line() -> None:
    wanted = {
        (number, f"{found[1]} {unserved.SAYS}")
        for number, line in enumerate(USES.splitlines(), start=1)
        if (found := re.search(r"// HERE (.*)", line))
    }
    named = {(line, message.partition(": ")[2]) for _, line, message in said(USES)}
    assert named == wanted


@needs_host
def test_a_library_is_named_on_the_line_that_includes_it() -> None:
    lines = [f"#include <{name}>" for name in LIBRARIES]
    text = "\n".join([*lines, "#ifdef NEVER", "#include <nvml.h>", "#endif", "int main() {}\n"])
    assert said(text) == [
        ("program.cu", number, f"{library} {unserved.SAYS}")
        for number, library in enumerate(LIBRARIES.values(), start=1)
    ]


@needs_host
def test_in_a_header_of_the_program_it_is_that_headers_line() -> None:
    headers = {"tools/sort.h": "#pragma once\n#include <thrust/sort.h>\n"}
    text = '#include "tools/sort.h"\nint main() {}\n'
    assert said(text, headers) == [("tools/sort.h", 2, f"Thrust {unserved.SAYS}")]


@needs_host
def test_in_a_c_plus_plus_file_beside_it_is_that_files_line() -> None:
    beside = {"window.cpp": "#include <cstdio>\n#include <GL/glut.h>\nint shown;\n"}
    builds, built = build.build("int main() {}\n", "program.cu", {}, beside=beside)
    assert built is None
    named = [(d.file, d.line, d.message) for d in builds[0].diagnostics]
    assert named == [("window.cpp", 2, f"graphics {unserved.SAYS}")]


@needs_host
def test_what_is_not_served_is_no_failed_build(tmp_path: Path) -> None:
    text = f"{HEAD}int main() {{ cudaGraphConditionalHandle graph; }}\n"
    line = text.count("\n")
    (tmp_path / "program.cu").write_text(text)
    found = run_program.run(tmp_path / "program.cu", text, [])
    assert (found.ended, found.exit_code) == ("unsupported", 3)
    where = f"program.cu:{line}: cudaGraphConditionalHandle"
    assert found.reason == f"{where}: a conditional node {unserved.SAYS}"
    broken = text.replace("cudaGraphConditionalHandle graph", "Picture picture")
    found = run_program.run(tmp_path / "program.cu", broken, [])
    assert (found.ended, found.exit_code, found.reason) == ("build_failed", 1, "")


@needs_host
def test_the_helpers_of_public_samples(tmp_path: Path) -> None:
    text = """#include <helper_functions.h>
int main() {
  float* numbers = nullptr;
  unsigned count = 0, width, height;
  char* path = sdkFindFilePath("numbers.txt", nullptr);
  if (!path || sdkFindFilePath("nowhere.txt", nullptr)) return 1;
  if (!sdkReadFile(path, &numbers, &count, false) || count != 3 || numbers[2] != 2.5f) return 2;
  unsigned char grey[6] = {0, 51, 102, 153, 204, 255}, *back = nullptr;
  if (!sdkSavePGM("grey.pgm", grey, 3, 2)) return 3;
  if (!sdkLoadPGM("grey.pgm", &back, &width, &height) || width != 3 || back[4] != 204) return 4;
  float* shades = nullptr;
  FILE* file = fopen("grey.pgm", "r+");
  fputs("P5\\n# by a program\\n# of images\\n3 2\\n255\\n", file);
  fwrite(grey, 1, 6, file), fclose(file);
  if (!sdkLoadPGM("grey.pgm", &shades, &width, &height) || shades[1] != 0.2f) return 5;
  return MIN(MAX(3, 5), 4) - 4;
}
"""
    found = outcome(text, files={"numbers.txt": b"1 2\n2.5"})
    assert (found.answer.ended, found.answer.code) == ("exited", 0)


REACHED = (
    HEAD
    + """#include <cublas_v2.h>
#define CALL(x) x
int main(int count, char**) {
  cublasHandle_t h;
  cublasCreate(&h);
  printf("before\\n");
  if (count > 1)
    CALL(cublasSscal(h, 3, nullptr, nullptr, 1));
  printf("after\\n");
}
"""
)


@needs_host
@pytest.mark.parametrize(
    ("arguments", "printed", "reason"),
    [
        ([], "before\nafter\n", ""),
        (["1"], "before\n", "cuBLAS: cublasSscal in program.cu:11"),
    ],
)
def test_a_call_the_program_may_never_reach_ends_the_run_when_it_does(
    arguments: list[str], printed: str, reason: str
) -> None:
    builds, built = build.build(REACHED, "program.cu", {})
    assert built is not None
    assert [(d.severity, d.line, d.message) for d in builds[0].diagnostics] == [
        ("warning", 11, f"cublasSscal: cuBLAS {unserved.SAYS}"),
    ]
    found = outcome(REACHED, arguments=arguments)
    assert found.stdout == printed
    assert found.answer.ended == ("unsupported" if reason else "exited")
    assert found.answer.stopped_reason == (f"{reason} {unserved.SAYS}" if reason else "")


LARGE = (
    HEAD
    + """
int main(int count, char**) {
  float* d;
  cudaError_t e = cudaMalloc(&d, count > 1 ? 1ull << 45 : 6ull << 30);
  if (e) printf("%s\\n", cudaGetErrorName(e));
  if (cudaMalloc(&d, 1 << 20)) return 2;
  cudaFree(d);
  return count > 2 ? 0 : e != cudaSuccess;
}
"""
)


@needs_host
def test_memory_that_a_card_has_and_the_virtual_gpu_has_not() -> None:
    line = LARGE[: LARGE.index("cudaError_t e")].count("\n") + 1
    said = f"program.cu:{line} allocates 6,144 MiB: expected at most 4,096 MiB"
    gave_up = outcome(LARGE)
    assert gave_up.stdout == "cudaErrorMemoryAllocation\n"
    assert gave_up.answer.ended == "unsupported"
    assert gave_up.answer.stopped_reason.startswith(said)
    no_card_has_it = outcome(LARGE, arguments=["x"]).answer
    assert (no_card_has_it.ended, no_card_has_it.code) == ("exited", 1)
    assert no_card_has_it.stopped_reason == ""
    text = LARGE.replace("count > 2", "count == 1")
    went_on = outcome(text).answer
    assert (went_on.ended, went_on.code, went_on.faults) == ("exited", 0, ())
    assert went_on.stopped_reason.startswith(said)


def test_what_is_not_served_explains_the_errors_behind_it() -> None:
    log = (
        "In file included from program.cu:3:\n"
        'unserved/thrust/sort.h:1:2: error: "Thrust is not served by the virtual GPU"\n'
        "program.cu:9:3: error: use of undeclared identifier 'thrust'\n"
    )
    (only,) = host_messages.failed(log, "program.cu")
    assert (only.file, only.line, only.message) == (
        "program.cu", 3, "Thrust is not served by the virtual GPU",
    )  # fmt: skip


def test_an_error_inside_a_header_is_told_where_the_program_led_there() -> None:
    log = (
        "/usr/include/vector:80:7: error: no matching function\n"
        "program.cu:12:5: note: in instantiation of 'f<int>' requested here\n"
    )
    (only,) = host_messages.failed(log, "program.cu")
    assert (only.file, only.line, only.message) == (
        "program.cu", 12, "in vector: no matching function",
    )  # fmt: skip


LIBCU = """
#include <cuda/barrier>
#include <cuda_fp16.h>
#include <cub/cub.cuh>
__global__ void k(half2* x) {
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
}
__device__ void helper(double4_32a*);
int main() {
  half2 h = make_half2(1.0f, 2.0f);
  double4_32a wide = {};
  return (int)(float)h.x - 1 + (int)wide.w;
}
"""


@needs_host
@pytest.mark.skipif(build.toolkit() is None, reason="the toolkit headers come with NVRTC")
def test_headers_of_libcu_and_cub_are_fine_on_the_host(tmp_path: Path) -> None:
    """Their device half is real; the host half parses them, and stubs of the words they use."""
    options = host_build.options_for(build.toolkit())
    (tmp_path / "unserved/cub").mkdir(parents=True)
    stand_ins = unserved.stand_ins([LIBCU], {})
    assert stand_ins == {"cub/cub.cuh": "#include <cub_host.h>\n"}
    (tmp_path / "unserved/cub/cub.cuh").write_text(stand_ins["cub/cub.cuh"])
    (tmp_path / "program.cu").write_text(host_halves({"program.cu": LIBCU})["program.cu"])
    (tmp_path / "device-code").write_text("elsewhere")
    done = subprocess.run(
        [str(metal_clang.compiler()), "clang", *options, "-fsyntax-only", "program.cu"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:2000]


VECTOR_REGISTER = """#include <cstdio>
__global__ void first(float* out) { *out = 1; }
__global__ void second(float* out) {
  float r;
  asm volatile("{ .reg .v2 .f32 t; mov.f32 t.x, %1; mov.f32 %0, t.x; }" : "=f"(r) : "f"(2.f));
  *out = r;
}
int main() {
  float* x;
  cudaMalloc(&x, 4);
  first<<<1, 1>>>(x);
  printf("not reached");
}
"""


@needs_host
@pytest.mark.parametrize("linked", [False, True])
def test_ptx_that_cannot_be_read_is_not_supported_with_its_line(
    tmp_path: Path, *, linked: bool
) -> None:
    """No failure of ours, and no verdict on the program: exit 3, as of a single kernel."""
    text = VECTOR_REGISTER
    beside = []
    if linked:
        text = text.replace("*out = 1;", "*out = one();").replace("<cstdio>", "<cstdio>\n", 1)
        text = text.replace("\n__global__", "__device__ float one(); __global__", 1)
        beside = [tmp_path / "one.cu"]
        beside[0].write_text("__device__ float one() { return 1; }\n")
    (tmp_path / "program.cu").write_text(text)
    with contextlib.ExitStack() as stack:
        if linked:
            refused = stack.enter_context(pytest.raises(NotGradableError))
        found = run_program.run(tmp_path / "program.cu", text, [], beside=beside)
    if linked:
        reason, code = str(refused.value), refused.value.exit_code
    else:
        reason, code = found.reason, found.exit_code
        assert (found.ended, found.stdout, found.faults) == ("unsupported", "", ())
    assert code == 3
    assert re.search(r"cannot read the PTX: program\.cu:5: .*vector registers", reason)
