// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=y
// The shuffle covers one warp; each warp goes on with a maximum and a sum of its own.

#include <math.h>

extern __shared__ float s[];

__global__ void softmax(const float* x, float* y, int rows, int cols) {
    int row = blockIdx.x, t = threadIdx.x;
    if (row >= rows) return;
    const float* in = x + row * cols;
    float* out = y + row * cols;
    float largest = -INFINITY;
    for (int c = t; c < cols; c += blockDim.x) {
        largest = fmaxf(largest, in[c]);
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, mask));
    }
    float sum = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        sum += expf(in[c] - largest);
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, mask);
    }
    for (int c = t; c < cols; c += blockDim.x) {
        out[c] = expf(in[c] - largest) / sum;
    }
}
