// Assignment 10: y is x smoothed twice. x and y are arrays on the device.

__global__ void smooth(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // One element: the mean of in[i - 1], in[i] and in[i + 1].
}

extern "C" void solve(const float* x, float* y, int n) {
  // Allocate an array for the first result, launch twice, free.
}
