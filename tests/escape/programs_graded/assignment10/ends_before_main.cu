// Attack: compute on the host before main() starts, copy the answer into the output, and exit.
// Why it must fail: the device hands in which elements a kernel wrote; a copy is none.
// Expect: wrong_answer bad_host_call
#include <cstdlib>
#include <cstring>
#include <vector>

static void* given(const char* name) {
  uint64_t r[16] = {};
  grade_call("given", "kernel.cu", 1, 0, 0, name, strlen(name), r, 0, 0);
  return (void*)r[0];
}

__attribute__((constructor)) static void early() {
  std::vector<float> all(1 << 16, 1.0f);
  cudaMemcpy(given("y"), all.data(), 4, cudaMemcpyHostToDevice);
  exit(0);
}

extern "C" void solve(const float* x, float* y, int n) {}
