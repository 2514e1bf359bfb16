// Attack: let a kernel write anything everywhere, and copy what the host computed over it.
// Why it must fail: what the host puts over a kernel's work is no kernel's.
// Expect: wrong_answer bad_host_call
#include <vector>

__global__ void fill(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 1;
}

static std::vector<float> smooth(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  int n = (int)x.size();
  for (int i = 0; i < n; i++) {
    float left = x[i > 0 ? i - 1 : 0], right = x[i < n - 1 ? i + 1 : n - 1];
    y[i] = (left + x[i] + right) / 3.0f;
  }
  return y;
}

extern "C" void solve(const float* x, float* y, int n) {
  if (n == 0) return;
  std::vector<float> host(n);
  fill<<<(n + 255) / 256, 256>>>(y, n);
  cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  host = smooth(smooth(host));
  cudaMemcpy(y, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}
