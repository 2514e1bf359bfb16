// expect: verdict=bad_host_call
// expect: kind=bad_launch line=44 buffer=d_c
// Step 4: the division rounds down and leaves a tail.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    cudaError_t status = (call);                                                           \
    if (status != cudaSuccess) {                                                           \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));      \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

static std::vector<float> read(const char* name, size_t n) {
  std::vector<float> values(n);
  FILE* file = fopen(name, "rb");
  if (!file || fread(values.data(), sizeof(float), n, file) != n) {
    fprintf(stderr, "%s cannot be read\n", name);
    exit(1);
  }
  fclose(file);
  return values;
}

int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  size_t bytes = n * sizeof(float);
  std::vector<float> a = read("a.bin", n), b = read("b.bin", n), c(n);
  float *d_a, *d_b, *d_c;
  CHECK(cudaMalloc(&d_a, bytes));
  CHECK(cudaMalloc(&d_b, bytes));
  CHECK(cudaMalloc(&d_c, bytes));
  CHECK(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));
  int block = 256, blocks = n < block ? 1 : n / block;
  add<<<blocks, block>>>(d_a, d_b, d_c, n);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_b));
  CHECK(cudaFree(d_c));
  FILE* file = fopen("c.bin", "wb");
  fwrite(c.data(), sizeof(float), n, file);
  fclose(file);
  printf("added %d elements\n", n);
}
