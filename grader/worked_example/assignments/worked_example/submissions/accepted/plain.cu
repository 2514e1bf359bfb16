// expect: verdict=accepted
// One thread per element, and a multiplication in place of the branch.

__global__ void leaky_relu(const float* x, float* y, float slope, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float factor = x[i] > 0.0f ? 1.0f : slope;
    y[i] = factor * x[i];
}
