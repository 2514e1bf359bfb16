// expect: verdict=wrong_answer
// expect: kind=mismatch
// The plain ReLU.

__global__ void leaky_relu(const float* x, float* y, float slope, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
