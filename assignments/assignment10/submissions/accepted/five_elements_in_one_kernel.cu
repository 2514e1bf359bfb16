// expect: verdict=accepted
// Each thread computes the three elements of t that it needs: no array in between.
__device__ float mean(const float* x, int i, int n) {
  i = min(max(i, 0), n - 1);
  return (x[max(i - 1, 0)] + x[i] + x[min(i + 1, n - 1)]) / 3.0f;
}

__global__ void both(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (mean(x, i - 1, n) + mean(x, i, n) + mean(x, i + 1, n)) / 3.0f;
}

extern "C" void solve(const float* x, float* y, int n) {
  if (n > 0) both<<<(n + 127) / 128, 128>>>(x, y, n);
}
