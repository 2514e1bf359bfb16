// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=y
// One element per thread: what lies beyond the block is neither added nor written.

#include <math.h>

extern __shared__ float s[];

__global__ void softmax(const float* x, float* y, int rows, int cols) {
    int row = blockIdx.x, t = threadIdx.x;
    if (row >= rows) return;
    const float* in = x + row * cols;
    float* out = y + row * cols;
    int c = t;
    float largest = -INFINITY;
    if (c < cols) {
        largest = fmaxf(largest, in[c]);
    }
    s[t] = largest;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) s[t] = fmaxf(s[t], s[t + half]);
        __syncthreads();
    }
    largest = s[0];
    __syncthreads();  // everybody has read s[0]
    float sum = 0.0f;
    if (c < cols) {
        sum += expf(in[c] - largest);
    }
    s[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    sum = s[0];
    if (c < cols) {
        out[c] = expf(in[c] - largest) / sum;
    }
}
