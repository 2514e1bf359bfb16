// Softmax of a row by a block: maximum and sum in one pass, the weights in a second one.

#include <math.h>

struct Running {
    float maximum;  // of what was seen so far
    float sum;      // of exp(x - maximum) over it
};

// What two parts of a row are together. A part without elements has maximum -inf and sum 0.
__device__ Running merge(Running a, Running b) {
    float maximum = fmaxf(a.maximum, b.maximum);
    if (maximum == -INFINITY) return {maximum, 0.0f};
    return {maximum, a.sum * expf(a.maximum - maximum) + b.sum * expf(b.maximum - maximum)};
}

__device__ Running warp_merge(Running part) {
    for (int offset = 16; offset > 0; offset /= 2) {
        Running other = {__shfl_xor_sync(0xffffffff, part.maximum, offset),
                         __shfl_xor_sync(0xffffffff, part.sum, offset)};
        part = merge(part, other);
    }
    return part;
}

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    __shared__ Running parts[32];
    int row = blockIdx.x;
    if (row >= rows) return;  // the whole block
    const float* in = x + size_t(row) * cols;
    float* out = y + size_t(row) * cols;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

    Running part = {-INFINITY, 0.0f};
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        part = merge(part, {in[c], 1.0f});
    }
    part = warp_merge(part);
    if (lane == 0) {
        parts[warp] = part;
    }
    __syncthreads();
    part = warp_merge(lane < warps ? parts[lane] : Running{-INFINITY, 0.0f});

    float scale = 1.0f / part.sum;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        out[c] = expf(in[c] - part.maximum) * scale;
    }
}
