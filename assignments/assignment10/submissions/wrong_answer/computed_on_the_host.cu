// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=y
// The host does the work and copies the result in: no kernel has written y.
#include <algorithm>
#include <vector>

static std::vector<float> smooth(const std::vector<float>& in) {
  int n = in.size();
  std::vector<float> out(n);
  for (int i = 0; i < n; ++i)
    out[i] = (in[std::max(i - 1, 0)] + in[i] + in[std::min(i + 1, n - 1)]) / 3.0f;
  return out;
}

extern "C" void solve(const float* x, float* y, int n) {
  std::vector<float> values(n);
  cudaMemcpy(values.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  values = smooth(smooth(values));
  cudaMemcpy(y, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}
