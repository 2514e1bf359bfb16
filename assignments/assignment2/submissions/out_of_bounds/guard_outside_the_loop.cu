// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=11 access=read buffer=x
// The first element is checked, the ones after it are not.

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int stride = gridDim.x * blockDim.x;
    int rounds = (n + stride - 1) / stride;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int round = 0; round < rounds; ++round) {
        y[i] = a * x[i] + y[i];
        i += stride;
    }
}
