// SAXPY: each thread steps over the arrays by the number of threads in the grid.

__global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = a * x[i] + y[i];
    }
}
