// Softmax of a row by a block. One pass finds the maximum and the sum of exp(x - maximum) of each
// thread's elements; the block agrees on a maximum, to which the threads' sums are scaled and added;
// a second pass writes the weights.

#include <math.h>

__device__ float warp_max(float value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, offset));
    }
    return value;
}

__device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    __shared__ float maxima[32], sums[32];
    int row = blockIdx.x;
    if (row >= rows) return;  // the whole block
    const float* in = x + size_t(row) * cols;
    float* out = y + size_t(row) * cols;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

    float own = -INFINITY, sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float value = in[c];
        if (value > own) {  // seldom after the first few: exp is needed once for each element
            sum = sum * expf(own - value) + 1.0f;
            own = value;
        } else if (value != -INFINITY) {
            sum += expf(value - own);
        }
    }

    float maximum = warp_max(own);
    if (lane == 0) {
        maxima[warp] = maximum;
    }
    __syncthreads();
    maximum = warp_max(lane < warps ? maxima[lane] : -INFINITY);

    sum = warp_sum(sum * expf(own - maximum));  // a thread without elements has sum 0 and adds 0
    if (lane == 0) {
        sums[warp] = sum;
    }
    __syncthreads();
    float scale = 1.0f / warp_sum(lane < warps ? sums[lane] : 0.0f);

    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        out[c] = expf(in[c] - maximum) * scale;
    }
}
