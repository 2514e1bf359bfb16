// expect: verdict=accepted
// Right for any grid: each thread steps over the array by the number of threads there are.

__global__ void leaky_relu(const float* in, float* out, float slope, int count) {
    int stride = gridDim.x * blockDim.x;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += stride) {
        float value = in[k];
        if (value > 0.0f) {
            out[k] = value;
        } else {
            out[k] = slope * value;
        }
    }
}
