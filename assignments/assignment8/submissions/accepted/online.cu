// expect: verdict=accepted
// Maximum and sum in one pass per thread, then both are merged in shared memory.

constexpr int BLOCK = 128;

__global__ void softmax(const float* x, float* y, int rows, int cols) {
    __shared__ float maxima[BLOCK], sums[BLOCK];
    const int t = threadIdx.x;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* in = x + size_t(row) * cols;
        float m = -3.0e38f, sum = 0.0f;
        for (int c = t; c < cols; c += BLOCK) {
            float next = fmaxf(m, in[c]);
            sum = sum * expf(m - next) + expf(in[c] - next);
            m = next;
        }
        maxima[t] = m;
        sums[t] = sum;
        __syncthreads();
        for (int half = BLOCK / 2; half > 0; half /= 2) {
            if (t < half) {
                float next = fmaxf(maxima[t], maxima[t + half]);
                sums[t] = sums[t] * expf(maxima[t] - next) +
                          sums[t + half] * expf(maxima[t + half] - next);
                maxima[t] = next;
            }
            __syncthreads();
        }
        m = maxima[0];
        sum = sums[0];
        for (int c = t; c < cols; c += BLOCK) {
            y[size_t(row) * cols + c] = __expf(in[c] - m) / sum;
        }
        __syncthreads();
    }
}
