// Attack: do the whole work on the host, and print what is expected.
// Why it must fail: the steps are read from the calls that the device saw, and there are none.
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
  printf("added %d elements\n", n);
}
