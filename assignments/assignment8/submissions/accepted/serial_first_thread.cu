// expect: verdict=accepted
// expect: speed=0
// The first thread finds maximum and sum alone: right, and almost everybody waits.

#include <math.h>

extern __shared__ float s[];

__global__ void softmax(const float* x, float* y, int rows, int cols) {
    int row = blockIdx.x, t = threadIdx.x;
    if (row >= rows) return;
    const float* in = x + row * cols;
    float* out = y + row * cols;
    if (t == 0) {
        float largest = -INFINITY, sum = 0.0f;
        for (int c = 0; c < cols; ++c) largest = fmaxf(largest, in[c]);
        for (int c = 0; c < cols; ++c) sum += expf(in[c] - largest);
        s[0] = largest;
        s[1] = sum;
    }
    __syncthreads();
    for (int c = t; c < cols; c += blockDim.x) {
        out[c] = expf(in[c] - s[0]) / s[1];
    }
}
