// expect: verdict=timed_out
// The stride is the index of the block: for block 0 the loop never moves on.

__global__ void saxpy(int n, float a, const float* x, float* y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockIdx.x * blockDim.x) {
        y[i] = a * x[i] + y[i];
    }
}
