// expect: verdict=build_failed
// expect: kind=diagnostic line=5
// a is a float.

__global__ void saxpy(int n, double a, const float* x, float* y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        y[i] = a * x[i] + y[i];
    }
}
