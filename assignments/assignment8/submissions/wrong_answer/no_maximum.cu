// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=y
// exp of the values as they are: infinity above 88, and 0 / 0 below -104.

#include <math.h>

extern __shared__ float s[];

__global__ void softmax(const float* x, float* y, int rows, int cols) {
    int row = blockIdx.x, t = threadIdx.x;
    if (row >= rows) return;
    const float* in = x + row * cols;
    float* out = y + row * cols;
    float sum = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        sum += expf(in[c]);
    }
    s[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    sum = s[0];
    for (int c = t; c < cols; c += blockDim.x) {
        out[c] = expf(in[c]) / sum;
    }
}
