"""Ten-line CUDA programs with one mistake each, and what must be said about it.

A line that is to be found carries `// HERE kind`, one that gets advice `// NOTE kind`.
"""

from __future__ import annotations

HEAD = "#include <cstdio>\n#include <cstdlib>\n#include <vector>\n"

PROGRAMS: dict[str, str] = {
    # NVIDIA's compute-sanitizer demo mistakes, as programs of our own
    "out_of_bounds": """
__global__ void fill(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i;  // HERE out_of_bounds
}
int main() {
  int* d;
  cudaMalloc(&d, 100 * sizeof(int));
  fill<<<1, 128>>>(d, 100);
  cudaDeviceSynchronize();
  cudaFree(d);
}
""",
    "misaligned": """
__global__ void odd(char* bytes) {
  *(int*)(bytes + 1) = 7;  // HERE misaligned
}
int main() {
  char* d;
  cudaMalloc(&d, 64);
  odd<<<1, 1>>>(d);
  cudaDeviceSynchronize();
  cudaFree(d);
}
""",
    "leak": """
int main() {
  float *kept, *d;
  cudaMalloc(&d, 64);
  cudaMalloc(&kept, 1000 * sizeof(float));  // HERE leak
  cudaFree(d);
}
""",
    "shared_race": """
__global__ void shift(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[63 - threadIdx.x];  // HERE race
}
int main() {
  int* d;
  cudaMalloc(&d, 64 * sizeof(int));
  shift<<<1, 64>>>(d);
  cudaDeviceSynchronize();
  cudaFree(d);
}
""",
    "divergent_barrier": """
__global__ void half(int* out) {
  if (threadIdx.x < 32)
    __syncthreads();  // HERE bad_barrier
  out[threadIdx.x] = 1;
}
int main() {
  int* d;
  cudaMalloc(&d, 64 * sizeof(int));
  half<<<1, 64>>>(d);
  cudaDeviceSynchronize();
  cudaFree(d);
}
""",
    "illegal_warp_sync": """
__global__ void vote(int* out) {
  if (threadIdx.x < 16)
    __syncwarp(0xffffffff << 16);  // HERE warp_mask
  out[threadIdx.x] = 1;
}
int main() {
  int* d;
  cudaMalloc(&d, 32 * sizeof(int));
  vote<<<1, 32>>>(d);
  cudaDeviceSynchronize();
  cudaFree(d);
}
""",
    "memset_size": """
__global__ void add(int* sums, int n) {
  int i = threadIdx.x;
  if (i < n) sums[i] += i;  // HERE uninitialised
}
int main() {
  int* sums;
  cudaMalloc(&sums, 64 * sizeof(int));
  cudaMemset(sums, 0, 64);  // HERE bad_copy
  add<<<1, 64>>>(sums, 64);
  cudaDeviceSynchronize();
  cudaFree(sums);
}
""",
    # the host's own
    "copy_in_elements": """
__global__ void twice(float* x, int n) {
  int i = threadIdx.x;
  if (i < n) x[i] *= 2;
}
int main() {
  std::vector<float> h(64, 1.0f);
  float* x;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMemcpy(x, h.data(), 64 * sizeof(float), cudaMemcpyHostToDevice);
  twice<<<1, 64>>>(x, 64);
  cudaMemcpy(h.data(), x, 64, cudaMemcpyDeviceToHost);  // HERE bad_copy
  cudaFree(x);
}
""",
    "allocated_in_elements": """
int main() {
  std::vector<float> h(64, 1.0f);
  float* x;
  cudaMalloc(&x, 64);
  cudaMemcpy(x, h.data(), 64 * sizeof(float), cudaMemcpyHostToDevice);  // HERE bad_copy
  cudaFree(x);
}
""",
    "wrong_direction": """
int main() {
  std::vector<float> h(64, 1.0f);
  float* x;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMemcpy(x, h.data(), 64 * sizeof(float), cudaMemcpyDeviceToHost);  // HERE bad_copy
  cudaFree(x);
}
""",
    "swapped_copy": """
int main() {
  std::vector<float> h(64, 1.0f);
  float* x;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  cudaMemcpy(h.data(), x, 64 * sizeof(float), cudaMemcpyHostToDevice);  // HERE bad_copy
  cudaFree(x);
}
""",
    "host_pointer": """
__global__ void fill(int* out) { out[threadIdx.x] = 1; }
int main() {
  std::vector<int> h(32);
  fill<<<1, 32>>>(h.data());  // HERE host_pointer
  cudaDeviceSynchronize();
}
""",
    "dereferenced_on_the_host": """
int main() {
  float* d;
  cudaMalloc(&d, 64 * sizeof(float));
  cudaMemset(d, 0, 64 * sizeof(float));
  printf("%f\\n", d[3]);  // HERE host_pointer
  cudaFree(d);
}
""",
    "dereferenced_in_a_library": """
#include <cstring>
int main() {
  float *d, h[64];
  cudaMalloc(&d, sizeof h);
  volatile size_t n = sizeof h;
  memcpy(h, d, n);  // HERE host_pointer
  cudaFree(d);
  return h[3] != 0;
}
""",
    "use_after_free": """
__global__ void fill(int* out) { out[threadIdx.x] = 1; }
int main() {
  int* d;
  cudaMalloc(&d, 32 * sizeof(int));
  cudaFree(d);
  fill<<<1, 32>>>(d);  // HERE use_after_free
  cudaDeviceSynchronize();
}
""",
    "copied_after_free": """
int main() {
  int *d, h[32];
  cudaMalloc(&d, sizeof h);
  cudaMemset(d, 0, sizeof h);
  cudaFree(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);  // HERE use_after_free
}
""",
    "double_free": """
int main() {
  int* d;
  cudaMalloc(&d, 32);
  cudaFree(d);
  cudaFree(d);  // HERE use_after_free
}
""",
    "free_of_host_memory": """
int main() {
  int* h = (int*)malloc(32);
  cudaFree(h);  // HERE host_pointer
  free(h);
}
""",
    "too_many_threads": """
__global__ void fill(int* out) { out[threadIdx.x] = 1; }
int main() {
  int* d;
  cudaMalloc(&d, 2048 * sizeof(int));
  fill<<<1, 2048>>>(d);  // HERE bad_launch
  cudaDeviceSynchronize();
  cudaFree(d);
}
""",
    "forgotten_dynamic_shared": """
__global__ void reverse(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x];
}
int main() {
  int* d;
  cudaMalloc(&d, 32 * sizeof(int));
  reverse<<<1, 32>>>(d);  // HERE bad_launch
  cudaDeviceSynchronize();
  cudaFree(d);
}
""",
    "tail": """
__global__ void fill(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1;
}
int main() {
  std::vector<int> h(1000);
  int* d;
  cudaMalloc(&d, 1000 * sizeof(int));
  fill<<<1000 / 256, 256>>>(d, 1000);  // HERE bad_launch
  cudaMemcpy(h.data(), d, 1000 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d);
}
""",
    "overshoot": """
__global__ void fill(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1;
}
int main() {
  int* d;
  cudaMalloc(&d, 1000 * sizeof(int));
  fill<<<1000, 256>>>(d, 1000);  // NOTE bad_launch
  cudaDeviceSynchronize();
  cudaFree(d);
}
""",
    "heap_freed_by_another_kernel": """
struct Box { int value; };
__global__ void make(Box** box) { *box = new Box{5}; }
__global__ void unmake(Box** box) { delete *box; }
__global__ void use(Box** box, int* out) {
  *out = (*box)->value;  // HERE use_after_free
}
int main() {
  Box** box;
  int* out;
  cudaMalloc(&box, sizeof *box);
  cudaMalloc(&out, sizeof *out);
  make<<<1, 1>>>(box);
  unmake<<<1, 1>>>(box);
  use<<<1, 1>>>(box, out);
  cudaDeviceSynchronize();
  cudaFree(box), cudaFree(out);
}
""",
    "copied_to_nowhere": """
int main() {
  float *d, h[16] = {};
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d + (1ll << 40), h, sizeof h, cudaMemcpyHostToDevice);  // HERE bad_copy
  cudaFree(d);
}
""",
    "symbol_in_the_wrong_direction": """
__constant__ float table[16];
__global__ void use(float* out) { out[threadIdx.x] = table[threadIdx.x]; }
int main() {
  float *d, h[16] = {};
  cudaMalloc(&d, sizeof h);
  cudaMemcpyToSymbol(table, h, sizeof h, 0, cudaMemcpyDeviceToHost);  // HERE bad_copy
  use<<<1, 16>>>(d);
  cudaDeviceSynchronize();
  cudaFree(d);
}
""",
    "freed_in_the_middle": """
int main() {
  float* d;
  cudaMalloc(&d, 64);
  cudaFree(d + 4);  // HERE host_pointer
  cudaFree(d);
}
""",
    "registered_memory_freed": """
int main() {
  float h[16] = {}, *d;
  cudaHostRegister(h, sizeof h, cudaHostRegisterMapped);
  cudaHostGetDevicePointer(&d, h, 0);
  cudaFree(d);  // HERE host_pointer
  cudaHostUnregister(h);
}
""",
    "other_stream_in_part": """
__global__ void fill(int* out) { out[threadIdx.x] = 1; }
int main() {
  int *d, *h;
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaMalloc(&d, 64 * sizeof(int));
  cudaMallocHost(&h, 64 * sizeof(int));
  cudaMemset(d, 0, 64 * sizeof(int));
  fill<<<1, 32, 0, s>>>(d + 16);
  cudaMemcpyAsync(h, d, 16 * sizeof(int), cudaMemcpyDeviceToHost, t);
  cudaMemcpyAsync(h, d + 47, 8, cudaMemcpyDeviceToHost, t);  // HERE unsynchronised_read
  cudaDeviceSynchronize();
  cudaFree(d);
  cudaFreeHost(h);
}
""",
    "managed_read_too_early": """
__global__ void fill(int* out) { out[threadIdx.x] = 1; }
int main() {
  int* m;
  cudaMallocManaged(&m, 32 * sizeof(int));
  fill<<<1, 32>>>(m);
  printf("%d\\n", m[3]);  // HERE unsynchronised_read
  cudaDeviceSynchronize();
  cudaFree(m);
}
""",
    "managed_atomic_too_early": """
__global__ void fill(int* out) { out[threadIdx.x] = 1; }
int main() {
  int* m;
  cudaMallocManaged(&m, 32 * sizeof(int));
  fill<<<1, 32>>>(m);
  __sync_fetch_and_add(m + 3, 1);  // HERE unsynchronised_read
  cudaDeviceSynchronize();
  cudaFree(m);
}
""",
    "pinned_read_too_early": """
int main() {
  int *d, *h;
  cudaMalloc(&d, 32 * sizeof(int));
  cudaMallocHost(&h, 32 * sizeof(int));
  cudaMemset(d, 0, 32 * sizeof(int));
  cudaMemcpyAsync(h, d, 32 * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\\n", h[3]);  // HERE unsynchronised_read
  cudaDeviceSynchronize();
  cudaFree(d);
  cudaFreeHost(h);
}
""",
    "other_stream": """
__global__ void fill(int* out) { out[threadIdx.x] = 1; }
int main() {
  int *d, h[32];
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaMalloc(&d, sizeof h);
  fill<<<1, 32, 0, s>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);  // HERE unsynchronised_read
  cudaStreamDestroy(s);
  cudaFree(d);
}
""",
    "symbol_too_small": """
__constant__ float coefficients[8];
__global__ void read(float* out) { out[threadIdx.x] = coefficients[threadIdx.x]; }
int main() {
  float h[16] = {}, *d;
  cudaMalloc(&d, 32);
  cudaMemcpyToSymbol(coefficients, h, sizeof h);  // HERE bad_copy
  read<<<1, 8>>>(d);
  cudaDeviceSynchronize();
  cudaFree(d);
}
""",
    "symbol_copied_past_its_end": """
__device__ int counters[4];
__global__ void count() { atomicAdd(&counters[threadIdx.x & 3], 1); }
int main() {
  int h[8] = {};
  count<<<1, 32>>>();
  cudaMemcpyFromSymbol(h, counters, 4 * sizeof(int), 4);  // HERE bad_copy
}
""",
    "symbol_by_a_pointer": """
__constant__ float factor;
__global__ void scale(float* x) { x[threadIdx.x] *= factor; }
int main() {
  float f = 2, *x, *address = &f;
  cudaMalloc(&x, 128);
  cudaMemset(x, 0, 128);
  cudaMemcpyToSymbol(address, &f, sizeof f);  // HERE bad_copy
  scale<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
""",
    "unchecked_launch": """
__global__ void fill(int* out) { out[threadIdx.x] = 1; }
template <class Kernel>
void start(Kernel kernel, int threads, int* out) {
  kernel<<<1, threads>>>(out);  // HERE bad_launch
}
int main() {
  int* d;
  cudaMalloc(&d, 2000 * sizeof(int));
  start(fill, 2000, d);
  cudaFree(d);
}
""",
    "too_much_dynamic_shared": """
__global__ void fill(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[threadIdx.x];
}
int main() {
  int* d;
  cudaMalloc(&d, 32 * sizeof(int));
  fill<<<1, 32, 64 << 10>>>(d);  // HERE bad_launch
  cudaDeviceSynchronize();
  cudaFree(d);
}
""",
    "pinned_never_freed": """
int main() {
  int* h;
  cudaMallocHost(&h, 64);  // HERE leak
  h[0] = 1;
}
""",
    "pinned_freed_as_device": """
int main() {
  int* h;
  cudaMallocHost(&h, 64);
  cudaFree(h);  // HERE host_pointer
  cudaFreeHost(h);
}
""",
    "rows_wider_than_the_pitch": """
int main() {
  float h[4][16] = {}, *d;
  size_t pitch;
  cudaMallocPitch(&d, &pitch, 16 * sizeof(float), 4);
  cudaMemcpy2D(d, pitch, h, 16, 16 * sizeof(float), 4, cudaMemcpyHostToDevice);  // HERE bad_copy
  cudaFree(d);
}
""",
    "nothing_to_copy": """
int main() {
  float *d, h[16];
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);  // HERE bad_copy
  cudaFree(d);
}
""",
    "null_pointer_copied": """
int main() {
  float *d = nullptr, h[16];
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);  // HERE bad_copy
}
""",
    "null_pointer_filled": """
int main() {
  float *d = nullptr, h[16] = {};
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);  // HERE bad_copy
}
""",
    "null_pointer_read": """
int main() {
  float *d, *h = nullptr;
  cudaMalloc(&d, 64);
  cudaMemcpy2D(d, 16, h, 16, 16, 4, cudaMemcpyHostToDevice);  // HERE bad_copy
  cudaFree(d);
}
""",
    "null_pointer_to_a_symbol": """
__constant__ float coefficients[16];
__global__ void use(float* x) { x[threadIdx.x] *= coefficients[threadIdx.x]; }
int main() {
  float* h = nullptr;
  cudaMemcpyToSymbol(coefficients, h, sizeof coefficients);  // HERE bad_copy
}
""",
    "stack_too_small": """
int main(int count, char**) {  // HERE trap
  float h[4 << 20];
  for (int k = 0; k < 4 << 20; k += 1024) h[k] = count;
  printf("%f\\n", h[1024 * count]);
}
""",
    "null_pointer_used": """
int main() {
  int* h = nullptr;
  *h = 7;  // HERE trap
  printf("%d\\n", *h);
}
""",
    "event_not_waited_for": """
int main() {
  cudaEvent_t a, b;
  float ms = 0;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  cudaEventRecord(a);
  cudaEventRecord(b);
  cudaEventElapsedTime(&ms, a, b);  // HERE unsynchronised_read
}
""",
    # the same through templates, wrappers and macros: the student's line
    "through_a_macro": """
#define CHECK(call)                                        \\
  do {                                                     \\
    cudaError_t e = (call);                                \\
    if (e != cudaSuccess) printf("%s\\n", cudaGetErrorString(e)); \\
  } while (0)
int main() {
  float* d;
  CHECK(cudaMalloc(&d, 64));
  CHECK(cudaMemset(d, 0, 256));  // HERE bad_copy
  CHECK(cudaFree(d));
}
""",
    "through_a_wrapper": """
inline void gpuAssert(cudaError_t code, const char* file, int line) {
  if (code != cudaSuccess) fprintf(stderr, "%s %s:%d\\n", cudaGetErrorString(code), file, line);
}
#define gpuErrchk(call) gpuAssert((call), __FILE__, __LINE__)
template <class T>
T* make(int n) {
  T* p = nullptr;
  gpuErrchk(cudaMalloc((void**)&p, n * sizeof(T)));
  return p;
}
int main() {
  float* d = make<float>(16);
  double* e = make<double>(16);
  gpuErrchk(cudaMemset(d, 0, 65));  // HERE bad_copy
  gpuErrchk(cudaFree(d));
  gpuErrchk(cudaFree(e));
}
""",
}
