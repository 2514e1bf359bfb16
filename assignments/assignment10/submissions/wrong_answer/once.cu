// expect: verdict=wrong_answer
// Smoothed once only.
__global__ void smooth(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float left = in[max(i - 1, 0)], right = in[min(i + 1, n - 1)];
  out[i] = (left + in[i] + right) / 3.0f;
}

extern "C" void solve(const float* x, float* y, int n) {
  if (n == 0) return;
  int block = 256, blocks = (n + block - 1) / block;
  float* t;
  cudaMalloc(&t, n * sizeof(float));
  smooth<<<blocks, block>>>(x, t, n);
  cudaMemcpy(y, t, n * sizeof(float), cudaMemcpyDeviceToDevice);
  cudaFree(t);
}
