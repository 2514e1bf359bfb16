"""Every family of the CUDA runtime API, by programs that check themselves.

Each returns the number of the first check that fails, or 0: `expect(true)` is a check.
"""

from __future__ import annotations

import pytest

from tests.programs.running import needs_host, outcome

CHECK = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
static int checks;
#define expect(...) do { ++checks; if (!(__VA_ARGS__)) { \\
  printf("check %d, line %d: %s\\n", checks, __LINE__, #__VA_ARGS__); exit(checks); } } while (0)
__global__ void fill(int* out, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value + i;
}
"""

PROGRAMS: dict[str, str] = {
    "managed": """
__managed__ int seen = 3;
__global__ void look(const int* m) { seen = m[7]; }
int main() {
  int* m;
  expect(cudaMallocManaged(&m, 64 * sizeof(int)) == cudaSuccess);
  m[7] = 5;
  expect(cudaMemPrefetchAsync(m, 256, 0, 0) == cudaSuccess);
  expect(cudaMemAdvise(m, 256, cudaMemAdviseSetReadMostly, 0) == cudaSuccess);
  fill<<<1, 64>>>(m, 64, 100);
  expect(cudaDeviceSynchronize() == cudaSuccess);
  expect(m[7] == 107 && m[63] == 163);
  expect(seen == 3);
  look<<<1, 1>>>(m);
  cudaDeviceSynchronize();
  expect(seen == 107);
  expect(cudaFree(m) == cudaSuccess);
  return 0;
}
""",
    "managed addresses": """
struct Pair { int a, b; };
__managed__ Pair pair = {1, 2};
__managed__ int table[8];
__global__ void swap(Pair* p) { int a = p->a; p->a = p->b; p->b = a; }
int main() {
  swap<<<1, 1>>>(&pair);
  expect(cudaDeviceSynchronize() == cudaSuccess);
  expect(pair.a == 2 && pair.b == 1);
  fill<<<1, 4>>>(table + 2, 4, 50);
  cudaDeviceSynchronize();
  expect(table[1] == 0 && table[2] == 50 && table[5] == 53 && table[6] == 0);
  expect(cudaMemset(table, 0xff, 8) == cudaSuccess);
  cudaDeviceSynchronize();
  expect(table[1] == -1 && table[2] == 50);
  return 0;
}
""",
    "atomics of the whole system": """
__global__ void count(int* sum) { atomicAdd_system(sum, 1); }
int main() {
  int* sum;
  cudaMallocManaged(&sum, 4);
  *sum = 0;
  count<<<2, 64>>>(sum);
  for (int i = 0; i < 10; ++i) __sync_fetch_and_add(sum, 1);  // beside the kernel, and in step
  cudaDeviceSynchronize();
  expect(*sum == 138);
  cudaFree(sum);
  return 0;
}
""",
    "objects of another kernel": """
struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int area() = 0;
};
struct Square : Shape {
  int side, *note;
  __device__ Square(int side) : side(side), note(new int(1)) {}
  __device__ ~Square() { delete note; }
  __device__ int area() { return side * side + *note - 1; }
};
struct Strip : Square {
  __device__ Strip(int side) : Square(side) {}
  __device__ int area() { return side; }
};
typedef int (*Step)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ Step step = twice;
__global__ void unrelated(int* out) { out[threadIdx.x] = 0; }
__global__ void make(Shape** shapes) {
  int i = threadIdx.x;
  if (i % 2) shapes[i] = new Strip(i);
  else shapes[i] = new Square(i);
}
__global__ void measure(Shape** shapes, int* out) {
  out[threadIdx.x] = shapes[threadIdx.x]->area();
}
__global__ void unmake(Shape** shapes) { delete shapes[threadIdx.x]; }
__global__ void apply(Step f, int* out) { out[threadIdx.x] = f(out[threadIdx.x]); }
int main() {
  Shape** shapes;
  int *out, found[8];
  cudaMalloc(&shapes, 8 * sizeof *shapes);
  make<<<1, 8>>>(shapes);
  cudaMalloc(&out, sizeof found);  // lies behind what the kernel allocated
  unrelated<<<1, 8>>>(out);
  measure<<<1, 8>>>(shapes, out);
  cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 8; ++i) expect(found[i] == (i % 2 ? i : i * i));
  unmake<<<1, 8>>>(shapes);
  Step f;
  cudaMemcpyFromSymbol(&f, step, sizeof f);
  apply<<<1, 8>>>(f, out);
  cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
  expect(found[7] == 14);
  cudaFree(shapes), cudaFree(out);
  return 0;
}
""",
    "parts of a buffer in streams": """
__global__ void twice(int* x, int from) { x[from + threadIdx.x] *= 2; }
int main() {
  int *host, *d, *e;
  cudaMallocHost(&host, 128 * sizeof(int));
  cudaMalloc(&d, 128 * sizeof(int));
  cudaMalloc(&e, 64 * sizeof(int));
  for (int i = 0; i < 128; ++i) host[i] = i;
  cudaStream_t s[2];
  for (int k = 0; k < 2; ++k) cudaStreamCreate(&s[k]);
  for (int k = 0; k < 2; ++k) {
    cudaMemcpyAsync(d + 64 * k, host + 64 * k, 256, cudaMemcpyHostToDevice, s[k]);
    twice<<<1, 64, 0, s[k]>>>(d, 64 * k);
    cudaMemcpyAsync(host + 64 * k, d + 64 * k, 256, cudaMemcpyDeviceToHost, s[k]);
  }
  cudaMemcpyAsync(e, d, 256, cudaMemcpyDeviceToDevice, s[0]);
  cudaDeviceSynchronize();
  for (int i = 0; i < 128; ++i) expect(host[i] == 2 * i);
  cudaFree(d), cudaFree(e), cudaFreeHost(host);
  return 0;
}
""",
    "registered": """
int main() {
  int *a = new int[64](), *there, value;
  std::vector<int> b(64, 5);
  for (int i = 0; i < 64; ++i) a[i] = -i;
  expect(cudaHostRegister(a, 256, cudaHostRegisterMapped) == cudaSuccess);
  expect(cudaHostRegister(a, 256, 0) == cudaErrorHostMemoryAlreadyRegistered);
  expect(cudaGetLastError() == cudaErrorHostMemoryAlreadyRegistered);
  expect(cudaHostGetDevicePointer(&there, a + 1, 0) == cudaSuccess);
  fill<<<1, 32>>>(there, 32, 10);
  expect(cudaDeviceSynchronize() == cudaSuccess);
  expect(a[0] == 0 && a[1] == 10 && a[32] == 41 && a[33] == -33);
  a[40] = 7;
  fill<<<1, 4>>>(a + 60, 4, 1);  // the host's own pointer serves as well
  cudaDeviceSynchronize();
  expect(a[40] == 7 && a[63] == 4);
  cudaPointerAttributes what;
  expect(cudaPointerGetAttributes(&what, a) == cudaSuccess);
  expect(what.type == cudaMemoryTypeHost && what.hostPointer == a);
  expect(cudaPointerGetAttributes(&what, there) == cudaSuccess && what.hostPointer == a + 1);
  int* d;
  cudaMalloc(&d, 256);
  expect(cudaMemcpyAsync(d, a, 256, cudaMemcpyHostToDevice) == cudaSuccess);
  expect(cudaMemcpy(&value, d + 63, 4, cudaMemcpyDeviceToHost) == cudaSuccess && value == 4);
  cudaFree(d);
  expect(cudaHostUnregister(a) == cudaSuccess);
  expect(cudaHostUnregister(a) == cudaErrorHostMemoryNotRegistered);
  expect(cudaHostRegister(b.data(), 256, cudaHostRegisterDefault) == cudaSuccess);
  expect(cudaHostUnregister(b.data()) == cudaSuccess && b[63] == 5);
  expect(cudaHostRegister(nullptr, 256, 0) == cudaErrorInvalidValue);
  delete[] a;
  return 0;
}
""",
    "pinned": """
int main() {
  int *a, *b, *c, *d, *mapped;
  expect(cudaMallocHost(&a, 256) == cudaSuccess);
  expect(cudaHostAlloc((void**)&b, 256, cudaHostAllocMapped) == cudaSuccess);
  expect(cudaHostGetDevicePointer((void**)&mapped, b, 0) == cudaSuccess);
  fill<<<1, 64>>>(mapped, 64, 10);
  cudaDeviceSynchronize();
  expect(b[63] == 73);
  cudaMalloc(&d, 256);
  cudaStream_t s;
  cudaStreamCreate(&s);
  memset(a, 0, 256);
  a[3] = 9;
  expect(cudaMemcpyAsync(d, a, 256, cudaMemcpyHostToDevice, s) == cudaSuccess);
  expect(cudaMemcpyAsync(b, d, 256, cudaMemcpyDeviceToHost, s) == cudaSuccess);
  cudaStreamSynchronize(s);
  expect(b[3] == 9 && b[4] == 0);
  int on_the_stack;
  expect(cudaHostGetDevicePointer((void**)&c, &on_the_stack, 0) == cudaErrorInvalidValue);
  cudaStreamDestroy(s);
  cudaFree(d);
  cudaFreeHost(a);
  expect(cudaFreeHost(b) == cudaSuccess);
  return 0;
}
""",
    "rows_and_boxes": """
int main() {
  int h[3][5], back[3][5] = {}, *d;
  for (int k = 0; k < 15; ++k) h[k / 5][k % 5] = k;
  size_t pitch;
  expect(cudaMallocPitch(&d, &pitch, sizeof h[0], 3) == cudaSuccess && pitch >= sizeof h[0]);
  expect(cudaMemcpy2D(d, pitch, h, sizeof h[0], sizeof h[0], 3, cudaMemcpyHostToDevice) == 0);
  expect(cudaMemcpy2D(back, sizeof h[0], d, pitch, sizeof h[0], 3, cudaMemcpyDeviceToHost) == 0);
  expect(!memcmp(h, back, sizeof h));
  expect(cudaMemset2D(d, pitch, 0xff, 2 * sizeof(int), 3) == cudaSuccess);
  cudaMemcpy2DAsync(back, sizeof h[0], d, pitch, sizeof h[0], 3, cudaMemcpyDefault, 0);
  cudaDeviceSynchronize();
  expect(back[2][1] == -1 && back[2][2] == 12);
  cudaPitchedPtr box;
  cudaExtent extent = make_cudaExtent(4 * sizeof(int), 3, 2);
  expect(cudaMalloc3D(&box, extent) == cudaSuccess);
  expect(cudaMemset3D(box, 0, extent) == cudaSuccess);
  int in[2][3][4], out[2][3][4] = {};
  for (int k = 0; k < 24; ++k) (&in[0][0][0])[k] = k;
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(in, 4 * sizeof(int), 4, 3);
  p.dstPtr = box, p.extent = extent, p.kind = cudaMemcpyHostToDevice;
  expect(cudaMemcpy3D(&p) == cudaSuccess);
  p.srcPtr = box, p.dstPtr = make_cudaPitchedPtr(out, 4 * sizeof(int), 4, 3);
  p.kind = cudaMemcpyDeviceToHost;
  expect(cudaMemcpy3D(&p) == cudaSuccess);
  expect(!memcmp(in, out, sizeof in));
  cudaFree(d);
  cudaFree(box.ptr);
  return 0;
}
""",
    "symbols": """
__constant__ float table[4];
__device__ int total;
template <class T> struct Box { T x, y; };
__device__ Box<double> box;
__global__ void sum() { total = table[0] + table[3] + (int)box.y; }
int main() {
  float h[4] = {1, 2, 3, 4};
  Box<double> b = {0, 10};
  expect(cudaMemcpyToSymbol(table, h, sizeof h) == cudaSuccess);
  expect(cudaMemcpyToSymbol(table, &h[1], sizeof(float), 3 * sizeof(float)) == cudaSuccess);
  expect(cudaMemcpyToSymbolAsync(box, &b, sizeof b) == cudaSuccess);
  sum<<<1, 1>>>();
  int got = 0, direct = 0, *p;
  size_t bytes;
  expect(cudaMemcpyFromSymbol(&got, total, sizeof got) == cudaSuccess && got == 13);
  expect(cudaGetSymbolAddress((void**)&p, total) == cudaSuccess);
  expect(cudaGetSymbolSize(&bytes, table) == cudaSuccess && bytes == sizeof h);
  expect(cudaMemcpy(&direct, p, sizeof direct, cudaMemcpyDeviceToHost) == cudaSuccess);
  expect(direct == 13);
  return 0;
}
""",
    "memory_and_pointers": """
int main() {
  size_t left, total, after;
  int *d, *m, on_the_stack;
  expect(cudaMemGetInfo(&left, &total) == cudaSuccess && left <= total);
  cudaMalloc(&d, 1 << 20);
  cudaMemGetInfo(&after, &total);
  expect(left - after >= 1 << 20);
  cudaMallocManaged(&m, 64);
  cudaPointerAttributes a;
  expect(cudaPointerGetAttributes(&a, d + 5) == cudaSuccess && a.type == cudaMemoryTypeDevice);
  expect(a.devicePointer == d + 5 && a.hostPointer == nullptr && a.device == 0);
  expect(cudaPointerGetAttributes(&a, m) == cudaSuccess && a.type == cudaMemoryTypeManaged);
  cudaPointerGetAttributes(&a, &on_the_stack);
  expect(a.type == cudaMemoryTypeUnregistered);
  expect(cudaMalloc(&d, (size_t)1 << 50) == cudaErrorMemoryAllocation);
  expect(cudaGetLastError() == cudaErrorMemoryAllocation);
  cudaFree(d);
  cudaFree(m);
  cudaMemPool_t pool;
  uint64_t threshold = ~0ull;
  expect(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  expect(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) == 0);
  int* p;
  expect(cudaMallocAsync(&p, 256, 0) == cudaSuccess);
  fill<<<1, 64>>>(p, 64, 0);
  expect(cudaFreeAsync(p, 0) == cudaSuccess);
  return 0;
}
""",
    "streams_and_events": """
static void note(void* data) { ++*(int*)data; }
int main() {
  cudaStream_t s, t;
  cudaEvent_t start, stop, quick;
  expect(cudaStreamCreate(&s) == cudaSuccess);
  expect(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking) == cudaSuccess);
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  expect(cudaEventCreateWithFlags(&quick, cudaEventDisableTiming) == cudaSuccess);
  unsigned flags;
  expect(cudaStreamGetFlags(t, &flags) == cudaSuccess && flags == cudaStreamNonBlocking);
  int *d, called = 0;
  cudaMalloc(&d, 4096);
  cudaEventRecord(start, s);
  fill<<<4, 256, 0, s>>>(d, 1024, 1);
  cudaEventRecord(stop, s);
  expect(cudaStreamWaitEvent(t, stop, 0) == cudaSuccess);
  fill<<<4, 256, 0, t>>>(d, 1024, 2);
  expect(cudaLaunchHostFunc(t, note, &called) == cudaSuccess);
  expect(cudaEventSynchronize(stop) == cudaSuccess && cudaEventQuery(stop) == cudaSuccess);
  float ms = -1, none = -1;
  expect(cudaEventElapsedTime(&ms, start, stop) == cudaSuccess && ms > 0 && ms < 1);
  expect(cudaEventElapsedTime(&none, start, quick) == cudaErrorInvalidResourceHandle);
  expect(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  expect(cudaStreamSynchronize(t) == cudaSuccess && cudaStreamQuery(t) == cudaSuccess);
  expect(called == 1);
  expect(cudaEventDestroy(start) == 0 && cudaEventDestroy(stop) == 0);
  expect(cudaEventDestroy(quick) == 0);
  expect(cudaEventDestroy(start) == cudaErrorInvalidResourceHandle);
  expect(cudaStreamDestroy(s) == 0 && cudaStreamDestroy(t) == 0);
  cudaFree(d);
  return 0;
}
""",
    "devices": """
int main() {
  int count, device = -1, value;
  cudaDeviceProp p;
  expect(cudaGetDeviceCount(&count) == cudaSuccess && count == 1);
  expect(cudaGetDevice(&device) == cudaSuccess && device == 0);
  expect(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
  expect(p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.major == 8 && p.name[0]);
  expect(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
  expect(value == p.multiProcessorCount);
  cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlock, 0);
  expect(value == (int)p.sharedMemPerBlock);
  cudaDeviceGetAttribute(&value, cudaDevAttrL2CacheSize, 0);
  expect(value == p.l2CacheSize);
  expect(cudaSetDevice(1) == cudaErrorInvalidDevice && cudaSetDevice(0) == cudaSuccess);
  expect(cudaGetDeviceProperties(&p, 7) == cudaErrorInvalidDevice);
  expect(cudaDeviceCanAccessPeer(&value, 0, 1) == cudaErrorInvalidDevice);
  expect(cudaGetLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaSuccess);
  int version = 0;
  expect(cudaRuntimeGetVersion(&version) == cudaSuccess && version >= 12000);
  size_t bytes;
  expect(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize) == cudaSuccess && bytes > 0);
  return 0;
}
""",
    "functions_and_occupancy": """
__global__ void uses(int* out) {
  __shared__ int s[256];
  extern __shared__ int more[];
  s[threadIdx.x] = threadIdx.x, more[threadIdx.x] = 1;
  out[threadIdx.x] = s[threadIdx.x] + more[threadIdx.x];
}
int main() {
  cudaFuncAttributes a;
  expect(cudaFuncGetAttributes(&a, uses) == cudaSuccess);
  expect(a.sharedSizeBytes == 1024 && a.numRegs > 0 && a.maxThreadsPerBlock == 1024);
  int blocks, grid, block, *d;
  expect(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, uses, 256, 1024) == cudaSuccess);
  expect(blocks == 8);
  expect(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, uses, 256, 80 << 10) == 0);
  expect(blocks == 2);
  expect(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill) == cudaSuccess);
  expect(block >= 128 && block <= 1024 && grid % 108 == 0);
  cudaMalloc(&d, 1024);
  uses<<<1, 256, 60 << 10>>>(d);
  expect(cudaGetLastError() == cudaErrorInvalidValue);
  expect(cudaFuncSetAttribute(uses, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20) ==
         cudaErrorInvalidValue);
  cudaGetLastError();
  expect(cudaFuncSetAttribute(uses, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 << 10) == 0);
  uses<<<1, 256, 60 << 10>>>(d);
  expect(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
  expect(cudaFuncSetCacheConfig(uses, cudaFuncCachePreferShared) == cudaSuccess);
  cudaFree(d);
  return 0;
}
""",
    "cooperative": """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void twice(int* x, int n) {
  cg::grid_group grid = cg::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i;
  grid.sync();
  int other = i < n ? x[n - 1 - i] : 0;
  grid.sync();
  if (i < n) x[i] += other;
}
int main() {
  int *d, n = 512, h[512];
  cudaMalloc(&d, sizeof h);
  void* arguments[] = {&d, &n};
  expect(cudaLaunchCooperativeKernel(twice, dim3(4), dim3(128), arguments, 0, 0) == cudaSuccess);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  expect(h[0] == 511 && h[200] == 511 && h[511] == 511);
  int one = 1;
  void* plain[] = {&d, &n, &one};
  expect(cudaLaunchKernel(fill, dim3(4), dim3(128), plain, 0, 0) == cudaSuccess);
  expect(cudaLaunchCooperativeKernel((void*)twice, dim3(1 << 20), dim3(128), arguments) ==
         cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError();
  cudaFree(d);
  return 0;
}
""",
    "sample_helpers": """
#include <helper_cuda.h>
#include <helper_functions.h>
#include <helper_timer.h>
int main(int count, char** words) {
  expect(findCudaDevice(count, (const char**)words) == 0);
  int* d;
  checkCudaErrors(cudaMalloc((void**)&d, 256));
  fill<<<1, 64>>>(d, 64, 0);
  getLastCudaError("fill");
  StopWatchInterface* timer = nullptr;
  sdkCreateTimer(&timer);
  sdkStartTimer(&timer);
  checkCudaErrors(cudaDeviceSynchronize());
  sdkStopTimer(&timer);
  expect(sdkGetTimerValue(&timer) >= 0);
  sdkDeleteTimer(&timer);
  expect(checkCmdLineFlag(count, (const char**)words, "n"));
  expect(getCmdLineArgumentInt(count, (const char**)words, "n") == 12);
  checkCudaErrors(cudaFree(d));
  return 0;
}
""",
}

PROGRAMS["many_variables"] = (
    "".join(f"__device__ int v{k} = {k};\n" for k in range(600))
    + "__global__ void all(int* out) {\n"
    + "".join(f"  out[{k}] = v{k}++;\n" for k in range(600))
    + """}
int main() {
  int *pinned, *d;
  cudaMallocHost(&pinned, 600 * sizeof(int));
  memset(pinned, 0xff, 600 * sizeof(int));
  cudaMalloc(&d, 600 * sizeof(int));
  expect(cudaMemcpyAsync(d, pinned, 600 * sizeof(int), cudaMemcpyHostToDevice) == cudaSuccess);
  all<<<1, 1>>>(d);
  expect(cudaMemcpyAsync(pinned, d, 600 * sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
  cudaDeviceSynchronize();
  expect(pinned[0] == 0 && pinned[599] == 599);
  cudaFree(d);
  cudaFreeHost(pinned);
  return 0;
}
"""
)
PROGRAMS["overflowing_host_code"] = """
int main() {
  std::vector<int> h(70000);
  int* d;
  cudaMalloc(&d, h.size() * sizeof(int));
  fill<<<274, 256>>>(d, 70000, 0);
  cudaMemcpy(h.data(), d, h.size() * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 70000; ++i) expect(h[i] * h[i] == i * i);
  for (int i = 0; i < 70000; ++i) h[i] = (int)((unsigned)i * (unsigned)i);
  for (int i = 0; i < 70000; ++i) expect(!(h[i] != i * i));
  cudaFree(d);
  return 0;
}
"""

EXPECTED = {"functions_and_occupancy": {"bad_launch"}, "cooperative": {"bad_launch"}}
"""What is found in programs that try what CUDA refuses."""
QUICK = ("managed", "symbols", "streams_and_events", "devices")


@needs_host
@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PROGRAMS],
)
def test_the_family_works(name: str) -> None:
    found = outcome(CHECK + PROGRAMS[name], arguments=["-n=12"])
    assert (found.answer.ended, found.answer.code) == ("exited", 0), found.stdout
    errors = {f.kind for f in found.answer.faults if f.severity == "error"}
    assert errors == EXPECTED.get(name, set())
