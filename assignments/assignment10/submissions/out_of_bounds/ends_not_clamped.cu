// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=7 buffer=x
// The first and the last thread read outside.
__global__ void smooth(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float left = in[i - 1], right = in[i + 1];
  out[i] = (left + in[i] + right) / 3.0f;
}

extern "C" void solve(const float* x, float* y, int n) {
  if (n == 0) return;
  int block = 256, blocks = (n + block - 1) / block;
  float* t;
  cudaMalloc(&t, n * sizeof(float));
  smooth<<<blocks, block>>>(x, t, n);
  smooth<<<blocks, block>>>(t, y, n);
  cudaFree(t);
}
