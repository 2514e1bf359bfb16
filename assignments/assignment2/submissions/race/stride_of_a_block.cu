// expect: verdict=race
// expect: kind=race line=7 buffer=y
// Steps by the block, so every block does all that follows its first element, on top of the others.

__global__ void saxpy(int n, float a, const float* x, float* y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) {
        y[i] = a * x[i] + y[i];
    }
}
