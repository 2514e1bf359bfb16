"""The virtual GPU against other ways to run a kernel without a GPU, in one run on the same data.

    python benchmarks/engine.py [--elements N] [--json FILE] [--markdown FILE]

Five kernels (add, block sum, transpose through a tile, tiled product, histogram), each checked
for the right answer by every contender:

- the virtual GPU with bounds checks, and with every check;
- a plain C++ loop at -O3 (g++ or clang++), which checks nothing: the price of seeing everything;
- numpy;
- Triton's interpreter (TRITON_INTERPRET=1), numba's CUDA simulator (NUMBA_ENABLE_CUDASIM=1) and
  Oclgrind (plain and with race checks), each where it is installed.

Times are CPU seconds of one process with one worker, the best of a few runs, without compiling;
slow contenders get fewer elements. What is compared are elements (flops/2 for the product) per
second, as ratios to the virtual GPU.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

CUDA = r"""
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void block_sum(const float* a, float* c, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
    if (t == 0) c[blockIdx.x] = s[0];
}
extern "C" __global__ void transpose(const float* a, float* c, int w) {
    __shared__ float s[16][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    s[ty][tx] = a[(blockIdx.y * 16 + ty) * w + blockIdx.x * 16 + tx];
    __syncthreads();
    c[(blockIdx.x * 16 + ty) * w + blockIdx.y * 16 + tx] = s[tx][ty];
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int w) {
    __shared__ float p[16][16], q[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float sum = 0;
    for (int t = 0; t < w; t += 16) {
        p[ty][tx] = a[y * w + t + tx];
        q[ty][tx] = b[(t + ty) * w + x];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += p[ty][k] * q[k][tx];
        __syncthreads();
    }
    c[y * w + x] = sum;
}
extern "C" __global__ void histogram(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&c[a[i]], 1);
}
"""

OPENCL = r"""
kernel void add(global const float* a, global const float* b, global float* c, int n) {
    int i = get_global_id(0);
    if (i < n) c[i] = a[i] + b[i];
}
kernel void block_sum(global const float* a, global float* c, int n) {
    local float s[256];
    int t = get_local_id(0), i = get_global_id(0);
    s[t] = i < n ? a[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 128; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) c[get_group_id(0)] = s[0];
}
kernel void transpose_(global const float* a, global float* c, int w) {
    local float s[16][17];
    int tx = get_local_id(0), ty = get_local_id(1), bx = get_group_id(0), by = get_group_id(1);
    s[ty][tx] = a[(by * 16 + ty) * w + bx * 16 + tx];
    barrier(CLK_LOCAL_MEM_FENCE);
    c[(bx * 16 + ty) * w + by * 16 + tx] = s[tx][ty];
}
kernel void matmul(global const float* a, global const float* b, global float* c, int w) {
    local float p[16][16], q[16][16];
    int tx = get_local_id(0), ty = get_local_id(1);
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int t = 0; t < w; t += 16) {
        p[ty][tx] = a[y * w + t + tx];
        q[ty][tx] = b[(t + ty) * w + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) sum += p[ty][k] * q[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * w + x] = sum;
}
kernel void histogram(global const int* a, global int* c, int n) {
    int i = get_global_id(0);
    if (i < n) atomic_inc(&c[a[i]]);
}
"""

CPP = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <vector>
static double cpu() {
    rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + 1e-6 * (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}
int main(int argc, char** argv) {
    const char* name = argv[1];
    long n = atol(argv[2]), w = atol(argv[3]);
    long size = !strcmp(name, "transpose") || !strcmp(name, "matmul") ? w * w : n;
    std::vector<float> a(size, 1.5f), b(size, 2.25f), c(size);
    std::vector<int> k(size), h(64);
    for (long i = 0; i < size; i++) k[i] = (i * 2654435761u >> 8) & 63;
    double best = 1e9;
    for (int run = 0; run < 4; run++) {
        double t = cpu();
        if (!strcmp(name, "add")) for (long i = 0; i < n; i++) c[i] = a[i] + b[i];
        if (!strcmp(name, "block_sum"))
            for (long i = 0; i < n; i += 256) {
                float s = 0;
                for (long j = i; j < i + 256 && j < n; j++) s += a[j];
                c[i / 256] = s;
            }
        if (!strcmp(name, "transpose"))
            for (long y = 0; y < w; y++) for (long x = 0; x < w; x++) c[x * w + y] = a[y * w + x];
        if (!strcmp(name, "matmul"))
            for (long y = 0; y < w; y++) {
                for (long x = 0; x < w; x++) c[y * w + x] = 0;
                for (long k = 0; k < w; k++)
                    for (long x = 0; x < w; x++) c[y * w + x] += a[y * w + k] * b[k * w + x];
            }
        if (!strcmp(name, "histogram")) for (long i = 0; i < n; i++) h[k[i]]++;
        t = cpu() - t;
        if (t < best) best = t;
        if (c[run % c.size()] == 12345 || h[run] == 12345) puts("");
    }
    printf("%.9f\n", best);
}
"""

KERNELS = ("add", "block_sum", "transpose", "matmul", "histogram")


class Data:
    """The arrays of one kernel: `elements` is what a rate counts."""

    def __init__(self, kernel: str, elements: int) -> None:
        rng = np.random.default_rng(11)
        self.kernel = kernel
        square = kernel in ("transpose", "matmul")
        w = max(16, round((elements / 32 if kernel == "matmul" else elements) ** 0.5))
        self.w = w = w // 16 * 16
        self.n = n = w * w if square else elements
        self.elements = w**3 if kernel == "matmul" else n
        shape = (w, w) if square else (n,)
        self.a: Any = rng.random(shape, np.float32)
        self.b: Any = rng.random(shape, np.float32)
        if kernel == "histogram":
            self.a = rng.integers(0, 64, n).astype(np.int32)
        out = {"block_sum": -(-n // 256), "histogram": 64}.get(kernel)
        self.c: Any = np.zeros(shape if out is None else out, self.a.dtype)
        self.grid: Any = (w // 16, w // 16) if square else -(-n // 256)
        self.block: Any = (16, 16) if square else 256

    @property
    def arguments(self) -> list[Any]:
        """Kernel arguments in order."""
        square = self.kernel in ("transpose", "matmul")
        inputs = [self.a, self.b] if self.kernel in ("add", "matmul") else [self.a]
        return [*inputs, self.c, np.int32(self.w if square else self.n)]

    def expected(self) -> Any:
        """What numpy says."""
        if self.kernel == "add":
            return self.a + self.b
        if self.kernel == "block_sum":
            return np.add.reduceat(self.a, np.arange(0, self.n, 256))
        if self.kernel == "transpose":
            return self.a.T
        if self.kernel == "matmul":
            return self.a @ self.b
        return np.bincount(self.a, minlength=64).astype(np.int32)

    def check(self) -> None:
        """Stops the benchmark where a contender is wrong."""
        np.testing.assert_allclose(self.c, self.expected(), rtol=1e-4, err_msg=self.kernel)


def cpu_seconds() -> float:
    """User and system time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(call: Callable[[], Any], repeat: int = 3) -> float:
    """Best CPU time of `repeat` calls after one that compiles."""
    call()
    best = float("inf")
    for _ in range(repeat):
        started = cpu_seconds()
        call()
        best = min(best, cpu_seconds() - started)
    return max(best, 1e-9)


def on_virtual_gpu(kernel: str, elements: int, checks: str) -> float:
    """Elements per second of the engine."""
    from grader import vgpu

    data = Data(kernel, elements)
    best = float("inf")
    for run in range(4):
        memory = vgpu.Memory()
        given = []
        for position, value in enumerate(data.arguments):
            if isinstance(value, np.ndarray):
                last = value is data.c
                access = ("inout" if kernel == "histogram" else "out") if last else "in"
                given.append(
                    memory.allocate(
                        value, name=f"p{position}", access=access, defined=access != "out"
                    )
                )
            else:
                given.append(value)
        started = cpu_seconds()
        done = vgpu.launch(
            module().kernel(kernel), data.grid, data.block, given, memory=memory, checks=checks
        )
        spent = cpu_seconds() - started
        assert done.ended == "finished" and not done.faults, done
        if run:
            best = min(best, spent)
    data.c[...] = memory.read(given[-2])
    data.check()
    return data.elements / best


@functools.cache
def module() -> Any:
    """The CUDA kernels, compiled once."""
    from grader import vgpu
    from grader.languages import nvrtc

    options = ("-arch=compute_80", "-std=c++17", "-lineinfo")
    return vgpu.Module.from_ptx(nvrtc.compile_source(CUDA, "bench.cu", options).ptx)


def in_numpy(kernel: str, elements: int) -> float:
    """Elements per second of numpy (BLAS for the product)."""
    data = Data(kernel, elements)

    def call() -> None:
        data.c[...] = data.expected()

    return data.elements / timed(call)


def in_cpp(kernel: str, elements: int) -> float | None:
    """Elements per second of a plain loop."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return None
    data = Data(kernel, elements)
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "loop.cpp", Path(folder) / "loop"
        source.write_text(CPP)
        subprocess.run(
            [compiler, "-O3", "-march=native", str(source), "-o", str(program)], check=True
        )
        command = [str(program), kernel, str(data.n), str(data.w)]
        out = subprocess.run(command, capture_output=True, text=True, check=True)
    return data.elements / max(float(out.stdout), 1e-9)


def in_oclgrind(kernel: str, elements: int, *, races: bool) -> float | None:
    """Elements per second of Oclgrind, start-up and compiling taken off."""
    if shutil.which("oclgrind-kernel") is None:
        return None
    data = Data(kernel, elements)

    def run(n: int) -> float:
        part = Data(kernel, n)
        size = part.a.size * 4
        square = kernel in ("transpose", "matmul")
        threads = f"{part.w} {part.w} 1" if square else f"{-(-part.n // 256) * 256} 1 1"
        group = "16 16 1" if square else "256 1 1"
        inputs = 2 if kernel in ("add", "matmul") else 1
        out = part.c.size * 4
        lines = [f"<size={size} fill=1>"] * inputs + [f"<size={out} fill=0>", "<size=4>"]
        lines.append(str(part.w if square else part.n))
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "k.cl").write_text(OPENCL)
            name = "transpose_" if kernel == "transpose" else kernel
            text = "\n".join(["k.cl", name, threads, group, *lines]) + "\n"
            Path(folder, "k.sim").write_text(text)
            options = ["--data-races"] if races else []
            command = ["oclgrind-kernel", "--num-threads", "1", *options, "k.sim"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode or "rror" in done.stderr:
            raise RuntimeError(f"oclgrind {kernel}: {done.stderr[:500]}")
        return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)

    small = 256 if kernel != "matmul" else 32 * 256
    base = Data(kernel, small)
    spent = min(run(elements) for _ in range(2)) - min(run(small) for _ in range(2))
    return (data.elements - base.elements) / max(spent, 1e-9)


NUMBA = r"""
import os
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
from numba import cuda, float32, int32

@cuda.jit
def add(a, b, c, n):
    i = cuda.grid(1)
    if i < n:
        c[i] = a[i] + b[i]

@cuda.jit
def block_sum(a, c, n):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = a[i] if i < n else 0
    cuda.syncthreads()
    k = 128
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        c[cuda.blockIdx.x] = s[0]

@cuda.jit
def transpose(a, c, w):
    s = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    s[ty, tx] = a[cuda.blockIdx.y * 16 + ty, cuda.blockIdx.x * 16 + tx]
    cuda.syncthreads()
    c[cuda.blockIdx.x * 16 + ty, cuda.blockIdx.y * 16 + tx] = s[tx, ty]

@cuda.jit
def matmul(a, b, c, w):
    p = cuda.shared.array((16, 16), float32)
    q = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    total = 0.0
    for t in range(0, w, 16):
        p[ty, tx] = a[y, t + tx]
        q[ty, tx] = b[t + ty, x]
        cuda.syncthreads()
        for k in range(16):
            total += p[ty, k] * q[k, tx]
        cuda.syncthreads()
    c[y, x] = total

@cuda.jit
def histogram(a, c, n):
    i = cuda.grid(1)
    if i < n:
        cuda.atomic.add(c, a[i], 1)
"""


def in_numba(kernel: str, elements: int) -> float:
    """Elements per second of numba's simulator (in this process: started for it alone)."""
    space: dict[str, Any] = {}
    exec(NUMBA, space)  # the simulator must be chosen before numba is imported
    data = Data(kernel, elements)

    def call() -> None:
        if kernel == "histogram":
            data.c[...] = 0
        space[kernel][data.grid, data.block](*data.arguments)

    spent = timed(call, repeat=1)
    data.check()
    return data.elements / spent


def in_triton(kernel: str, elements: int) -> float | None:
    """Elements per second of Triton's interpreter (in a process of its own)."""
    os.environ["TRITON_INTERPRET"] = "1"
    sys.path.insert(0, str(Path(__file__).parent))
    import engine_triton

    data = Data(kernel, elements)
    call = engine_triton.calls(data)
    spent = timed(call, repeat=1)
    data.c[...] = engine_triton.result().reshape(data.c.shape)
    data.check()
    return data.elements / spent


def apart(contender: str, kernel: str, elements: int) -> float | None:
    """Run a contender in a process of its own; None where it is not installed."""
    command = [sys.executable, __file__, "--one", contender, kernel, str(elements)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "ModuleNotFoundError" in done.stderr or done.returncode == 77:
        return None
    if done.returncode:
        raise RuntimeError(f"{contender} {kernel}: {done.stderr[-800:]}")
    return float(done.stdout.split()[-1])


def measure(elements: int) -> dict[str, dict[str, float | None]]:
    """Rates by kernel and contender."""
    few = {"Triton interpreter": 1 << 18, "numba simulator": 1 << 11, "Oclgrind": 1 << 16}
    table: dict[str, dict[str, float | None]] = {}
    for kernel in KERNELS:
        size = elements if kernel != "matmul" else 32 * 256 * 256
        small = 32 * 64 * 64 if kernel == "matmul" else 0
        row: dict[str, float | None] = {
            "virtual GPU, bounds": on_virtual_gpu(kernel, size, "bounds"),
            "virtual GPU, every check": on_virtual_gpu(kernel, min(size, 1 << 20), "all"),
            "C++ -O3": in_cpp(kernel, size),
            "numpy": in_numpy(kernel, size),
            "Triton interpreter": apart("triton", kernel, small or few["Triton interpreter"]),
            "numba simulator": apart(
                "numba", kernel, 32 * 16 * 16 if small else few["numba simulator"]
            ),
            "Oclgrind": in_oclgrind(kernel, small or few["Oclgrind"], races=False),
            "Oclgrind, races": in_oclgrind(kernel, small or few["Oclgrind"], races=True),
        }
        table[kernel] = row
        print(kernel, {k: f"{v / 1e6:.3f} M/s" if v else "absent" for k, v in row.items()})
    return table


def markdown(table: dict[str, dict[str, float | None]]) -> str:
    """The table of docs/performance.md: rates of the engine, and how often it is faster."""
    names = list(next(iter(table.values())))
    lines = ["| kernel | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for kernel, row in table.items():
        bounds, every = row[names[0]] or 1.0, row[names[1]] or 1.0
        cells = [f"{bounds / 1e6:.1f} M/s", f"{every / 1e6:.1f} M/s"]
        for name in names[2:]:
            value = row[name]
            if value is None:
                cells.append("absent")
                continue
            base = every if name == "Oclgrind, races" else bounds
            ratio = base / value
            cells.append(f"× {ratio:,.0f}" if ratio >= 10 else f"× {ratio:.2g}")
        lines.append(f"| {kernel} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def machine() -> str:
    """The processor and system, for the table's caption."""
    model = platform.processor() or platform.machine()
    try:
        text = Path("/proc/cpuinfo").read_text()
        model = next(x.partition(":")[2].strip() for x in text.splitlines() if "model name" in x)
    except (OSError, StopIteration):
        pass
    return f"{model}, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=1 << 22)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        contender, kernel, elements = options.one
        run = {"triton": in_triton, "numba": in_numba}[contender]
        print(run(kernel, int(elements)))
        return
    table = measure(options.elements)
    text = f"On one core of {machine()}:\n\n{markdown(table)}"
    print("\n" + text)
    if options.markdown:
        options.markdown.write_text(text)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "rates": table}, indent=1))


if __name__ == "__main__":
    started = time.perf_counter()
    main()
