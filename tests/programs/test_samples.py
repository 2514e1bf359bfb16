"""What public samples and course programs bring along: threads of the host, headers of helpers."""

from __future__ import annotations

from tests.programs.running import needs_host, outcome

pytestmark = needs_host

THREADS = """
#include <cstdio>
#include <thread>
#include <vector>
__global__ void fill(int* p, int v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = v;
}
static int wrong;
static void work(int k) {
  int *d, *h, *pinned;
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMallocHost(&pinned, 4000);
  for (int round = 0; round < 4; ++round) {
    cudaMalloc(&d, 4000);
    fill<<<4, 256, 0, s>>>(d, k + round, 1000);
    h = pinned;
    cudaMemcpyAsync(h, d, 4000, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    for (int i = 0; i < 1000; ++i) wrong += h[i] != k + round;
    cudaFree(d);
  }
  cudaFreeHost(pinned);
}
int main() {
  std::vector<std::thread> threads;
  for (int k = 0; k < 6; ++k) threads.emplace_back(work, 100 * k);
  for (auto& t : threads) t.join();
  printf("%d wrong", wrong);
  return 0;
}
"""

VECTORS = """
#include <helper_math.h>
#include <helper_cuda.h>
#include <cstdio>
__host__ __device__ float3 both(float3 a, int k) {
  a += make_float3(1.0f, 2.0f, 3.0f) * (float)k;
  float3 up = make_float3(0, 0, 1);
  float3 b = normalize(cross(a, up)) / 2 - lerp(a, -a, 0.25f);
  b = clamp(b, -50.0f, make_float3(50.0f).x) + fminf(a, fabs(b)) * dot(a, reflect(a, up));
  int4 i = max(make_int4(make_float4(b, 1.5f)), make_int4(-3)) - make_int4(1, 2, 3, 4);
  uint2 u = make_uint2(7, 8) * make_uint2(2u);
  return b + make_float3(make_int3(i)) + make_float3(make_float2(u.x, u.y), length(b));
}
__global__ void run(float3* v) { v[threadIdx.x] = both(make_float3(1, 2, 3), threadIdx.x); }
int main() {
  float3 *d, h[32];
  checkCudaErrors(cudaMalloc(&d, sizeof h));
  run<<<1, 32>>>(d);
  checkCudaErrors(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int k = 0; k < 32; ++k) {
    float3 want = both(make_float3(1, 2, 3), k);
    wrong += !(length(h[k] - want) <= 1e-4f * length(want));
  }
  printf("%d wrong", wrong);
  cudaFree(d);
  return 0;
}
"""

CHECKED = """
#include <helper_cuda.h>
enum Status { FINE, BROKEN };
int main() {
  checkCudaErrors(FINE);
  checkCudaErrors(BROKEN);
  return 0;
}
"""


def test_several_threads_of_the_host_call_at_once() -> None:
    found = outcome(THREADS)
    assert (found.answer.ended, found.stdout) == ("exited", "0 wrong"), found.answer.stopped_reason
    assert found.answer.faults == ()
    assert found.answer.launches == {"fill": 24}


def test_arithmetic_of_short_vectors_is_one_on_both_sides() -> None:
    found = outcome(VECTORS)
    assert (found.answer.code, found.stdout, found.answer.faults) == (0, "0 wrong", ())


def test_checks_take_the_statuses_of_libraries_too() -> None:
    found = outcome(CHECKED)
    assert found.answer.code == 1
    assert 'code=1(cudaErrorInvalidValue) "BROKEN"' in found.stderr


def test_pinned_memory_of_one_stream_is_read_while_another_works() -> None:
    text = """
__global__ void fill(int* p, int v) { p[threadIdx.x] = v; }
int main() {
  int *a, *b;
  cudaStream_t s, t;
  cudaStreamCreate(&s), cudaStreamCreate(&t);
  cudaMallocHost(&a, 128), cudaMallocHost(&b, 128);
  fill<<<1, 32, 0, s>>>(a, 1);
  fill<<<1, 32, 0, t>>>(b, 2);
  cudaStreamSynchronize(s);
  int first = a[3];
  cudaStreamSynchronize(t);
  int sum = first + b[3];
  cudaFreeHost(a), cudaFreeHost(b);
  return sum == 3 ? 0 : 1;
}
"""
    found = outcome(text)
    assert (found.answer.code, found.answer.faults) == (0, ())
