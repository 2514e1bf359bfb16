// expect: verdict=accepted
// expect: speed="<= 17"
// Maximum, sum, weights: three passes over the row and two trees.

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
    s[t] = largest;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) s[t] = fmaxf(s[t], s[t + half]);
        __syncthreads();
    }
    largest = s[0];
    __syncthreads();  // everybody has read s[0]
    float sum = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        sum += expf(in[c] - largest);
    }
    s[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    sum = s[0];
    for (int c = t; c < cols; c += blockDim.x) {
        out[c] = expf(in[c] - largest) / sum;
    }
}
