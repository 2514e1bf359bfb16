"""What `grade run program.cu` costs besides the program: cold, and warm, beside its own work.

    python benchmarks/program_overhead.py [RUNS]

The program adds two arrays of 1000 floats, so its own work is next to nothing; the same source with
another constant each time is cold (nothing of it is in the cache, the C++ library is). Wall time is
that of the whole command. CPU time is that of the command and of the processes it waited for: the
child under bubblewrap, which imports at the same time, is not among them. The last row is the wall
time that the program itself took, as the run measures it: start, calls, kernels, end.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
#include <cstdio>
#include <cstdlib>
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i] + %d;
}
int main() {
  int n = 1000;
  size_t bytes = n * sizeof(float);
  float* host = (float*)malloc(bytes);
  for (int i = 0; i < n; ++i) host[i] = i;
  float *a, *b, *c;
  cudaMalloc(&a, bytes), cudaMalloc(&b, bytes), cudaMalloc(&c, bytes);
  cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host, bytes, cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(a, b, c, n);
  if (cudaGetLastError() || cudaDeviceSynchronize()) return 1;
  cudaMemcpy(host, c, bytes, cudaMemcpyDeviceToHost);
  printf("%%g\\n", host[n - 1]);
  cudaFree(a), cudaFree(b), cudaFree(c), free(host);
}
"""


def timed(file: Path, answer: Path) -> tuple[float, float]:
    """Wall and CPU seconds of one command. Raises where it found a mistake or failed."""
    command = [sys.executable, "-m", "grader", "run", "--json", str(answer), "-q", str(file)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print a table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    rows: dict[str, list[tuple[float, float]]] = {"cold": [], "warm": []}
    own = []
    with tempfile.TemporaryDirectory() as folder:
        file, answer = Path(folder) / "add.cu", Path(folder) / "answer.json"
        for number in range(runs):
            file.write_text(PROGRAM % (time.time_ns() % 1_000_003 + number))
            rows["cold"].append(timed(file, answer))
            rows["warm"].append(timed(file, answer))
            own.append(json.loads(answer.read_text())["program_seconds"])
    print(f"{runs} runs, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; seconds")
    print(f"{'':8} {'wall min':>9} {'median':>7} {'CPU min':>9} {'median':>7}")
    for name, times in rows.items():
        wall, cpu = ([pair[k] for pair in times] for k in (0, 1))
        print(
            f"{name:8} {min(wall):9.2f} {statistics.median(wall):7.2f}"
            f" {min(cpu):9.2f} {statistics.median(cpu):7.2f}"
        )
    print(f"{'program':8} {min(own):9.3f} {statistics.median(own):7.3f}")


if __name__ == "__main__":
    main()
