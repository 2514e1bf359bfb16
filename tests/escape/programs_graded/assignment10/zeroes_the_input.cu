// Attack: copy zeros over the input, so that whoever computes the answer from it gets zeros.
// Why it must fail: the oracle has its own copy, and the input's is compared with nothing.
// Expect: wrong_answer input_modified bad_host_call
#include <vector>

__global__ void zero(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0;
}

extern "C" void solve(const float* x, float* y, int n) {
  if (n == 0) return;
  std::vector<float> zeros(n, 0.0f);
  cudaMemcpy((void*)x, zeros.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  zero<<<(n + 255) / 256, 256>>>(y, n);
}
