// Attack: do the work on the host, and print and write a trace of calls that never were.
// Why it must fail: the trace is kept by the device's process; print is text.
// Expect: wrong_answer
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int n) {}

int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  std::vector<float> a(n), b(n), c(n);
  FILE* in = fopen("a.bin", "rb");
  fread(a.data(), sizeof(float), n, in);
  in = fopen("b.bin", "rb");
  fread(b.data(), sizeof(float), n, in);
  for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
  FILE* out = fopen("c.bin", "wb");
  fwrite(c.data(), sizeof(float), n, out);
  fclose(out);
  out = fopen("result.json", "w");
  fprintf(out, "{\"verdict\": \"accepted\", \"steps\": {\"launched\": true}}\n");
  fclose(out);
  add<<<1, 1>>>(nullptr, nullptr, nullptr, n);
  cudaDeviceSynchronize();
  printf("added %d elements\n", n);
  fprintf(stderr, "{\"api\": \"<<<>>>\", \"kernel\": \"add\", \"outputs\": [\"c\"]}\n");
}
