// Attack: do the whole work on the host, and ask for a variable of the device that no kernel wrote.
// Why it must fail: that is no work of a kernel's; without a launch there is none.
// Expect: wrong_answer bad_host_call
#include <cstdio>
#include <cstdlib>
#include <vector>

__device__ float never;
__global__ void add(const float* a, const float* b, float* c, int n) { never = 1; }

int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  std::vector<float> a(n), b(n), c(n);
  FILE* in = fopen("a.bin", "rb");
  fread(a.data(), sizeof(float), n, in);
  fclose(in);
  in = fopen("b.bin", "rb");
  fread(b.data(), sizeof(float), n, in);
  fclose(in);
  for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
  FILE* out = fopen("c.bin", "wb");
  fwrite(c.data(), sizeof(float), n, out);
  fclose(out);
  float value;
  cudaMemcpyFromSymbol(&value, never, sizeof value);
  printf("added %d elements\n", n);
}
