// Leaky ReLU: one thread per element.

__global__ void leaky_relu(const float* __restrict__ x, float* __restrict__ y, float slope, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i] > 0.0f ? x[i] : slope * x[i];
    }
}
